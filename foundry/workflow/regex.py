"""Regular expressions that can't hang: RE2 matches in time linear to the text.

RE2 has no lookarounds and no backreferences; a pattern that needs one is refused when the document
is validated, so that a run never waits for it.
"""

from functools import lru_cache
from typing import Any

FLAGS = "imsguy"
"""Those of JavaScript; `g`, `u` and `y` change nothing about whether a text matches."""

LONGEST = 2_000
"""Characters of a pattern."""


@lru_cache(maxsize=512)
def compiled(pattern: str, flags: str = "i") -> Any:
    """A pattern with `.search(text)`; raises ValueError that says what is wrong with it."""
    import re2

    if len(pattern) > LONGEST:
        raise ValueError(f"a pattern of {len(pattern):,} characters is longer than {LONGEST:,}")
    unknown = "".join(sorted(set(flags) - set(FLAGS)))
    if unknown:
        raise ValueError(f"unknown flags {unknown!r}: known are i, m, s (and g, u, y, ignored)")
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = "i" not in flags
    inline = "".join(sorted(set(flags) & {"m", "s"}))
    try:
        return re2.compile(f"(?{inline}){pattern}" if inline else pattern, options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error.args[0]
        raise ValueError(
            f"{pattern!r} is no regular expression of RE2 (which has no lookarounds and no "
            f"backreferences): {reason}"
        ) from error
