"""The reports of conversations that worked side by side become one."""

from typing import Any

import pytest

from foundry.circular.merge import joint_report
from foundry.circular.schema import PartitionReport, Report


def part(name: str, *, merged: bool = True) -> PartitionReport:
    why = "" if merged else "others changed a.py too"
    return PartitionReport(
        id=name, title=f"The {name}", parts=(name,), ending="submitted", merged=merged, why=why
    )


def report(name: str, verdict: Any = "done", **fields: Any) -> Report:
    given = {"kind": "work", "ending": "submitted", "reason": "completion"}
    said = {"evidence": f"saw {name}", "resolved": [f"{name} mended"], "found": [name]}
    return Report.model_validate({**given, **said, "verdict": verdict, **fields})


def test_what_was_not_merged_is_not_resolved_and_is_left_to_do() -> None:
    both = joint_report(
        [(part("store"), report("store")), (part("cli", merged=False), report("cli")),
         (part("docs", merged=False), None)],
        "2 parts",
    )  # fmt: skip
    assert both.resolved == ("store mended",) and both.found == ("store", "cli")
    assert both.verdict == "more" and both.remaining == (
        "The cli: others changed a.py too", "The docs: others changed a.py too",
    )  # fmt: skip
    assert both.evidence == "The store: saw store\nThe cli: saw cli"
    assert both.reasons == {"partitions": "2 parts"}


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (("done", "done"), "done"),
        (("done", "more"), "more"),
        (("done", "blocked"), "blocked"),
        (("blocked", "more"), "more"),
        (("done", None), "more"),
        ((None, None), None),
    ],
)
def test_the_verdict_of_several(verdicts: tuple[str | None, ...], expected: str | None) -> None:
    ends = [(part(f"p{n}"), report(f"p{n}", each)) for n, each in enumerate(verdicts)]
    assert joint_report(ends, "").verdict == expected


def test_the_most_alarming_reason_is_that_of_all() -> None:
    full = report("cli", None, ending="restart", reason="threshold", errors=["b", "a"])
    whole = joint_report([(part("store"), report("store")), (part("cli"), full)], "")
    assert (whole.verdict, whole.reason, whole.errors) == ("more", "threshold", ("a", "b"))
