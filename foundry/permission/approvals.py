"""A person's words on single calls of a run, in their home: kept from pause to resume."""

import json
from hashlib import sha256

from pydantic import Field, ValidationError

from foundry.errors import ProjectError
from foundry.files import atomic_write
from foundry.schema.base import Value
from foundry.schema.permission import Answer, Question, Rule
from foundry.store import runs


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
