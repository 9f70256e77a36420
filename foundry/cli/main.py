"""The command `foundry`: a group whose commands are loaded only when they are called.

Errors end here: whatever Foundry can explain becomes one line on stderr and an exit code.
"""

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from foundry import __version__
from foundry.errors import FoundryError
from foundry.exitcodes import EXIT_CODES
from foundry.report.terminal_safe import safe

COMMANDS: Mapping[str, Mapping[str, str]] = {
    "Start": {
        "build": "Build a project from a spec, unattended.",
        "circular": "Give a task to fresh conversations until nothing of it is left.",
        "resume": "Go on with a build that paused, failed or was killed.",
        "init": "Describe an existing project for the conversations that work on it.",
        "demo": "Watch a whole build without a key, against a rehearsed model.",
    },
    "Look": {
        "status": "How a build stands.",
        "show": "Read an artifact of a build.",
        "audit": "Re-derive a build's verdict from a clean clone; notice changed evidence.",
        "log": "What happened, line by line; -f follows.",
        "context": "The files that matter for a task, and what conversations are given.",
        "memory": "What earlier turns and steps had, did and learned: search, show, export.",
        "doctor": "Check this machine, with the fix for whatever is missing.",
    },
    "Order": {
        "workflow": "What is done in which order, as documents: list, check, trace, run.",
        "mcp": "Serve workflows and builds to any MCP client.",
        "plugins": "What is found by name, and where it comes from.",
    },
}

EPILOG = "\b\nExit codes:\n" + "\n".join(f"  {c:>3} {why}" for c, why in EXIT_CODES.items())


FREE = "Free some space or mend the permissions, then run `foundry resume`"


class SectionedGroup(click.Group):
    """A group whose help lists its commands by purpose, in the words of `sections`.

    `default` is the command that is meant where none is named.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        sections: Mapping[str, Mapping[str, str]],
        default: str = "",
        **rest: Any,
    ) -> None:
        super().__init__(name, **rest)
        self._sections, self._default = sections, default

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the help."""
        return [name for commands in self._sections.values() for name in commands]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """What does not begin with a command's name or a wish for help is for the default one."""
        named = args and args[0] in (*self.list_commands(ctx), *ctx.help_option_names)
        if self._default and not named and (args or not self.no_args_is_help):
            args = [self._default, *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by purpose, without importing any of them."""
        for title, commands in self._sections.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))


class LazyGroup(SectionedGroup):
    """Imports `foundry.cli.NAME` when its command NAME is called, and takes its `command`."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"foundry.cli.{cmd_name}").command
        return command


@click.group(
    cls=LazyGroup,
    sections=COMMANDS,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="foundry")
def cli() -> None:
    """From a sentence to a tested, committed, documented project while you sleep."""


def main() -> None:
    """Run the command line and end the process with the documented exit code."""
    _open_missing_streams()
    sys.exit(_delivered(run(sys.argv[1:])))


def run(arguments: list[str]) -> int:
    """Run the command line and return the exit code."""
    try:
        result: Any = cli.main(arguments, prog_name="foundry", standalone_mode=False)
    # Whoever read our output has gone (`foundry log | head`): no error. Click exits for it, too.
    except (BrokenPipeError, SystemExit):
        _turn_away()
        return 0
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except (FoundryError, OSError, click.ClickException, click.Abort, KeyboardInterrupt) as error:
        return _complain(*_explained(error))
    return result if isinstance(result, int) else 0


def _explained(error: BaseException) -> tuple[str, int]:
    """What is said of an error, and the exit code."""
    match error:
        case FoundryError():
            return str(error), 1
        case OSError():  # a disk that fills up can strike wherever something is written
            where = f": {error.filename}" if error.filename else ""
            return f"{error.strerror or error}{where}. {FREE}", 1
        case click.UsageError():
            command = error.ctx.command_path if error.ctx else "foundry"
            return f"{error.format_message()} See `{command} --help`", 2
        case click.ClickException():
            return error.format_message(), 1
        case _:
            return "interrupted", 130


def _complain(message: str, code: int) -> int:
    text = safe(" ".join(message.split()))
    click.echo(f"{click.style('error:', fg='red')} {text}", err=True)
    return code


def _open_missing_streams() -> None:
    """A process may be started without stdin, stdout or stderr (`foundry demo >&-`)."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - as long as we live


def _delivered(code: int) -> int:
    """Flush what was printed while a full disk or a closed pipe can still be told of."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _turn_away()
    except OSError as error:
        _turn_away()
        return code or _complain(*_explained(error))
    return code


def _turn_away() -> None:
    """Nothing more can be printed, and the interpreter shall not try at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
