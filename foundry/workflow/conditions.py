"""Conditions over the context. Pure; a malformed condition is a WorkflowError, never False."""

from collections.abc import Callable, Mapping
from typing import Any

from foundry.errors import WorkflowError

Context = Mapping[str, Any]


def holds(condition: Mapping[str, Any] | None, context: Context) -> bool:
    """Whether `condition` is true in `context`; no condition always is."""
    if not condition:
        return True
    if "and" in condition:
        return all(holds(each, context) for each in _parts(condition, "and"))
    if "or" in condition:
        return any(holds(each, context) for each in _parts(condition, "or"))
    if "not" in condition:
        return not holds(condition["not"], context)
    return _compare(condition, context)


def lookup(path: str, context: Context) -> Any:
    """The value at a dotted path, or None where there is none."""
    value: Any = context
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return None
        value = value[part]
    return value


def _parts(condition: Mapping[str, Any], word: str) -> list[Mapping[str, Any]]:
    parts = condition[word]
    if not isinstance(parts, list | tuple) or not parts or len(condition) > 1:
        raise WorkflowError(f"malformed condition {dict(condition)!r}: {word!r} takes a list")
    return list(parts)


def _compare(condition: Mapping[str, Any], context: Context) -> bool:
    operators = [key for key in condition if key != "var"]
    if not isinstance(condition.get("var"), str) or len(operators) > 1:
        raise WorkflowError(
            f"malformed condition {dict(condition)!r}",
            hint="It needs a `var` and at most one operator of " + ", ".join(sorted(_OPERATORS)),
        )
    value = lookup(condition["var"], context)
    if not operators:
        return bool(value)
    operator = _OPERATORS.get(operators[0])
    if operator is None:
        raise WorkflowError(
            f"unknown operator {operators[0]!r} in a condition",
            hint="Known are " + ", ".join(sorted(_OPERATORS)),
        )
    return operator(value, condition[operators[0]])


def _number(test: Callable[[float, float], bool]) -> Callable[[Any, Any], bool]:
    def compare(left: Any, right: Any) -> bool:
        return _is_number(left) and _is_number(right) and test(left, right)

    return compare


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "equals": lambda left, right: bool(left == right),
    "not_equals": lambda left, right: bool(left != right),
    "gt": _number(lambda left, right: left > right),
    "gte": _number(lambda left, right: left >= right),
    "lt": _number(lambda left, right: left < right),
    "lte": _number(lambda left, right: left <= right),
}
