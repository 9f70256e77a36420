"""A conversation in a clean copy of the project: what it changes there is thrown away.

The copy is a clone of HEAD, in which the harness has run the project's set-up.
"""

from dataclasses import replace

from foundry.engine.perform import perform
from foundry.engine.scratch_worktree import remove_place, set_up_copy
from foundry.engine.step_context import StepContext
from foundry.engine.step_kind import Performed
from foundry.errors import WorkflowError
from foundry.schema.command import result_of
from foundry.schema.events import Note
from foundry.store.artifacts import read_checks
from foundry.store.project import FOLDER, LOCAL

GROUND = "clean_copy"
"""The variable of such a conversation that holds the tree of its copy as it was made ready."""


def in_clean_copy(ctx: StepContext) -> Performed:
    """Hold the conversation of a step there; raises what `perform` raises."""
    aside = set_up_copy(
        ctx.project, ctx.repository, ctx.start.run, lambda text: ctx.observe(Note(text))
    )
    there = replace(
        ctx,
        project=aside.project,
        repository=aside.repository,
        hold_head=aside.hold_head,
    )
    try:
        _make_ready(there)
        ground = {**ctx.context, GROUND: aside.repository.stage_all()}
        return perform(replace(there, instruction=replace(ctx.instruction, context=ground)))
    finally:
        remove_place(aside.project.root)


def cleaned(ctx: StepContext) -> None:
    """Make the copy what it was when it was ready, but for what git ignores.

    Raises WorkflowError outside a clean copy.
    """
    if GROUND not in ctx.context:
        raise WorkflowError(f"{ctx.instruction.id}: this conversation is not in a clean copy")
    ctx.repository.restore_to(ctx.context[GROUND])


def _make_ready(ctx: StepContext) -> None:
    """Run the project's set-up, which its checks need as well."""
    (ctx.project.root / FOLDER / LOCAL).mkdir(parents=True, exist_ok=True)
    checks = read_checks(ctx.project)
    for check in checks.setup if checks else ():
        limits = ctx.command_limits(check.timeout_seconds)
        ran = ctx.sandbox.run(check.command, cwd=ctx.project.root, limits=limits)
        if not ctx.observed(result_of(check.name, "setup", ran)).holds:
            return
