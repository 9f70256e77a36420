"""Text files as they are: encoding, byte order mark and line endings survive an edit."""

import difflib
import mimetypes
from dataclasses import dataclass, replace

from foundry.errors import ToolError
from foundry.tools.paths import ProjectFolder

MAX_FILE_BYTES = 8_000_000

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Text:
    """A file's text without its byte order mark, and how to turn it into bytes again."""

    content: str
    encoding: str = "utf-8"
    mark: bytes = b""

    @property
    def crlf(self) -> bool:
        """Whether every line ends in CRLF."""
        count = self.content.count("\r\n")
        return 0 < count == self.content.count("\n")

    def with_content(self, content: str) -> "Text":
        """The same file with another text."""
        return replace(self, content=content)

    def encode(self) -> bytes:
        """The file's bytes; raises ToolError for characters that its encoding does not have."""
        try:
            return self.mark + self.content.encode(self.encoding)
        except UnicodeEncodeError as error:
            wrong = error.object[error.start : error.end][:20]
            raise ToolError(
                f"{wrong!a} can't be written in this file's encoding ({self.encoding})",
                hint="Use characters that the file can hold, or rewrite the whole file",
            ) from error


def decode(data: bytes) -> Text | None:
    """The text of a file, or None for binary data.

    Without a mark: UTF-8, else Latin-1, which maps every byte to a character and back, so that
    an edit changes nothing but what it is meant to.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], encoding, mark)
    if b"\0" in data:
        return None
    return _decoded(data, "utf-8") or _decoded(data, "latin-1")


def read_text(project: ProjectFolder, path: str) -> Text:
    """A text file of the project; raises ToolError for what is no text."""
    data = project.read(path, limit=MAX_FILE_BYTES)
    text = decode(data)
    if text is None:
        kind = mimetypes.guess_type(path)[0] or "unknown type"
        raise ToolError(
            f"{path} is binary ({kind}, {len(data):,} bytes)",
            hint="Use run_command with a program that knows this format",
        )
    return text


def diff(old: str, new: str, path: str) -> str:
    """A change of a file as a unified diff; without an old text it is new."""
    before, after = (text.replace("\r\n", "\n").splitlines() for text in (old, new))
    names = (f"a/{path}" if old else "/dev/null", f"b/{path}")
    return "\n".join(difflib.unified_diff(before, after, *names, lineterm=""))


def _decoded(data: bytes, encoding: str, mark: bytes = b"") -> Text | None:
    try:
        return Text(data.decode(encoding), encoding, mark)
    except UnicodeDecodeError:
        return None
