"""Conditions and loops in words, for outlines and diagrams. Pure."""

import json
from typing import Any

from foundry.schema.condition import Condition
from foundry.schema.workflow import Loop

COMPARISONS = {
    "equals": "is",
    "not_equals": "is not",
    "gt": ">",
    "gte": "≥",
    "lt": "<",
    "lte": "≤",
    "contains": "contains",
    "startsWith": "starts with",
    "endsWith": "ends with",
    "in": "is one of",
}


def condition_text(condition: Condition | None) -> str:
    """`round < 3 and not tests.passed`; a name alone: it is truthy; no condition: `always`."""
    if condition is None or not condition.given:
        return "always"
    if condition.not_ is not None:
        return f"not {_nested(condition.not_)}"
    if condition.and_ is not None:
        return " and ".join(map(_nested, condition.and_)) or "always"
    if condition.or_ is not None:
        return " or ".join(map(_nested, condition.or_)) or "never"
    compared = [_comparison(name, value) for name, value in condition.comparisons]
    return " and ".join(f"{condition.var} {each}" for each in compared) or str(condition.var)


def loop_text(loop: Loop) -> str:
    """`for each of tasks (as task), at most 1000 times`."""
    return f"{_repetition(loop)}, at most {loop.max_iterations} times"


def count_text(loop: Loop) -> str:
    """How often a `for` loop runs: a number, or the variable that holds it."""
    return loop.count if isinstance(loop.count, str) else _json(loop.count)


def _repetition(loop: Loop) -> str:
    match loop.type:
        case "for":
            return f"{count_text(loop)} times"
        case "forEach":
            return f"for each of {loop.items} (as {loop.item_var})"
        case _:
            return f"{loop.type} {condition_text(loop.condition)}"


def _nested(condition: Condition) -> str:
    """In parentheses where a reader could take it apart wrongly."""
    several = len(condition.and_ or condition.or_ or condition.comparisons) > 1
    text = condition_text(condition)
    return f"({text})" if several else text


def _comparison(name: str, value: Any) -> str:
    if name == "matches":
        return f"matches /{value}/"
    if name == "in":
        return f"{COMPARISONS[name]} {', '.join(map(_json, value)) or 'nothing'}"
    return f"{COMPARISONS[name]} {_json(value)}"


def _json(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)
