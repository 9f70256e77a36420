"""`list_files` and `search_text`: the project through git's view, so without what it ignores."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from pydantic import Field

from foundry.errors import ProjectError, ToolError
from foundry.tools.base import Arguments, Tool
from foundry.tools.paths import ProjectFolder, hidden
from foundry.tools.toolset import Grep, Workbench

MAX_FILES = 400
MAX_HITS = 200
MAX_HIT_CHARS = 300
MAX_SHOWN_CHARS = 24_000
_HIT = re.compile(r"(?P<path>.+?):(?P<line>\d+):(?P<text>.*)", re.DOTALL)


class ListFiles(Arguments):
    """Arguments of `list_files`."""

    path: str = Field(".", description="Folder, relative to the project's root.")
    pattern: str = Field("", description="Glob such as *.py or tests/**/test_*.py.")


class SearchText(Arguments):
    """Arguments of `search_text`."""

    pattern: str = Field(min_length=1, max_length=1000, description="Text to find, in one line.")
    path: str = Field(".", description="Folder or file, relative to the project's root.")
    regex: bool = Field(False, description="Take the pattern as an extended regular expression.")
    ignore_case: bool = Field(False, description="Find upper and lower case alike.")


def list_files(workbench: Workbench) -> Tool[ListFiles]:
    """The tool `list_files`."""
    project = ProjectFolder(workbench.root)

    def call(arguments: ListFiles) -> str:
        located = _existing(project, arguments.path)
        visible = sorted(path for path in workbench.list_paths() if not hidden(path))
        below = [path for path in visible if _is_below(path, located)]
        found = [path for path in below if _matches(path, arguments.pattern)]
        if not found:
            return _nothing_listed(arguments, len(below))
        rest = len(found) - MAX_FILES
        shown = [_printable(path) for path in found[:MAX_FILES]]
        if rest > 0:
            shown.append(f"[… {rest} more files; narrow it down with path or pattern …]")
        return "\n".join(shown)

    return Tool(
        name="list_files",
        description="List the project's files (not the ignored ones). A glob without a slash "
        "matches names in every folder; * also matches slashes.",
        arguments=ListFiles,
        call=call,
        reads_only=True,
        path="path",
    )


def search_text(workbench: Workbench) -> Tool[SearchText]:
    """The tool `search_text`."""
    project = ProjectFolder(workbench.root)

    def call(arguments: SearchText) -> str:
        if set(arguments.pattern) & set("\0\n\r"):
            raise ToolError("the pattern has several lines", hint="Search for one of them")
        located = _existing(project, arguments.path)
        hits = _hits(_grepped(workbench.grep, arguments, located))
        if not hits:
            return _nothing_found(arguments)
        shown = _fitting(hits[:MAX_HITS])
        rest = len(hits) - len(shown)
        if rest > 0:
            shown.append(f"[… {rest} more lines; narrow it down with path or pattern …]")
        return "\n".join(shown)

    return Tool(
        name="search_text",
        description="Find lines in the project's text files (not the ignored ones). Results "
        "are `path:line: text`. The pattern is taken literally unless regex is set.",
        arguments=SearchText,
        call=call,
        reads_only=True,
        path="path",
    )


def _grepped(grep: Grep, arguments: SearchText, located: str) -> Sequence[str]:
    try:
        return grep(
            arguments.pattern, located, regex=arguments.regex, ignore_case=arguments.ignore_case
        )
    except ProjectError as error:
        if not arguments.regex:
            raise
        raise ToolError(
            f"{arguments.pattern!r} can't be searched for: {error.message}",
            hint="Mend the regular expression (POSIX extended), or search without regex",
        ) from error


def _hits(lines: Iterable[str]) -> list[str]:
    found = []
    for line in lines:
        hit = _HIT.fullmatch(line)
        if hit and not hidden(hit["path"]):
            text = hit["text"].strip()
            cut = f"{text[:MAX_HIT_CHARS]}[…]" if len(text) > MAX_HIT_CHARS else text
            found.append(_printable(f"{hit['path']}:{hit['line']}: {cut}"))
    return found


def _existing(project: ProjectFolder, path: str) -> str:
    located = project.locate(path)
    if not (project.root / located).exists():
        raise ToolError(f"there is no {path}", hint="list_files without a path shows everything")
    return located


def _is_below(path: str, located: str) -> bool:
    return located in (".", path) or path.startswith(f"{located}/")


def _matches(path: str, pattern: str) -> bool:
    """Against the whole path, or against the name when the pattern has no slash."""
    if not pattern:
        return True
    pattern = pattern.removeprefix("./")
    target = path if "/" in pattern else path.rsplit("/", 1)[-1]
    return fnmatchcase(target, pattern) or fnmatchcase(target, pattern.replace("**/", ""))


def _nothing_listed(arguments: ListFiles, below: int) -> str:
    if arguments.pattern and below:
        return (
            f"None of the {below} files in {arguments.path} matches {arguments.pattern!r}; "
            "patterns are matched against the path from the project's root."
        )
    return f"There are no files in {arguments.path} (ignored files are not listed)."


def _nothing_found(arguments: SearchText) -> str:
    advice = [] if arguments.ignore_case else ["ignore_case"]
    advice += [] if arguments.regex else ["regex, if the pattern was meant as one"]
    advice += ["a shorter pattern"]
    return (
        f"No line in {arguments.path} matches {arguments.pattern!r} "
        f"(ignored and binary files are not searched). Try {', or '.join(advice)}."
    )


def _fitting(lines: list[str]) -> list[str]:
    room = MAX_SHOWN_CHARS
    for count, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return lines[:count]
    return lines


def _printable(text: str) -> str:
    """One line of valid text, whatever bytes a file name or a file holds."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\t" else ascii(c)[1:-1] for c in text)
