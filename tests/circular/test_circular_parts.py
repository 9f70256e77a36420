"""Which parts of a task are done, and when an iteration is the work of one conversation."""

from datetime import UTC, datetime
from typing import Any

import pytest

from foundry.circular.assignment import Given, assigned
from foundry.circular.history import ASSIGNMENT, MARK
from foundry.circular.merge import together
from foundry.circular.partitions import alone, done_parts, is_about
from foundry.circular.schema import (
    Failure,
    IterationStatus,
    Mark,
    Measure,
    Part,
    PartitionReport,
    Report,
)
from foundry.schema.journal import Entry, Start, StepRecord

AT = datetime(2026, 1, 2, tzinfo=UTC)
CONTEXT = """\
project: {name: Greeter}
objective: {primary: Finish it}
parts:
  - {id: store, title: The store, paths: ["src/store/**"]}
  - {id: cli, title: The commands, paths: [src/cli.py]}
"""
PARTS = (
    Part(id="store", title="The store", paths=("src/store/**",)),
    Part(id="cli", title="The commands", paths=("src/cli.py",)),
)


def entries(*marks: Mark) -> tuple[Entry, ...]:
    assignment = assigned("Do it.", context=Given(CONTEXT, "base.yaml"))
    context = {ASSIGNMENT: assignment.model_dump(mode="json", exclude_none=True)}
    start = Start(seq=1, at=AT, run="r", spec="Do it.", workflow="circular", workflow_hash="",
                  context=context)  # fmt: skip
    steps = (
        StepRecord(seq=number, at=AT, run="r", step=f"iterations[{number}]/work", phase="p",
                   patch={MARK: mark.model_dump(mode="json", exclude_none=True)})
        for number, mark in enumerate(marks, 2)
    )  # fmt: skip
    return (start, *steps)


def worked(**fields: Any) -> Mark:
    values = {"kind": "work", "ending": "submitted", "reason": "completion", "verdict": "more"}
    return Mark(number=1, report=Report.model_validate({**values, **fields}))


def measured(*ids: str) -> Mark:
    failures = (Failure(check="tests", ids=ids),) if ids else ()
    return Mark(number=1, measure=Measure(status=IterationStatus.CONTINUE, failures=failures))


BOTH = worked(parts_done=["store", "cli"])
DONE: dict[str, tuple[tuple[Mark, ...], set[str]]] = {
    "nothing is said": ((worked(),), set()),
    "a thread says so": ((BOTH,), {"store", "cli"}),
    "of no such part": ((worked(parts_done=["x"]),), set()),
    "and names what is left of it": (
        (worked(parts_done=["cli"], remaining=["src/cli.py:3: old()"]),), set()),
    "a later one finds a file of it": ((BOTH, worked(found=["see src/store/a.py"])), {"cli"}),
    "a check fails there": ((BOTH, measured("src/store/test_a.py::test_b")), {"cli"}),
    "a check fails elsewhere": ((BOTH, measured("test_a.py::test_b")), {"store", "cli"}),
    "a doubt names one": (
        (BOTH, worked(kind="doubt", remaining=["cli: the help text"])), {"store"}),
    "a doubt names none": ((BOTH, worked(kind="doubt", remaining=["the README"])), set()),
    "a doubt agrees": ((BOTH, worked(kind="doubt", verdict="done")), {"store", "cli"}),
}  # fmt: skip


@pytest.mark.parametrize("name", DONE)
def test_a_part_is_done_until_something_is_found_in_it(name: str) -> None:
    marks, expected = DONE[name]
    assert done_parts(entries(*marks)) == expected


def side(name: str, *, merged: bool = True, verdict: Any = "done") -> PartitionReport:
    return PartitionReport(
        id=name, title=f"The {name}", parts=(name,), ending="submitted", verdict=verdict,
        merged=merged, why="" if merged else "others changed a.py too",
    )  # fmt: skip


def test_parts_worked_on_side_by_side_are_done_when_they_were_merged() -> None:
    beside = worked(partitions=[side("store"), side("cli", merged=False)])
    assert done_parts(entries(beside)) == {"store"}
    assert done_parts(entries(worked(partitions=[side("cli", verdict="more")]))) == set()
    assert alone(entries(beside)) == "alone: could not be merged: The cli"
    assert alone(entries(beside, worked())) == ""
    assert alone(entries(BOTH, worked(kind="doubt"))) == "alone: what a doubt found"
    assert alone(entries()) == ""


def test_a_text_is_about_a_part_that_it_names_or_a_file_of_it() -> None:
    store, cli = PARTS
    assert is_about(store, "the store is not closed") and is_about(store, "`src/store/a/b.py:3`")
    assert not is_about(store, "the storage in src/stores/a.py, src/cli.py")
    assert is_about(cli, "Look at src/cli.py.") and not is_about(cli, "the client")


def test_what_was_not_merged_is_not_resolved_and_is_left_to_do() -> None:
    def report(name: str, **fields: Any) -> Report:
        given = {"evidence": f"saw {name}", "resolved": [f"{name} mended"], "found": [name]}
        mark = worked(**{"verdict": "done", **given, **fields})
        assert mark.report
        return mark.report

    both = together(
        [(side("store"), report("store")), (side("cli", merged=False), report("cli")),
         (side("docs", merged=False), None)],
        "2 parts", AT,
    )  # fmt: skip
    assert both.resolved == ("store mended",) and both.found == ("store", "cli")
    assert both.verdict == "more" and both.remaining == (
        "The cli: others changed a.py too", "The docs: others changed a.py too",
    )  # fmt: skip
    assert both.evidence == "The store: saw store\nThe cli: saw cli"
    whole = together([(side("store"), report("store")), (side("cli"), report("cli"))], "", AT)
    assert whole.verdict == "done" and whole.remaining == ()
    full = {"verdict": None, "ending": "restart", "reason": "threshold"}
    cut = together([(side("store"), report("store")), (side("cli"), report("cli", **full))], "", AT)
    assert (cut.verdict, cut.reason) == ("more", "threshold")
