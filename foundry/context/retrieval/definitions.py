"""The names that a source file defines, by regular expressions.

Not by ctags, which may be missing, or speak other languages in each of its versions. On four
projects (Python, TypeScript, Go, Rust) Universal Ctags 5.9 named half as many again. Most of what
is missed here is inside of something: local constants, properties, fields; of the functions 15%,
of the methods 3%. All of that is still found as words.
"""

import re

from foundry.context.retrieval.kinds import suffix

_PYTHON = re.compile(
    r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)"
    r"|^([A-Za-z_]\w*)[ \t]*(?::[^=\n]+)?=(?!=)",
    re.M,
)
_SCRIPT = re.compile(
    r"^[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:abstract[ \t]+)?"
    r"(?:async[ \t]+)?(?:function\*?|class|interface|type|enum|namespace)[ \t]+(\w+)"
    r"|^(?:export[ \t]+)?(?:const|let|var)[ \t]+(\w+)"
    r"|^[ \t]+(?:const|let)[ \t]+(\w+)[ \t]*=[ \t]*(?:async[ \t]*)?(?:\([^()\n]*\)|\w+)[ \t]*=>"
    r"|^[ \t]+(?:(?:public|private|protected|static|async|override|readonly|get|set)[ \t]+)*"
    r"(?!if\b|for\b|while\b|switch\b|catch\b|return\b|function\b)(\w+)[ \t]*(?:<[^>\n]*>)?"
    r"\([^()\n]*\)[ \t]*(?::[^{};\n]+)?\{[ \t]*$",
    re.M,
)
_GO = re.compile(
    r"^func[ \t]+(?:\([^)\n]*\)[ \t]*)?(\w+)|^type[ \t]+(\w+)|^(?:var|const)[ \t]+(\w+)"
    r"|^\t(\w+)[ \t]+(?:struct|interface)\b|^\t([A-Z]\w+)[ \t]*(?:[\w.]+[ \t]*)?=",
    re.M,
)
_RUST = re.compile(
    r"^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:default[ \t]+)?(?:const[ \t]+)?(?:async[ \t]+)?"
    r"(?:unsafe[ \t]+)?(?:extern[ \t]+\"[^\"\n]*\"[ \t]+)?"
    r"(?:fn|struct|enum|trait|mod|type|union|const|static|macro_rules!)[ \t]+(?:mut[ \t]+)?(\w+)",
    re.M,
)
_OTHER = re.compile(
    r"^[ \t]*(?:[\w@]+[ \t]+)*?(?:class|interface|struct|enum|trait|module|def|fun|func|function"
    r"|fn|record|object|protocol|namespace|type|sub|table|view|message|service|rpc)[ \t]+"
    r"(?:if[ \t]+not[ \t]+exists[ \t]+)?[\"'`]?(\w+)",
    re.M | re.IGNORECASE,
)
_HEADING = re.compile(r"^#{1,4}[ \t]+(.{1,80})$", re.M)
_PATTERNS = {
    **dict.fromkeys(("py", "pyi"), _PYTHON),
    **dict.fromkeys(("ts", "tsx", "js", "jsx", "cjs", "mjs", "mts", "cts"), _SCRIPT),
    **dict.fromkeys(("vue", "svelte"), _SCRIPT),
    "go": _GO,
    "rs": _RUST,
    **dict.fromkeys(("md", "mdx"), _HEADING),
}  # fmt: skip
_NONE = frozenset(
    """rst txt adoc json jsonc json5 yaml yml toml ini cfg conf html htm css scss sass less
    xml""".split()  # noqa: SIM905
)


def pattern(path: str) -> re.Pattern[str] | None:
    """What a definition looks like in a file; exactly one group of a match is its name."""
    ending = suffix(path)
    return None if ending in _NONE else _PATTERNS.get(ending, _OTHER)


def definitions(path: str, text: str) -> list[str]:
    """The names that a file defines, in order, repeated ones too."""
    form = pattern(path)
    if form is None:
        return []
    return [match[match.lastindex] for match in form.finditer(text) if match.lastindex]
