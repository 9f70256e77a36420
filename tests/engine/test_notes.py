"""Session notes: kept by conversations and by the harness, read by those that come after."""

from datetime import UTC, datetime

import pytest

from foundry.engine.notes import Notebook, for_prompt, open_issues, session_notes
from foundry.errors import ToolError
from foundry.schema.journal import Attempt, SessionNote, StepRecord
from foundry.store.artifacts import notes_text, read_notes
from foundry.store.project import NOTES, Project
from foundry.tools.note import MOST, NoteArguments, note_tool

AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def notebook(before: tuple[SessionNote, ...] = ()) -> Notebook:
    return Notebook(before, "r1", "builder[1]/task", AT)


def noted(book: Notebook, kind: str, text: str, **more: object) -> int:
    return book.keep(NoteArguments.model_validate({"kind": kind, "text": text, **more}))


def test_notes_are_numbered_on_and_never_changed() -> None:
    first = notebook()
    assert noted(first, "decision", "Use SQLite") == 1
    assert noted(first, "issue", "No index yet", path="store.py:12") == 2
    later = Notebook(first.all, "r2", "docs", AT)
    assert noted(later, "closed", "Index is there", closes=2) == 3
    assert later.all[:2] == first.all
    assert [note.number for note in later.all] == [1, 2, 3]
    assert open_issues(first.all).keys() == {2}
    assert open_issues(later.all) == {}


def test_only_an_open_issue_can_be_closed() -> None:
    book = notebook()
    with pytest.raises(ToolError, match="no open issue 7"):
        noted(book, "closed", "Done", closes=7)
    tool = note_tool(book.keep)
    for wrong in ({"kind": "closed", "text": "x"}, {"kind": "issue", "text": "x", "closes": 1}):
        assert tool.run(wrong).is_error
    assert (
        tool.run({"kind": "pattern", "text": "Stores are values"}).content == "Noted as number 1."
    )


def test_one_conversation_can_not_flood_the_notes() -> None:
    book = notebook()
    for number in range(MOST):
        noted(book, "pattern", f"pattern {number}")
    with pytest.raises(ToolError, match="enough for one step"):
        noted(book, "pattern", "one more")


def test_secrets_stay_out_of_what_is_committed() -> None:
    book = notebook()
    key = "sk-ant-api03-" + "aB3dE5gH7jK9" * 8
    noted(book, "decision", f"Use the key {key}", path=f"config/{key}")
    record = StepRecord(seq=2, at=AT, run="r1", step="docs", phase="docs", message="docs: x",
                        summary=f"It reads {key}", files=("a.py",))  # fmt: skip
    written = notes_text(book.all) + session_notes("it", book.all, [record])
    assert key not in written
    assert "Use the key" in written
    assert "It reads" in written


def test_a_failed_attempt_is_noted() -> None:
    book = notebook()
    book.failed(
        Attempt(seq=1, at=AT, run="r1", step="docs", phase="docs", attempt=2, reason="turns",
                detail="went in\n circles")
    )  # fmt: skip
    assert book.all[-1].text == "attempt 2 failed (turns): went in circles"
    assert "went in circles" in for_prompt(book.all)


def test_what_a_prompt_gets_is_bounded_whatever_there_is() -> None:
    book = notebook()
    for number in range(1000):
        book.add("decision", f"decision {number}: " + "because of many reasons " * 5)
    book.add("issue", "the oldest issues come first in")
    text = for_prompt(book.all, 500)
    assert len(text) < 500 * 4
    assert "the oldest issues come first in" in text
    assert "decision 999:" in text
    assert "decision 1:" not in text
    assert for_prompt((), 500) == ""
    hundred = for_prompt(book.all[-100:], 500)
    assert hundred == text


def test_session_notes_have_the_structure_of_the_seed() -> None:
    book = notebook()
    book.add("goal", "A shelf for books")
    noted(book, "decision", "Use SQLite")
    noted(book, "pattern", "Errors are values", path="shelf/errors.py:3")
    noted(book, "issue", "No index yet")
    record = StepRecord(seq=1, at=AT, run="r1", step="builder[1]/task", phase="builder",
                        summary="The store.\nMore.", files=("shelf/store.py",))  # fmt: skip
    assert (
        session_notes("shelf", book.all, [record])
        == """# Session notes: shelf

## Current goal

A shelf for books

## Key decisions

- Use SQLite (builder[1]/task, 2026-01-02 03:04)

## Files modified

- `shelf/store.py` - The store. (builder[1]/task)

## Current task

builder[1]/task is done: The store.

## Open issues

- [ ] 4: No index yet (builder[1]/task)

## Code patterns discovered

- Errors are values `shelf/errors.py:3` (builder[1]/task, 2026-01-02 03:04)
"""
    )


def test_a_damaged_line_takes_no_other_with_it(tmp_path) -> None:
    book = notebook()
    noted(book, "decision", "Use SQLite")
    noted(book, "pattern", "Errors are values")
    first, second = notes_text(book.all).splitlines()
    project = Project(tmp_path)
    project.artifact(NOTES).parent.mkdir()
    project.artifact(NOTES).write_text(f'{first}\n{{"number": 1}}\nnot json\n{second}\n')
    assert read_notes(project) == book.all
    assert read_notes(Project(tmp_path / "none")) == ()
