"""Many builds that add at once, builds that are killed, and a disk that is full."""

import os
import signal
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from filelock import FileLock

from foundry.schema.learning import Pattern, PatternFile, pattern_id
from foundry.store.patterns.library import Library

ROOT = Path(__file__).parents[2]
FILE = "test-patterns.json"
DAY = date(2026, 11, 30)


def lesson(run: str, title: str) -> dict[str, PatternFile]:
    pattern = Pattern(
        id=pattern_id("test", title),
        kind="test",
        title=title,
        advice=title,
        phases=("test",),
        first_seen=DAY,
        last_seen=DAY,
        builds=(run,),
    )
    return {FILE: PatternFile(kind="test", last_updated=DAY, patterns=(pattern,))}


def titles(library: Library) -> set[str]:
    return {pattern.title for pattern in library.load()[FILE].patterns}


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path, tmp_path / "none")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return tmp_path / "patterns"


ADD = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from itertools import count, islice
from foundry.schema.learning import Feedback
from foundry.store.patterns.learn import learn
from foundry.store.patterns.library import Library

home, name, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
sys.stdin.readline()
for number in islice(count(), rounds or None):
    files = learn(Feedback.model_validate({
        "run": f"{name}-{number}", "timestamp": datetime(2026, 11, 30, tzinfo=UTC),
        "project_type": "cli", "status": "failed", "test_iterations": 0, "duration_seconds": 1,
        "recommendations": [
            {"for_phase": "test", "recommendation": text, "priority": "low"}
            for text in ("Everybody learns this", f"Only {name} learns number {number}")
        ],
    }))
    warnings = Library(home, home / "none").add(files)
    assert not warnings, warnings
    print(f"{name}-{number}", flush=True)
"""


def start_adding(home: Path, name: str, rounds: int = 0) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", ADD, str(home), name, str(rounds)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )


def test_processes_that_add_at_once_lose_nothing(tmp_path: Path, library: Library) -> None:
    children = [start_adding(tmp_path, f"p{number}", 5) for number in range(4)]
    for child in children:
        assert child.stdin
        child.stdin.write("go\n")
        child.stdin.flush()
    runs = {line for child in children for line in child.communicate()[0].split()}
    assert [child.returncode for child in children] == [0] * 4
    assert len(runs) == 20
    own = {pattern.title: pattern.builds for pattern in library.load()[FILE].patterns}
    assert set(own.pop("Everybody learns this")) == runs
    assert sorted(run for builds in own.values() for run in builds) == sorted(runs)


def test_a_process_killed_while_it_adds_leaves_a_whole_file(
    tmp_path: Path, library: Library
) -> None:
    told: set[str] = set()
    for round_number in range(4):
        with start_adding(tmp_path, f"k{round_number}") as child:
            assert child.stdin
            assert child.stdout
            child.stdin.write("go\n")
            child.stdin.flush()
            told |= {child.stdout.readline().strip() for _ in range(3 + round_number)}
            os.kill(child.pid, signal.SIGKILL)
            told |= set(child.stdout.read().split())
        assert told <= {run for each in library.load()[FILE].patterns for run in each.builds}
    assert library.add(lesson("r1", "Locks leak")) == []
    assert "Locks leak" in titles(library)


FULL_DISK = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
"""


def test_a_disk_that_is_full_is_a_warning_and_the_old_file_stays(
    library: Library, own: Path, tmp_path: Path
) -> None:
    library.add(lesson("r1", "Everybody learns this"))
    before = {path: path.read_bytes() for path in own.iterdir()}
    command = [sys.executable, "-c", FULL_DISK + ADD, str(tmp_path), "full", "1"]
    done = subprocess.run(
        command, input="go\n", capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert "AssertionError: ['cannot write" in done.stderr
    assert "nothing was added to it" in done.stderr
    assert {path: path.read_bytes() for path in own.iterdir()} == before


HOLD = """
import sys
from pathlib import Path
from filelock import FileLock

own = Path(sys.argv[1])
with FileLock(own / ".lock"):
    (own / ".test-patterns.json.half").write_text('{"kind": "comm')
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_the_lock_of_a_killed_process_is_free_again(tmp_path: Path, own: Path) -> None:
    library = Library(tmp_path, tmp_path / "none", wait_seconds=0)
    library.add(lesson("r1", "Locks leak"))
    before = (own / FILE).read_bytes()
    command = [sys.executable, "-c", HOLD, str(own)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout
        assert child.stdout.readline() == "held\n"
        (warning,) = library.add(lesson("r2", "Dates drift"))
        assert "in use by another build" in warning
        assert (own / FILE).read_bytes() == before
        child.kill()
    assert library.add(lesson("r2", "Dates drift")) == []
    assert titles(library) == {"Locks leak", "Dates drift"}


def test_add_gives_the_lock_back(library: Library, own: Path) -> None:
    library.add(lesson("r1", "Locks leak"))
    with FileLock(own / ".lock", timeout=0) as lock:
        assert lock.is_locked
