"""When `run` returns or is interrupted, nothing of the command still runs."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest
from sandbox_actors import PYTHON, Beacon, alive, daemon, run

from foundry.sandbox import process_tree
from foundry.sandbox.process import ProcessSandbox
from foundry.schema.command import CommandLimits, CommandResult

linux = pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux only")

RUN = """
import signal, sys
from pathlib import Path
from foundry.sandbox.process import ProcessSandbox
from foundry.schema.command import CommandLimits
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
try:
    ProcessSandbox().run(sys.argv[1], cwd=Path("/"), limits=CommandLimits())
except KeyboardInterrupt:
    sys.exit(6)
"""


@pytest.fixture
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_tree, "GRACE_SECONDS", 0.2)


def gate(folder: Path) -> Path:
    """A named pipe that a command waits at until the test lets it go on."""
    path = folder / "gate"
    os.mkfifo(path)
    return path


def test_a_background_process_that_holds_the_pipe(beacon: Beacon, tmp_path: Path):
    go = gate(tmp_path)
    command = f"sh -c '{beacon.call}; echo > {go}; exec sleep 1000' & read x < {go}; echo done"
    result = run(command, tmp_path)
    assert (result.exit_code, result.output) == (0, "done\n")
    assert not alive(*beacon.pids(1))


@pytest.mark.usefixtures("short_grace")
def test_a_background_process_that_ignores_sigterm(beacon: Beacon, tmp_path: Path):
    go = gate(tmp_path)
    stubborn = f'trap "" TERM HUP; {beacon.call}; echo > {go}; while :; do sleep 1000; done'
    result = run(f"sh -c '{stubborn}' & read x < {go}", tmp_path)
    assert result.exit_code == 0
    assert not alive(*beacon.pids(1))


@linux
def test_a_daemon_after_a_normal_end(beacon: Beacon, tmp_path: Path):
    result = run(daemon(beacon), tmp_path)
    assert result.exit_code == 0
    # It may have been ended before it could report, so look for it by its command line.
    assert not any(str(beacon.path).encode() in line for line in command_lines())


@linux
def test_a_daemon_that_has_settled_after_a_normal_end(beacon: Beacon, tmp_path: Path):
    go = gate(tmp_path)
    pids: list[int] = []

    def let_go() -> None:
        pids.extend(beacon.pids(1))
        go.write_text("\n")

    waiter = threading.Thread(target=let_go)
    waiter.start()
    result = run(f"{daemon(beacon)}; read x < {go}", tmp_path)
    waiter.join()
    assert result.exit_code == 0
    assert pids
    assert not alive(pids[0])


def command_lines() -> list[bytes]:
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(process.read_bytes())
        except OSError:
            continue
    return found


def test_the_whole_tree_at_the_wall_limit(beacon: Beacon, tmp_path: Path):
    inner = f"{beacon.call}; sleep 1000"
    command = f"sh -c '{inner}' & sh -c '{inner}' | cat & {beacon.call}; wait"
    result = run(command, tmp_path, wall_seconds=1)
    assert result.stopped == "wall"
    assert [pid for pid in beacon.pids(3) if alive(pid)] == []


@linux
def test_a_daemon_at_the_wall_limit(beacon: Beacon, tmp_path: Path):
    result = run(f"{daemon(beacon)}; sleep 1000", tmp_path, wall_seconds=2)
    assert result.stopped == "wall"
    assert not alive(*beacon.pids(1))


@pytest.mark.usefixtures("short_grace")
def test_own_session_without_environment_at_the_wall_limit(beacon: Beacon, tmp_path: Path):
    script = tmp_path / "loner.py"
    script.write_text(
        "import os, pathlib, signal, time\n"
        "os.setsid()\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"pathlib.Path({str(beacon.path)!r}).write_text(str(os.getpid()) + chr(10))\n"
        "time.sleep(1000)\n"
    )
    result = run(f"env -i {PYTHON} {script} & sleep 1000", tmp_path, wall_seconds=2)
    assert result.stopped == "wall"
    assert not alive(*beacon.pids(1))


@pytest.mark.usefixtures("short_grace")
def test_a_stopped_process(beacon: Beacon, tmp_path: Path):
    result = run(f"{beacon.call}; kill -STOP $$", tmp_path, wall_seconds=0.5)
    assert result.stopped == "wall"
    assert not alive(*beacon.pids(1))


def test_a_process_that_multiplies_when_ended(beacon: Beacon, tmp_path: Path):
    child = tmp_path / "child.sh"
    child.write_text(f"trap '' TERM; {beacon.call}; while :; do sleep 1000; done")
    command = f"trap 'sh {child} & sh {child} &' TERM; while :; do sleep 0.01; done"
    result = run(command, tmp_path, wall_seconds=1)
    assert result.stopped == "wall"
    assert [pid for pid in beacon.pids(2) if alive(pid)] == []


@linux
def test_what_escapes_can_not_hold_us(beacon: Beacon, tmp_path: Path):
    """Without environment, session and parents it is nobody's, but we do not wait for it."""
    go = gate(tmp_path)
    escapee = f"{beacon.call}; echo > {go}; exec sleep 60"
    result = run(f"(env -i setsid sh -c '{escapee}' &); read x < {go}; echo done", tmp_path)
    (pid,) = beacon.pids(1)
    assert alive(pid)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert (result.exit_code, result.output) == (0, "done\n")


@linux
def test_what_escapes_can_not_flood_us(tmp_path: Path):
    """Closing the pipe ends it."""
    result = run("(env -i setsid yes &) ; sleep 0.1", tmp_path)
    assert result.exit_code == 0
    assert result.output.startswith("y\n")


@linux
def test_one_command_does_not_end_another_ones_daemon(beacon: Beacon, tmp_path: Path):
    go = gate(tmp_path)
    results: list[CommandResult] = []
    other = threading.Thread(
        target=lambda: results.append(run(f"{daemon(beacon)}; read x < {go}", tmp_path))
    )
    other.start()
    (pid,) = beacon.pids(1)
    assert run("sleep 1000 & true", tmp_path).exit_code == 0
    assert alive(pid)
    go.write_text("\n")
    other.join()
    assert results[0].exit_code == 0
    assert not alive(pid)


@linux
def test_other_children_of_ours_are_left_alone(tmp_path: Path):
    with subprocess.Popen(["sleep", "1000"], start_new_session=True) as other:
        assert run("sleep 1000 & true", tmp_path).exit_code == 0
        assert other.poll() is None
        other.kill()
    assert other.returncode == -signal.SIGKILL


@linux
def test_no_zombies_stay(tmp_path: Path):
    script = f"""
import os, sys
sys.argv = ["", "(sleep 0 & sleep 1000 &) ; setsid sleep 1000 & sleep 0.05"]
{RUN}
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("none")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "none\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 6), (signal.SIGTERM, 7)])
def test_an_interrupt_ends_the_tree(beacon: Beacon, number: signal.Signals, code: int):
    command = f"sh -c '{beacon.call}; sleep 1000' & {beacon.call}; wait"
    with subprocess.Popen([sys.executable, "-c", RUN, command]) as harness:
        pids = beacon.pids(2)
        assert all(alive(pid) for pid in pids)
        harness.send_signal(number)
        assert harness.wait() == code
    assert [pid for pid in pids if alive(pid)] == []


def test_a_second_interrupt_cuts_the_grace_not_the_killing(beacon: Beacon):
    stubborn = f"trap '{beacon.call}' TERM; {beacon.call}; while :; do :; done"
    with subprocess.Popen([sys.executable, "-c", RUN, stubborn]) as harness:
        (pid,) = beacon.pids(1)
        harness.send_signal(signal.SIGINT)
        assert beacon.pids(1) == [pid]  # it was asked to end, and won't
        harness.send_signal(signal.SIGINT)
        assert harness.wait() == 6
    assert not alive(pid)


def test_a_background_shell_that_leaves_at_once_leaves_nobody(tmp_path: Path):
    """Its child becomes ours in the very moment in which we look: many tries, no survivor."""
    sandbox = ProcessSandbox()
    for _ in range(40):
        sandbox.run("sh -c 'sleep 3434 & disown' &", cwd=tmp_path, limits=CommandLimits())
    left = [each for each in psutil.Process().children(recursive=True) if alive(each.pid)]
    assert not [each for each in left if "3434" in " ".join(each.cmdline())]
