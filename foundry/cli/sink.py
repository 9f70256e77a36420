"""A stream for output that must not stop a build: a closed pipe or terminal makes it mute."""

from typing import TextIO

from foundry.report.safe import encodable


class Sink:
    """Wraps a text stream; writes what its encoding holds, and never fails."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.mute = False

    @property
    def encoding(self) -> str:
        """The stream's encoding; rich draws with ASCII when it is not UTF-8."""
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
