"""What the rules say about the operations of a call. Pure: the last rule that matches decides."""

import shlex
from collections.abc import Iterable, Sequence
from functools import lru_cache

from foundry.permission.globs import fits, shown, words_fit
from foundry.permission.operation import COMMAND, Operation, is_system, name_of
from foundry.schema.permission import Effect, Rule, Verdict

_UNKNOWN = "which file that is, is known only when it runs"
_SEVERITY = {Effect.ALLOW: 0, Effect.ASK: 1, Effect.DENY: 2}


def decide(rules: Sequence[Rule], operations: Iterable[Operation]) -> Verdict:
    """The strictest verdict on any operation: all have to be allowed for the call to be."""
    verdicts = [_decide_one(rules, operation) for operation in operations]
    return max(verdicts, key=lambda verdict: _SEVERITY[verdict.effect], default=Verdict(
        effect=Effect.ALLOW
    ))  # fmt: skip


def refused(rules: Sequence[Rule], operations: Iterable[Operation]) -> tuple[Operation, ...]:
    """The operations that are not simply allowed."""
    return tuple(each for each in operations if _decide_one(rules, each).effect is not Effect.ALLOW)


def _decide_one(rules: Sequence[Rule], operation: Operation) -> Verdict:
    """What the last rule says that matches.

    Where that is not sure, because the shell will fill something in, all rules count that may
    match, down to the first that does, and the strictest of them holds.
    """
    verdicts = []
    for rule in reversed(rules):
        if _applies(rule, operation, surely=True):
            verdicts.append(_verdict_of(rule, operation))
            break
        if rule.effect is not Effect.ALLOW and _applies(rule, operation, surely=False):
            verdicts.append(_verdict_of(rule, operation))
    else:
        verdicts.append(_default(operation))
    return max(verdicts, key=lambda verdict: _SEVERITY[verdict.effect])


def _verdict_of(rule: Rule, operation: Operation) -> Verdict:
    if rule.effect is Effect.ALLOW:
        return Verdict(effect=Effect.ALLOW, part=operation.text, rule=rule)
    vague = _UNKNOWN if rule.paths and all(each.unknown for each in operation.paths) else ""
    why = operation.opaque or vague or rule.reason or f"a rule says so: {rule.text}"
    return Verdict(effect=rule.effect, part=operation.text, why=why, rule=rule)


def _default(operation: Operation) -> Verdict:
    if operation.exempt and not operation.opaque:
        return Verdict(effect=Effect.ALLOW, part=operation.text)
    return Verdict(
        effect=Effect.DENY, part=operation.text, why=operation.opaque or _unmatched(operation)
    )


def _unmatched(operation: Operation) -> str:
    if any(each.unknown for each in operation.paths):
        return f"no rule allows it: {_UNKNOWN}"
    outside = next((each.absolute for each in operation.paths if each.inside is None), "")
    return f"no rule allows it for {shown(outside)}" if outside else "no rule allows it"


def _applies(rule: Rule, operation: Operation, *, surely: bool) -> bool:
    """Whether a rule is about an operation, surely or only possibly."""
    if not any(fits(tool, operation.tool, surely=True) for tool in rule.tools):
        return False
    narrow = bool(rule.commands or rule.paths)
    if operation.opaque:
        return not narrow or (not surely and bool(rule.commands))
    if not narrow:
        return not operation.exempt or rule.effect is Effect.ALLOW
    if rule.commands or operation.tool == COMMAND:
        return _command_applies(rule, operation, surely=surely)
    return _paths_apply(rule, operation, surely=surely)


def _command_applies(rule: Rule, operation: Operation, *, surely: bool) -> bool:
    if not operation.words or (surely and not rule.commands):
        return False
    fitting = not rule.commands or any(
        _fits_command(split(pattern), operation, surely=surely) for pattern in rule.commands
    )
    if not fitting or not rule.paths:
        return fitting
    return _paths_apply(rule, operation, surely=surely)


def _paths_apply(rule: Rule, operation: Operation, *, surely: bool) -> bool:
    """An argument that may be any path is not allowed by this, and not forbidden either."""
    if not operation.paths:
        return rule.effect is Effect.ALLOW  # nothing that could stray, nothing to stop
    covered = (
        any(path.covered(pattern, surely=surely) for pattern in rule.paths)
        for path in operation.paths
        if surely or not (path.unknown and operation.words)
    )
    return all(covered) if surely else any(covered)


def _fits_command(pattern: tuple[str, ...], operation: Operation, *, surely: bool) -> bool:
    """Whether a pattern fits a command: its program by name or by path, then its arguments."""
    program, *arguments = pattern
    if program == "*":
        return words_fit(("*", *arguments), operation.words[1:], surely=surely)
    return _fits_program(program, operation, surely=surely) and words_fit(
        arguments, operation.words[1:], surely=surely
    )


def _fits_program(pattern: str, operation: Operation, *, surely: bool) -> bool:
    program = operation.words[0]
    if "=" in program or "=" in pattern:
        return fits(pattern, program, surely=surely)
    if "/" in pattern:
        path = pattern.removeprefix("./")
        covered = [each.covered(path, surely=surely) for each in operation.program]
        return bool(covered) and (all(covered) if surely else any(covered))
    if surely and not is_system(program):
        return False
    return fits(pattern, name_of(program), surely=surely)


@lru_cache(maxsize=4096)
def split(pattern: str) -> tuple[str, ...]:
    """A command pattern as word globs; raises ValueError where a quote never ends."""
    words = tuple(shlex.split(pattern))
    if not words:
        raise ValueError("a command pattern needs a word")
    return words
