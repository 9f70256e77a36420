"""What a kind of step is: one value, in one file of `engine/steps/` or of an installed package.

A workflow names the kind of a step in its field `contract`; a step that the harness does itself
names an action instead. The engine knows no kind by name: it looks them up here.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from foundry.conversation.brief import Outcome
from foundry.engine.step_context import StepContext
from foundry.plugins import Registry
from foundry.schema.command import CheckResult
from foundry.schema.events import Event
from foundry.schema.examination import Examination
from foundry.schema.flag import Flag
from foundry.schema.journal import Entry, StepRecord
from foundry.schema.workflow import LoopStep, Step, Workflow
from foundry.workflow.cursor import Instruction


@dataclass(frozen=True, slots=True)
class GateResult:
    """What a gate found: problems go back to the model, the rest into the journal."""

    problems: tuple[str, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    files: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    """What a person should know of it, and a reviewer."""
    examination: Examination | None = None


@dataclass(frozen=True)
class Result:
    """The effect of a step, ready for the transaction. `subject` is a conventional commit line.

    `patch` sets variables of the run. `effect` runs between the gate and the commit: something
    outside the project that may safely happen twice.
    """

    subject: str
    summary: str
    patch: Mapping[str, Any] = field(default_factory=dict)
    artifacts: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    decisions: tuple[str, ...] = ()
    """What was settled and later steps have to know: goes into the session notes."""
    effect: Callable[[], None] | None = None
    event: Callable[[StepRecord], Event] | None = None
    """What observers hear once the step is committed, beside that it ended."""

    @property
    def message(self) -> str:
        """The commit message."""
        return "\n\n".join(part for part in (self.subject, self.body) if part)


Kept = tuple[Result, GateResult]
"""What an ending leaves that no submission decides."""


@dataclass(frozen=True, slots=True)
class Performed:
    """A step's conversation when it is over, with the evidence of its accepted submission.

    `kept` is what its kind keeps of it where it ended without one.
    """

    outcome: Outcome
    evidence: GateResult
    kept: Kept | None = None


def _schema_decides(_ctx: StepContext, _submission: BaseModel) -> GateResult:
    return GateResult()


def _no_values(_ctx: StepContext) -> Mapping[str, Any]:
    return {}


def _anywhere(_loop: LoopStep | None) -> str:
    return ""


def _as_written(due: Instruction, _entries: tuple[Entry, ...]) -> Step:
    return due.step


def _no_views(_workflow: Workflow, _entries: tuple[Entry, ...]) -> Mapping[str, str]:
    return {}


def _no_headline(_entries: tuple[Entry, ...]) -> str:
    return ""


@dataclass(frozen=True)
class StepKind:
    """A step that a conversation does. Without `edits`, what it changed in the project is undone.

    `submission` is what the model hands in: its fields' descriptions are what the model reads.
    `gate` judges it and never takes the model's word; `result` is what an accepted one becomes.
    Gate and result are given the validated submission.
    """

    name: str
    submission: type[BaseModel]
    result: Callable[[StepContext, Any, GateResult], Result]
    gate: Callable[[StepContext, Any], GateResult] = _schema_decides
    values: Callable[[StepContext], Mapping[str, Any]] = _no_values
    """What its prompt is filled with, beside what every prompt is (prompt_values.py)."""
    judged: Callable[[Any], str] = BaseModel.model_dump_json
    """The text of a submission that the validation criteria of a step judge."""
    edits: bool = False
    builds: bool = False
    """Whether it makes the project by a plan: what it made is told to the steps after it."""
    assignment: Callable[[StepContext], str] | None = None
    """What it is to do, in few words, where title, prompt and spec do not say it."""
    misplaced: Callable[[LoopStep | None], str] = _anywhere
    """Why it can't stand where a workflow has it, in this loop or in none; empty: it can."""
    hold: Callable[[StepContext], Performed | None] | None = None
    """Another way than one conversation; None from it: one conversation it is."""
    cut_short: Callable[[StepContext, Outcome], Kept | None] | None = None
    """What is kept of a conversation that ended without a submission; None: a failed attempt."""
    tuned: Callable[[Instruction, tuple[Entry, ...]], Step] = _as_written
    """The step as it is to be done now: a run may change its budget or role as it learns."""
    views: Callable[[Workflow, tuple[Entry, ...]], Mapping[str, str]] = _no_views
    """Artifacts that are rendered anew from the journal with its every line."""
    headline: Callable[[tuple[Entry, ...]], str] = _no_headline
    """What a run made, in a sentence, for its ending."""


Acted = tuple[Result, GateResult]


@dataclass(frozen=True)
class StepAction:
    """A step that the harness does itself; `act` gives None when a person has to decide first."""

    name: str
    act: Callable[[StepContext], Acted | None]
    runs_checks: bool = False


STEPS: Registry[StepKind] = Registry(
    "step",
    {
        "summary": "foundry.engine.steps.summary:SUMMARY",
        "scout": "foundry.engine.steps.scout:SCOUT",
        "architect": "foundry.engine.steps.architect:ARCHITECT",
        "builder": "foundry.engine.steps.builder:BUILDER",
        "fix-plan": "foundry.engine.steps.fix:FIX_PLAN",
        "fix": "foundry.engine.steps.fix:FIX",
        "review": "foundry.engine.steps.review:REVIEW",
        "reproduce": "foundry.engine.steps.review:REPRODUCE",
        "docs": "foundry.engine.steps.docs:DOCS",
        "docs-review": "foundry.engine.steps.review:DOCS_REVIEW",
        "docs-reproduce": "foundry.engine.steps.review:DOCS_REPRODUCE",
        "deploy": "foundry.engine.steps.deploy:DESCRIBE",
        "feedback": "foundry.engine.steps.feedback:FEEDBACK",
    },
    lambda part: isinstance(part, StepKind),
)

ACTIONS: Registry[StepAction] = Registry(
    "action",
    {
        "baseline": "foundry.engine.steps.checks:BASELINE",
        "checks": "foundry.engine.steps.checks:CHECKS",
        "proof": "foundry.engine.steps.checks:PROOF",
        "learn": "foundry.engine.steps.feedback:LEARN",
        "deploy": "foundry.engine.steps.deploy:DEPLOY",
    },
    lambda part: isinstance(part, StepAction),
)


def kind_of(step: Step) -> StepKind:
    """The kind of a step; raises PluginError for one that nobody brings."""
    return STEPS.get(step.contract)


def action_of(step: Step) -> StepAction:
    """The action of a step that has one; raises PluginError for one that nobody brings."""
    return ACTIONS.get(step.action)


def views_of(workflow: Workflow, entries: tuple[Entry, ...]) -> dict[str, str]:
    """The artifacts that the kinds of a workflow render from its journal, by name."""
    views: dict[str, str] = {}
    for kind in _kinds(workflow):
        views |= kind.views(workflow, entries)
    return views


def headline_of(workflow: Workflow, entries: tuple[Entry, ...]) -> str:
    """What a run made, in the words of the first of its kinds that has some."""
    headlines = (kind.headline(entries) for kind in _kinds(workflow))
    return next(filter(None, headlines), "")


def built_by(workflow: Workflow, step: str) -> bool:
    """Whether a journalled step made something of the project by a plan."""
    builders = {each.id for each in workflow.all_steps if not each.action and kind_of(each).builds}
    return step.rsplit("/", 1)[-1] in builders


def task_step(workflow: Workflow, number: int) -> str:
    """The step that builds the task of this number (from 1), or nothing without such a loop."""
    for outer in workflow.steps:
        if not isinstance(outer, LoopStep) or outer.loop.items != "tasks":
            continue
        for step in outer.steps:
            if not step.action and kind_of(step).builds:
                return f"{outer.id}[{number}]/{step.id}"
    return ""


def has_checks(workflow: Workflow) -> bool:
    """Whether a step of the workflow runs the checks."""
    return any(step.action and action_of(step).runs_checks for step in workflow.all_steps)


def _kinds(workflow: Workflow) -> Iterator[StepKind]:
    names = dict.fromkeys(step.contract for step in workflow.all_steps if not step.action)
    return (STEPS.get(name) for name in names)
