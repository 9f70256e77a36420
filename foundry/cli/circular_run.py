"""`foundry circular PROMPT`."""

from pathlib import Path
from typing import Any

import click

from foundry.circular.state_schema import MESSAGE
from foundry.cli.options import (
    limit_options,
    model_options,
    permission_options,
    view_options,
    yes_option,
)


@click.command(
    epilog="Works in a git worktree beside the repository, on a branch of its own; the result is a "
    "branch to merge. Writes .context-foundry/circular/: state.json, report.md. Whatever "
    "interrupts it, `foundry circular resume` goes on; what is over without being done, you merge "
    "and begin again."
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
@click.option("--message", default=MESSAGE, metavar="TEMPLATE",
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
def command(prompt: str, **options: Any) -> int:
    """Give PROMPT to fresh conversations until nothing of it is left.

    PROMPT says what is wanted, or is the name of a file that does; {{base_context}} in it is where
    the base context goes. --model takes several names, A,B,...: see --models-by.
    """
    from foundry.circular.begin import Asked, begun, circular_wish
    from foundry.circular.settings import check_roles, models_in
    from foundry.cli.work import flags_of, start

    models = models_in(options["model"])
    own = {name: options.pop(name) for name in Asked.__dataclass_fields__
           if name in options and name != "models"}  # fmt: skip
    flags = flags_of({**options, "model": models[0] if models else None})
    check_roles(models, flags.models)
    wish = circular_wish(Asked(prompt=prompt, **own, models=models))
    return start(wish, flags, begun)
