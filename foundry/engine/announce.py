"""The first and the last event of an invocation, and the notifiers that are told of the last."""

import shlex
from collections.abc import Callable
from pathlib import Path

from foundry.config import program
from foundry.engine import summary
from foundry.engine.counts import told
from foundry.engine.run import Run
from foundry.engine.runner import Ended
from foundry.engine.step_kind import headline_of
from foundry.engine.verdict import flags_of
from foundry.errors import PluginError
from foundry.plugins import Registry
from foundry.schema.events import Note, Observer, RunEnded, RunStarted
from foundry.store.project import EDITABLE

SHOWN_COMMITS = 20

Notifier = Callable[[RunEnded], None]
"""Is given how the run stands, its cost and its place; may take as long as it needs."""

NOTIFIERS: Registry[Notifier] = Registry("notifier", {})


def banner(run: Run, log: Path, *, resumed: bool) -> RunStarted:
    """Where the run is and what it may use."""
    options, root = run.options, run.project.root
    models = dict.fromkeys((options.model, *options.models.values()))
    return RunStarted(
        run=options.run,
        place=str(root),
        branch=run.repository.branch(),
        model=", ".join(models),
        max_usd=options.limits.max_usd,
        max_hours=options.limits.max_hours,
        log=str(log),
        resume=f"{program()} resume {shlex.quote(str(root))}",
        sandbox=run.sandbox.level,
        resumed=resumed,
        phases=run.workflow.phases,
    )


def ending(run: Run, ended: Ended, seconds: float) -> RunEnded:
    """What there is now; `seconds` is how long this invocation worked."""
    facts, spent = run.facts(), run.ledger.total
    figures = summary.counted(facts)
    return RunEnded(
        run=run.options.run,
        status=ended.status,
        reason=ended.reason,
        place=str(run.project.root),
        branch=facts.branch,
        commits=len(facts.commits),
        cost_usd=None if spent.unpriced else spent.usd,
        tokens=spent.usage.prompt_tokens + spent.usage.output_tokens,
        seconds=seconds,
        exit_code=ended.status.exit_code,
        artifacts=tuple(name for name in EDITABLE if run.project.artifact(name).exists()),
        built=headline_of(facts.workflow, facts.journal),
        requirements=figures.requirements,
        proven=figures.proven,
        proof=told(figures),
        flags=tuple(flag.words for flag in flags_of(facts.journal)),
        log=tuple(f"{each.sha[:7]} {each.subject}" for each in facts.commits[-SHOWN_COMMITS:]),
    )


def notify(ended: RunEnded, observe: Observer) -> None:
    """Tell every notifier that is installed; one that fails is named, and harms nothing."""
    for name in NOTIFIERS.names():
        try:
            NOTIFIERS.get(name)(ended)
        except PluginError as error:
            observe(Note(str(error)))
        except Exception as error:  # noqa: BLE001 - a stranger's code may raise whatever it likes
            observe(Note(f"the notifier {name!r} failed: {type(error).__name__}: {error}"))
