"""`foundry audit`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from foundry.schema.audit import Audit


@click.command()
@click.argument("ref", required=False, default="")
@click.option("--dir", "folder", default=".", type=click.Path(path_type=Path),
              help="The folder of the build, or a clone of it. Default: this one.")  # fmt: skip
@click.option("--sandbox", default="process", metavar="NAME", show_default=True,
              help="How commands are run: a sandbox that `foundry plugins` lists.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
@click.pass_context
def command(context: click.Context, ref: str, folder: Path, sandbox: str, as_json: bool) -> None:
    """Re-derive the verdict of a build from a clean clone of REF.

    REF is a branch or commit that holds a build; without one it is the newest build in or beside
    the folder. It verifies the chain through the build's commits, then RUNS THE PROJECT'S OWN
    COMMANDS: set-up, checks, and what stands for each requirement, in a temporary folder with an
    empty HOME. Each line tells what agrees (+), what differs (x) and what can't be told (?).
    Nothing in the project is changed. Exit code 0: verified, and all agrees; 3: not confirmed, or
    the build itself was not verified; 1: something differs.
    """
    from foundry.audit.audit import audit
    from foundry.report.terminal_safe import safe

    done = audit(folder, ref, sandbox, lambda what: click.echo(safe(f"... {what}"), err=True))
    if as_json:
        from pydantic_core import to_json

        more = {"verdict": done.verdict, "exit_code": done.exit_code}
        click.echo(to_json({**done.model_dump(mode="json"), **more}, indent=2))
    else:
        _print(done)
    context.exit(done.exit_code)


def _print(done: "Audit") -> None:
    from foundry.cli.output import say
    from foundry.report.terminal_safe import safe

    marks = {"agrees": "+", "differs": "x", "unknown": "?"}
    for each in done.findings:
        say(safe(f"{marks[each.says]} {each.about}: {each.text}"))
    say(f"\n{done.verdict} (run {done.run}, commit {done.commit[:12]})")
