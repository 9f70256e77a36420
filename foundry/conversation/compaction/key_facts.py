"""What must stay findable whatever is taken out: the paths and the errors of a text.

Found by form alone. A path has a slash and looks like one, or a name ends like a source file's;
an error is a whole line. Both are kept exactly as they stand.
"""

import re
from collections.abc import Iterator

LONGEST_PATH = 240
LONGEST_LINE = 500
"""Characters of an error line; the rest of a longer one is left out."""

_ENDINGS = (
    "bash c cc cfg clj cmake conf cpp cs css csv cxx dart env ex exs fs go gradle h hpp hs html "
    "hxx in ini ipynb java jl js json jsonl jsx kt less lock log lua m md mjs ml mm nix out patch "
    "php pl pony proto ps1 py pyi pyx r rb rs rst s sass scala scss sh so sol sql svg swift tex tf "
    "toml ts tsx txt vue xml yaml yml zig"
).replace(" ", "|")
_PATH = re.compile(
    r"(?<![\w/.~@<-])"
    rf"(?:(?:~|\.{{1,2}})?/?(?:[\w.@-]+/)+[\w.@-]*\w|/[\w.@-]*\w|[\w.-]*\w\.(?:{_ENDINGS})\b(?!/))"
)

_FAULT = r"(?:Error|Exception|Failure|Fault|Panic|Warning)"
_CERTAIN = re.compile(
    rf"^[^\w\n]{{0,8}}(?:[\w.]+\.)?\w*{_FAULT}(?::|\s*$)"
    r"|^\W{0,8}(?:error|fatal|failed|FAILED|panic|ERROR|FATAL|FAIL)\b[^\n]{0,40}:"
    r"|:\s(?:fatal )?error\b|^Traceback \(most",
    re.MULTILINE,
)
_LIKELY = re.compile(
    rf"\b\w+{_FAULT}\b|(?i:\b(?:error|exception|traceback|fatal|fail(?:s|ed|ure|ures)?|panic(?:ked)?"
    r"|segfault|segmentation fault|undefined reference|not found|no such|denied|cannot|can't"
    r"|could not|unable to|abort(?:ed)?|timed out|refused|unexpected|unrecognized)\b)"
)


def paths(text: str) -> Iterator[str]:
    """The paths in a text, in their order, each as often as it stands there."""
    for match in _PATH.finditer(text):
        path = match[0]
        if len(path) <= LONGEST_PATH and _plausible(path):
            yield path


def errors(text: str, *, source: bool = False) -> Iterator[str]:
    """The lines of a text that tell of an error, stripped.

    `source` is text that is no output but the content of files: there only lines count that can
    hardly be anything else.
    """
    pattern = _CERTAIN if source else _LIKELY
    end = 0
    for match in pattern.finditer(text):
        if match.start() < end:
            continue  # this line is known already
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.start())
        end = len(text) if end < 0 else end
        if line := text[start:end].strip()[:LONGEST_LINE].strip():
            yield line


def _plausible(path: str) -> bool:
    """`and/or` and `3/4` are no paths; `src/app` alone may be, and is taken when it is deeper."""
    if not any(character.isalpha() for character in path):
        return False
    if path[0] in "/~." or path.count("/") != 1:
        return True
    return "." in path.rsplit("/", 1)[-1]
