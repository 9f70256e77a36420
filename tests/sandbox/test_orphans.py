"""A later process ends what a killed harness left running."""

import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from sandbox_actors import Beacon, alive, daemon

from foundry.sandbox.orphans import reap_orphans
from foundry.sandbox.process import ProcessSandbox
from foundry.schema.command import CommandLimits

HARNESS = """
import sys
from pathlib import Path
from foundry.sandbox.process import ProcessSandbox
from foundry.schema.command import CommandLimits
ProcessSandbox(Path(sys.argv[1])).run(sys.argv[2], cwd=Path("/"), limits=CommandLimits())
"""


def killed_while_running(command: str, pidfile: Path, beacon: Beacon, count: int) -> list[int]:
    with subprocess.Popen([sys.executable, "-c", HARNESS, str(pidfile), command]) as harness:
        pids = beacon.pids(count)
        harness.kill()
    return pids


def test_the_tree_of_a_killed_harness(tmp_path: Path, beacon: Beacon):
    pidfile = tmp_path / "local" / "running.json"
    command = f"sh -c '{beacon.call}; sleep 1000' & {beacon.call}; wait"
    pids = killed_while_running(command, pidfile, beacon, 2)
    assert all(alive(pid) for pid in pids)
    assert reap_orphans(pidfile) >= 2
    assert [pid for pid in pids if alive(pid)] == []
    assert not pidfile.exists()
    assert reap_orphans(pidfile) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="marks are readable on Linux only")
def test_a_daemon_whose_shell_has_ended(tmp_path: Path, beacon: Beacon):
    pidfile = tmp_path / "running.json"
    command = f"{beacon.call}; {daemon(beacon)}; sleep 1000"
    shell, pid = killed_while_running(command, pidfile, beacon, 2)
    psutil.Process(shell).kill()
    assert reap_orphans(pidfile) >= 1
    assert not alive(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="marks are readable on Linux only")
def test_what_joins_while_the_others_are_ended(tmp_path: Path, beacon: Beacon):
    pidfile, spawned = tmp_path / "running.json", tmp_path / "spawned"
    heir = f"echo \\$\\$ > {spawned}; exec sleep 1000"
    until = f"until test -s {spawned}; do :; done"
    trap = f"trap 'setsid sh -c \"{heir}\" & {until}; exit' TERM"
    command = f"{trap}; {beacon.call}; sleep 1000 & wait"
    killed_while_running(command, pidfile, beacon, 1)
    assert reap_orphans(pidfile) >= 1
    assert not alive(int(spawned.read_text()))


def test_the_file_names_the_running_command(tmp_path: Path):
    pidfile = tmp_path / "running.json"
    wait = f"until grep -q 'create_time.*[1-9]' {pidfile}; do sleep 0.01; done"
    result = ProcessSandbox(pidfile).run(
        f"{wait}; cat {pidfile}; echo; echo $$", cwd=tmp_path, limits=CommandLimits()
    )
    record, pid = result.output.splitlines()
    assert json.loads(record)[0]["pid"] == int(pid)
    assert not pidfile.exists()


def test_a_pid_that_is_somebody_elses_now(tmp_path: Path):
    pidfile = tmp_path / "running.json"
    with subprocess.Popen(["sleep", "1000"]) as innocent:
        created = psutil.Process(innocent.pid).create_time()
        record = {"pid": innocent.pid, "create_time": created - 60, "mark": "0" * 16}
        pidfile.write_text(json.dumps([record]))
        assert reap_orphans(pidfile) == 0
        assert innocent.poll() is None
        pidfile.write_text(json.dumps([record | {"create_time": created}]))
        assert reap_orphans(pidfile) == 1
    assert not pidfile.exists()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[",
        "{}",
        "[1]",
        "\udc80",
        '[{"pid": 1, "create_time": 0, "mark": "0000000000000000"}]',
        '[{"pid": -1, "create_time": 0, "mark": "0000000000000000"}]',
        '[{"pid": 99, "create_time": 0, "mark": ""}]',
    ],
)
def test_a_file_that_is_not_ours(content: str, tmp_path: Path):
    pidfile = tmp_path / "running.json"
    pidfile.write_bytes(content.encode("utf-8", "surrogateescape"))
    assert reap_orphans(pidfile) == 0
    assert not pidfile.exists()


def test_it_never_ends_itself(tmp_path: Path):
    pidfile = tmp_path / "running.json"
    script = f"""
import json, os, psutil
from pathlib import Path
from foundry.sandbox.orphans import reap_orphans
path = Path({str(pidfile)!r})
for process in (psutil.Process(), psutil.Process().parent()):
    record = dict(pid=process.pid, create_time=process.create_time(), mark="0" * 16)
    path.write_text(json.dumps([record]))
    print(reap_orphans(path))
"""
    # A shell between us, so that the parent that it might end isn't the test run.
    done = subprocess.run(
        ["/bin/sh", "-c", '"$0" -c "$1"; true', sys.executable, script],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("0\n0\n", 0), done.stderr
