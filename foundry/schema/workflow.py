"""A workflow document: what is done in which order, as data.

The fields are those of the public WorkRail format (camelCase on disk), and a document of that
format is one of ours. `phase`, `template`, `role`, `tools`, `contract`, `budget`, `reflection`,
`reads`, `action`, `attempts`, `onFailure` and `required` are what a step may say beyond it, to be
run here.
"""

from itertools import chain
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from foundry.schema.base import Document, Json
from foundry.schema.condition import Condition
from foundry.schema.criteria import Criteria

NAME = r"^[a-zA-Z_][a-zA-Z0-9_]*$"
MAX_ITERATIONS = 1000

Id = Annotated[str, Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9_-]*$", max_length=64)]
Title = Annotated[str, Field(min_length=1, max_length=128)]
Variable = Annotated[str, Field(pattern=NAME)]
Version = Annotated[
    str, Field(pattern=r"^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$")
]


class Parameter(Document):
    """What a function takes."""

    name: Variable
    type: Literal["string", "number", "boolean", "array", "object"]
    required: bool = False
    description: str = ""
    enum: tuple[str | float | bool, ...] | None = Field(None, min_length=1)
    default: Json = None


class Function(Document):
    """A named piece of guidance that prompts refer to. It is prose and never executed."""

    name: Variable
    definition: str
    parameters: tuple[Parameter, ...] = ()
    scope: Literal["workflow", "loop", "step"] | None = None


class FunctionCall(Document):
    """A function that a step is asked to follow, with its arguments."""

    name: Variable
    args: dict[str, Json] = Field(default_factory=dict)


class Budget(Document):
    """What one conversation may use before it is ended."""

    turns: int = Field(80, ge=1, description="model calls")
    minutes: float = Field(60, gt=0, description="wall time")
    threshold: float = Field(
        0.3, gt=0, le=1, description="share of the working window that is used before `onFull`"
    )
    on_full: Literal["compact", "restart"] = Field(
        "compact",
        description="at the threshold: make room and go on, or write down what is known and end, "
        "so that the step begins afresh",
    )
    compaction: Literal["code", "model", "server"] = Field(
        "code",
        description="who sums up: code alone, a model on top of it, or a server that offers "
        "context editing",
    )


ReflectionMode = Literal["off", "native", "rounds"]


class Reflection(Document):
    """How a conversation thinks before it acts, and how much of that."""

    mode: ReflectionMode = Field(
        "rounds",
        description="off: not at all, as far as the model lets itself be told; native: as the "
        "model does it by itself; rounds: short rounds with `continue_thinking` and "
        "`recall_context` before the first turn and after every refused submission",
    )
    rounds: int = Field(3, ge=1, le=20, description="before one turn, at most")
    tokens: int = Field(
        80_000, ge=1, description="sent and received in all rounds of a conversation, at most"
    )
    seconds: float = Field(300, gt=0, description="in all rounds of a conversation, at most")


BY_ROLE: dict[str, ReflectionMode] = {
    "architect": "rounds", "tester": "rounds", "writer": "off", "analyst": "off",
}  # fmt: skip
"""How a role thinks whose step does not say; every other one as its model does it by itself.
CONTRIBUTING.md has the reasons."""


class _Common(Document):
    """What steps and loops share."""

    id: Id
    title: Title
    phase: str = ""
    run_condition: Condition | None = None
    require_confirmation: bool | Condition = Field(
        False, description="a person has to agree before it begins"
    )
    function_definitions: tuple[Function, ...] = ()
    required: bool = Field(False, description="`--skip` refuses this phase: later ones need it")


class Step(_Common):
    """One conversation, or with `action` something that the harness does itself."""

    prompt: str = Field("", max_length=8192, description="what is to be done, in words")
    agent_role: str = Field("", max_length=1024, description="how to approach it")
    guidance: tuple[str, ...] = ()
    ask_for_files: bool = Field(False, description="begin by looking for the files that matter")
    has_validation: bool = False
    validation_criteria: Criteria | None = None
    function_references: tuple[str, ...] = Field((), description="`name()` or `name`")
    function_calls: tuple[FunctionCall, ...] = ()

    template: str = Field("", description="Jinja2 template of the opening, instead of `prompt`")
    role: str = Field("builder", description="whose model answers (`--model-for`)")
    tools: tuple[str, ...] | None = Field(None, description="none named: all of them")
    contract: str = Field("summary", description="what is submitted, and how it is judged")
    budget: Budget = Budget()
    reads: tuple[str, ...] = Field((), description="artifacts that the conversation is given")
    action: str = ""
    reflection: ReflectionMode | Reflection | None = Field(
        None,
        description="how the conversation thinks before it acts: a mode, or one with its limits; "
        "none named: as suits the role",
    )
    attempts: int = Field(2, ge=1, le=10)
    on_failure: Literal["stop", "unverified", "ignore"] = Field(
        "stop",
        description="when all attempts failed: the run fails, or it goes on and ends unverified "
        "at best, or it goes on as if nothing were",
    )

    @model_validator(mode="after")
    def _has_something_to_do(self) -> "Step":
        if not (self.prompt or self.template or self.action):
            raise ValueError("a step needs a `prompt` (or a `template`, or an `action`)")
        return self

    @property
    def thinks(self) -> Reflection:
        """How its conversation thinks, by what the step says or by its role."""
        said = self.reflection or BY_ROLE.get(self.role.partition(":")[0], "native")
        return said if isinstance(said, Reflection) else Reflection(mode=said)


class Loop(Document):
    """How often a body is repeated; each type is checked before every iteration."""

    type: Literal["for", "forEach", "while", "until"]
    max_iterations: int = Field(ge=1, le=MAX_ITERATIONS)
    items: str = Field("", description="forEach: where in the context its list is")
    on_missing: Literal["error", "skip"] = Field(
        "error", description="forEach without a list: the run can't go on, or the loop is skipped"
    )
    count: float | str | None = Field(None, description="for: a number, or where one is")
    condition: Condition | None = None
    iteration_var: Variable = "currentIteration"
    item_var: Variable = "currentItem"
    index_var: Variable = "currentIndex"

    @model_validator(mode="after")
    def _has_what_its_type_needs(self) -> "Loop":
        if self.type == "forEach" and not self.items:
            raise ValueError("a forEach loop needs `items`: the name of a list in the context")
        if self.type in ("while", "until") and self.condition is None:
            raise ValueError(f"a {self.type} loop needs a `condition`")
        if self.type == "for" and self.count in (None, ""):
            raise ValueError("a for loop needs a `count`: a number or a name in the context")
        if isinstance(self.count, float) and self.count < 0:
            raise ValueError("`count` is negative: it is how often the body is repeated")
        return self


class LoopStep(_Common):
    """A body of steps that is repeated: inline, or the id of a step that stands elsewhere."""

    type: Literal["loop"]
    loop: Loop
    body: Id | Annotated[tuple[Step, ...], Field(min_length=1)]

    @property
    def steps(self) -> tuple[Step, ...]:
        """The body of a loop whose references are resolved (see `Workflow.resolved`)."""
        assert not isinstance(self.body, str), "an unresolved body"
        return self.body


def _kind(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    looped = kind is not None or (isinstance(value, dict) and "loop" in value)
    return "loop" if looped else "step"


AnyStep = Annotated[
    Annotated[LoopStep, Tag("loop")] | Annotated[Step, Tag("step")], Discriminator(_kind)
]


class Workflow(Document):
    """A named, ordered list of steps."""

    id: Id
    name: Title
    description: str = Field(min_length=1, max_length=512)
    version: Version
    preconditions: tuple[str, ...] = Field((), description="what has to be there before it begins")
    clarification_prompts: tuple[str, ...] = Field((), description="what to find out first")
    meta_guidance: tuple[str, ...] = Field((), description="rules for every step")
    function_definitions: tuple[Function, ...] = ()
    context: dict[str, Json] = Field(
        default_factory=dict, description="variables that a run begins with, unless it has its own"
    )
    system: str = Field("", description="template of the system prompt that all steps share")
    steps: tuple[AnyStep, ...] = Field(min_length=1)

    @property
    def phases(self) -> tuple[str, ...]:
        """The phases in order; steps that name the same phase belong together."""
        return tuple(dict.fromkeys(step.phase or step.id for step in self.steps))

    @property
    def all_steps(self) -> tuple[Step, ...]:
        """Every step of a resolved workflow, those of loops included."""
        each = (step.steps if isinstance(step, LoopStep) else (step,) for step in self.steps)
        return tuple(chain.from_iterable(each))

    def resolved(self) -> "Workflow":
        """The same with every body inline: a step that is a loop's body does not stand alone."""
        named = {step.id: step for step in self.steps if isinstance(step, Step)}
        bodies = {step.body for step in self.steps if isinstance(step, LoopStep)
                  and isinstance(step.body, str)}  # fmt: skip
        steps = tuple(
            step.model_copy(update={"body": (named[step.body],)})
            if isinstance(step, LoopStep) and isinstance(step.body, str)
            else step
            for step in self.steps
            if step.id not in bodies
        )
        return self.model_copy(update={"steps": steps})
