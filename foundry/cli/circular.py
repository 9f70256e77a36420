"""`foundry circular`: a task for fresh conversations, until nothing of it is left."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from foundry.cli.main import SectionedGroup
from foundry.cli.options import (
    limit_options,
    model_options,
    permission_options,
    role_models,
    view_options,
    yes_option,
)

COMMANDS: Mapping[str, Mapping[str, str]] = {
    "Start": {
        "run": "Give a task to fresh conversations until it is done; `run` may be left out.",
        "resume": "Go on with a run that paused, failed or was killed.",
    },
    "Look": {
        "status": "How far it is, iteration by iteration.",
        "revert": "Take back the work of one iteration.",
    },
}


@click.group(
    cls=SectionedGroup,
    sections=COMMANDS,
    default="run",
    epilog="\b\nfoundry circular PROMPT [OPTIONS]\n"
    'foundry circular "remove every legacy pattern" --check "pytest -q"\n'
    "`foundry circular run --help` has the options.",
)
def command() -> None:
    """The same task in fresh conversations until nothing of it is left.

    For work without a plan: remove a pattern everywhere, mend what a migration broke. Every
    conversation is given the same prompt and what the ones before it left; its work is committed.
    It is over when your checks hold and a conversation that was asked to prove it wrong found
    nothing, or when the iterations get nowhere.
    """


def _message_template() -> str:
    from foundry.circular.schema import MESSAGE

    return MESSAGE


@command.command(
    "run",
    epilog="Works in a git worktree beside the repository, on a branch of its own; the result is a "
    "branch to merge. Writes .context-foundry/circular/: state.json, report.md. Whatever "
    "interrupts it, `foundry circular resume` goes on; what is over without being done, you merge "
    "and begin again.",
)
@click.argument("prompt")
@click.option("--context", type=click.Path(path_type=Path), metavar="FILE.yaml",
              help="Base context: project, history, objective, constraints, parts.")  # fmt: skip
@click.option("--dir", "folder", type=click.Path(path_type=Path), default=Path(),
              help="The repository, or a new folder. Default: this one.")  # fmt: skip
@click.option("--check", "checks", multiple=True, metavar="COMMAND",
              help="A command that has to end with exit code 0 before it is done; without one the "
              "result is unverified at best. Repeatable.")  # fmt: skip
@click.option("--threshold", type=click.FloatRange(0.05, 0.95), default=0.60, show_default=True,
              help="The share of its window at which a conversation ends.")  # fmt: skip
@click.option("--max-iterations", type=click.IntRange(1, 1000), default=20, show_default=True,
              help="Conversations that may work on it.")  # fmt: skip
@click.option("--confirmations", type=click.IntRange(1, 5), default=1, show_default=True,
              help="Further conversations that have to find nothing left.")  # fmt: skip
@click.option("--commit/--no-commit", default=True,
              help="Leave the result on its branch; or put a verified one into your checkout, "
              "uncommitted. Default: --commit.")  # fmt: skip
@click.option("--branch", default="", metavar="NAME",
              help="The branch to work on. Default: foundry/<run>.")  # fmt: skip
@click.option("--message", default=_message_template, metavar="TEMPLATE",
              help="The commit of an iteration: {iteration}, {files} and {issues} are filled "
              "in.")  # fmt: skip
@click.option("--adaptive", is_flag=True,
              help="Let the threshold follow the progress per token of the last conversations, "
              "between 30 and 80%.")  # fmt: skip
@click.option("--parallel", type=click.IntRange(1, 8), default=1, metavar="N",
              help="Up to N conversations side by side, each on parts of its own (from the base "
              "context, or a list in the prompt), merged when your checks allow it.")  # fmt: skip
@click.option("--progressive", is_flag=True,
              help="Tell less of the base context as its parts are done.")  # fmt: skip
@click.option("--models-by", type=click.Choice(("escalate", "rotate")), default="escalate",
              show_default=True, help="How --model A,B,... take turns: the next one when one is "
              "stuck (name the cheapest first), or each in its turn.")  # fmt: skip
@click.option("--refine", is_flag=True,
              help="Let a conversation propose another wording of the prompt; it is kept when "
              "measured progress per token rises. Your file stays as it is.")  # fmt: skip
@model_options
@limit_options
@yes_option
@permission_options
@view_options
def run(prompt: str, **options: Any) -> int:
    """Give PROMPT to fresh conversations until nothing of it is left.

    PROMPT says what is wanted, or is the name of a file that does; {{base_context}} in it is where
    the base context goes. --model takes several names, A,B,...: see --models-by.
    """
    from foundry.circular.session import CircularOptions, start_run
    from foundry.cli.work import start

    several, given = _models(options)
    own = {name: given.pop(name) for name in CircularOptions.__dataclass_fields__ if name in given}
    return start(given, partial(start_run, CircularOptions(prompt=prompt, several=several, **own)))


@command.command("resume")
@click.argument("folder", metavar="[DIR]", required=False, default=".",
                type=click.Path(path_type=Path))  # fmt: skip
@click.option("--accept-changes/--ignore-changes", "accept", default=None,
              help="Take the prompt and the base context as their files are now, or as they were "
              "when the run began. Default: ask, where they differ.")  # fmt: skip
@model_options
@limit_options
@yes_option
@permission_options
@view_options
def resume(folder: Path, accept: bool | None, **options: Any) -> int:
    """Go on with the newest circular run in or beside DIR, after its last saved iteration.

    Options given here replace those that it began with. A run that paused to ask for a person
    goes on all the same.
    """
    from foundry.circular.session import resume_run
    from foundry.cli.work import go_on

    several, given = _models(options)
    return go_on(folder, given, resume=partial(resume_run, accept=accept, several=several))


def _models(options: Mapping[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The models that take turns, and the options in which each of them has its place."""
    from foundry.circular.assignment import check_roles, models_in, models_in_turn

    several, own = models_in(options["model"]), role_models(options["models"])
    check_roles(several, own)
    models = {**models_in_turn(several), **own}
    return several, {**options, "model": several[0] if several else None, "models": models}


@command.command("status")
@click.argument("folder", metavar="[DIR]", required=False, default=".",
                type=click.Path(path_type=Path))  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
def status(folder: Path, as_json: bool) -> None:
    """How far the newest circular run in or beside DIR is, iteration by iteration.

    Read from its journal; changes nothing, and may be run while it works.
    """
    from foundry.engine.workspace import find
    from foundry.report.circular import circular_report

    report = circular_report(find(folder))
    if as_json:
        click.echo(report.model_dump_json(indent=2))
        return
    from foundry.cli.output import show
    from foundry.report.circular import circular_view

    show(circular_view(report))


@command.command("revert")
@click.argument("iteration", type=click.IntRange(min=1))
@click.argument("folder", metavar="[DIR]", required=False, default=".",
                type=click.Path(path_type=Path))  # fmt: skip
def revert(iteration: int, folder: Path) -> None:
    """Take back what ITERATION changed, with a commit of its own on the run's branch.

    Later iterations stay; where they changed the same lines nothing is done. What is taken back
    stays in the history and under refs/foundry/.
    """
    from foundry.circular.patches import revert

    click.echo(revert(folder, iteration))
