"""Asking a person: what is typed, what is shown, with a real editor."""

import io
from pathlib import Path

import pytest

from foundry.cli.approve import ask_person, question_lines
from foundry.schema.permission import Answer, Effect, Question, Rule

Capture = pytest.CaptureFixture[str]

COMMAND = Question(
    step="builder[1]/build",
    tool="run_command",
    subject="touch a",
    shown="touch a",
    why="a rule says so: ask run_command",
    always=(Rule(effect=Effect.ALLOW, tools=("run_command",), commands=("touch a",)),),
    arguments={"command": "touch a"},
    editable="command",
)


def ask(question: Question, typed: str, capsys: Capture) -> tuple[Answer | None, str]:
    """What came of it, and what was shown."""
    return ask_person(question, io.StringIO(typed)), capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "kind"),
    [("y\n", "yes"), ("N\n", "no"), ("always\n", "always"), ("\nwhat\nyes\n", "yes")],
)
def test_answers(typed: str, kind: str, capsys: Capture):
    result, shown = ask(COMMAND, typed, capsys)
    assert result == Answer(kind=kind)  # type: ignore[arg-type]
    assert "builder[1]/build wants to use run_command" in shown
    assert "always = allow run_command: touch a" in shown
    assert "[y/n/always/edit]" in shown


def test_always_and_edit_only_where_there_is_such_a_thing(capsys: Capture):
    question = COMMAND.model_copy(update={"always": (), "editable": ""})
    result, shown = ask(question, "always\nedit\nn\n", capsys)
    assert result == Answer(kind="no")
    assert shown.count("[y/n]") == 3


def test_the_end_of_input_is_nobody(capsys: Capture):
    assert ask(COMMAND, "", capsys)[0] is None


@pytest.mark.parametrize(
    ("tool", "arguments", "editable"),
    [
        ("run_command", {"command": "touch a"}, "command"),
        ("write_file", {"path": "x.py", "content": "touch a"}, "content"),
    ],
)
def test_edit_opens_the_persons_editor(
    tmp_path: Path,
    tool: str,
    arguments: dict[str, str],
    editable: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
):
    editor = tmp_path / "editor"
    editor.write_text(
        '#!/bin/sh\necho "$1" > ' + str(tmp_path / "name") + '\necho touch b > "$1"\n'
    )
    editor.chmod(0o755)
    question = COMMAND.model_copy(
        update={"tool": tool, "arguments": arguments, "editable": editable}
    )
    monkeypatch.setenv("VISUAL", str(editor))
    result, _ = ask(question, "e\n", capsys)
    text = "touch b" if tool == "run_command" else "touch b\n"
    assert result == Answer(kind="edit", text=text)
    suffix = ".sh" if tool == "run_command" else ".py"
    assert (tmp_path / "name").read_text().strip().endswith(suffix)


def test_an_edit_that_changes_nothing_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
):
    monkeypatch.setenv("VISUAL", "true")
    result, shown = ask(COMMAND, "e\nn\n", capsys)
    assert result == Answer(kind="no")
    assert shown.count("Allow?") == 2


def test_what_is_shown_is_harmless_and_not_endless():
    question = COMMAND.model_copy(
        update={"subject": "a\x1b[2J", "shown": "\x1b]0;x\x07\n" + "line\n" * 500}
    )
    told = "\n".join(question_lines(question))
    assert "\x1b[2J" not in told
    assert "\x1b]0" not in told
    assert "more lines; edit shows them all" in told
    assert told.count("line\n") < 100
