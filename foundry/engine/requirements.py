"""What each requirement has for it, from the journal alone. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from foundry.engine.step_kind import task_step
from foundry.schema.command import CheckResult
from foundry.schema.examination import Examination
from foundry.schema.journal import Entry, Resume, StepRecord
from foundry.schema.plan import Plan, Requirement, Task
from foundry.schema.summary import CheckEvidence, CriterionEvidence, RequirementEvidence, State
from foundry.schema.workflow import Workflow

WORST_FIRST: tuple[State, ...] = ("missing", "claimed", "tested", "proven")


def requirements(
    plan: Plan | None, built: Mapping[str, StepRecord], shas: Mapping[str, str],
    final: Sequence[CheckResult], examination: Examination | None,
) -> tuple[RequirementEvidence, ...]:  # fmt: skip
    """Every requirement of the plan with its criteria and the least that one of them has.

    `built` are the accepted tasks by id, `shas` the commits by step, `final` the results of the
    last run of the checks.
    """
    now = {check.name: check for check in final if check.kind == "verify"}
    unshown = examination.unshown if examination else ()
    found = []
    for requirement in plan.requirements if plan else ():
        criteria = tuple(
            _criterion(task, number, built.get(task.id), shas, now, unshown)
            for task in (plan.tasks if plan else ())
            for number, each in enumerate(task.acceptance, 1)
            if each.requirement == requirement.id
        )
        had = {each.state for each in criteria} or {"missing"}
        state = next(each for each in WORST_FIRST if each in had)
        found.append(
            RequirementEvidence(
                **requirement.model_dump(), state=_told(requirement, state), criteria=criteria
            )
        )
    return tuple(found)


def built_tasks(workflow: Workflow, entries: Sequence[Entry]) -> dict[str, StepRecord]:
    """The accepted tasks of the plan by id, each with the record of the step that built it.

    Which tasks there are, a step or a person who took the run up said last.
    """
    by_step = {each.step: each for each in entries if isinstance(each, StepRecord)}
    said = [e.patch for e in entries if isinstance(e, StepRecord | Resume) and "tasks" in e.patch]
    tasks: Any = said[-1]["tasks"] if said else ()
    keys = ((task["id"], task_step(workflow, number)) for number, task in enumerate(tasks, 1))
    return {task: by_step[key] for task, key in keys if key in by_step}


def last(records: Sequence[StepRecord], name: str) -> Any:
    """The newest value of a variable that only steps of the harness set; None: never set."""
    return next((r.patch[name] for r in reversed(records) if name in r.patch), None)


def last_look(records: Iterable[StepRecord]) -> StepRecord | None:
    """The newest record of a run of the checks, which is what a verdict goes by."""
    looks = [each for each in records if each.examination or "tests" in each.patch]
    return looks[-1] if looks else None


def _told(requirement: Requirement, state: State) -> State:
    """Of what no command can tell, a command that passes shows no more than a claim."""
    return "claimed" if not requirement.testable and state != "missing" else state


def _criterion(
    task: Task, number: int, record: StepRecord | None, shas: Mapping[str, str],
    now: Mapping[str, CheckResult], unshown: Sequence[str],
) -> CriterionEvidence:  # fmt: skip
    name = task.shown_by(number)
    then = next((check for check in record.checks if check.name == name), None) if record else None
    final = now.get(name)
    shown = final or then
    blind = name in unshown and name == f"verify {task.id}" and task.kind == "behaviour"
    return CriterionEvidence(
        criterion=task.acceptance[number - 1].criterion,
        task=task.id,
        state=_state(then, final, blind=blind) if record else "missing",
        before=then.before if then else None,
        check=check_evidence(shown) if shown else None,
        commit=shas.get(record.step, "") if record else "",
    )


def _state(then: CheckResult | None, final: CheckResult | None, *, blind: bool) -> State:
    """What a criterion has, by its command's ending before the work, after it, and at the end.

    A command is `blind` that should see what is new and passes without it, whatever is done to the
    code. One that guards a limit may well never fail.
    """
    if final is None:
        return "claimed"  # nothing from an earlier commit stands for the final one
    if not final.holds:
        return "missing"
    red = then and then.before and then.before.exit_code not in (None, 0)
    if red and then and then.command == final.command:  # which a person may have changed since
        return "proven"
    return "claimed" if blind else "tested"


def check_evidence(check: CheckResult) -> CheckEvidence:
    """A check as evidence tells it."""
    return CheckEvidence(
        name=check.name, command=check.command, status=check.status, exit_code=check.exit_code,
        tests=check.tests,
    )  # fmt: skip
