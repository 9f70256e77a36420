"""The Test phase and the baseline: the harness runs the checks and reads their exit codes."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from foundry.context.overview.document import renewed
from foundry.engine.junit import read_junit, report_file
from foundry.engine.markdown import bullets, check_table, document, section
from foundry.engine.step_context import StepContext, own_files, scratch
from foundry.engine.step_kind import Acted, Result, StepAction
from foundry.schema.command import CheckKind, CheckResult, result_of
from foundry.schema.events import Note
from foundry.schema.plan import Check, Checks
from foundry.store.artifacts import read_checks
from foundry.store.git.trees import remove_tree
from foundry.store.project import CONTEXT, FINAL_REPORT, FOLDER, ITERATION_COUNT, results_name

SHOWN_OUTPUT = 3_000
"""Characters of a failing check's output in the results."""

MAX_FIXES = 3
"""How often a failing project is healed before the run goes on unverified."""


def run_baseline(ctx: StepContext) -> Acted:
    """The checks on the ground as it was found: failures here are not this run's to heal."""
    checks, _ = _run_all(ctx, baseline=())
    failing = [check for check in checks if not check.holds]
    for check in failing:
        ctx.observe(Note(f"{check.name} failed before anything was changed: {check.verdict}"))
    summary = f"{len(checks) - len(failing)} of {len(checks)} checks hold before this run"
    return Result("docs(foundry): baseline of the checks", summary), checks


def run_checks(ctx: StepContext) -> Acted:
    """One test iteration: results on disk, and whether there is anything left to heal."""
    iteration = ctx.iteration
    baseline = ctx.last("baseline")
    before = baseline.checks if baseline else ()
    checks, changed = checked(ctx, before)
    passed = bool(checks) and all(check.holds for check in checks)
    settled = passed or not checks or iteration > MAX_FIXES
    artifacts = {
        results_name(iteration): test_results(iteration, checks, changed),
        ITERATION_COUNT: f"{iteration}\n",
    }
    if context := renewed(ctx.project.root):  # the conversations that follow start from it
        artifacts[CONTEXT] = context
    if settled:
        artifacts[FINAL_REPORT] = final_report(iteration, passed, checks)
    failing = sum(1 for check in checks if not check.holds)
    verdict = "all hold" if passed else f"{failing} failing" if checks else "nothing to run"
    result = Result(
        f"test: iteration {iteration}, {verdict}",
        f"{len(checks)} checks, {verdict}",
        patch={"tests": {"passed": passed, "settled": settled, "iterations": iteration}},
        artifacts=artifacts,
    )
    return result, checks


def checked(
    ctx: StepContext, before: Sequence[CheckResult] = (), *, again: bool = True
) -> tuple[tuple[CheckResult, ...], tuple[str, ...]]:
    """Every check in the tree, and `again` in a fresh clone when all hold there.

    Also returns the files that the checks changed, which is undone. What failed in `before` in
    the same way is not held against the project.
    """
    checks, changed = _run_all(ctx, before)
    return (_shown_again(ctx, checks, before) if again else checks), changed


def _run_all(
    ctx: StepContext, baseline: Sequence[CheckResult]
) -> tuple[tuple[CheckResult, ...], tuple[str, ...]]:
    """Every check in the tree; afterwards the tree is what it was before."""
    snapshot = ctx.repository.stage_all()
    results = _run_in(ctx, ctx.project.root, _checks(ctx), baseline)
    changed = own_files(ctx.repository.restore_to(snapshot))
    return results, changed


def _shown_again(
    ctx: StepContext, results: tuple[CheckResult, ...], baseline: Sequence[CheckResult]
) -> tuple[CheckResult, ...]:
    """The checks in a fresh clone of what is committed, when they all hold in the tree.

    What git ignores or can't hold is not in the clone: a result that leans on it is no result.
    """
    if not results or not all(result.holds for result in results):
        return results
    copy = scratch(ctx)
    try:
        ctx.hold_head()  # the checks may have moved it
        ctx.repository.clone(copy)
        (copy / FOLDER / "local").mkdir(parents=True, exist_ok=True)
        again = _run_in(ctx, copy, _checks(ctx), baseline)
    finally:
        remove_tree(copy)
    if all(result.holds for result in again):
        return again
    return tuple(
        result
        if result.holds
        else result.model_copy(update={"output": _ONLY_IN_THE_TREE + result.output})
        for result in again
    )


_ONLY_IN_THE_TREE = (
    "(This holds in the work tree and fails in a fresh clone of what is committed: it needs "
    "something that git ignores or can't hold, or that another command had left behind.)\n"
)


def _checks(ctx: StepContext) -> Checks:
    """checks.json, and with it what the person asked for (`--check`), which nobody can edit."""
    return (read_checks(ctx.project) or Checks()).also(ctx.start.checks)


def _run_in(
    ctx: StepContext, root: Path, checks: Checks, baseline: Sequence[CheckResult]
) -> tuple[CheckResult, ...]:
    """Set up, then run every check in `root`."""
    results: list[CheckResult] = []
    for check in checks.setup:
        result = _run(ctx, root, check, "setup")
        if not result.holds:
            results.append(ctx.observed(result))
            return (*results, *(_not_run(kind, each) for kind, each in _verifying(checks)))
    before = {result.name: result for result in baseline}
    for kind, check in _verifying(checks):
        result = _judge(_run(ctx, root, check, kind), before.get(check.name))
        results.append(ctx.observed(result))
    return tuple(results)


def _verifying(checks: Checks) -> Iterable[tuple[CheckKind, Check]]:
    yield from (("test", check) for check in checks.test)
    yield from (("lint", check) for check in checks.lint)
    yield from (("run", check) for check in checks.run)


def _run(ctx: StepContext, root: Path, check: Check, kind: CheckKind) -> CheckResult:
    if not ctx.repository.tracks(check.junit):
        _forget(root, check.junit)
    ran = ctx.sandbox.run(check.command, cwd=root, limits=ctx.command_limits(check.timeout_seconds))
    result = result_of(check.name, kind, ran)
    report = read_junit(root, check.junit)
    if report is None:
        return result
    counted = {"tests": report.counts, "failing": report.failing}
    if result.status == "passed" and (report.counts.failed or not report.counts.total):
        what = f"{report.counts.failed} failed" if report.counts.total else "no test was run"
        counted |= {"status": "failed", "verdict": f"{result.verdict}, but {what}"}
    return result.model_copy(update=counted)


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


def test_results(iteration: int, checks: Sequence[CheckResult], changed: Sequence[str]) -> str:
    """test-results-iteration-N.md."""
    failing = [check for check in checks if not check.holds]
    holding = len(checks) - len(failing)
    verdict = "All checks hold." if not failing else f"{holding} of {len(checks)} checks hold."
    return document(
        f"# Test results, iteration {iteration}",
        verdict if checks else "There is no check to run.",
        check_table(checks),
        *(_failure(check) for check in failing),
        section(
            "Changed by the checks themselves and undone",
            bullets(f"`{path}`" for path in changed),
        ),
    )


def final_report(iterations: int, passed: bool, checks: Sequence[CheckResult]) -> str:
    """test-final-report.md."""
    before = [check for check in checks if check.status == "preexisting"]
    if not checks:
        verdict = "**Unverified**: there is no check to run."
    elif passed:
        verdict = f"**Passed** after {iterations} test run{'s' if iterations > 1 else ''}."
    else:
        verdict = f"**Failed**: still failing after {iterations} test runs."
    return document(
        "# Final test report",
        verdict,
        check_table(checks),
        section(
            "Failing since before this build",
            bullets(f"{c.name}: {', '.join(c.failing) or c.verdict}" for c in before),
        ),
    )


def _failure(check: CheckResult) -> str:
    fence = "~~~~~~"
    output = check.output[-SHOWN_OUTPUT:].strip().replace(fence, "~~~")
    return document(
        f"## {check.name}",
        bullets(f"failing: `{test}`" for test in check.failing),
        f"{fence}text\n{output or '(no output)'}\n{fence}",
    ).strip()


BASELINE = StepAction("baseline", run_baseline)
CHECKS = StepAction("checks", run_checks, runs_checks=True)
