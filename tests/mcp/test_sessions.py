"""Sessions on disk: append-only, whole lines only, shared by processes, read again after a kill."""

import fcntl
import json
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from foundry.errors import JournalError
from foundry.mcp import token
from foundry.mcp.messages import Refusal
from foundry.mcp.sessions import KEPT_DAYS, Session, Sessions, advanced, due_step
from foundry.schema.workflow import Workflow
from foundry.workflow.load import parse
from tests.support.mcp_clients import CONTEXT, TOUR

DAY = 86_400


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "sessions"


@pytest.fixture(scope="module")
def tour() -> Workflow:
    return parse(TOUR, "tour")


def complete(session: Session, **context: Any) -> str:
    """Complete the step that is due; the token of the next one."""
    session.complete(context, advanced(session.workflow, session.cursor, context))
    return session.token()


def step(sessions: Sessions, ticket: str, **context: Any) -> str:
    with sessions.held(token.read(ticket)) as session:
        return complete(session, **context)


def due_at(sessions: Sessions, ticket: str) -> tuple[str, int]:
    with sessions.held(token.read(ticket)) as session:
        return due_step(session.workflow, session.cursor), len(session.done)


def lines(folder: Path) -> list[dict[str, Any]]:
    (path,) = folder.glob("*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_first_line_pins_workflow_and_context(folder: Path, tour: Workflow) -> None:
    Sessions(folder).begin(tour, CONTEXT)
    (opening,) = lines(folder)
    assert opening["context"] == CONTEXT
    assert Workflow.model_validate(opening["workflow"]) == tour
    assert folder.stat().st_mode & 0o077 == 0
    (path,) = folder.glob("*.jsonl")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_line_is_appended_per_step_and_nothing_else_changes(folder: Path, tour: Workflow) -> None:
    sessions = Sessions(folder)
    ticket = sessions.begin(tour, CONTEXT).token()
    (path,) = folder.glob("*.jsonl")
    texts = [path.read_bytes()]
    for number in range(4):
        ticket = step(sessions, ticket, count=number)
        texts.append(path.read_bytes())
        assert texts[-1].startswith(texts[-2])
    assert lines(folder)[1:] == [
        {"step": "begin", "context": {"count": 0}},
        {"step": "each-thing[1]/clean", "context": {"count": 1}},
        {"step": "each-thing[2]/clean", "context": {"count": 2}},
        {"step": "each-thing[3]/clean", "context": {"count": 3}},
    ]


def test_another_process_goes_on_where_this_one_is(folder: Path, tour: Workflow) -> None:
    one, two = Sessions(folder), Sessions(folder)
    ticket = one.begin(tour, CONTEXT).token()
    for number in range(6):
        ticket = step((one, two)[number % 2], ticket)
    for sessions in (one, two, Sessions(folder)):
        assert due_at(sessions, ticket) == ("wait[1]/listen", 6)
    assert len(lines(folder)) == 7


@pytest.mark.parametrize("torn", [b'{"st', b'{"step":"begin","context":{}}', b"\xff\xfe", b"{"])
@pytest.mark.parametrize("known", [True, False])
def test_a_torn_last_line_never_was(folder: Path, tour: Workflow, torn: bytes, known: bool) -> None:
    sessions = Sessions(folder)
    ticket = step(sessions, sessions.begin(tour, CONTEXT).token())
    (path,) = folder.glob("*.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    again = sessions if known else Sessions(folder)
    assert due_at(again, ticket) == ("each-thing[1]/clean", 1)
    assert path.read_bytes() == whole
    step(again, ticket)
    assert [line.get("step") for line in lines(folder)] == [None, "begin", "each-thing[1]/clean"]


@pytest.mark.parametrize(
    "damage", ["not json", "{}", '{"step":"end","context":{}}', "[" * 100_000, "\ud800"]
)
def test_a_damaged_line_is_an_error_that_names_the_file(
    folder: Path, tour: Workflow, damage: str
) -> None:
    sessions = Sessions(folder)
    ticket = step(sessions, sessions.begin(tour, CONTEXT).token())
    (path,) = folder.glob("*.jsonl")
    whole = path.read_text()
    whole += '{"step":"each-thing[1]/clean","context":{}}\n'
    path.write_text(f"{whole}{damage}\n", encoding="utf-8", errors="surrogatepass")
    for again in (sessions, sessions, Sessions(folder)):
        with pytest.raises(JournalError) as damaged:
            due_at(again, ticket)
        assert str(path) in damaged.value.message
        assert "workflowId" in damaged.value.hint
    path.write_text(whole)
    assert due_at(sessions, ticket) == ("each-thing[2]/clean", 2)


def no_hex(opening: dict[str, Any]) -> None:
    opening["secret"] = "zz" + opening["secret"][2:]


def no_steps(opening: dict[str, Any]) -> None:
    opening["workflow"]["steps"] = []


def no_body(opening: dict[str, Any]) -> None:
    opening["workflow"]["steps"][1]["body"] = "nowhere"


def no_pattern(opening: dict[str, Any]) -> None:
    opening["workflow"]["steps"][0]["runCondition"] = {"var": "a", "matches": "("}


def deep(opening: dict[str, Any]) -> None:
    for _ in range(400):
        opening["context"] = {"a": opening["context"]}


@pytest.mark.parametrize("damage", [no_hex, no_steps, no_body, no_pattern, deep])
def test_a_damaged_beginning_is_an_error_that_names_the_file(
    folder: Path, tour: Workflow, damage: Callable[[dict[str, Any]], None]
) -> None:
    sessions = Sessions(folder)
    ticket = sessions.begin(tour, CONTEXT).token()
    (path,) = folder.glob("*.jsonl")
    (opening,) = lines(folder)
    damage(opening)
    path.write_text(json.dumps(opening) + "\n")
    for again in (sessions, Sessions(folder)):
        with pytest.raises(JournalError) as damaged:
            due_at(again, ticket)
        assert str(path) in damaged.value.message
        assert "workflowId" in damaged.value.hint


def test_a_restored_older_file_is_read_as_it_is(folder: Path, tour: Workflow) -> None:
    sessions = Sessions(folder)
    ticket = step(sessions, sessions.begin(tour, CONTEXT).token())
    (path,) = folder.glob("*.jsonl")
    older = path.read_bytes()
    step(sessions, ticket)
    path.write_bytes(older)
    assert due_at(sessions, ticket) == ("each-thing[1]/clean", 1)
    copy = path.with_suffix(".copy")
    copy.write_bytes(older + b'{"step":"each-thing[1]/clean","context":{}}\n')
    copy.replace(path)
    assert due_at(sessions, ticket) == ("each-thing[2]/clean", 2)


def test_the_token_of_one_session_opens_no_other(folder: Path, tour: Workflow) -> None:
    sessions = Sessions(folder)
    one, two = sessions.begin(tour, CONTEXT), sessions.begin(tour, CONTEXT)
    ticket = token.read(token.issue(one.id, 0, two.secret))
    with pytest.raises(Refusal) as refused, sessions.held(ticket):
        pass
    assert refused.value.code == "token-damaged"


def test_a_session_is_held_by_one_at_a_time(folder: Path, tour: Workflow) -> None:
    sessions = Sessions(folder)
    ticket = sessions.begin(tour, CONTEXT).token()
    (path,) = folder.glob("*.jsonl")
    with path.open("r+b") as other:
        with sessions.held(token.read(ticket)), pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)  # now it is free


def test_threads_of_one_process_and_others_do_not_lose_a_step(folder: Path, tour: Workflow) -> None:
    """Each reads how far it is and completes that step."""
    places = [Sessions(folder), Sessions(folder)]
    ticket = places[0].begin(tour, CONTEXT).token()
    ready = threading.Barrier(8)

    def work(number: int) -> None:
        ready.wait()
        step(places[number % 2], ticket, who=number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    told = lines(folder)[1:]
    assert sorted(line["context"]["who"] for line in told) == list(range(8))
    assert [line["step"] for line in told] == [
        *("begin", "each-thing[1]/clean", "each-thing[2]/clean", "each-thing[3]/clean"),
        *("knock[1]/once", "knock[2]/once", "wait[1]/listen", "wait[2]/listen"),
    ]


def test_more_sessions_than_memory_holds(folder: Path, tour: Workflow) -> None:
    sessions = Sessions(folder, in_memory=2)
    tickets = [step(sessions, sessions.begin(tour, CONTEXT).token()) for _ in range(5)]
    assert [due_at(sessions, ticket) for ticket in tickets] == [("each-thing[1]/clean", 1)] * 5


def test_old_sessions_are_deleted_and_younger_kept(folder: Path, tour: Workflow) -> None:
    sessions = Sessions(folder)
    old, young = sessions.begin(tour, {}), sessions.begin(tour, {})
    now = time.time()
    os.utime(old.path, (now, now - (KEPT_DAYS + 1) * DAY))
    os.utime(young.path, (now, now - (KEPT_DAYS - 1) * DAY))
    sessions.prune(now)
    assert [path.stem for path in folder.glob("*.jsonl")] == [young.id]


def test_pruning_a_home_without_sessions(folder: Path) -> None:
    Sessions(folder).prune()
    assert not folder.exists()
