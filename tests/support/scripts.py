"""Commands that no rule about commands can read: a model writes them into a script and runs it."""

from foundry.model.rehearsal.script import Turn, call, turn

NAME = "do.sh"


def by_script(command: str) -> Turn:
    """Write a shell script that removes itself and then does `command`, and run it."""
    return turn(
        call("write_file", path=NAME, content=f'rm -- "$0"\n{command}\n'),
        call("run_command", command=f"sh {NAME}"),
    )
