"""Asking a person about single calls: the question, and the answers of a run, which are kept in
their home from pause to resume."""

import json
import shlex
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from foundry.errors import ProjectError
from foundry.files import atomic_write
from foundry.permission.globs import known, literal
from foundry.permission.operation import COMMAND, WRITE, Operation
from foundry.schema.base import Value
from foundry.schema.permission import Answer, Effect, Question, Rule, Verdict
from foundry.store import runs
from foundry.tools.base import Tool

Approve = Callable[[Question], Answer | None]
"""Asks a person about a call; None when nobody is there to answer."""

ANSWER = "answer"
"""The source of rules that a person's `always` has made."""

_WRITERS = (WRITE, "edit_file")
"""Who may write the files of a folder may do it with either."""


def nobody(_question: Question) -> Answer | None:
    """Nobody is there."""
    return None


def question(
    step: str, tool: Tool[Any], arguments: BaseModel, verdict: Verdict, asked: Iterable[Operation]
) -> Question:
    """The question about a call; `asked` are its operations that are not allowed already."""
    return Question(
        step=step,
        tool=tool.name,
        subject=tool.subject(arguments),
        shown=tool.shown(arguments),
        why=verdict.why,
        always=lasting(asked),
        arguments=arguments.model_dump(mode="json", exclude_defaults=True),
        editable=tool.editable,
    )


def lasting(operations: Iterable[Operation]) -> tuple[Rule, ...]:
    """The rules that allow these operations from now on; none when one can't be put as a rule."""
    rules = [_lasting(operation) for operation in operations]
    return () if None in rules else tuple(dict.fromkeys(rule for rule in rules if rule))


def _lasting(operation: Operation) -> Rule | None:
    """This very command, or the files of this folder."""
    if operation.opaque or not all(map(known, operation.words)):
        return None
    if operation.tool == COMMAND:
        words = " ".join(shlex.quote(literal(word)) for word in operation.words)
        return Rule(effect=Effect.ALLOW, tools=(COMMAND,), commands=(words,), source=ANSWER)
    paths = {_folder_of(each.inside) for each in operation.paths if each.inside}
    if not paths or len(paths) < len({each.inside for each in operation.paths}):
        return None
    tools = _WRITERS if operation.tool in _WRITERS else (operation.tool,)
    return Rule(effect=Effect.ALLOW, tools=tools, paths=tuple(sorted(paths)), source=ANSWER)


def _folder_of(path: str) -> str:
    folder, slash, _ = path.rpartition("/")
    return f"./{literal(folder)}/**" if slash else f"./{literal(path)}"


class Approvals(Value):
    """What was answered in a run so far, and what waits for an answer."""

    always: tuple[Rule, ...] = ()
    answers: dict[str, Answer] = Field(default_factory=dict)
    """By the fingerprint of the call that it is about; each holds once."""
    pending: Question | None = None

    def answered(self, question: Question, answer: Answer) -> "Approvals":
        """With a person's word on a question that waited."""
        if answer.kind == "always":
            return self.model_copy(
                update={"always": (*self.always, *question.always), "pending": None}
            )
        answers = {**self.answers, fingerprint(question): answer}
        return self.model_copy(update={"answers": answers, "pending": None})

    def without(self, question: Question) -> "Approvals":
        """Without the answer to a question: it has been used."""
        kept = {key: each for key, each in self.answers.items() if key != fingerprint(question)}
        return self.model_copy(update={"answers": kept})


def fingerprint(question: Question) -> str:
    """What makes two calls the same: the tool and everything that it is called with."""
    call = json.dumps([question.tool, question.arguments], sort_keys=True)
    return sha256(call.encode("utf-8", "replace")).hexdigest()


def load(run: str) -> Approvals:
    """The approvals of a run; raises ProjectError when the file is damaged."""
    path = runs.folder(run) / "approvals.json"
    try:
        return Approvals.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return Approvals()
    except (OSError, ValidationError) as error:
        raise ProjectError(
            f"{path} can't be read", hint="Move it away: what was answered is then asked again"
        ) from error


def save(run: str, approvals: Approvals) -> None:
    """Keep the approvals of a run."""
    path = runs.folder(run) / "approvals.json"
    atomic_write(path, approvals.model_dump_json(indent=2) + "\n")


def unanswered(run: str, approve: Approve) -> str:
    """Ask about the call that the run paused for; what still waits when nobody answers.

    Raises ProjectError when the approvals of the run are damaged.
    """
    kept = load(run)
    if kept.pending is None:
        return ""
    answer = approve(kept.pending)
    if answer is None:
        waits = f"{kept.pending.step} wants to use {kept.pending.tool}: {kept.pending.subject}"
        return f"{waits}. `foundry resume` in a terminal asks about it"
    save(run, kept.answered(kept.pending, answer))
    return ""


def forget_question(run: str) -> None:
    """The rules have changed: what waited under the old ones is judged anew.

    Raises ProjectError when the approvals of the run are damaged.
    """
    kept = load(run)
    if kept.pending is not None:
        save(run, kept.model_copy(update={"pending": None}))
