"""Judge conditions over a context. Pure; validated ones always have an answer.

Equality is lenient, as in the public WorkRail engine: case and surrounding white space do not
matter, "3" is 3, "yes" is true, and a variable that is missing equals null.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import ge, gt, le, lt
from typing import Any

from foundry.schema.condition import Condition
from foundry.workflow.regex import compiled

Context = Mapping[str, Any]

_INDEX = re.compile(r"[0-9]{1,9}")
_NUMBER = re.compile(r"[+-]?[0-9]{1,300}(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,3})?")

TRUE = ("true", "1", "yes")
FALSE = ("false", "0", "no")


def holds(condition: Condition | None, context: Context) -> bool:
    """Whether `condition` is true in `context`; no condition, or an empty one, always is."""
    if condition is None or not condition.given:
        return True
    if condition.and_ is not None:
        return all(holds(each, context) for each in condition.and_)
    if condition.or_ is not None:
        return any(holds(each, context) for each in condition.or_)
    if condition.not_ is not None:
        return not holds(condition.not_, context)
    value = lookup(condition.var or "", context)
    if not condition.comparisons:
        return _truthy(value)
    return all(_OPERATORS[name](value, other) for name, other in condition.comparisons)


def lookup(path: str, context: Context) -> Any:
    """The value of a name or at a dotted path (`a.b`, `list.0`, `list.length`); None: not there."""
    if path in context:
        return context[path]
    value: Any = context
    for part in path.split("."):
        match value:
            case Mapping() if part in value:
                value = value[part]
            case list() | tuple() if _INDEX.fullmatch(part) and int(part) < len(value):
                value = value[int(part)]
            case list() | tuple() | str() if part == "length":
                value = len(value)
            case _:
                return None
    return value


def names(condition: Condition | None) -> Iterator[str]:
    """The variables that a condition asks about."""
    if condition is None:
        return
    if condition.var is not None:
        yield condition.var
    for _, part in _parts(condition):
        yield from names(part)


def problems(condition: Condition) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """What a well-formed condition still has wrong: the way to it, and what."""
    if condition.matches is not None:
        try:
            compiled(condition.matches)
        except ValueError as error:
            yield ("matches",), str(error)
    for path, part in _parts(condition):
        for where, what in problems(part):
            yield (*path, *where), what


def _parts(condition: Condition) -> Iterator[tuple[tuple[str | int, ...], Condition]]:
    for word, parts in (("and", condition.and_), ("or", condition.or_)):
        for number, part in enumerate(parts or ()):
            yield (word, number), part
    if condition.not_ is not None:
        yield ("not",), condition.not_


def _truthy(value: Any) -> bool:
    """As in JSON's home language: lists and objects are true even when they are empty."""
    return isinstance(value, list | tuple | Mapping) or bool(value)


def _equal(left: Any, right: Any) -> bool:
    match left, right:
        case (None, _) | (_, None):
            return left is right
        case str(), str():
            return left.strip().casefold() == right.strip().casefold()
        case (str() as text, other) | (other, str() as text):
            return _reads_as(text, other)
        case (bool(), _) | (_, bool()):
            return left is right
        case _:
            return bool(left == right)


def _reads_as(text: str, value: Any) -> bool:
    """Whether a text spells a boolean or a number."""
    if isinstance(value, bool):
        return text.strip().casefold() in (TRUE if value else FALSE)
    return _number(value) and _numeric(text) == value


def _numeric(text: str) -> float | None:
    """The number that a text spells as JSON does."""
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        return None
    return float(found[0]) if found[1] or found[2] else int(found[0])


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Numbers alone have an order: anything else is neither greater nor less."""
    return lambda value, bound: _number(value) and compare(value, bound)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value).strip()


def _contains(value: Any, wanted: str) -> bool:
    """Whether a text holds another, or a list an equal member."""
    if isinstance(value, list | tuple):
        return any(_equal(each, wanted) for each in value)
    return _text(wanted).casefold() in _text(value).casefold()


def _in(value: Any, members: Sequence[Any]) -> bool:
    return any(_equal(value, each) for each in members)


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "equals": _equal,
    "not_equals": lambda value, other: not _equal(value, other),
    "gt": _ordered(gt),
    "gte": _ordered(ge),
    "lt": _ordered(lt),
    "lte": _ordered(le),
    "contains": _contains,
    "startsWith": lambda value, start: _text(value).casefold().startswith(_text(start).casefold()),
    "endsWith": lambda value, end: _text(value).casefold().endswith(_text(end).casefold()),
    "matches": lambda value, pattern: compiled(pattern).search(_text(value)) is not None,
    "in": _in,
}
