"""`foundry circular`: a group whose command `run` needs not be named."""

from collections.abc import Mapping

import click

from foundry.cli.main import LazyGroup

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

DEFAULT = "run"


class _CircularGroup(LazyGroup):
    sections = COMMANDS
    prefix = "foundry.cli.circular_"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """What does not begin with a command's name or a wish for help is a task to run."""
        if args and args[0] not in (*self.list_commands(ctx), *ctx.help_option_names):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=_CircularGroup,
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
