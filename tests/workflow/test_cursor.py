"""The cursor against a plain interpreter, over workflows, contexts and journals of all shapes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from foundry.errors import JournalError
from foundry.schema.journal import ENTRY, Attempt, Entry, Resume, Start, StepRecord, Stop
from foundry.schema.run import Status
from foundry.schema.workflow import LoopStep, Step, Workflow
from foundry.workflow.conditions import holds
from foundry.workflow.cursor import (
    Blocked,
    Cursor,
    Finished,
    Instruction,
    after,
    begin,
    complete,
    due,
    next_step,
)
from foundry.workflow.replay import replay

AT = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = ("a", "b", "n")
MOST = 4

numbers = st.integers(0, MOST)
variables = st.sampled_from((*NAMES, "currentIteration", "missing"))
comparisons = st.one_of(
    st.builds(
        lambda name, word, number: {"var": name, word: number},
        variables,
        st.sampled_from(("equals", "not_equals", "gt", "gte", "lt", "lte")),
        numbers,
    ),
    st.builds(lambda name, members: {"var": name, "in": members}, variables, st.lists(numbers)),
    st.builds(lambda name, digits: {"var": name, "matches": digits}, variables, st.just("^[12]$")),
    st.builds(lambda name: {"var": name}, variables),
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
        {
            "id": st.just(prefix),
            "title": st.just("T"),
            "prompt": st.just("P"),
            "attempts": st.integers(1, 3),
        },
        optional={"runCondition": conditions, "phase": st.sampled_from(("one", "two"))},
    )


loops = st.one_of(
    st.just({"type": "forEach", "items": "items"}),
    st.just({"type": "forEach", "items": "missing", "onMissing": "skip"}),
    st.builds(
        lambda n: {"type": "for", "count": n},
        st.one_of(st.integers(0, MOST), st.sampled_from(("n", "missing"))),
    ),
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
            del step["attempts"], step["prompt"]
            step |= {"type": "loop", "body": body, "loop": loop}
            if draw(st.booleans()):  # the same body as a step of its own, somewhere else
                step["body"] = body[0]["id"]
                body[0].pop("runCondition", None)
                steps.insert(draw(st.integers(0, len(steps))), body[0])
        steps.append(step)
    return document(steps).resolved()


def document(steps: list[dict[str, Any]]) -> Workflow:
    about = {"id": "w", "name": "W", "description": "D", "version": "1.0.0"}
    return Workflow.model_validate({**about, "steps": steps})


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
        items = list(context["items"]) if step.loop.items == "items" else []
        for iteration in range(step.loop.max_iterations):
            extra = {"currentIteration": iteration + 1}
            if step.loop.type == "forEach" and iteration < len(items):
                extra |= {"currentItem": items[iteration], "currentIndex": iteration}
            if not goes_on(step, iteration, items, {**context, **extra}):
                break
            for body in step.steps:
                if holds(body.run_condition, {**context, **extra}):
                    yield from done(f"{step.id}[{iteration + 1}]/{body.id}", {**context, **extra})


def goes_on(step: LoopStep, iteration: int, items: Sequence[Any], scope: Mapping[str, Any]) -> bool:
    match step.loop.type:
        case "forEach":
            return iteration < len(items)
        case "for":
            count = step.loop.count
            return iteration < (scope.get(count, 0) if isinstance(count, str) else count)
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


def step_of(workflow: Workflow, name: str) -> Step:
    steps = [s for each in workflow.steps for s in getattr(each, "steps", (each,))]
    return next(step for step in steps if step.id == name.rsplit("/", maxsplit=1)[-1])


@given(cases, st.data())
def test_failures_and_pauses_change_no_step(case: Case, data: st.DataObject) -> None:
    undisturbed = [name for name, _ in played(case)[1]]
    journal: list[Entry] = [case.start]
    while not isinstance(coming := next_step(case.workflow, journal), Finished):
        if isinstance(coming, Blocked):
            allowed = step_of(case.workflow, coming.step).attempts
            assert coming.tries == allowed
            assert coming.reason == f"why {len(journal) - 1}"
            journal += paused(journal, Status.FAILED)
            again = next_step(case.workflow, journal)
            assert isinstance(again, Instruction)
            assert (again.id, again.attempt) == (coming.step, 1)
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


@given(cases)
def test_who_keeps_no_journal_comes_to_the_same(case: Case) -> None:
    journal, given_out = played(case)
    done = [name for name, _ in given_out]
    cursor = begin(case.workflow, case.start.context, case.start.skip)
    for length in range(len(journal)):
        told = replay(case.workflow, done[:length], cursor.context) if length else None
        coming = due(case.workflow, cursor)
        assert coming == next_step(case.workflow, journal[: length + 1])
        if told and not case.start.skip:
            assert getattr(due(case.workflow, told), "id", None) == getattr(coming, "id", None)
        if isinstance(coming, Instruction):
            cursor = complete(case.workflow, cursor, case.patch(length))


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
    body = [{"id": "do", "title": "T", "prompt": "P"}]
    return document([
        {"id": "each", "title": "T", "type": "loop", "loop": loop, "body": body},
        {"id": "end", "title": "T", "prompt": "P"},
    ])  # fmt: skip


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
    assert ended.warnings == ("each: maximum iterations (2) reached: the loop was ended",)


@pytest.mark.parametrize("items", [None, 3, "abc", {"a": 1}])
def test_what_is_no_list_blocks_the_run_until_a_person_provides_one(items: object) -> None:
    workflow = each_item()
    journal: list[Entry] = [begun(items)]
    blocked = next_step(workflow, journal)
    assert isinstance(blocked, Blocked)
    assert (blocked.step, blocked.code) == ("each", "missing-items")
    assert "'items'" in blocked.reason
    assert "onMissing: skip" in blocked.hint
    stop, resume = paused(journal, Status.FAILED)
    assert next_step(workflow, [*journal, stop, resume]) == blocked
    mended = resume.model_copy(update={"patch": {"items": ["a"]}})
    assert items_of(workflow, [*journal, stop, mended]) == ["a", None]


def test_a_loop_may_be_passed_over_when_its_list_is_missing() -> None:
    workflow = each_item(onMissing="skip")
    ended = due(workflow, complete(workflow, begin(workflow, {"items": "abc"})))
    assert isinstance(ended, Finished)
    assert ended.warnings == (
        "each: 'items', which it repeats over, is no list but str: the loop was skipped",
    )


def test_an_empty_list_is_no_reason_to_warn() -> None:
    coming = next_step(each_item(), [begun([])])
    assert isinstance(coming, Instruction)
    assert coming.id == "end"


def test_a_confirmation_is_asked_once_and_given_by_taking_the_run_up() -> None:
    workflow = document([
        {"id": "a", "title": "T", "prompt": "P", "requireConfirmation": {"var": "n", "gt": 1}},
        {"id": "b", "title": "T", "prompt": "P", "requireConfirmation": True},
    ])  # fmt: skip
    case = Case(workflow, begun([]), [{}])

    def needs(journal: list[Entry]) -> tuple[str, bool]:
        coming = next_step(workflow, journal)
        assert isinstance(coming, Instruction)
        return coming.id, coming.needs_confirmation

    free = case.start.model_copy(update={"context": {"n": 1}})
    asked = case.start.model_copy(update={"context": {"n": 2}})
    assert needs([free]) == ("a", False)
    assert needs([asked]) == ("a", True)
    stop, resume = paused([asked], Status.PAUSED)
    assert needs([asked, stop, resume]) == ("a", True)  # stopped for another reason
    journal = [asked, stop.model_copy(update={"confirm": "a"}), resume]
    assert needs(journal) == ("a", False)
    coming = next_step(workflow, journal)
    assert isinstance(coming, Instruction)
    assert needs([*journal, failed(journal, coming)]) == ("a", False)
    assert needs([*journal, record(case, journal, coming)]) == ("b", True)


def test_a_loop_is_confirmed_when_it_is_entered_and_not_again() -> None:
    workflow = each_item()
    loop = workflow.steps[0].model_copy(update={"require_confirmation": True})
    workflow = workflow.model_copy(update={"steps": (loop, *workflow.steps[1:])})
    cursor, asked = begin(workflow, {"items": [1, 2]}), []
    while isinstance(coming := due(workflow, cursor), Instruction):
        asked.append(coming.needs_confirmation)
        cursor = complete(workflow, cursor)
    assert asked == [True, False, False]


def test_a_body_step_knows_with_what_it_was_due_before() -> None:
    workflow = each_item()
    cursor = begin(workflow, {"items": ["a", "b"], "n": 0})
    seen = []
    for number in range(2):
        coming = due(workflow, cursor)
        assert isinstance(coming, Instruction)
        seen.append((coming.entering, coming.previous and dict(coming.previous)))
        cursor = complete(workflow, cursor, {"n": number + 1})
    assert seen[0] == (True, None)
    before = {"items": ["a", "b"], "n": 0}
    loop = {"currentIteration": 1, "currentItem": "a", "currentIndex": 0}
    assert seen[1] == (False, {**before, **loop})


def test_a_document_brings_variables_that_the_run_may_replace() -> None:
    workflow = each_item().model_copy(update={"context": {"items": [1], "mode": "calm"}})
    assert begin(workflow, {"items": [2]}).context == {"items": [2], "mode": "calm"}


def test_a_cursor_is_a_value() -> None:
    start = begun(["a"])
    cursor = after(each_item(), Cursor(), start)
    assert cursor == after(each_item(), Cursor(), start)
    assert cursor._replace(attempts=1) != cursor
