"""`foundry memory`: a group whose commands are loaded only when they are called."""

from collections.abc import Mapping

import click

from foundry.cli.main import LazyGroup

COMMANDS: Mapping[str, Mapping[str, str]] = {
    "Look": {
        "search": "The turns and steps that fit a question best.",
        "show": "One turn or step, whole, by its id.",
        "timeline": "What happened, in its order.",
        "stats": "How much there is, and what it saves.",
    },
    "Move": {
        "export": "All of it as JSON lines.",
        "import": "What an export holds; the same twice changes nothing.",
        "purge": "Remove for good, by run or by age.",
    },
}


class _MemoryGroup(LazyGroup):
    sections = COMMANDS
    prefix = "foundry.cli.memory_"


@click.group(cls=_MemoryGroup)
def command() -> None:
    """What earlier turns and steps of a project had before them, did and learned.

    It spans all runs of the project, lies in .context-foundry/local/memory.db and is never
    committed. Secrets are taken out before anything is stored.
    """
