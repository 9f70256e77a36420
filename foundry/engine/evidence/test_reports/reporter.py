"""Makes known runners say what they ran, whoever calls them, and reads it afterwards.

What a hook wrote comes first. Files and printed lines speak for runners without one, since a test
can write and print what it likes. Where a hook can't load, a command runs as it would without.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from os import pathsep
from pathlib import Path

from foundry.engine.evidence.test_reports.printed import read_printed
from foundry.engine.evidence.test_reports.written import read_written
from foundry.engine.evidence.test_reports.xml_files import collected, promised
from foundry.schema.command import TestCounts
from foundry.schema.tests_by_id import FAILING, Outcome, TestReport, by_id

HOOKS = Path(__file__).parent / "hooks"


@dataclass(frozen=True, slots=True)
class Reporter:
    """One run of one command. `folder` is empty, outside the project, and this run's alone."""

    folder: Path

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """The variables that the command needs on top of `base`, its environment; what `base` has
        of them is kept."""
        preload = json.dumps(str(HOOKS / "node/preload.cjs"), ensure_ascii=False)
        rspec = shlex.quote(str(HOOKS / "ruby/foundry_rspec.rb"))
        return {
            "FOUNDRY_TEST_REPORTS": str(self.folder),
            "PYTHONPATH": _joined(pathsep, str(HOOKS / "python"), base.get("PYTHONPATH")),
            "NODE_OPTIONS": _joined(" ", base.get("NODE_OPTIONS"), f"--require {preload}"),
            "SPEC_OPTS": _joined(" ", base.get("SPEC_OPTS"), f"--require {rspec}"),
            "GOFLAGS": _joined(" ", _goflags(base), "-v"),
        }

    def read(self, output: str, root: Path, started: float, junit: str = "") -> TestReport | None:
        """What ran: None when neither hook nor file nor printed line tells of tests.

        `output` is what the command printed, `root` the folder it ran in, `started` the time before
        it was started (seconds since the epoch), `junit` the file that was promised.
        """
        known: list[TestReport] = []
        if written := read_written(self.folder, root):
            known.append(written)
        if files := collected(root, started):
            known.append(by_id("junit xml", files))
        report = _combined(known, read_printed(output))
        file = promised(root, junit, started)
        return report if file is None else _with_promised(report, file)


def _joined(separator: str, *parts: str | None) -> str:
    return separator.join(part for part in parts if part)


def _goflags(base: Mapping[str, str]) -> str:
    """Go's flags, also those that `go env -w` keeps in a file: a variable would hide them."""
    if "GOFLAGS" in base:
        return base["GOFLAGS"]
    home = base.get("XDG_CONFIG_HOME") or str(Path(base.get("HOME") or "/nonexistent", ".config"))
    try:
        lines = Path(base.get("GOENV") or Path(home, "go", "env")).read_text().splitlines()
    except (OSError, ValueError):
        return ""
    return next((line[8:] for line in lines if line.startswith("GOFLAGS=")), "")


def _combined(known: Sequence[TestReport], printed: Sequence[TestReport]) -> TestReport | None:
    """One report: beside known ids only other known ids count, so that what a test prints can't
    take them away."""
    seen = {runner for report in known for runner in report.runner.split(", ")}
    others = [report for report in printed if report.runner not in seen]
    if known:
        return reduce(_and, (*known, *(report for report in others if report.ids_known)))
    return reduce(_and, others) if others else None


def _and(one: TestReport, other: TestReport) -> TestReport:
    outcomes: dict[str, Outcome] = {**one.outcomes, **other.outcomes}
    reasons = dict.fromkeys(filter(None, (one.incomplete, other.incomplete)))
    runner = f"{one.runner}, {other.runner}"
    more = {"deselected": one.deselected + other.deselected, "incomplete": "; ".join(reasons)}
    if one.ids_known and other.ids_known:
        return by_id(runner, outcomes, **more)
    failing = {name: outcome for name, outcome in outcomes.items() if outcome in FAILING}
    return TestReport.model_validate(
        {"runner": runner, "outcomes": failing, "counts": one.counts + other.counts, **more}
    )


def _with_promised(report: TestReport | None, file: Mapping[str, Outcome]) -> TestReport:
    """The promised file in addition: alone it speaks; beside known ids only its failures do.

    Its ids have another form than a hook's, and a project can write it by hand.
    """
    if report is None or not report.ids_known:
        return by_id("junit xml", file, promised_found=True)
    failed = {name: outcome for name, outcome in file.items() if outcome in FAILING}
    if not failed or report.failing:
        return report.model_copy(update={"promised_found": True})
    counts = report.counts + TestCounts(total=len(failed), failed=len(failed))
    outcomes = {**report.outcomes, **failed}
    return report.model_copy(
        update={"outcomes": outcomes, "counts": counts, "promised_found": True}
    )
