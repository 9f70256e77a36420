"""What a model's calls may do: modes, rules, verdicts, and the question that a person is asked."""

import shlex
from enum import StrEnum
from typing import Literal

from pydantic import Field, field_validator, model_validator

from foundry.schema.base import Json, Value


class Mode(StrEnum):
    """Who decides about a call."""

    ASK = "ask"
    """A person, at the terminal; what only looks is not asked about."""
    AUTO = "auto"
    """The rules alone: for builds that nobody watches."""
    PLAN = "plan"
    """Nobody: tools that only read, whatever the rules say."""


class Effect(StrEnum):
    """What a rule says about the calls that it matches."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Rule(Value):
    """What may be done with which tools; the last rule that matches a call decides.

    `commands` narrow `run_command` down, `paths` the files: of a file tool, of a redirection, or
    (together with `commands`) every argument that could name a file. Without both, a rule is
    about the tools whatever they are called with.
    """

    effect: Effect
    tools: tuple[str, ...] = Field(min_length=1)
    commands: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    reason: str = ""
    """Told to the model when the rule stops it: why, and what to do instead."""
    source: str = ""
    """Where the rule comes from, for people."""

    @property
    def text(self) -> str:
        """The rule as a person writes it: `deny run_command: git push *`."""
        patterns = " | ".join(self.commands) or ", ".join(self.paths)
        where = f" in {', '.join(self.paths)}" if self.commands and self.paths else ""
        return f"{self.effect} {', '.join(self.tools)}" + (
            f": {patterns}{where}" if patterns else ""
        )

    @field_validator("commands")
    @classmethod
    def _patterns_have_words(cls, commands: tuple[str, ...]) -> tuple[str, ...]:
        for command in commands:
            try:
                words = shlex.split(command)
            except ValueError as error:
                raise ValueError(f"{command!r} has a quote that never ends") from error
            if not words:
                raise ValueError("an empty command pattern")
        return commands

    @field_validator("paths")
    @classmethod
    def _paths_say_something(cls, paths: tuple[str, ...]) -> tuple[str, ...]:
        if not all(path.strip() for path in paths):
            raise ValueError("an empty path pattern")
        return paths

    @model_validator(mode="after")
    def _commands_have_a_tool(self) -> "Rule":
        if self.commands and set(self.tools) - {"run_command", "*"}:
            raise ValueError("`command` is about run_command and no other tool")
        return self


class Policy(Value):
    """All that decides about the calls of a run: the later a rule stands, the more it weighs."""

    mode: Mode = Mode.AUTO
    rules: tuple[Rule, ...] = ()
    denials: int = Field(6, ge=1)
    """How many refusals in one conversation pause the run."""


class Verdict(Value):
    """What the policy says about one call. `part` is the piece of it that decided."""

    effect: Effect
    part: str = ""
    why: str = ""
    rule: Rule | None = None


class Question(Value):
    """A call that waits for a person's word."""

    step: str
    tool: str
    subject: str
    """The call in one line."""
    shown: str
    """What would happen: a command, or a diff."""
    why: str
    always: tuple[Rule, ...] = ()
    """The rules that `always` adds for this run."""
    arguments: dict[str, Json] = Field(default_factory=dict)
    editable: str = ""
    """The name of the argument that `edit` changes, or nothing."""


class Answer(Value):
    """A person's word. `text` is the edited argument."""

    kind: Literal["yes", "no", "always", "edit"]
    text: str = ""
