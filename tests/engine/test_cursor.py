"""The cursor against a plain interpreter, over workflows, contexts and journals of all shapes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from foundry.errors import JournalError, WorkflowError
from foundry.schema.journal import ENTRY, Attempt, Entry, Resume, Start, StepRecord, Stop
from foundry.schema.run import Status
from foundry.schema.workflow import LoopStep, Step, Workflow
from foundry.workflow.conditions import holds
from foundry.workflow.cursor import Blocked, Cursor, Finished, Instruction, after, due, next_step

AT = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = ("a", "b", "n")
MOST = 4

numbers = st.integers(0, MOST)
comparisons = st.builds(
    lambda name, word, number: {"var": name, word: number},
    st.sampled_from((*NAMES, "currentIteration", "missing")),
    st.sampled_from(("equals", "not_equals", "gt", "gte", "lt", "lte")),
    numbers,
)
conditions = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.builds(lambda parts: {"and": parts}, st.lists(inner, min_size=1, max_size=2)),
        st.builds(lambda parts: {"or": parts}, st.lists(inner, min_size=1, max_size=2)),
        st.builds(lambda part: {"not": part}, inner),
    ),
    max_leaves=3,
)
contexts = st.fixed_dictionaries({**dict.fromkeys(NAMES, numbers), "items": st.lists(numbers)})


def plain(prefix: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"id": st.just(prefix), "attempts": st.integers(1, 3)},
        optional={"runCondition": conditions, "phase": st.sampled_from(("one", "two"))},
    )


loops = st.one_of(
    st.just({"type": "forEach", "items": "items"}),
    st.builds(lambda n: {"type": "for", "count": n}, st.one_of(st.integers(1, MOST), st.just("n"))),
    st.builds(
        lambda type, condition: {"type": type, "condition": condition},
        st.sampled_from(("while", "until")),
        conditions,
    ),
)


@st.composite
def workflows(draw: st.DrawFn) -> Workflow:
    steps = []
    for number in range(draw(st.integers(1, 4))):
        name = f"s{number}"
        step = draw(plain(name))
        if draw(st.booleans()):
            body = [draw(plain(f"{name}-{each}")) for each in range(draw(st.integers(1, 3)))]
            loop = {**draw(loops), "maxIterations": draw(st.integers(1, MOST))}
            del step["attempts"]
            step |= {"type": "loop", "body": body, "loop": loop}
        steps.append(step)
    return Workflow.model_validate({"id": "w", "name": "W", "steps": steps})


@dataclass(frozen=True)
class Case:
    """A workflow, how its run begins, and what its steps put into the context, one by one."""

    workflow: Workflow
    start: Start
    patches: Sequence[Mapping[str, Any]]

    def patch(self, number: int) -> dict[str, Any]:
        return dict(self.patches[number % len(self.patches)])


cases = st.builds(
    Case,
    workflows(),
    st.builds(
        lambda context, skip: Start(
            seq=1,
            at=AT,
            run="r",
            spec="s",
            workflow="w",
            workflow_hash="h",
            context=context,
            skip=tuple(skip),
        ),
        contexts,
        st.lists(st.sampled_from(("one", "s0")), max_size=1),
    ),
    st.lists(st.dictionaries(st.sampled_from(NAMES), numbers, max_size=2), min_size=1, max_size=6),
)


def interpreted(case: Case) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What a workflow means, as ordinary loops: each step with the context that it sees."""
    context = dict(case.start.context)
    count = 0

    def done(name: str, seen: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        nonlocal count
        yield name, seen
        context.update(case.patch(count))
        count += 1

    for step in case.workflow.steps:
        if (step.phase or step.id) in case.start.skip or not holds(step.run_condition, context):
            continue
        if isinstance(step, Step):
            yield from done(step.id, dict(context))
            continue
        items = list(context["items"])
        for iteration in range(step.loop.max_iterations):
            extra = {"currentIteration": iteration + 1}
            if step.loop.type == "forEach" and iteration < len(items):
                extra |= {"currentItem": items[iteration], "currentIndex": iteration}
            if not goes_on(step, iteration, items, {**context, **extra}):
                break
            for body in step.body:
                if holds(body.run_condition, {**context, **extra}):
                    yield from done(f"{step.id}[{iteration + 1}]/{body.id}", {**context, **extra})


def goes_on(step: LoopStep, iteration: int, items: Sequence[Any], scope: Mapping[str, Any]) -> bool:
    match step.loop.type:
        case "forEach":
            return iteration < len(items)
        case "for":
            count = step.loop.count
            return iteration < (scope[count] if isinstance(count, str) else count)
        case "while":
            return holds(step.loop.condition, scope)
        case "until":
            return not holds(step.loop.condition, scope)


def record(case: Case, journal: Sequence[Entry], instruction: Instruction) -> StepRecord:
    number = sum(isinstance(entry, StepRecord) for entry in journal)
    return StepRecord(
        seq=len(journal) + 1, at=AT, run="r", step=instruction.id, phase=instruction.phase,
        attempt=instruction.attempt, patch=case.patch(number),
    )  # fmt: skip


def failed(journal: Sequence[Entry], instruction: Instruction) -> Attempt:
    return Attempt(
        seq=len(journal) + 1, at=AT, run="r", step=instruction.id, phase=instruction.phase,
        attempt=instruction.attempt, reason="turns", detail=f"why {len(journal)}",
    )  # fmt: skip


def paused(journal: Sequence[Entry], status: Status) -> list[Entry]:
    number = len(journal)
    return [
        Stop(seq=number + 1, at=AT, run="r", status=status, reason="asked"),
        Resume(seq=number + 2, at=AT, run="r"),
    ]


def played(case: Case) -> tuple[list[Entry], list[tuple[str, Mapping[str, Any]]]]:
    """The whole journal of a run without faults, and the steps as the cursor gave them."""
    journal: list[Entry] = [case.start]
    given_out = []
    while isinstance(instruction := next_step(case.workflow, journal), Instruction):
        given_out.append((instruction.id, instruction.context))
        journal.append(record(case, journal, instruction))
        assert len(journal) <= 1 + 4 * 3 * MOST, "does not end"
    assert isinstance(instruction, Finished)
    return journal, given_out


@given(cases)
def test_the_steps_are_those_of_an_ordinary_loop(case: Case) -> None:
    _, given_out = played(case)
    assert given_out == list(interpreted(case))
    names = [name for name, _ in given_out]
    assert len(set(names)) == len(names)


@given(cases)
def test_every_prefix_of_a_journal_goes_on_to_the_same_end(case: Case) -> None:
    journal, _ = played(case)
    lines = [entry.model_dump_json(exclude_none=True) for entry in journal]
    cursor = Cursor()
    for length, entry in enumerate(journal, 1):
        cursor = after(case.workflow, cursor, entry)
        read = [ENTRY.validate_json(line) for line in lines[:length]]
        coming = next_step(case.workflow, read)
        assert coming == due(case.workflow, cursor) == next_step(case.workflow, journal[:length])
        expected = journal[length].step if length < len(journal) else None
        assert getattr(coming, "id", None) == expected


@given(cases, st.data())
def test_failures_and_pauses_change_no_step(case: Case, data: st.DataObject) -> None:
    undisturbed = [name for name, _ in played(case)[1]]
    journal: list[Entry] = [case.start]
    while not isinstance(coming := next_step(case.workflow, journal), Finished):
        if isinstance(coming, Blocked):
            tries = coming.instruction.attempt - 1
            assert tries == coming.instruction.step.attempts
            assert coming.reason == f"why {len(journal) - 1}"
            journal += paused(journal, Status.FAILED)
            again = next_step(case.workflow, journal)
            assert isinstance(again, Instruction)
            assert (again.id, again.attempt) == (coming.instruction.id, 1)
            journal.append(record(case, journal, again))
            continue
        match data.draw(st.sampled_from(("go", "go", "fail", "pause"))):
            case "fail":
                journal.append(failed(journal, coming))
            case "pause":
                journal += paused(journal, Status.PAUSED)
                assert next_step(case.workflow, journal) == coming
                journal.append(record(case, journal, coming))
            case _:
                journal.append(record(case, journal, coming))
    assert [entry.step for entry in journal if isinstance(entry, StepRecord)] == undisturbed


@given(cases, st.data())
def test_a_journal_of_other_steps_is_refused(case: Case, data: st.DataObject) -> None:
    journal, _ = played(case)
    assume(len(journal) > 1)
    number = data.draw(st.integers(1, len(journal) - 1))
    strange = journal[number].model_copy(update={"step": "another"})
    with pytest.raises(JournalError, match="'another'"):
        next_step(case.workflow, [*journal[:number], strange])
    with pytest.raises(JournalError, match="the end"):
        next_step(case.workflow, [*journal, strange])


def each_item(**more: Any) -> Workflow:
    loop = {"type": "forEach", "items": "items", "maxIterations": 10, **more}
    body = [{"id": "do"}]
    steps = [{"id": "each", "type": "loop", "loop": loop, "body": body}, {"id": "end"}]
    return Workflow.model_validate({"id": "w", "name": "W", "steps": steps})


def begun(items: object) -> Start:
    return Start(seq=1, at=AT, run="r", spec="s", workflow="w", workflow_hash="h",
                 context={"items": items})  # fmt: skip


def items_of(workflow: Workflow, journal: list[Entry]) -> list[Any]:
    """Play to the end; the items that were given out."""
    case = Case(workflow, begun([]), [{}])
    seen = []
    while isinstance(coming := next_step(workflow, journal), Instruction):
        seen.append(coming.context.get("currentItem"))
        journal.append(record(case, journal, coming))
    return seen


@pytest.mark.parametrize("changed", [[], ["a"], ["a", "x"], ["a", "x", "y", "z"]])
def test_items_changed_by_hand_count_from_the_resume_on(changed: list[str]) -> None:
    workflow = each_item()
    case = Case(workflow, begun(["a", "b", "c"]), [{}])
    journal: list[Entry] = [case.start]
    first = next_step(workflow, journal)
    assert isinstance(first, Instruction)
    journal.append(record(case, journal, first))
    stop, resume = paused(journal, Status.PAUSED)
    journal += [stop, resume.model_copy(update={"patch": {"items": changed}})]
    assert items_of(workflow, journal) == [*changed[1:], None]


def test_too_many_items_are_a_warning_and_no_silence() -> None:
    workflow = each_item(maxIterations=2)
    journal: list[Entry] = [begun(["a", "b", "c"])]
    assert items_of(workflow, journal) == ["a", "b", None]
    ended = next_step(workflow, journal)
    assert isinstance(ended, Finished)
    assert ended.warnings == ("each: stopped after its maximum of 2 iterations",)


@pytest.mark.parametrize("items", [None, 3, "abc", {"a": 1}])
def test_what_is_no_list_is_an_error(items: object) -> None:
    with pytest.raises(WorkflowError, match="'items' is not a list"):
        next_step(each_item(), [begun(items)])


def test_a_cursor_is_a_value() -> None:
    start = begun(["a"])
    cursor = after(each_item(), Cursor(), start)
    assert cursor == after(each_item(), Cursor(), start)
    assert replace(cursor, attempts=1) != cursor
