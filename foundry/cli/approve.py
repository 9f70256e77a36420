"""Asking a person about a call at the terminal: show it, take y, n, always or edit."""

import sys
from pathlib import PurePath
from typing import TextIO

import click

from foundry.report.terminal_safe import safe, safe_block
from foundry.schema.permission import Answer, Question

SHOWN_LINES = 60
_ANSWERS = {"y": "yes", "yes": "yes", "n": "no", "no": "no", "a": "always", "always": "always",
          "e": "edit", "edit": "edit"}  # fmt: skip
_PLAIN = {"yes": Answer(kind="yes"), "no": Answer(kind="no")}
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def ask_person(question: Question, source: TextIO | None = None) -> Answer | None:
    """A person's word on a call; None when the input ends, so that the run pauses.

    `source` is where they type (default: this process's own stdin); all else goes to stderr.
    """
    typed = source or sys.stdin
    for line in question_lines(question):
        click.echo(line, err=True)
    while True:
        click.echo(f"   Allow? [{'/'.join(choices(question))}] ", nl=False, err=True)
        said = typed.readline()
        if not said:
            click.echo(err=True)
            return None
        answer = _answer(_ANSWERS.get(said.strip().lower(), ""), question)
        if answer is not None:
            return answer


def choices(question: Question) -> tuple[str, ...]:
    """What can be answered: a call that can't be put as a rule has no `always`."""
    always = ("always",) if question.always else ()
    edit = ("edit",) if question.editable else ()
    return ("y", "n", *always, *edit)


def question_lines(question: Question) -> list[str]:
    """The question: what would happen, why a person is asked, what `always` would mean."""
    head = f"{question.step} wants to use {question.tool}: {question.subject}"
    body = safe_block(question.shown).split("\n")
    shown = [_coloured(line, question) for line in body[:SHOWN_LINES]]
    if len(body) > SHOWN_LINES:
        shown.append(f"   [… {len(body) - SHOWN_LINES} more lines; edit shows them all …]")
    rows = ["", click.style(f"? {safe(head)}", bold=True), *shown]
    if question.why:
        rows.append(click.style(f"   asked because {safe(question.why)}", dim=True))
    rows += [click.style(f"   always = {safe(each.text)}", dim=True) for each in question.always]
    return rows


def _coloured(line: str, question: Question) -> str:
    is_diff = question.tool != "run_command"
    colour = _COLOURS.get(line[:1]) if is_diff else None
    return f"   {click.style(line, fg=colour) if colour else line}"


def _answer(kind: str, question: Question) -> Answer | None:
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind == "always" and question.always:
        return Answer(kind="always")
    if kind == "edit" and question.editable:
        return _edited(question)
    return None


def _edited(question: Question) -> Answer | None:
    """What the person made of it in their editor; None (asked again) when they left it alone."""
    given = str(question.arguments.get(question.editable, ""))
    suffix = PurePath(str(question.arguments.get("path", ""))).suffix or ".txt"
    command = question.tool == "run_command"
    text = click.edit(given, extension=".sh" if command else suffix)
    if text is None or text == given:
        return None
    return Answer(kind="edit", text=text.strip("\n") if command else text)
