"""Asking a person: at a real terminal, with a real editor."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from foundry.cli.approve import question_lines
from foundry.schema.permission import Answer, Effect, Question, Rule

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
ASKED = """
import sys
from foundry.cli.approve import ask_person
from foundry.schema.permission import Question
answer = ask_person(Question.model_validate_json(sys.argv[1]))
print(answer.model_dump_json() if answer else "nobody")
"""


def ask(question: Question, typed: bytes, *, editor: str = "false") -> tuple[str, str]:
    """What came of it, and what the terminal showed."""
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", ASKED, question.model_dump_json()],
        stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, start_new_session=True,
        env={**os.environ, "EDITOR": editor, "TERM": "xterm"},
    ) as process:  # fmt: skip
        os.close(theirs)
        os.write(ours, typed)
        shown = b""
        while chunk := _read(ours):
            shown += chunk
        os.close(ours)
        result = process.stdout.read() if process.stdout else b""
    return result.decode().strip(), shown.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so when the other side has closed
        return b""


@pytest.mark.parametrize(
    ("typed", "kind"),
    [(b"y\n", "yes"), (b"N\n", "no"), (b"always\n", "always"), (b"\nwhat\nyes\n", "yes")],
)
def test_answers(typed: bytes, kind: str):
    result, shown = ask(COMMAND, typed)
    assert Answer.model_validate_json(result) == Answer(kind=kind)  # type: ignore[arg-type]
    assert "builder[1]/build wants to use run_command" in shown
    assert "always = allow run_command: touch a" in shown
    assert "[y/n/always/edit]" in shown


def test_always_and_edit_only_where_there_is_such_a_thing():
    question = COMMAND.model_copy(update={"always": (), "editable": ""})
    result, shown = ask(question, b"always\nedit\nn\n")
    assert Answer.model_validate_json(result) == Answer(kind="no")
    assert shown.count("[y/n]") == 3


def test_the_end_of_input_is_nobody():
    assert ask(COMMAND, b"\x04")[0] == "nobody"


@pytest.mark.parametrize(
    ("tool", "arguments", "editable"),
    [
        ("run_command", {"command": "touch a"}, "command"),
        ("write_file", {"path": "x.py", "content": "touch a"}, "content"),
    ],
)
def test_edit_opens_the_persons_editor(
    tmp_path: Path, tool: str, arguments: dict[str, str], editable: str
):
    editor = tmp_path / "editor"
    editor.write_text(
        '#!/bin/sh\necho "$1" > ' + str(tmp_path / "name") + '\necho touch b > "$1"\n'
    )
    editor.chmod(0o755)
    question = COMMAND.model_copy(
        update={"tool": tool, "arguments": arguments, "editable": editable}
    )
    result, _ = ask(question, b"e\n", editor=str(editor))
    text = "touch b" if tool == "run_command" else "touch b\n"
    assert Answer.model_validate_json(result) == Answer(kind="edit", text=text)
    suffix = ".sh" if tool == "run_command" else ".py"
    assert (tmp_path / "name").read_text().strip().endswith(suffix)


def test_an_edit_that_changes_nothing_is_asked_again():
    result, shown = ask(COMMAND, b"e\nn\n", editor="true")
    assert Answer.model_validate_json(result) == Answer(kind="no")
    assert shown.count("Allow?") == 2


def test_what_is_shown_is_harmless_and_not_endless():
    question = COMMAND.model_copy(
        update={"subject": "a\x1b[2Jb", "shown": "\x1b]0;x\x07\n" + "line\n" * 500}
    )
    told = "\n".join(question_lines(question))
    assert "\x1b[2J" not in told
    assert "\x1b]0" not in told
    assert "more lines; edit shows them all" in told
    assert told.count("line\n") < 100
