"""What a reader who wrote none of it says of a result, and what became of it."""

from pydantic import Field

from foundry.schema.base import Value
from foundry.schema.flag import Ruling
from foundry.schema.plan import MAX_COMMAND, WITHOUT_NUL


class Asked(Value):
    """One thing that is asked for, or claimed, with what shows it."""

    what: str = Field(pattern=r"\S", description="what it is, in short")
    code: str = Field("", description="file and function that do it")
    test: str = Field("", description="the test that fails without it")
    missing: str = Field("", description="what is missing; empty where nothing is")


class Finding(Value):
    """A fault, and a command that shows it."""

    title: str = Field(pattern=r"\S", max_length=100, description="the fault in a few words")
    explanation: str = Field(
        min_length=1, max_length=2_000, description="what happens, and what should, by which words"
    )
    command: str = Field(
        "",
        max_length=MAX_COMMAND,
        pattern=WITHOUT_NUL,
        description="shell command in the project's root: its exit code is not 0 while the fault "
        "is there, and 0 when it is mended; none: it is only a remark",
    )


class Review(Value):
    """How a review stands: the variable of a run that its steps set."""

    candidates: bool = False
    """Whether `found` waits for somebody else to reproduce it."""
    asked: tuple[Asked, ...] = ()
    remarks: tuple[str, ...] = ()
    rulings: tuple[Ruling, ...] = ()
    found: tuple[Finding, ...] = ()
    """What is to be reproduced; afterwards what was."""
    open: int = 0
    """How many reproduced findings still stood when they were last tried."""
    unreproduced: int = 0
    """How many were not reproduced, over all reviews of this place in the run."""
