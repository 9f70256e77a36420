"""What the rules say about the pieces of a call. Pure: the last rule that matches decides."""

import shlex
from collections.abc import Iterable, Sequence
from functools import lru_cache

from foundry.permission.globs import fits, shown, words_fit
from foundry.permission.operation import COMMAND, Part, is_system, name_of
from foundry.schema.permission import Effect, Rule, Verdict

_UNKNOWN = "which file that is, is known only when it runs"
_SEVERITY = {Effect.ALLOW: 0, Effect.ASK: 1, Effect.DENY: 2}


def judge(rules: Sequence[Rule], parts: Iterable[Part]) -> Verdict:
    """The strictest verdict on any part; every part has to be allowed for the whole to be."""
    verdicts = [_verdict(rules, part) for part in parts]
    return max(verdicts, key=lambda verdict: _SEVERITY[verdict.effect], default=Verdict(
        effect=Effect.ALLOW
    ))  # fmt: skip


def refused(rules: Sequence[Rule], parts: Iterable[Part]) -> tuple[Part, ...]:
    """The parts that are not simply allowed."""
    return tuple(each for each in parts if _verdict(rules, each).effect is not Effect.ALLOW)


def _verdict(rules: Sequence[Rule], part: Part) -> Verdict:
    """What the last rule says that matches.

    Where that is not sure, because the shell will fill something in, all rules count that may
    match, down to the first that does, and the strictest of them holds.
    """
    verdicts = []
    for rule in reversed(rules):
        if _applies(rule, part, surely=True):
            verdicts.append(_said(rule, part))
            break
        if rule.effect is not Effect.ALLOW and _applies(rule, part, surely=False):
            verdicts.append(_said(rule, part))
    else:
        verdicts.append(_default(part))
    return max(verdicts, key=lambda verdict: _SEVERITY[verdict.effect])


def _said(rule: Rule, part: Part) -> Verdict:
    if rule.effect is Effect.ALLOW:
        return Verdict(effect=Effect.ALLOW, part=part.told, rule=rule)
    vague = _UNKNOWN if rule.paths and all(each.unknown for each in part.places) else ""
    why = part.opaque or vague or rule.reason or f"a rule says so: {rule.told}"
    return Verdict(effect=rule.effect, part=part.told, why=why, rule=rule)


def _default(part: Part) -> Verdict:
    if part.exempt and not part.opaque:
        return Verdict(effect=Effect.ALLOW, part=part.told)
    return Verdict(effect=Effect.DENY, part=part.told, why=part.opaque or _unmatched(part))


def _unmatched(part: Part) -> str:
    if any(place.unknown for place in part.places):
        return f"no rule allows it: {_UNKNOWN}"
    outside = next((each.absolute for each in part.places if each.inside is None), "")
    return f"no rule allows it for {shown(outside)}" if outside else "no rule allows it"


def _applies(rule: Rule, part: Part, *, surely: bool) -> bool:
    """Whether a rule is about a part, surely or only possibly."""
    if not any(fits(tool, part.tool, surely=True) for tool in rule.tools):
        return False
    narrow = bool(rule.commands or rule.paths)
    if part.opaque:
        return not narrow or (not surely and bool(rule.commands))
    if not narrow:
        return not part.exempt or rule.effect is Effect.ALLOW
    if rule.commands or part.tool == COMMAND:
        return _command_applies(rule, part, surely=surely)
    return _places_apply(rule, part, surely=surely)


def _command_applies(rule: Rule, part: Part, *, surely: bool) -> bool:
    if not part.words or (surely and not rule.commands):
        return False
    fitting = not rule.commands or any(
        _fits_command(split(pattern), part, surely=surely) for pattern in rule.commands
    )
    if not fitting or not rule.paths:
        return fitting
    return _places_apply(rule, part, surely=surely)


def _places_apply(rule: Rule, part: Part, *, surely: bool) -> bool:
    """An argument that may be any path is not allowed by this, and not forbidden either."""
    if not part.places:
        return rule.effect is Effect.ALLOW  # nothing that could stray, nothing to stop
    covered = (
        any(place.covered(pattern, surely=surely) for pattern in rule.paths)
        for place in part.places
        if surely or not (place.unknown and part.words)
    )
    return all(covered) if surely else any(covered)


def _fits_command(pattern: tuple[str, ...], part: Part, *, surely: bool) -> bool:
    """Whether a pattern fits a command: its program by name or by path, then its arguments."""
    program, *arguments = pattern
    if program == "*":
        return words_fit(("*", *arguments), part.words[1:], surely=surely)
    return _fits_program(program, part, surely=surely) and words_fit(
        arguments, part.words[1:], surely=surely
    )


def _fits_program(pattern: str, part: Part, *, surely: bool) -> bool:
    program = part.words[0]
    if "=" in program or "=" in pattern:
        return fits(pattern, program, surely=surely)
    if "/" in pattern:
        path = pattern.removeprefix("./")
        covered = [place.covered(path, surely=surely) for place in part.program]
        return bool(covered) and (all(covered) if surely else any(covered))
    if surely and not is_system(program):
        return False
    return fits(pattern, name_of(program), surely=surely)


@lru_cache(maxsize=4096)
def split(pattern: str) -> tuple[str, ...]:
    """A command pattern as word globs; ValueError for quotes that never end."""
    words = tuple(shlex.split(pattern))
    if not words:
        raise ValueError("a command pattern needs a word")
    return words
