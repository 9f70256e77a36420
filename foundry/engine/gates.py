"""What the gates of several kinds of step ask. What a model says is never evidence here."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from foundry.engine.step_context import StepContext, own_files
from foundry.engine.step_kind import GateResult
from foundry.schema.command import CheckKind, CheckResult, result_of
from foundry.schema.plan import Check

VERIFY_SECONDS = 900
SHOWN_OUTPUT = 3_000


def committable(ctx: StepContext) -> GateResult:
    """What was changed can be committed; that nothing was is no problem."""
    problems = uncommittable(ctx)
    return GateResult(problems) if problems else GateResult((), (), staged_files(ctx))


def staged_files(ctx: StepContext) -> tuple[str, ...]:
    """Stage everything and tell which of the project's files differ from HEAD."""
    tree = ctx.repository.stage_all()
    return own_files(ctx.repository.changed_between("HEAD", tree))


def uncommittable(ctx: StepContext, files: Iterable[str] = ()) -> tuple[str, ...]:
    """Why something that was made would not be in its commit; `files` are those of a task."""
    problems = [
        f"{path} is a git repository of its own, so its files would not be committed: remove "
        f"{path}/.git"
        for path in ctx.repository.nested()
    ]
    made = [each for each in files if is_file_inside(ctx.project.root, each)]
    ignored = ctx.repository.ignored(made)
    problems += [f"{path} is ignored by git: it would not be committed" for path in ignored]
    return tuple(problems)


def run_commands(
    ctx: StepContext, commands: Mapping[str, str], seconds: float = VERIFY_SECONDS
) -> tuple[CheckResult, ...]:
    """Run a task's own commands, by name, and undo what each leaves in the tree."""
    checks = (
        Check(name=name, command=command, timeout_seconds=seconds)
        for name, command in commands.items()
    )
    return tuple(run_once(ctx, check, "verify") for check in checks)


def run_once(ctx: StepContext, check: Check, kind: CheckKind) -> CheckResult:
    """Run a check's command and undo what it leaves in the tree."""
    snapshot = ctx.repository.stage_all()
    limits = ctx.command_limits(check.timeout_seconds)
    result = ctx.sandbox.run(check.command, cwd=ctx.project.root, limits=limits)
    ctx.repository.restore_to(snapshot)
    return result_of(check.name, kind, result)


def failures(checks: Iterable[CheckResult]) -> tuple[str, ...]:
    """The checks that don't hold, with the end of their output, for the model to mend."""
    return tuple(
        f"{check.name}: `{check.command.strip()}` ended with {check.verdict}. The end of its "
        f"output:\n{check.output[-SHOWN_OUTPUT:].strip()}"
        for check in checks
        if not check.holds
    )


def is_file_inside(root: Path, path: str) -> bool:
    """Whether a path that a model named is a file, and in the project wherever links lead."""
    try:
        target = Path(os.path.realpath(root / path))
        return target.is_relative_to(os.path.realpath(root)) and target.is_file()
    except (OSError, ValueError):  # too long, or no path at all
        return False
