"""What a command's result says. How its processes end is in test_process_ending.py."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sandbox_actors import run

from foundry.errors import ProjectError
from foundry.sandbox.base import SANDBOXES
from foundry.sandbox.process import ProcessSandbox
from foundry.schema.command import CommandLimits

MEASURE = """
import resource, sys
from pathlib import Path
from foundry.sandbox.process import ProcessSandbox
from foundry.schema.command import CommandLimits
sandbox = ProcessSandbox()
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
sandbox.run("echo warm", cwd=Path("/"), limits=CommandLimits())
before = peak()
result = sandbox.run("head -c 500000000 /dev/zero", cwd=Path("/"), limits=CommandLimits())
unit = 1 if sys.platform == "darwin" else 1024
print(result.dropped_bytes, len(result.output), (peak() - before) * unit)
"""


def test_it_is_found_by_its_name(tmp_path: Path):
    sandbox = SANDBOXES.get("process")(tmp_path / "running.json")
    assert sandbox.level == "process"
    result = sandbox.run(f"cat {tmp_path}/running.json", cwd=tmp_path, limits=CommandLimits())
    assert json.loads(result.output)[0]["mark"]


def test_output_and_errors_come_in_order(tmp_path: Path):
    result = run("echo one; echo two >&2; echo three; exit 3", tmp_path)
    assert (result.output, result.exit_code) == ("one\ntwo\nthree\n", 3)
    assert (result.ok, result.stopped, result.dropped_bytes) == (False, "", 0)
    assert result.verdict == "exit code 3"


def test_it_runs_in_its_folder_without_input_or_terminal(tmp_path: Path):
    result = run("pwd -P; cat; (: < /dev/tty) 2>/dev/null || echo no terminal", tmp_path)
    assert result.output == f"{tmp_path.resolve()}\nno terminal\n"


def test_death_by_signal_reads_as_in_a_shell(tmp_path: Path):
    assert run("kill -SEGV $$", tmp_path).exit_code == 128 + 11


@pytest.mark.parametrize("command", ["echo a\0b", "echo \ud800", "echo " + "x" * 5_000_000])
def test_a_command_that_can_not_be_started(command: str, tmp_path: Path):
    result = run(command, tmp_path)
    assert result.exit_code is None
    assert result.output.startswith("not started: ")
    assert json.loads(result.model_dump_json())["exit_code"] is None


def test_a_folder_that_vanished(tmp_path: Path):
    result = run("true", tmp_path / "gone")
    assert result.exit_code is None
    assert result.output == f"not started: No such file or directory: {tmp_path / 'gone'}"


def test_a_folder_that_vanishes_meanwhile(tmp_path: Path):
    folder = tmp_path / "here"
    folder.mkdir()
    assert run(f"rmdir {folder}; echo done", folder).output == "done\n"


def test_no_shell(tmp_path: Path):
    result = ProcessSandbox(shell="/no/such/sh").run("true", cwd=tmp_path, limits=CommandLimits())
    assert result.exit_code is None
    assert "/no/such/sh" in result.output


def test_output_of_any_bytes_is_valid_text(tmp_path: Path):
    result = run(r"printf '\377\355\240\200 \033[31mred\000'", tmp_path)
    assert result.output.endswith(" \x1b[31mred\0")
    assert json.loads(result.model_dump_json())["output"] == result.output


def test_a_flood_is_counted_and_not_kept():
    done = subprocess.run(
        [sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True
    )
    dropped, length, growth = map(int, done.stdout.split())
    assert dropped == 500_000_000 - 24_000
    assert length < 24_100
    assert growth < 30_000_000


def test_an_endless_flood_meets_the_wall_limit(tmp_path: Path):
    result = run("yes", tmp_path, wall_seconds=0.3)
    assert (result.stopped, result.exit_code) == ("wall", None)
    assert result.dropped_bytes > 0


def test_silence_meets_the_idle_limit(tmp_path: Path):
    result = run("echo hello; sleep 1000", tmp_path, idle_seconds=0.3)
    assert (result.stopped, result.exit_code, result.output) == ("idle", None, "hello\n")
    assert "no output" in result.verdict


def test_silence_behind_a_closed_pipe_counts_too(tmp_path: Path):
    assert run("exec >&- 2>&-; sleep 1000", tmp_path, idle_seconds=0.3).stopped == "idle"


def test_output_keeps_a_command_from_being_idle(tmp_path: Path):
    # Each line would be late for an idle limit that counted from the start.
    command = "for i in 1 2 3 4 5 6; do sleep 0.2; echo $i; done"
    assert run(command, tmp_path, idle_seconds=1).exit_code == 0


def test_a_blocked_open_meets_the_wall_limit(tmp_path: Path):
    assert run("mkfifo p; cat < p", tmp_path, wall_seconds=0.3).stopped == "wall"


def test_no_limit_is_too_long(tmp_path: Path):
    assert run("true", tmp_path, wall_seconds=1e12, idle_seconds=float("inf")).ok


def test_what_the_end_says_is_heard(tmp_path: Path):
    result = run("trap 'echo bye; exit' TERM; while :; do :; done", tmp_path, wall_seconds=1)
    assert (result.stopped, result.output) == ("wall", "bye\n")


def test_threads_share_a_sandbox(tmp_path: Path):
    sandbox = ProcessSandbox(tmp_path / "running.json")
    results: dict[int, str] = {}

    def work(number: int) -> None:
        for _ in range(10):
            result = sandbox.run(f"echo {number}", cwd=tmp_path, limits=CommandLimits())
            results[number] = results.get(number, "") + result.output

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: f"{number}\n" * 10 for number in range(8)}
    assert not (tmp_path / "running.json").exists()


def test_a_pidfile_that_can_not_be_written(tmp_path: Path):
    (tmp_path / "file").touch()
    sandbox = ProcessSandbox(tmp_path / "file" / "running.json")
    with pytest.raises(ProjectError, match="cannot write"):
        sandbox.run(f"sleep 1000; touch {tmp_path}/ran", cwd=tmp_path, limits=CommandLimits())
    assert not (tmp_path / "ran").exists()
