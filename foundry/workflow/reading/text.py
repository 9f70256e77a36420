"""The text of a document to its value, and everything that is wrong with the text as such."""

from foundry.workflow.problem import Finding
from foundry.workflow.reading.read_json import read_json
from foundry.workflow.reading.read_yaml import read_yaml
from foundry.workflow.reading.value import Plain, plain

MAX_BYTES = 5_000_000

TOO_LARGE = Finding((), f"has more than {MAX_BYTES:,} bytes: make it smaller")


def read_text(text: str, *, json: bool) -> Plain:
    """The value of a JSON or YAML text; what can't be read at all is None with one finding."""
    if len(text) > MAX_BYTES:
        return Plain(None, [TOO_LARGE])
    if not text.isascii() and text != text.encode("utf-8", "replace").decode():
        return Plain(None, [Finding((), "has half of a character (a lone surrogate)")])
    read = read_json(text) if json else read_yaml(text)
    made_plain = plain(read.value)
    return Plain(made_plain.value, [*read.findings, *made_plain.findings])
