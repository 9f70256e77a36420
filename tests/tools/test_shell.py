from pathlib import Path
from typing import Any

import pytest

from foundry.schema.command import CommandLimits
from foundry.tools.base import ToolResult, Toolset
from tests.support.tools import tools_in


def run(root: Path, command: str, limits: CommandLimits | None = None, **more: Any) -> ToolResult:
    tools = tools_in(root, "run_command", limits=limits or CommandLimits())
    return Toolset(tools).run("run_command", {"command": command, **more})


def test_output_then_the_exit_code(tmp_path: Path):
    (tmp_path / "here").mkdir()
    (tmp_path / "here/a").touch()
    assert run(tmp_path / "here", "ls") == ToolResult("a\nexit code 0")
    assert run(tmp_path, "printf x") == ToolResult("x\nexit code 0")
    assert run(tmp_path, "true") == ToolResult("exit code 0")


def test_failure_is_information(tmp_path: Path):
    assert run(tmp_path, "echo no; exit 4") == ToolResult("no\nexit code 4")


def test_a_stopped_command_is_an_error_with_advice(tmp_path: Path):
    said = run(tmp_path, "echo hi; sleep 1000", CommandLimits(idle_seconds=0.3))
    assert said.is_error
    assert said.content.startswith("hi\nstopped after ")
    assert "non-interactive" in said.content
    said = run(tmp_path, "sleep 1000", CommandLimits(wall_seconds=0.3))
    assert said.is_error
    assert "took too long" in said.content


def test_a_time_of_its_own(tmp_path: Path):
    said = run(tmp_path, "sleep 1000", timeout_seconds=1)
    assert said.is_error
    assert "took too long" in said.content
    assert "600 s are allowed" in said.content


def test_no_more_time_than_the_limits_allow(tmp_path: Path):
    said = run(tmp_path, "sleep 1000", CommandLimits(wall_seconds=0.3), timeout_seconds=9999)
    assert "took too long" in said.content


def test_a_command_that_never_started_is_an_error(tmp_path: Path):
    said = run(tmp_path / "gone", "true")
    assert said.is_error
    assert said.content.startswith("The command was not started: No such file or directory")


@pytest.mark.parametrize("command", ["", "  \n"])
def test_an_empty_command(tmp_path: Path, command: str):
    said = run(tmp_path, command)
    assert said.is_error
    assert "empty" in said.content


@pytest.mark.parametrize("timeout", [0, -1, "soon", 10**400])
def test_senseless_times(tmp_path: Path, timeout: Any):
    said = run(tmp_path, "echo hi", timeout_seconds=timeout)
    assert said.is_error == (timeout != 10**400)


def test_megabytes_are_capped(tmp_path: Path):
    said = run(tmp_path, "yes | head -c 5000000; exit 9", CommandLimits(output_bytes=1000))
    assert len(said.content) < 1100
    assert "bytes left out" in said.content
    assert said.content.endswith("exit code 9")
