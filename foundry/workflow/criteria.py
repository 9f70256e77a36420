"""Judge a step's output by its validation criteria. Pure; never raises, whatever the output is.

The rules are those of the public WorkRail engine: `contains` and `regex` are case-sensitive (but
for the flag `i`), and a rule whose condition does not hold is left out. Theirs lets an `or` pass
because one of its rules was left out, and fails a `not` around one; here it is as if a rule that
is left out were not written at all.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from foundry.schema.criteria import Composition, Criteria, Criterion, Rule
from foundry.workflow.conditions import holds
from foundry.workflow.output_schema import violations
from foundry.workflow.regex import compiled_with_lookaheads

Context = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an output will do; if not, what is wrong with it and how to mend it."""

    valid: bool
    issues: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Fault:
    issue: str
    suggestion: str


_BLANK = _Fault("The output is blank", "Answer with what the step asks for")


def judge(criteria: Criteria | None, output: str, context: Context) -> Verdict:
    """Whether `output` keeps to `criteria`; without any it only has to be not blank."""
    text = output.encode("utf-8", "replace").decode()
    faults: tuple[_Fault, ...] = () if text.strip() else (_BLANK,)
    if criteria:
        rules = criteria if isinstance(criteria, tuple) else (criteria,)
        faults = tuple(fault for each in rules for fault in _judged(each, text, context) or ())
    issues = dict.fromkeys(fault.issue for fault in faults)
    suggestions = dict.fromkeys(fault.suggestion for fault in faults)
    return Verdict(not faults, tuple(issues), tuple(suggestions))


def _judged(criterion: Criterion, text: str, context: Context) -> tuple[_Fault, ...] | None:
    """The faults of an output, none if it will do; None where the criterion does not apply."""
    match criterion:
        case Rule():
            return _rule(criterion, text) if holds(criterion.condition, context) else None
        case Composition(and_=tuple(parts)):
            judged = _applying(parts, text, context)
            return tuple(fault for faults in judged for fault in faults) if judged else None
        case Composition(or_=tuple(parts)):
            judged = _applying(parts, text, context)
            return (_none_of(judged) if all(judged) else ()) if judged else None
        case Composition(not_=part) if part is not None:
            faults = _judged(part, text, context)
            return None if faults is None else () if faults else (_unwanted(part),)
    raise AssertionError(criterion)


def _applying(
    parts: tuple[Criterion, ...], text: str, context: Context
) -> list[tuple[_Fault, ...]]:
    judged = (_judged(part, text, context) for part in parts)
    return [faults for faults in judged if faults is not None]


def _none_of(judged: list[tuple[_Fault, ...]]) -> tuple[_Fault, ...]:
    """One fault out of those of all alternatives."""
    issues = [" and ".join(fault.issue for fault in faults) for faults in judged]
    suggestions = [" and ".join(fault.suggestion for fault in faults) for faults in judged]
    if len(judged) == 1:
        return judged[0]
    return (_Fault("None of these will do: " + " | ".join(issues), " or: ".join(suggestions)),)


def _unwanted(criterion: Criterion) -> _Fault:
    what = _wanted(criterion)
    return _Fault(f"The output must not be like this: {what}", f"Change it so that not: {what}")


def _rule(rule: Rule, text: str) -> tuple[_Fault, ...]:
    found = "; ".join(_wrong(rule, text))
    return (_Fault(f"{rule.message} ({found})", _advice(rule, text)),) if found else ()


def _wrong(rule: Rule, text: str) -> Iterator[str]:
    """What of the output does not keep to the rule."""
    match rule.type:
        case "contains" if str(rule.value) not in text:
            yield f"it does not contain {rule.value!r}"
        case "regex" if (
            compiled_with_lookaheads(rule.pattern or "", rule.flags).search(text) is None
        ):
            yield "nothing in it matches"
        case "length":
            yield from _length(rule, len(text))
        case "schema":
            yield from _schema(rule, text)


def _length(rule: Rule, length: int) -> Iterator[str]:
    if rule.min is not None and length < rule.min:
        yield f"it has {length} characters, at least {rule.min:g} are asked for"
    if rule.max is not None and length > rule.max:
        yield f"it has {length} characters, at most {rule.max:g} are allowed"


def _schema(rule: Rule, text: str) -> Iterator[str]:
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        yield f"it is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
    except ValueError as error:  # NaN, or thousands of digits
        yield f"it is not JSON: {error}"
    except RecursionError:
        yield "it is not JSON that can be read: it is nested too deeply"
    else:
        yield from (f"{path}: {what}" for path, what in violations(rule.schema_ or {}, value))


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def _advice(rule: Rule, text: str) -> str:
    match rule.type:
        case "contains":
            return f"Write {rule.value!r} exactly so"
        case "regex":
            return f"Write something that matches {rule.pattern!r}"
        case "length" if rule.min is not None and len(text) < rule.min:
            return f"Write at least {rule.min - len(text):g} characters more"
        case "length":
            return f"Shorten it by at least {len(text) - (rule.max or 0):g} characters"
        case _:
            return "Answer with JSON that keeps to the schema, and nothing around it"


def _wanted(criterion: Criterion) -> str:
    """What a criterion asks for, in words."""
    match criterion:
        case Composition(and_=tuple(parts)):
            return " and ".join(f"({_wanted(part)})" for part in parts)
        case Composition(or_=tuple(parts)):
            return " or ".join(f"({_wanted(part)})" for part in parts)
        case Composition(not_=part) if part is not None:
            return f"not ({_wanted(part)})"
        case Rule():
            return _rule_wanted(criterion)
    raise AssertionError(criterion)


def _rule_wanted(rule: Rule) -> str:
    match rule.type:
        case "contains":
            return f"it contains {rule.value!r}"
        case "regex":
            return f"something in it matches {rule.pattern!r}"
        case "length":
            low, high = rule.min or 0, rule.max
            return f"it has {low:g} characters or more" + (f", up to {high:g}" if high else "")
        case "schema":
            return "it is JSON that keeps to the schema"
