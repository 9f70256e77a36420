"""What the Builder, Test, Docs and Deploy conversations submit."""

from typing import Literal

from pydantic import Field

from foundry.schema.base import Value

Change = Literal["feat", "fix", "refactor", "test", "docs", "build", "chore"]


class SummarySubmission(Value):
    """The contract of a step that names none."""

    summary: str = Field(min_length=1, description="what was done, for those who come after")


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
