"""A call as it is shown to a person: what it would do, and what `always` would stand for."""

import difflib
import shlex
from collections.abc import Iterable

from pydantic import BaseModel

from foundry.errors import ToolError
from foundry.permission.globs import known, literal
from foundry.permission.operation import COMMAND, Part
from foundry.schema.permission import Effect, Question, Rule, Verdict
from foundry.tools.edit import EditFile
from foundry.tools.files import WriteFile
from foundry.tools.paths import ProjectFolder
from foundry.tools.shell import RunCommand
from foundry.tools.text import read_text

ANSWER = "answer"
"""The source of rules that a person's `always` has made."""

EDITABLE = {"run_command": "command", "write_file": "content", "edit_file": "new"}
"""What `edit` changes in a call."""


def question(
    step: str, tool: str, arguments: BaseModel, verdict: Verdict, asked: Iterable[Part],
    project: ProjectFolder,
) -> Question:  # fmt: skip
    """The question about a call; `asked` are the parts of it that are not allowed already."""
    given = arguments.model_dump(mode="json", exclude_defaults=True)
    return Question(
        step=step,
        tool=tool,
        subject=subject(arguments),
        shown=shown(arguments, project),
        why=verdict.why,
        always=lasting(asked),
        arguments=given,
        editable=EDITABLE.get(tool, ""),
    )


def subject(arguments: BaseModel) -> str:
    """A call in one line: its command or path."""
    given = (getattr(arguments, name, "") for name in ("command", "path"))
    return " ".join(next((each for each in given if each), "").split())[:200]


def shown(arguments: BaseModel, project: ProjectFolder) -> str:
    """What the call would do: its command, or a diff."""
    match arguments:
        case RunCommand():
            return arguments.command
        case WriteFile():
            return _diff(_content(project, arguments.path), arguments.content, arguments.path)
        case EditFile():
            return _diff(arguments.old, arguments.new, arguments.path)
    return arguments.model_dump_json(exclude_defaults=True)


def lasting(parts: Iterable[Part]) -> tuple[Rule, ...]:
    """The rules that allow these parts from now on; none when one can't be put as a rule."""
    rules = [_lasting(part) for part in parts]
    return () if None in rules else tuple(dict.fromkeys(rule for rule in rules if rule))


def _lasting(part: Part) -> Rule | None:
    """This very command, or the files of this folder."""
    if part.opaque or not all(map(known, part.words)):
        return None
    if part.tool == COMMAND:
        words = " ".join(shlex.quote(literal(word)) for word in part.words)
        return Rule(effect=Effect.ALLOW, tools=(COMMAND,), commands=(words,), source=ANSWER)
    paths = {_folder_of(place.inside) for place in part.places if place.inside}
    if not paths or len(paths) < len({place.inside for place in part.places}):
        return None
    tools = ("write_file", "edit_file") if part.tool in EDITABLE else (part.tool,)
    return Rule(effect=Effect.ALLOW, tools=tools, paths=tuple(sorted(paths)), source=ANSWER)


def _folder_of(path: str) -> str:
    folder, slash, _ = path.rpartition("/")
    return f"./{literal(folder)}/**" if slash else f"./{literal(path)}"


def _content(project: ProjectFolder, path: str) -> str:
    try:
        return read_text(project, path).content
    except ToolError:  # new, binary or closed: the tool itself will say so
        return ""


def _diff(old: str, new: str, path: str) -> str:
    before, after = (text.replace("\r\n", "\n").splitlines() for text in (old, new))
    names = (f"a/{path}" if old else "/dev/null", f"b/{path}")
    return "\n".join(difflib.unified_diff(before, after, *names, lineterm=""))
