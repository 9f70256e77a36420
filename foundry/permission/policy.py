"""The rules of permission on disk: those that ship, and the person's own in FOUNDRY_HOME.

A project never has a say in what may be done to it: nothing here is read from a project.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError, field_validator, model_validator

from foundry.config import home
from foundry.errors import InputError
from foundry.permission.operation import COMMAND
from foundry.schema.base import Value
from foundry.schema.permission import Effect, Mode, Policy, Rule
from foundry.tools.toolset import TOOLS

FILE = "policy.yaml"
COMMAND_LINE = "command line"

_SHIPPED = Path(__file__).parent / "policies"
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The same, in C where it is there: eight times as fast."""

_FORM = (
    "Write it as `--{effect} TOOL` or `--{effect} 'TOOL: PATTERN'`, such as 'run_command: zig *'"
)


class _Entry(Value):
    """One rule as a person writes it: `deny: run_command`, `command: git push *`."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    reason: str = ""

    @field_validator("allow", "ask", "deny", "command", "path", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @model_validator(mode="after")
    def _is_a_rule(self) -> "_Entry":
        self.rule("")  # raises what a rule itself refuses
        return self

    def rule(self, source: str) -> Rule:
        """The rule; raises ValueError unless exactly one effect is given."""
        given = [effect for effect in Effect if getattr(self, effect)]
        if len(given) != 1:
            raise ValueError("one of allow, ask and deny has to name the tools")
        return Rule(
            effect=given[0],
            tools=getattr(self, given[0]),
            commands=self.command,
            paths=self.path,
            reason=self.reason,
            source=source,
        )


class _File(Value):
    """A policy file."""

    mode: Mode | None = None
    denials: int | None = Field(None, ge=1)
    rules: tuple[_Entry, ...] = ()


def load_policy(mode: Mode | None, line: tuple[Rule, ...] = ()) -> Policy:
    """The rules of a run, weakest first: shipped, the person's file, `line` (the command line's).

    Without a mode the person's file decides, else `auto`. Raises InputError for a file that is
    not valid, and for a rule about a tool that there is not: it would never match.
    """
    path = home() / FILE
    own = _read(path) if path.exists() else _File()
    chosen = mode or own.mode or Mode.AUTO
    shipped = _shipped(chosen)
    keys = Rule(
        effect=Effect.DENY,
        tools=("*",),
        paths=(f"{home()}",),
        reason="this is Foundry's own folder",
        source="shipped",
    )
    rules = (*shipped, keys, *_rules(own, str(path)), *line)
    _refuse_unknown_tools(rules)
    denials = own.denials or Policy.model_fields["denials"].default
    return Policy(mode=chosen, rules=rules, denials=denials)


def parse_rule(effect: Effect, text: str) -> Rule:
    """A rule as `--allow`, `--ask` and `--deny` give it; raises InputError for what is none."""
    tool, colon, pattern = (piece.strip() for piece in text.partition(":"))
    hint = _FORM.format(effect=effect)
    if not tool or " " in tool or (colon and not pattern):
        raise InputError(f"--{effect} {text!r} is not a rule", hint=hint)
    narrowed = {"commands" if tool == COMMAND else "paths": (pattern,)} if pattern else {}
    try:
        return Rule(effect=effect, tools=(tool,), source=COMMAND_LINE, **narrowed)
    except ValidationError as error:
        raise InputError(f"--{effect} {text!r}: {_reason(error)}", hint=hint) from error


def _refuse_unknown_tools(rules: Iterable[Rule]) -> None:
    for rule in rules:
        for tool in rule.tools:
            if tool != "*" and tool not in TOOLS:
                raise InputError(
                    f"{rule.source}: there is no tool {tool!r}",
                    hint=f"Rules are about {', '.join(TOOLS.names())}, or * for all",
                )


def _rules(file: _File, source: str) -> tuple[Rule, ...]:
    return tuple(entry.rule(source) for entry in file.rules)


@cache
def _shipped(mode: Mode) -> tuple[Rule, ...]:
    return _rules(_read(_SHIPPED / f"{mode}.yaml"), f"shipped for {mode}")


def _read(path: Path) -> _File:
    hint = "Mend the file, or move it away; README, Permissions, shows its form"
    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), _LOADER)
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}", hint=hint) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no YAML: {' '.join(str(error).split())}", hint=hint) from error
    try:
        return _File.model_validate({} if raw is None else raw)
    except ValidationError as error:
        raise InputError(f"{path}: {_reason(error)}", hint=hint) from error


def _reason(error: ValidationError) -> str:
    """The first problem: where, and what."""
    first = error.errors(include_url=False, include_context=False)[0]
    where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"]).lstrip(".")
    what = first["msg"].removeprefix("Value error, ")
    return f"{where}: {what}" if where else what
