"""A workflow document: what is done in which order, as data.

The field names on disk are those of the public WorkRail format (camelCase); `prompt`, `tools`,
`role`, `budget`, `contract`, `reads` and `action` are what a step needs to be run here.
"""

from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from foundry.schema.base import Value

Condition = dict[str, Any]


class _Document(Value):
    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )


class Budget(_Document):
    """What one conversation may use before it is ended."""

    turns: int = Field(80, ge=1, description="model calls")
    minutes: float = Field(60, gt=0, description="wall time")
    threshold: float = Field(
        0.3, gt=0, le=1, description="share of the working window at which old results are masked"
    )


class Step(_Document):
    """One conversation, or with `action` something that the harness does itself."""

    id: str = Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9_-]*$")
    title: str = ""
    phase: str = ""
    prompt: str = ""
    role: str = "builder"
    tools: tuple[str, ...] = ()
    contract: str = "summary"
    budget: Budget = Budget()
    reads: tuple[str, ...] = ()
    action: str = ""
    attempts: int = Field(2, ge=1, le=10)
    on_failure: Literal["stop", "unverified", "ignore"] = Field(
        "stop",
        description="when all attempts failed: the run fails, or it goes on and ends unverified "
        "at best, or it goes on as if nothing were",
    )
    run_condition: Condition | None = None
    required: bool = Field(False, description="`--skip` refuses this phase: later ones need it")


class Loop(_Document):
    """How often a body is repeated; each type is checked before every iteration."""

    type: Literal["for", "forEach", "while", "until"]
    max_iterations: int = Field(ge=1, le=1000)
    items: str = ""
    count: int | str = 0
    condition: Condition | None = None
    iteration_var: str = "currentIteration"
    item_var: str = "currentItem"
    index_var: str = "currentIndex"

    @model_validator(mode="after")
    def _has_what_its_type_needs(self) -> "Loop":
        if self.type == "forEach" and not self.items:
            raise ValueError("a forEach loop needs `items`: the name of a list in the context")
        if self.type in ("while", "until") and self.condition is None:
            raise ValueError(f"a {self.type} loop needs a `condition`")
        if self.type == "for" and not self.count:
            raise ValueError("a for loop needs a `count`: a number or a name in the context")
        return self


class LoopStep(_Document):
    """A body of steps that is repeated."""

    id: str = Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9_-]*$")
    type: Literal["loop"]
    title: str = ""
    phase: str = ""
    loop: Loop
    body: tuple[Step, ...] = Field(min_length=1)
    run_condition: Condition | None = None
    required: bool = False


class Workflow(_Document):
    """A named, ordered list of steps."""

    id: str
    name: str
    description: str = ""
    version: str = "1.0.0"
    system: str = Field("", description="template of the system prompt that all steps share")
    steps: tuple[LoopStep | Step, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _ids_are_unique(self) -> "Workflow":
        seen: set[str] = set()
        for step in self.steps:
            for each in (step, *(step.body if isinstance(step, LoopStep) else ())):
                if each.id in seen:
                    raise ValueError(f"the id {each.id!r} is used twice")
                seen.add(each.id)
        return self

    @property
    def phases(self) -> tuple[str, ...]:
        """The phases in order; steps that name the same phase belong together."""
        return tuple(dict.fromkeys(step.phase or step.id for step in self.steps))
