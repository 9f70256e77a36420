"""The Test phase and the baseline: the harness runs the checks and reads their exit codes."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from foundry.engine import views
from foundry.engine.desk import Desk, own_files
from foundry.engine.junit import read_junit, report_file
from foundry.engine.result import Result
from foundry.schema.checks import CheckKind, CheckResult, result_of
from foundry.schema.command import CommandLimits
from foundry.schema.events import Note
from foundry.schema.plan import Check, Checks
from foundry.store.artifacts import read_checks
from foundry.store.project import FINAL_REPORT, ITERATION_COUNT, results_name

MAX_FIXES = 3
"""How often a failing project is healed before the run goes on unverified."""


def run_baseline(desk: Desk) -> tuple[Result, tuple[CheckResult, ...]]:
    """The checks on the ground as it was found: failures here are not this run's to heal."""
    checks, _ = _run_all(desk, baseline=())
    failing = [check for check in checks if not check.holds]
    for check in failing:
        desk.observe(Note(f"{check.name} failed before anything was changed: {check.verdict}"))
    summary = f"{len(checks) - len(failing)} of {len(checks)} checks hold before this run"
    return Result("docs(foundry): baseline of the checks", summary), checks


def run_checks(desk: Desk) -> tuple[Result, tuple[CheckResult, ...]]:
    """One test iteration: results on disk, and whether there is anything left to heal."""
    iteration = desk.iteration
    baseline = desk.last("baseline")
    checks, changed = _run_all(desk, baseline.checks if baseline else ())
    passed = bool(checks) and all(check.holds for check in checks)
    settled = passed or not checks or iteration > MAX_FIXES
    artifacts = {
        results_name(iteration): views.test_results(iteration, checks, changed),
        ITERATION_COUNT: f"{iteration}\n",
    }
    if settled:
        artifacts[FINAL_REPORT] = views.final_report(iteration, passed, checks)
    failing = sum(1 for check in checks if not check.holds)
    verdict = "all hold" if passed else f"{failing} failing" if checks else "nothing to run"
    result = Result(
        f"test: iteration {iteration}, {verdict}",
        f"{len(checks)} checks, {verdict}",
        patch={"tests": {"passed": passed, "settled": settled, "iterations": iteration}},
        artifacts=artifacts,
    )
    return result, checks


def _run_all(
    desk: Desk, baseline: Sequence[CheckResult]
) -> tuple[tuple[CheckResult, ...], tuple[str, ...]]:
    """Set up, then run every check; afterwards the tree is what it was before."""
    checks = read_checks(desk.project) or Checks()
    snapshot = desk.repository.stage_all()
    results: list[CheckResult] = []
    for check in checks.setup:
        result = _run(desk, check, "setup")
        if not result.holds:
            results.append(desk.told(result))
            results += [_not_run(kind, each) for kind, each in _verifying(checks)]
            break
    else:
        before = {result.name: result for result in baseline}
        for kind, check in _verifying(checks):
            result = _judge(_run(desk, check, kind), before.get(check.name))
            results.append(desk.told(result))
    changed = own_files(desk.repository.restore_to(snapshot))
    return tuple(results), changed


def _verifying(checks: Checks) -> Iterable[tuple[CheckKind, Check]]:
    yield from (("test", check) for check in checks.test)
    yield from (("lint", check) for check in checks.lint)
    yield from (("run", check) for check in checks.run)


def _run(desk: Desk, check: Check, kind: CheckKind) -> CheckResult:
    root = desk.project.root
    _forget(root, check.junit)
    limits = CommandLimits(wall_seconds=check.timeout_seconds, idle_seconds=check.timeout_seconds)
    result = result_of(check.name, kind, desk.sandbox.run(check.command, cwd=root, limits=limits))
    report = read_junit(root, check.junit)
    if report is None:
        return result
    return result.model_copy(update={"tests": report.counts, "failing": report.failing})


def _judge(result: CheckResult, before: CheckResult | None) -> CheckResult:
    """A failure that was there before is not this run's, as far as test ids can tell them apart.

    Without ids the same ending has to do: a check that failed with the same exit code.
    """
    if result.status != "failed" or before is None or before.status != "failed":
        return result
    if result.tests and before.tests:
        known = bool(result.failing) and set(result.failing) <= set(before.failing)
        same = known and result.tests.failed <= before.tests.failed  # long lists are cut
    else:
        same = result.exit_code is not None and result.exit_code == before.exit_code
    return result.model_copy(update={"status": "preexisting"}) if same else result


def _not_run(kind: CheckKind, check: Check) -> CheckResult:
    return CheckResult(
        name=check.name, kind=kind, command=check.command, status="not_run", verdict="not run"
    )


def _forget(root: Path, junit: str) -> None:
    """A report of an earlier run must not speak for this one."""
    if file := report_file(root, junit):
        file.unlink()
