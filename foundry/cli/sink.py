"""A stream for output that must not stop a build: a closed pipe or terminal makes it mute."""

import os
from collections.abc import Mapping
from typing import TextIO

from foundry.report.terminal_safe import encodable


class Sink:
    """Wraps a text stream; writes what its encoding holds, and never fails."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.mute = False

    @property
    def encoding(self) -> str:
        """What may be written; rich draws with ASCII when it is not UTF-8."""
        if self.isatty() and not shows_unicode(os.environ):
            return "ascii"
        return self._stream.encoding or "utf-8"

    def write(self, text: str) -> int:
        """Write and flush, so that whoever follows sees each line as it happens."""
        if not self.mute:
            try:
                self._stream.write(encodable(text, self.encoding))
                self._stream.flush()
            except (OSError, ValueError):  # ValueError: the stream was closed
                self.mute = True
        return len(text)

    def line(self, text: str) -> None:
        """Write one line."""
        self.write(text + "\n")

    def flush(self) -> None:
        """Every write is flushed already."""

    def isatty(self) -> bool:
        """Whether a person looks at it."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """The stream's own."""
        return self._stream.fileno()


def shows_unicode(environment: Mapping[str, str]) -> bool:
    """Whether the terminal's locale is one of UTF-8, or is not told.

    Python itself writes UTF-8 whatever the locale says, and where that is C it sets LC_CTYPE, so
    that of the C locale only LC_ALL or LANG tell.
    """
    coerced = environment.get("LC_CTYPE", "") in ("C.UTF-8", "C.utf8", "UTF-8")
    ctype = "" if coerced else environment.get("LC_CTYPE", "")
    chosen = environment.get("LC_ALL") or ctype or environment.get("LANG") or "UTF-8"
    return "utf8" in chosen.lower().replace("-", "")
