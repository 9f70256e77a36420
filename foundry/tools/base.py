"""What a model may call. A tool is a name, a description, a schema and a function.

The call that ends a conversation is one too (`submit_tool`): its schema is the step's contract.
A tool also says what others ask of it: whether it only reads, what permission judges a call by,
what a person is shown of one and may change. So a new tool is one file and a line in toolset.py.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from foundry.errors import ToolError
from foundry.schema.messages import Block


class Arguments(BaseModel):
    """Arguments of a tool: unknown ones are an error that the model is told about."""

    model_config = ConfigDict(frozen=True, extra="forbid")


A = TypeVar("A", bound=BaseModel)
S = TypeVar("S", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one call; only an accepted `submit` carries a submission."""

    content: str
    is_error: bool = False
    submission: BaseModel | None = None


SUBJECT_LENGTH = 200
"""Characters of a call in one line."""


@dataclass(frozen=True)
class Tool(Generic[A]):
    """A function with a schema. `call` raises ToolError for what the model can mend.

    Raises ValueError where `command`, `path` or `editable` names no argument.
    """

    name: str
    description: str
    arguments: type[A]
    call: Callable[[A], str | ToolResult]
    reads_only: bool = False
    """It changes nothing: a run that only plans may use it, as far as the rules allow."""
    command: str = ""
    """The argument that is a shell command: the rules for `run_command` judge it piece by piece."""
    path: str = ""
    """The argument that is a path seen from the project's root: rules about paths judge it."""
    rules_of: str = ""
    """A tool of ours whose rules judge this one, as long as no rule names this one itself. Of an
    installed package's tool it is not believed."""
    editable: str = ""
    """The argument that a person may change before they allow a call."""
    preview: Callable[[A], str] | None = None
    """What a call would do, as a person is shown it (a diff, say)."""

    def __post_init__(self) -> None:
        named = {self.command, self.path, self.editable} - {""}
        if unknown := named - self.arguments.model_fields.keys():
            raise ValueError(f"the tool {self.name} has no argument {', '.join(sorted(unknown))}")

    def subject(self, arguments: A) -> str:
        """A call in one line: its command or its path; nothing for a call that has neither."""
        given = (str(getattr(arguments, name)) for name in (self.command, self.path) if name)
        return " ".join(next((each for each in given if each), "").split())[:SUBJECT_LENGTH]

    def shown(self, arguments: A) -> str:
        """A call as a person is shown it before they allow it: what it would do, its command, or
        what it is called with."""
        if self.preview:
            return self.preview(arguments)
        if self.command:
            return str(getattr(arguments, self.command))
        return arguments.model_dump_json(exclude_defaults=True)

    def spec(self) -> Block:
        """The tool as the Messages API declares it."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": deepcopy(_schema(self.arguments)),
        }

    def run(self, raw: Any) -> ToolResult:
        """Validate `raw` and run; whatever the model can mend comes back as an error result."""
        try:
            arguments = self.arguments.model_validate(raw)
        except ValidationError as error:
            problems = explain(error)
            return ToolResult(f"Invalid arguments for {self.name}:\n{problems}", is_error=True)
        try:
            result = self.call(arguments)
        except ToolError as error:
            return ToolResult(str(error), is_error=True)
        return result if isinstance(result, ToolResult) else ToolResult(result)


@cache
def _schema(arguments: type[BaseModel]) -> Block:
    return arguments.model_json_schema()


class Toolset:
    """The tools of one conversation, by name."""

    def __init__(self, tools: Mapping[str, Tool[Any]]) -> None:
        self._tools = dict(tools)

    def specs(self) -> tuple[Block, ...]:
        """Declarations in a fixed order, so that requests share a cached prefix."""
        return tuple(tool.spec() for tool in self._tools.values())

    def run(self, name: str, raw: Any) -> ToolResult:
        """Run one call; an unknown name is an error result that lists the known ones."""
        tool = self._tools.get(name) if isinstance(name, str) else None
        if tool is None:
            known = ", ".join(self._tools)
            return ToolResult(f"There is no tool {name!r}. The tools are: {known}.", is_error=True)
        return tool.run(raw)


Review = Callable[[BaseModel], Sequence[str]]
"""Judges a submission that fits its schema: the problems, none when it holds."""

SUBMIT = "submit"


def submit_tool(contract: type[S], review: Review) -> Tool[S]:
    """`submit` for a contract. What `review` finds goes back to the model as the reason."""

    def call(submission: S) -> ToolResult:
        problems = review(submission)
        if problems:
            reasons = "\n".join(f"- {problem}" for problem in problems)
            return ToolResult(f"Not accepted:\n{reasons}\nMend this, then submit again.", True)
        return ToolResult("Accepted.", submission=submission)

    return Tool(
        name=SUBMIT,
        description="Hand in the result of this step. The harness checks it; when it is accepted "
        "the conversation is over.",
        arguments=contract,
        call=call,
    )


def explain(error: ValidationError) -> str:
    """One line per problem: where and why, without the library's own links."""
    lines = []
    for problem in error.errors(include_url=False, include_context=False):
        where = ".".join(str(part) for part in problem["loc"]) or "(whole)"
        lines.append(f"- {where}: {problem['msg']}")
    return "\n".join(lines)
