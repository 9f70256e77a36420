"""From events to lines: the one place that words what happens in a run.

The live view, the plain view and `foundry log` show the same lines.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from foundry.redact import redacted
from foundry.report import details, units
from foundry.report.details import QUIET, end_line, round_line, round_lines
from foundry.report.lines import CHECK_MARKS, FAILED, NEUTRAL, OK, RESET, Figures, Line, Lines, Tone
from foundry.report.run_lines import banner, ending, iteration_began, iteration_ended, part_ended
from foundry.schema.events import (
    AttemptFailed,
    CheckRan,
    Compacted,
    Event,
    IterationEnded,
    IterationStarted,
    Note,
    PartEnded,
    Reflected,
    ReflectionEnded,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
    Waiting,
)

Detail = Literal["steps", "all", "heads", "everything"]
"""`steps`: what begins, ends and goes wrong; `all`: reasoning, calls and results as well;
`everything`: also what follows from other lines; `heads`: of that a line for each event."""

COMPACTION: dict[str, Callable[[int], str]] = {
    "mask": lambda count: f"{units.counted(count, 'old tool result')} masked",
    "outdated": lambda count: f"{units.counted(count, 'outdated result')} dropped",
    "summary": lambda count: f"{units.counted(count, 'message')} summed up",
}


@dataclass
class _Phase:
    """What the steps of a phase used so far; told when a phase had several."""

    name: str
    steps: int = 0
    seconds: float = 0.0
    tokens: int = 0
    costs: list[float | None] = field(default_factory=list)
    context: float = 0.0


@dataclass
class Narrator:
    """Tells a run, without the secrets that `secrets` knows or that look like some."""

    detail: Detail = "steps"
    secrets: tuple[str, ...] = ()
    started: RunStarted | None = None
    step: StepStarted | None = None
    phase: _Phase | None = None
    checks: list[str] = field(default_factory=list)
    reasons: dict[bool, dict[str, str]] = field(default_factory=dict)
    """Why the last iteration, and the last doubt, was set up so: that is not told again."""

    def tell(self, event: Event) -> Lines:
        """The lines that an event is worth; often none."""
        event = self.clean(event)
        if method := _METHODS.get(type(event)):
            return method(self, event)
        detailed = _DETAILS.get(self.detail)
        return detailed(event) if detailed else ()

    def clean(self, event: Event) -> Event:
        """The event without secrets."""
        texts = {each.name: getattr(event, each.name) for each in fields(event)}
        return replace(event, **{name: redacted(v, self.secrets) for name, v in texts.items()})

    def label(self) -> str:
        """The step that runs now, as its lines are headed: `builder 2/5`."""
        return label(self.step) if self.step else ""

    # -- one method an event -----------------------------------------------------------------

    def _run_started(self, event: RunStarted) -> Lines:
        self.started = event
        return banner(event)

    def _step_started(self, event: StepStarted) -> Lines:
        before = () if self.phase and self.phase.name == event.phase else self._leave_phase()
        self.step, self.checks = event, []
        self.phase = self.phase or _Phase(event.phase)
        again = f" · attempt {event.attempt}" if event.attempt > 1 else ""
        if event.conversation:
            text = f"{RESET} · {label(event)}{again}"
            return (*before, Line(text, tone="dim"))
        return before

    def _step_ended(self, event: StepEnded) -> Lines:
        step = self.step if self.step and self.step.step == event.step else None
        if self.phase:
            self.phase.steps += 1
            self.phase.seconds += event.seconds
            if event.conversation:
                self.phase.tokens += event.tokens
                self.phase.costs.append(event.cost_usd)
                self.phase.context = max(self.phase.context, event.context_share)
        mark, tone = self._verdict(event)
        figures = Figures(
            event.seconds,
            event.tokens,
            event.cost_usd,
            event.context_share if event.conversation else None,
            event.commit,
        )
        text = event.title if event.conversation else f"{event.title}: {event.summary}"
        head = label(step) if step else event.phase
        self.step = None
        return (Line(text, mark, head, tone, figures),)

    def _verdict(self, event: StepEnded) -> tuple[str, Tone]:
        """Only what a gate or a check has shown gets a tick."""
        if event.conversation:
            return OK, "good"
        if "failed" in self.checks or "not_run" in self.checks:
            return FAILED, "bad"
        return (OK, "good") if self.checks else (NEUTRAL, "plain")

    def _attempt_failed(self, event: AttemptFailed) -> Lines:
        head = self.label() or event.step
        text = f"attempt {event.attempt} failed ({event.reason.replace('_', ' ')}): {event.detail}"
        lines = [Line(f"{head}: {text}", FAILED, tone="bad", fit="wrap")]
        if event.salvage:
            lines.append(
                Line(f"its work is kept in {event.salvage}", tone="dim", indent=1, fit="whole")
            )
        self.step = None
        return tuple(lines)

    def _check(self, event: CheckRan) -> Lines:
        self.checks.append(event.status)
        mark, tone = CHECK_MARKS.get(event.status, (NEUTRAL, "plain"))
        verdict = event.verdict
        if event.status == "preexisting":
            verdict += ", as before this run"
        rest = f"{verdict} · {units.duration(event.seconds)}"
        return (Line(event.name, mark, tone=tone, indent=1, rest=rest),)

    def _waiting(self, event: Waiting) -> Lines:
        wait = units.duration(event.seconds)
        text = f"{event.reason}: retry {event.attempt} in {wait}"
        return (Line(text, NEUTRAL, tone="warn", indent=1, fit="wrap"),)

    def _reflected(self, event: Reflected) -> Lines:
        brief = self.detail in ("steps", "heads")
        return (round_line(event),) if brief else round_lines(event)

    def _reflection_ended(self, event: ReflectionEnded) -> Lines:
        quiet = self.detail == "steps" and event.reason in QUIET
        return () if quiet else (end_line(event),)

    def _compacted(self, event: Compacted) -> Lines:
        before, after = units.tokens(event.tokens_before), units.tokens(event.tokens_after)
        what = ", ".join(COMPACTION[stage](count) for stage, count in event.stages.items()
                         if stage in COMPACTION)  # fmt: skip
        text = f"{what}: context {before} → {after} tokens"
        return (Line(text, tone="dim", indent=1),)

    def _iteration_started(self, event: IterationStarted) -> Lines:
        before = self.reasons.get(event.doubt, {})
        self.reasons[event.doubt] = {**before, **event.reasons}
        return iteration_began(event, before)

    def _part_ended(self, event: PartEnded) -> Lines:
        return part_ended(event)

    def _iteration_ended(self, event: IterationEnded) -> Lines:
        return iteration_ended(event)

    def _note(self, event: Note) -> Lines:
        return (Line(event.text, NEUTRAL, tone="warn", indent=1 if self.step else 0, fit="wrap"),)

    def _run_ended(self, event: RunEnded) -> Lines:
        resume = self.started.resume if self.started else ""
        return (*self._leave_phase(), *ending(event, resume))

    def _leave_phase(self) -> Lines:
        phase, self.phase = self.phase, None
        if phase is None or phase.steps < 2:
            return ()
        cost = units.total(phase.costs)
        figures = Figures(phase.seconds, phase.tokens, cost, phase.context if phase.costs else None)
        return (Line(units.counted(phase.steps, "step"), NEUTRAL, phase.name, "strong", figures),)


_METHODS: dict[type[Event], Callable[[Narrator, Any], Lines]] = {
    RunStarted: Narrator._run_started,
    StepStarted: Narrator._step_started,
    StepEnded: Narrator._step_ended,
    AttemptFailed: Narrator._attempt_failed,
    CheckRan: Narrator._check,
    Waiting: Narrator._waiting,
    Reflected: Narrator._reflected,
    ReflectionEnded: Narrator._reflection_ended,
    Compacted: Narrator._compacted,
    IterationStarted: Narrator._iteration_started,
    PartEnded: Narrator._part_ended,
    IterationEnded: Narrator._iteration_ended,
    Note: Narrator._note,
    RunEnded: Narrator._run_ended,
}

_DETAILS: dict[Detail, Callable[[Event], Lines]] = {
    "all": details.whole,
    "heads": details.heads,
    "everything": details.everything,
}


def label(step: StepStarted) -> str:
    """`scout`, `builder 2/5`, `test 1`."""
    if not step.number:
        return step.phase
    return (
        f"{step.phase} {step.number}/{step.total}" if step.total else f"{step.phase} {step.number}"
    )
