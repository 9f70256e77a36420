"""`run_command`: the shell, through a sandbox."""

from pydantic import Field

from foundry.errors import ToolError
from foundry.schema.command import CommandLimits, CommandResult
from foundry.tools.base import Arguments, Tool, ToolResult
from foundry.tools.toolset import Workbench


class RunCommand(Arguments):
    """Arguments of `run_command`."""

    command: str = Field(description="Shell command (sh -c), run in the project's root.")
    timeout_seconds: int | None = Field(
        None, ge=1, description="When to stop it; never later than the project's own limit."
    )


def run_command(workbench: Workbench) -> Tool[RunCommand]:
    """The tool `run_command`."""
    limits = workbench.limits

    def call(arguments: RunCommand) -> ToolResult:
        if not arguments.command.strip():
            raise ToolError("the command is empty", hint="Give a shell command")
        wall = min(arguments.timeout_seconds or limits.wall_seconds, limits.wall_seconds)
        allowed = limits.model_copy(update={"wall_seconds": wall})
        result = workbench.sandbox.run(arguments.command, cwd=workbench.root, limits=allowed)
        return _answer(result, limits)

    return Tool(
        name="run_command",
        description="Run a shell command in the project's root. Output and errors come "
        "together, the exit code last. There is no terminal and no input; whatever still runs "
        f"when the shell ends is stopped. Limits: {limits.wall_seconds:.0f} s in all, "
        f"{limits.idle_seconds:.0f} s without output.",
        arguments=RunCommand,
        call=call,
        command="command",
        editable="command",
    )


def _answer(result: CommandResult, limits: CommandLimits) -> ToolResult:
    """A result as the model reads it. A failing command is information, not an error."""
    if result.exit_code is None and not result.stopped:
        return ToolResult(f"The command was {result.output}.", is_error=True)
    separator = "" if result.output.endswith("\n") or not result.output else "\n"
    text = f"{result.output}{separator}{result.verdict}"
    if not result.stopped:
        return ToolResult(text)
    return ToolResult(f"{text}\n{_advice(result, limits)}", is_error=True)


def _advice(result: CommandResult, limits: CommandLimits) -> str:
    if result.stopped == "idle":
        return (
            "Does it wait for input, or serve for ever? Use its non-interactive options, or "
            "start it, use it and stop it within one command."
        )
    return (
        f"At most {limits.wall_seconds:.0f} s are allowed. Run a smaller part of it, or raise "
        "timeout_seconds if that was lower."
    )
