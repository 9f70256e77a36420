"""Running checks: their exit codes decide, and what their test runners tell can only take away."""

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from foundry.engine.evidence.places import Place
from foundry.engine.evidence.test_ledger import judge_tests, preexisting, runner_called
from foundry.engine.evidence.test_reports.reporter import Reporter
from foundry.engine.gates import VERIFY_SECONDS
from foundry.sandbox.environment import command_environment
from foundry.schema.command import CheckKind, CheckResult, result_of
from foundry.schema.plan import Check, Checks
from foundry.schema.tests_by_id import TestReport

KEPT_FAILURES = 200
"""Ids of failing tests that a result keeps."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A check that was run, and what its test runner told, where one did."""

    result: CheckResult
    report: TestReport | None = None


ALONE = ("verify", "finding")
"""Kinds of checks that find the files untouched by those before them."""

Commands = Iterable[tuple[CheckKind, Check]]


def verifying(checks: Checks) -> Iterator[tuple[CheckKind, Check]]:
    """The checks that say whether the project holds, with their kinds, in their order."""
    yield from (("test", check) for check in checks.test)
    yield from (("lint", check) for check in checks.lint)
    yield from (("run", check) for check in checks.run)


def shown_by(commands: Mapping[str, str]) -> Commands:
    """The commands of tasks, by name, as checks."""
    for name, command in commands.items():
        yield "verify", Check(name=name, command=command, timeout_seconds=VERIFY_SECONDS)


def run_checks_in(
    place: Place, setup: Iterable[Check], checks: Commands, before: Mapping[str, Ran]
) -> Iterator[Ran]:
    """Set up, then run every check, one at a time; nothing more once the set-up fails.

    `before` are the same checks as they ended before the run changed anything, by name.
    """
    for check in setup:
        ran = run_check(place, "setup", check)
        if not ran.result.holds:
            yield ran
            yield from (Ran(_not_run(kind, each)) for kind, each in checks)
            return
    place.mark()
    for kind, check in checks:
        if kind in ALONE:
            place.reset()
        yield judged(run_check(place, kind, check), before.get(check.name))


def run_check(place: Place, kind: CheckKind, check: Check) -> Ran:
    """Run one check. Where its exit code is 0 and its test runner says otherwise, it fails."""
    with TemporaryDirectory(prefix="foundry-reports-") as folder:
        reporter, started = Reporter(Path(folder)), time.time()
        more = reporter.environment(command_environment(os.environ))
        ended = place.run(check.command, check.timeout_seconds, more)
        report = reporter.read(ended.output, place.root, started, check.junit)
    result = result_of(check.name, kind, ended)
    if report:
        failing = report.failing[:KEPT_FAILURES]
        result = result.model_copy(update={"tests": report.counts, "failing": failing})
    if result.status == "passed" and (why := _against(kind, check, report)):
        said = {"status": "failed", "verdict": f"{result.verdict}, but {why}"}
        result = result.model_copy(update=said)
    return Ran(result, report)


def _against(kind: CheckKind, check: Check, report: TestReport | None) -> str:
    """Why a check that ended with 0 does not hold by what its test runner told."""
    if kind == "test" or report:
        return judge_tests(
            check.command,
            report,
            promised_junit=bool(check.junit),
            runner_expected=bool(runner_called(check.command)),
        )
    return ""


def judged(ran: Ran, before: Ran | None) -> Ran:
    """A failure of tests that failed before, by their ids, is not this run's."""
    if ran.result.status != "failed" or before is None or before.result.status != "failed":
        return ran
    if not preexisting(ran.report, before.report):
        return ran
    return Ran(ran.result.model_copy(update={"status": "preexisting"}), ran.report)


def _not_run(kind: CheckKind, check: Check) -> CheckResult:
    return CheckResult(
        name=check.name, kind=kind, command=check.command, status="not_run", verdict="not run"
    )
