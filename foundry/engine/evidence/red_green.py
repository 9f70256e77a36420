"""Red before green: a command that shows work has to fail without it.

It is run over the code before the work, with the tests that the work brings: so what it says is
about the code. In the work tree and not in a clone, where what git ignores (an environment, built
files) would be missing and the command would fail for want of that.
"""

from collections.abc import Mapping, Sequence

from foundry.engine.evidence.test_files import is_test_file
from foundry.engine.gates import run_commands
from foundry.engine.recover import BEFORE
from foundry.engine.step_context import StepContext
from foundry.schema.command import CheckResult, CommandEnding
from foundry.schema.journal import step_slug

IGNORE = ".gitignore"
"""Stays as well: without it what it names would be cleaned away."""

SLOWER, PATIENCE = 3, 30.0
"""How much longer a command may take there than it did with the work, as a factor and in seconds:
what waits for what is not there yet waits for ever."""


def with_endings_before(
    ctx: StepContext,
    results: Sequence[CheckResult],
    commands: Mapping[str, str],
    files: Sequence[str],
) -> tuple[CheckResult, ...]:
    """The results of commands that hold, each with how it ended before `files` were changed."""
    named = [*commands.values()]
    tests = [path for path in files if is_test_file(path, named) or path.endswith(IGNORE)]
    seconds = PATIENCE + SLOWER * max(each.seconds for each in results)
    endings = _endings(ctx, commands, tests, seconds) if len(tests) < len(files) else {}
    return tuple(each.model_copy(update={"before": endings.get(each.name)}) for each in results)


def _endings(
    ctx: StepContext, commands: Mapping[str, str], tests: Sequence[str], seconds: float
) -> dict[str, CommandEnding]:
    after = ctx.repository.stage_all()
    scratch = ctx.repository.git_dir() / BEFORE
    before = ctx.repository.overlaid("HEAD", after, tests, scratch)
    kept = f"{ctx.start.run}/{step_slug(ctx.instruction.id)}-work"
    ctx.repository.pin(kept, ctx.repository.commit_of(after, "the work, while it is taken away"))
    ctx.repository.restore_to(before)
    try:
        results = run_commands(ctx, commands, seconds)
    finally:
        ctx.repository.restore_to(after)
    ctx.repository.unpin(kept)  # only a kill leaves it, and then the work is there to be found
    return {
        each.name: CommandEnding(exit_code=each.exit_code, verdict=each.verdict) for each in results
    }
