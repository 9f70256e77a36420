"""What speaks against a result beside its checks: found by code, told to a reviewer and people."""

from typing import Literal

from pydantic import Field

from foundry.schema.base import Value

FlagKind = Literal[
    "hollow",  # the checks hold without the code that was made
    "tests",  # tests that ran before are gone or muted
    "protected",  # tests in their old form do not hold over the new code
    "tampering",  # journal, artifacts, reports or HEAD were changed by a command
    "absent",  # a file that the plan promised is not there
    "disagreement",  # an author says that spec and test, or spec and spec, disagree
]


class Flag(Value):
    """One thing that a person should know before they trust a result."""

    kind: FlagKind
    about: str = Field(description="the check, the file or the tests that it is about, in short")
    words: str = Field(description="what was found, in one sentence")
    tests: tuple[str, ...] = Field((), description="ids of the tests, as far as they are known")
    blocks: bool = Field(
        False, description="whether it keeps the run from being verified unless it is ruled on"
    )

    @property
    def id(self) -> str:
        """What a ruling names it by."""
        return f"{self.kind}: {self.about}"


class Ruling(Value):
    """What a reviewer says of a flag about tests: whether the spec asks for what was changed."""

    flag: str = Field(description="id of the flag")
    justified: bool = Field(description="whether the spec asks for this change to the tests")
    reason: str = Field(
        min_length=1, description="the words of the spec that say so, or what is lost"
    )
