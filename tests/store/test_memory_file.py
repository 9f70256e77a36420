"""The memory's file: many processes, kills, damage, no room, no permission, other versions."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from foundry.errors import ProjectError
from foundry.schema.memory import Draft
from foundry.store.memory.database import MIGRATIONS, identity
from foundry.store.memory.repair import set_aside
from foundry.store.memory.store import ContextMemoryStore, memory_path, nearest
from foundry.store.memory.transfer import write_export
from tests.support.moments import moment

WRITER = """
import sys
from pathlib import Path
from foundry.schema.memory import Draft
from foundry.store.memory.store import ContextMemoryStore
from tests.support.moments import moment
path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with ContextMemoryStore(path) as store:
    for number in range(count):
        told = moment(number, f"turn {number} of {name}", task="shared " * 80, conversation=name)
        print(store.store(told, Draft(text=f"summary {number} of {name}")), flush=True)
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    here = str(Path(__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name, str(count)],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": here},
    )  # fmt: skip


# -- processes ---------------------------------------------------------------------------------


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    path = tmp_path / "memory.db"
    writers = [writer(path, f"w{number}", 40) for number in range(4)]
    ids = [line for each in writers for line in each.communicate()[0].split()]
    assert [each.returncode for each in writers] == [0] * 4
    assert len(set(ids)) == 160
    with ContextMemoryStore(path) as store:
        assert {head.id for head in store.heads()} == set(ids)
        assert all(store.get(each) for each in ids)
        assert len(store.search("summary", limit=500)) == 160
        connection = sqlite3.connect(path)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        shared = "SELECT count(*) FROM content WHERE size = ?"
        assert connection.execute(shared, (len("shared " * 80),)).fetchone() == (1,)
        connection.close()


def test_a_killed_writer_leaves_what_it_said_it_stored(tmp_path):
    path = tmp_path / "memory.db"
    process = writer(path, "w", 10_000)
    assert process.stdout is not None
    ids = [process.stdout.readline().strip() for _ in range(20)]
    process.send_signal(signal.SIGKILL)
    ids += process.communicate()[0].split()
    with ContextMemoryStore(path) as store:
        stored = [head.id for head in store.heads()]
        assert stored[: len(ids)] == ids
        assert len(stored) <= len(ids) + 1  # the one that it had not told of yet
        store.store(moment(1, "life goes on"))


# -- damage ------------------------------------------------------------------------------------


def test_what_is_no_database_is_set_aside(tmp_path):
    path = tmp_path / "memory.db"
    path.write_bytes(b"no database at all, but long enough to look like one " * 40)
    told: list[str] = []
    with ContextMemoryStore(path, tell=told.append) as store:
        entry_id = store.store(moment(1, "a new beginning"))
        assert [head.id for head in store.heads()] == [entry_id]
    (aside,) = tmp_path.glob("memory.db.damaged-*")
    assert aside.read_bytes().startswith(b"no database")
    assert len(told) == 1
    assert str(aside) in told[0]
    assert "0 entries could be saved" in told[0]


def test_of_a_damaged_file_everything_that_can_be_read_is_saved(tmp_path):
    path = tmp_path / "memory.db"
    with ContextMemoryStore(path) as store:
        ids = [store.store(moment(n, f"turn {n}"), Draft(text="S" * 900)) for n in range(300)]
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        page = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'entry_in_time'"
        ).fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        connection.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    told: list[str] = []
    with ContextMemoryStore(path, tell=told.append) as store:
        new = store.store(moment(900, "after the damage"))
        assert {head.id for head in store.heads()} == {*ids, new}
        assert len(store.search("turn", limit=400)) == 300
    assert "300 entries could be saved" in told[0]


def test_a_text_that_cannot_be_unpacked_costs_its_entry_alone(tmp_path):
    path = tmp_path / "memory.db"
    with ContextMemoryStore(path) as store:
        lost = store.store(moment(1, "lost " * 100))
        kept = store.store(moment(2, "kept " * 100))
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER content_stays")
    connection.execute("UPDATE content SET data = zeroblob(30) WHERE number = 1")
    connection.commit()
    connection.close()
    told: list[str] = []
    with ContextMemoryStore(path, tell=told.append) as store:
        assert store.get(lost) is None
        assert store.get(kept).snapshot.said == "kept " * 100
    assert len(told) == 1


def test_a_lost_file_is_made_anew_from_the_exports_beside_it(tmp_path):
    path = tmp_path / "memory.db"
    with ContextMemoryStore(path) as store:
        ids = [store.store(moment(number, f"turn {number}")) for number in range(3)]
        write_export(store.entries(), tmp_path / "memory-before.jsonl")
        late = store.store(moment(9, "after the export"))
    path.write_bytes(b"\0" * 8_192 + b"ruined")
    (tmp_path / "memory-junk.jsonl").write_text("junk\n")
    with ContextMemoryStore(path) as store:
        assert [head.id for head in store.heads()] == ids
        assert store.get(late) is None


def test_two_that_find_the_damage_set_it_aside_once(tmp_path):
    path = tmp_path / "memory.db"
    first, second = ContextMemoryStore(path), ContextMemoryStore(path)
    first.store(moment(1, "before"))
    second.store(moment(2, "before"))
    first.close()
    second.close()
    path.write_bytes(b"ruined " * 3_000)
    ids = {first.store(moment(3, "after")), second.store(moment(4, "after"))}
    assert {head.id for head in first.heads()} == ids
    assert len(list(tmp_path.glob("memory.db.damaged-*"))) == 1
    first.close()
    second.close()


def test_a_new_file_is_not_set_aside_for_the_damage_of_the_old(tmp_path):
    path = tmp_path / "memory.db"
    path.write_bytes(b"ruined")
    damaged = identity(path)
    path.rename(tmp_path / "aside")
    path.write_bytes(b"another process made this one")
    assert set_aside(path, damaged) is None
    assert path.exists()
    aside = set_aside(path, identity(path))
    assert aside is not None
    assert aside.read_bytes() == b"another process made this one"


def test_a_file_that_was_replaced_is_opened_again(tmp_path):
    path = tmp_path / "memory.db"
    with ContextMemoryStore(path) as store:
        store.store(moment(1, "in the old one"))
        for each in tmp_path.glob("memory.db*"):
            each.rename(tmp_path / f"old-{each.name}")
        kept = store.store(moment(2, "in the new one"))
        assert [head.id for head in store.heads()] == [kept]


# -- no room, no permission, other versions ----------------------------------------------------

LIMITED = """
import resource, signal, sys
from pathlib import Path
from foundry.errors import ProjectError
from foundry.store.memory.store import ContextMemoryStore
from tests.support.moments import moment
path = Path(sys.argv[1])
with ContextMemoryStore(path) as store:
    store.store(moment(1, "there is room"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))
    try:
        for number in range(2, 500):
            store.store(moment(number, "".join(chr(33 + (number * k) % 90) for k in range(9000))))
    except ProjectError as error:
        print(error)
        sys.exit(len(store.heads()) > 1 and store.heads()[-1].turn == number - 1)
"""


def test_a_disk_that_is_full_is_an_error_and_loses_nothing(tmp_path):
    here = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "memory.db")], capture_output=True,
        text=True, check=False, env={**os.environ, "PYTHONPATH": here},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
    assert f"cannot write {tmp_path / 'memory.db'}" in done.stdout
    assert "Free some space" in done.stdout


@pytest.mark.usefixtures("permissions")
def test_a_folder_that_is_closed_is_an_error(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    store = ContextMemoryStore(closed / "memory.db")
    with pytest.raises(ProjectError, match="cannot write"):
        store.store(moment(1, "x"))


def test_a_place_that_can_be_no_folder_is_an_error(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ProjectError, match="cannot write"):
        ContextMemoryStore(tmp_path / "file" / "memory.db").heads()


def test_a_file_of_a_newer_version_is_left_as_it_is(tmp_path):
    path = tmp_path / "memory.db"
    with ContextMemoryStore(path) as store:
        store.store(moment(1, "x"))
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.commit()
    connection.close()
    with pytest.raises(ProjectError, match="newer Foundry"):
        ContextMemoryStore(path).heads()
    assert not list(tmp_path.glob("*.damaged-*"))


def test_terms_that_are_made_differently_now_are_made_anew(tmp_path):
    path = tmp_path / "memory.db"
    with ContextMemoryStore(path) as store:
        entry_id = store.store(moment(1, "quokka"), Draft(text="numbat"))
    connection = sqlite3.connect(path)
    connection.execute("UPDATE total SET value = 0 WHERE name = 'analysis'")
    connection.execute("DROP TABLE said")
    connection.commit()
    connection.close()
    with ContextMemoryStore(path) as store:
        for word in ("quokka", "numbat"):
            assert [head.id for head in store.search(word)] == [entry_id]


# -- the place ---------------------------------------------------------------------------------


def test_a_project_has_one_memory_for_all_its_runs(tmp_path):
    root = tmp_path / "app"
    worktree = tmp_path / "app.foundry" / "run-1"
    worktree.mkdir(parents=True)
    root.mkdir()
    (worktree / ".git").write_text("gitdir: elsewhere")
    within = root / ".context-foundry" / "local" / "memory.db"
    beside = tmp_path / "app.foundry" / "memory.db"
    assert memory_path(root) == within
    assert memory_path(worktree) == beside  # the person's files stay as they are
    beside.touch()
    assert memory_path(root) == memory_path(worktree) == beside
    assert nearest(root / "src" / "deep") == beside
    beside.unlink()
    within.parent.mkdir(parents=True)
    assert memory_path(worktree) == within  # built in place before: the folder is there
    within.touch()
    beside.touch()
    assert memory_path(root) == memory_path(worktree) == within
    assert nearest(tmp_path / "none") == tmp_path / "none" / ".context-foundry/local/memory.db"


def test_an_export_is_described_by_its_schema(tmp_path):
    import jsonschema

    schema = json.loads((Path(__file__).parents[2] / "docs/memory.schema.json").read_text())
    with ContextMemoryStore(tmp_path / "memory.db") as store:
        store.store(moment(1, "x", state={"a": 1}), Draft(text="y"))
        write_export(store.entries(), tmp_path / "e.jsonl")
    line = json.loads((tmp_path / "e.jsonl").read_text())
    jsonschema.validate(line, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**line, "id": "7"}, schema)
    for name, part in {"entry": schema, **schema["$defs"]}.items():
        for field, about in part["properties"].items():
            assert about.get("description"), f"{name}.{field}"
