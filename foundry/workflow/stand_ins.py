"""Put something valid where a document is wrong, to see what else is wrong with it."""

from typing import Any

from pydantic import BaseModel

_STEP = {"id": "x", "title": "x", "prompt": "x"}
_CONDITION: dict[str, Any] = {}
_RULE = {"type": "contains", "message": "x", "value": "x"}
_VALUES: dict[str, Any] = {
    "version": "1.0.0",
    "steps": [_STEP],
    "body": [_STEP],
    "loop": {"type": "for", "count": 1, "maxIterations": 1},
    "maxIterations": 1,
    "enum": ["x"],
    "requireConfirmation": False,
    "count": 1,
    "validationCriteria": [],
    "runCondition": _CONDITION,
    "condition": _CONDITION,
    "budget": {},
    "args": {},
}
"""By field, where its type alone does not say it."""

_KINDS = {
    "string": "x",
    "int": 1,
    "float": 1,
    "greater": 1,
    "less": 1,
    "bool": False,
    "tuple": [],
    "dict": {},
}


def mended(document: Any, loc: tuple[str | int, ...], owner: type[BaseModel], error: Any) -> bool:
    """Mend one fault in place; false where there is nothing that could stand there."""
    parent: Any = document
    for part in loc[:-1]:
        parent = parent[part]
    kind, last = error["type"], loc[-1] if loc else None
    if last is None:
        return False
    if kind == "extra_forbidden" and isinstance(parent, dict):
        return parent.pop(last, None) is not None
    stand_in = _stand_in(last, owner, kind)
    if stand_in is None:
        return False
    parent[last] = stand_in
    return True


def _stand_in(last: str | int, owner: type[BaseModel], kind: str) -> Any:
    if kind in ("value_error", "literal_error"):
        return None
    if last in _VALUES:
        return _VALUES[str(last)]
    if kind == "missing":
        return "x"
    if kind == "model_type":
        return {"Step": _STEP, "LoopStep": None, "Condition": {}, "Rule": _RULE}.get(owner.__name__)
    if owner.__name__ == "Composition":
        return [_RULE]
    return _KINDS.get(kind.partition("_")[0])
