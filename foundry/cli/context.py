"""`foundry context`: a group whose commands are loaded only when they are called."""

from collections.abc import Mapping

import click

from foundry.cli.main import LazyGroup

COMMANDS: Mapping[str, Mapping[str, str]] = {
    "Look": {
        "usage": "How full each conversation of a run is; needs not be named.",
        "find": "The files that matter for the task on stdin, best first.",
    },
    "Change": {
        "compact": "Make a conversation smaller, without a model.",
    },
}


class _ContextGroup(LazyGroup):
    sections = COMMANDS
    prefix = "foundry.cli.context_"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`foundry context [RUN]` is `foundry context usage [RUN]`."""
        named = args and args[0] in (*self.list_commands(ctx), *ctx.help_option_names)
        return super().parse_args(ctx, args if named else ["usage", *args])


@click.group(cls=_ContextGroup)
def command() -> None:
    """What conversations are given to read, and how full they are."""
