"""What conversations submit: those of any workflow, and Builder, Test, Docs and Deploy."""

import json
from typing import Literal

from pydantic import Field, field_validator

from foundry.schema.base import Json, Value
from foundry.schema.workflow import Variable

Change = Literal["feat", "fix", "refactor", "test", "docs", "build", "chore"]

OWN_NAMES = frozenset(
    {"existing", "deploy", "deployed", "release", "tests", "tasks", "spec"}
    | {"size", "project_type", "tech_stack"}
    | {"circular", "circular_assignment", "circular_reverted", "unproven"}
)
"""Variables that the harness sets and believes: nobody else may."""

MAX_PATCH = 64_000
"""Bytes of JSON that one step may set."""

MAX_DEPTH = 20
"""Levels of lists and objects in a variable."""


class SummarySubmission(Value):
    """The contract of a step that names none."""

    summary: str = Field(min_length=1, description="what was done, for those who come after")
    output: str = Field(
        "",
        max_length=100_000,
        description="what the step was asked to produce, in full; without one the summary is it",
    )
    context: dict[Variable, Json] = Field(
        default_factory=dict,
        description="variables for later steps and for the conditions of the workflow: names with "
        "JSON values. Every variable that the step was asked to set belongs here",
    )

    @field_validator("context")
    @classmethod
    def _can_be_kept(cls, context: dict[str, Json]) -> dict[str, Json]:
        if problems := variable_problems(context):
            raise ValueError("; ".join(problems))
        return context


def variable_problems(context: dict[str, Json]) -> tuple[str, ...]:
    """Why variables that somebody brings can't be taken."""
    problems = [
        f"{name!r} is the harness's own: choose another name"
        for name in sorted(OWN_NAMES & context.keys())
    ]
    if any(_deeper(value, MAX_DEPTH) for value in context.values()):
        return (*problems, f"a value is nested deeper than {MAX_DEPTH} levels: make it flatter")
    try:
        size = len(json.dumps(context, ensure_ascii=False, allow_nan=False).encode())
    except ValueError:
        return (*problems, "a number is not finite: JSON can't hold it")
    if size > MAX_PATCH:
        problems.append(
            f"they are {size:,} bytes, more than {MAX_PATCH:,}: keep what is large in a file and "
            "name the file"
        )
    return tuple(problems)


def _deeper(value: Json, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    parts = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_deeper(each, levels - 1) for each in parts)


class BuilderSubmission(Value):
    """A finished task."""

    summary: str = Field(
        min_length=1, description="what exists now and how to use it, for the next tasks"
    )
    change: Change = Field("feat", description="kind of change, for the commit message")
    notes: tuple[str, ...] = Field((), description="decisions and surprises that others must know")


class Cause(Value):
    """Why a check fails."""

    check: str = Field(description="name of the failing check")
    cause: str


class FixPlanSubmission(Value):
    """Why the checks fail and what is to be done; becomes fixes-iteration-N.md."""

    diagnosis: str = Field(min_length=1)
    causes: tuple[Cause, ...] = Field(min_length=1)
    steps: tuple[str, ...] = Field(min_length=1, description="what to change, in order")
    files: tuple[str, ...] = ()


class DocsSubmission(Value):
    """The documentation that was written."""

    summary: str = Field(min_length=1)
    files: tuple[str, ...] = Field(
        ("README.md",), min_length=1, description="every documentation file, README.md among them"
    )


class DeploySubmission(Value):
    """How the result is presented to those who receive it."""

    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", description="name of the repository"
    )
    description: str = Field(min_length=1, max_length=300, description="one line")
