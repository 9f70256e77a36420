"""Put the work of conversations that worked side by side together, as far as the checks allow it.

All of it first, and one run of the checks: only where that makes something worse is each taken by
itself. What does not fit, or breaks what held before, stays out and is kept in a ref.
"""

from collections.abc import Mapping

from foundry.circular.failures import issues_between, read_failures
from foundry.circular.history import states_of
from foundry.circular.metrics import work
from foundry.circular.schema import Failure
from foundry.engine.checks import checked
from foundry.engine.step_context import StepContext

SHOWN = 5


def merge(ctx: StepContext, works: Mapping[str, str]) -> dict[str, str]:
    """Take work into the run's work tree; why not, for each that is left out.

    `works` are commits on top of HEAD by their names; empty where nothing was changed.
    """
    base = ctx.repository.stage_all()
    before = _failures_before(ctx)
    changed = {name: commit for name, commit in works.items() if commit}
    out = _taken(ctx, changed)
    fit = {name: commit for name, commit in changed.items() if name not in out}
    if not fit or not (worse := _worse(ctx, before)):
        return out
    ctx.repository.restore_to(base)
    if len(fit) == 1:
        return {**out, **dict.fromkeys(fit, worse)}
    for name, commit in fit.items():
        tree = ctx.repository.stage_all()
        refused = _taken(ctx, {name: commit})
        if not refused and (worse := _worse(ctx, before)):
            ctx.repository.restore_to(tree)
            refused = {name: worse}
        out |= refused
    return out


def _taken(ctx: StepContext, works: Mapping[str, str]) -> dict[str, str]:
    out = {}
    for name, commit in works.items():
        if paths := ctx.repository.take(commit):
            where = ", ".join(filter(None, paths[:SHOWN])) or "its files"
            out[name] = f"others changed {where} too"
    return out


def _failures_before(ctx: StepContext) -> tuple[Failure, ...] | None:
    """What failed before these conversations began; None where that was never looked at."""
    if states := work(states_of(ctx.journal)):
        return states[-1].failures
    baseline = ctx.last("baseline")
    return read_failures(baseline.checks) if baseline else None


def _worse(ctx: StepContext, before: tuple[Failure, ...] | None) -> str:
    """What fails now and did not; empty where nothing does."""
    if before is None:
        return ""
    checks, _ = checked(ctx, again=False)
    _, broken = issues_between(before, read_failures(checks))
    told = "; ".join(issue.description for issue in broken[:SHOWN])
    return f"with it this fails that held before: {told}" if broken else ""
