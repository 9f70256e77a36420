"""Markdown artifacts, rendered from validated values. Read by models and people, never parsed."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from foundry.engine.result import Evidence
from foundry.schema.command import CheckResult
from foundry.schema.plan import ArchitectSubmission, Check, Plan, ScoutSubmission, Task
from foundry.schema.work import FixPlanSubmission
from foundry.workflow.cursor import Instruction

SHOWN_OUTPUT = 3_000


def scout_report(report: ScoutSubmission) -> str:
    """scout-report.md."""
    commands = [
        (kind, check)
        for kind in ("setup", "test", "lint", "run")
        for check in getattr(report.commands, kind)
    ]
    return _document(
        "# Scout report",
        report.summary,
        f"- Project type: {report.project_type}\n- Stack: {', '.join(report.tech_stack)}\n"
        f"- Size: {report.size}",
        _section("Findings", _bullets(report.findings)),
        _section("Conventions", _bullets(report.conventions)),
        _section("Risks", _bullets(f"{r.risk} → {r.mitigation}" for r in report.risks)),
        _section(
            "Open questions",
            _bullets(f"{q.question} Assumed: {q.assumption}" for q in report.questions),
        ),
        _section("Commands", _bullets(f"{kind}: {_command(check)}" for kind, check in commands)),
    )


def architecture(design: ArchitectSubmission) -> str:
    """architecture.md."""
    plan = design.plan
    return _document(
        "# Architecture",
        design.overview,
        _section("Decisions", _bullets(design.decisions)),
        _section(
            "Requirements",
            _bullets(f"**{r.id}** {r.text} (“{r.quote}”)" for r in plan.requirements),
        ),
        _section("Components", components(plan)),
        _section("Tasks", "\n".join(_task_line(n, t) for n, t in enumerate(plan.in_order(), 1))),
    )


def components(plan: Plan, files: Sequence[str] = ()) -> str:
    """The design of the components, or of those that the given files touch."""
    chosen = [c for c in plan.components if not files or _touches(c.files, files)]
    return "\n\n".join(f"### {c.name}\n\n{c.design}\n\nFiles: {_paths(c.files)}" for c in chosen)


def build_log_entry(
    instruction: Instruction, at: datetime, title: str, summary: str, evidence: Evidence
) -> str:
    """One entry of build-log.md: what a task or a fix made, and what shows it."""
    return _document(
        f"## {title}",
        f"{at:%Y-%m-%d %H:%M:%S} UTC · {instruction.id} · attempt {instruction.attempt}",
        summary,
        _titled("Files:", _bullets(f"`{path}`" for path in evidence.files)),
        _titled("Shown by:", _bullets(_ran(check) for check in evidence.checks)),
    )


def test_results(iteration: int, checks: Sequence[CheckResult], changed: Sequence[str]) -> str:
    """test-results-iteration-N.md."""
    failing = [check for check in checks if not check.holds]
    holding = len(checks) - len(failing)
    verdict = "All checks hold." if not failing else f"{holding} of {len(checks)} checks hold."
    return _document(
        f"# Test results, iteration {iteration}",
        verdict if checks else "There is no check to run.",
        check_table(checks),
        *(_failure(check) for check in failing),
        _section(
            "Changed by the checks themselves and undone",
            _bullets(f"`{path}`" for path in changed),
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
    return _document(
        "# Final test report",
        verdict,
        check_table(checks),
        _section(
            "Failing since before this build",
            _bullets(f"{c.name}: {', '.join(c.failing) or c.verdict}" for c in before),
        ),
    )


def fixes(iteration: int, plan: FixPlanSubmission) -> str:
    """fixes-iteration-N.md."""
    return _document(
        f"# Fix plan, iteration {iteration}",
        plan.diagnosis,
        _section("Causes", _bullets(f"{c.check}: {c.cause}" for c in plan.causes)),
        _section("Steps", "\n".join(f"{n}. {step}" for n, step in enumerate(plan.steps, 1))),
        _section("Files", _bullets(f"`{path}`" for path in plan.files)),
    )


def check_table(checks: Sequence[CheckResult]) -> str:
    """The checks as a table."""
    if not checks:
        return ""
    rows = ["| check | command | result | tests | seconds |", "|---|---|---|---|---|"]
    for check in checks:
        counts = check.tests
        tests = f"{counts.total - counts.failed - counts.skipped}/{counts.total}" if counts else ""
        command = check.command.replace("|", "\\|").replace("\n", " ; ")
        status = f"{check.status.replace('_', ' ')} ({check.verdict})"
        rows.append(f"| {check.name} | `{command}` | {status} | {tests} | {check.seconds:.1f} |")
    return "\n".join(rows)


def _failure(check: CheckResult) -> str:
    fence = "~~~~~~"
    output = check.output[-SHOWN_OUTPUT:].strip().replace(fence, "~~~")
    return _document(
        f"## {check.name}",
        _bullets(f"failing: `{test}`" for test in check.failing),
        f"{fence}text\n{output or '(no output)'}\n{fence}",
    ).strip()


def _task_line(number: int, task: Task) -> str:
    after = f" (after {', '.join(task.depends_on)})" if task.depends_on else ""
    criteria = "\n".join(f"   - {a.criterion} [{a.requirement}]" for a in task.acceptance)
    return f"{number}. **{task.id}**: {task.title}{after}\n{criteria}"


def _touches(own: Sequence[str], files: Sequence[str]) -> bool:
    return any(a == b or a.startswith(f"{b.rstrip('/')}/") or b.startswith(f"{a.rstrip('/')}/")
               for a in own for b in files)  # fmt: skip


def _command(check: Check) -> str:
    return f"`{check.command}` ({check.name})"


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n{text}" if text else ""


def _paths(paths: Iterable[str]) -> str:
    return ", ".join(f"`{path}`" for path in paths) or "none named"


def _titled(title: str, text: str) -> str:
    return f"{title}\n\n{text}" if text else ""


def _ran(check: CheckResult) -> str:
    return f"`{check.command}` → {check.verdict}"


def _document(*parts: str) -> str:
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"
