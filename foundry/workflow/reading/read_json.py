"""JSON text to a value, with the places of keys that are given twice."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from foundry.workflow.problem import Finding, Loc
from foundry.workflow.reading.value import MAX_DEPTH, TOO_DEEP, Plain

TWICE = "this key is given twice, and only one of them can hold: remove one"


def read_json(text: str) -> Plain:
    """The value of a JSON text; a syntax error is one finding, and the value None."""
    repeated: dict[int, list[str]] = {}
    objects: list[dict[str, Any]] = []  # keeps ids from being used again

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            objects.append(found)
            counts = Counter(key for key, _ in items)
            repeated[id(found)] = [key for key in found if counts[key] > 1]
        return found

    try:
        value = json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        return Plain(None, [Finding((), f"is not valid JSON at {where}: {error.msg}")])
    except ValueError:  # more digits than Python reads
        return Plain(None, [Finding((), "has a number of thousands of digits: write it as text")])
    except RecursionError:
        return Plain(None, [Finding((), TOO_DEEP)])
    places = _places(value, repeated) if repeated else []
    return Plain(value, [Finding(loc, TWICE) for loc in places])


def _places(value: Any, repeated: dict[int, list[str]], loc: Loc = ()) -> list[Loc]:
    if len(loc) > MAX_DEPTH:
        return []
    found = [(*loc, key) for key in repeated.get(id(value), ())]
    items: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    return found + [place for key, each in items for place in _places(each, repeated, (*loc, key))]
