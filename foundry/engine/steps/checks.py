"""Baseline, Test and proof: the harness runs the checks and reads their endings."""

from collections.abc import Sequence

from foundry.context.overview.document import renewed
from foundry.engine.evidence.look import BASELINE as UNCHANGED
from foundry.engine.evidence.look import Looked, look, look_apart, look_in_tree
from foundry.engine.evidence.test_ledger import to_json
from foundry.engine.markdown import bullets, check_table, document, section
from foundry.engine.requirements import last_look
from foundry.engine.step_context import StepContext, is_documentation, own_files
from foundry.engine.step_kind import Acted, GateResult, Result, StepAction
from foundry.schema.command import CheckResult
from foundry.schema.events import Note
from foundry.store.project import (
    CONTEXT,
    FINAL_REPORT,
    ITERATION_COUNT,
    TEST_LEDGER,
    results_name,
)

SHOWN_OUTPUT = 3_000
"""Characters of a failing check's output in the results."""

MAX_FIXES = 3
"""How often a failing project is healed before the run goes on unverified."""


def run_baseline(ctx: StepContext) -> Acted:
    """The checks on the ground as it was found: failures here are not this run's to heal."""
    looked = look_in_tree(ctx, UNCHANGED)
    failing = [check for check in looked.checks if not check.holds]
    for check in failing:
        ctx.observe(Note(f"{check.name} failed before anything was changed: {check.verdict}"))
    holding = len(looked.checks) - len(failing)
    result = Result(
        "docs(foundry): baseline of the checks",
        f"{holding} of {len(looked.checks)} checks hold before this run",
        artifacts={TEST_LEDGER: to_json(looked.ledger)},
    )
    return result, GateResult(checks=looked.checks)


def run_checks(ctx: StepContext) -> Acted:
    """One test iteration: results on disk, and whether there is anything left to heal."""
    iteration = ctx.iteration
    looked = look(ctx, str(iteration))
    passed = looked.holds
    settled = passed or not looked.ran or iteration > MAX_FIXES or _gave_up(ctx)
    artifacts = {
        results_name(iteration): test_results(iteration, looked.checks, looked.changed),
        ITERATION_COUNT: f"{iteration}\n",
        TEST_LEDGER: to_json(looked.ledger),
    }
    if context := renewed(ctx.project.root):  # the conversations that follow start from it
        artifacts[CONTEXT] = context
    if settled:
        artifacts[FINAL_REPORT] = final_report(iteration, passed, looked.checks)
    failing = sum(1 for check in looked.checks if not check.holds)
    verdict = "all hold" if passed else f"{failing} failing" if looked.ran else "nothing to run"
    result = Result(
        f"test: iteration {iteration}, {verdict}",
        f"{len(looked.checks)} checks, {verdict}",
        patch={"tests": {"passed": passed, "settled": settled, "iterations": iteration}},
        artifacts=artifacts,
    )
    return result, _found(looked)


def run_proof(ctx: StepContext) -> Acted:
    """The checks once more, at the commit that the run ends with: nothing earlier stands for it.

    That they can fail was seen when they last held, and is so for the same code.
    """
    before, commit = last_look(ctx.records), ctx.repository.head()
    earlier = before.examination if before else None
    changed = ctx.repository.changed_between(earlier.commit, commit) if earlier else ("",)
    same = all(is_documentation(path) for path in own_files(changed))
    tests = ctx.context.get("tests", {})
    looked = look_apart(ctx, "final", Looked(), closely=not same and bool(tests.get("passed")))
    evidence = _found(looked)
    if same and before and earlier and looked.holds:
        tests_now = looked.examination.tests if looked.examination else earlier.tests
        found = earlier.model_copy(update={"commit": commit, "tests": tests_now})
        evidence = GateResult(checks=looked.checks, flags=before.flags, examination=found)
    passed = looked.holds and bool(tests.get("passed"))
    failing = sum(1 for check in looked.checks if not check.holds)
    verdict = "all hold" if looked.holds else f"{failing} failing"
    result = Result(
        f"test: the final commit, {verdict}",
        f"{len(looked.checks)} checks, {verdict}",
        patch={"tests": {**tests, "passed": passed}} if tests else {},
    )
    return result, evidence


def _found(looked: Looked) -> GateResult:
    return GateResult(checks=looked.checks, flags=looked.flags, examination=looked.examination)


def _gave_up(ctx: StepContext) -> bool:
    """Whether nothing was mended since the checks last failed: then nothing else will come."""
    looks = [n for n, record in enumerate(ctx.records) if "tests" in record.patch]
    return bool(looks) and not any(record.files for record in ctx.records[looks[-1] + 1 :])


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
PROOF = StepAction("proof", run_proof, runs_checks=True)
