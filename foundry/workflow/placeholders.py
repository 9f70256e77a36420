"""Fill `{{ name.path }}` in a text from a context; nothing is evaluated. Pure."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from foundry.workflow.conditions import lookup
from foundry.workflow.problem import name_list

_BRACES = re.compile(r"\{\{([^{}]*)\}\}")
_NAME = re.compile(r"[A-Za-z_]\w*(\.\w[\w-]*)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Filled:
    """A text with its variables, and the names in it that nothing provides, each once."""

    text: str
    unknown: tuple[str, ...]


def fill(text: str, context: Mapping[str, Any]) -> Filled:
    """`text` with every `{{ name.path }}` replaced by what `context` has there.

    Strings go in as they are, other values as compact JSON. A name that is not there, or is null
    (which is the same to a condition), stays as written and is reported. Whatever else stands in
    double braces is prose. What was filled in is not looked at again.
    """
    unknown: dict[str, None] = {}

    def value_of(match: re.Match[str]) -> str:
        name = match[1].strip()
        value = value_in_braces(name, context)
        if value is None:
            if is_name(name):
                unknown[name] = None
            return match[0]
        return spelt(value)

    return Filled(_BRACES.sub(value_of, text), tuple(unknown))


def value_in_braces(name: str, context: Mapping[str, Any]) -> Any:
    """What is filled in for what stands in braces; None: it stays as written."""
    return lookup(name, context) if is_name(name) or name in context else None


def spelt(value: Any) -> str:
    """A value as it is filled in."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def in_braces(text: str) -> Iterator[str]:
    """What stands between double braces, be it a name, an expression or prose."""
    return (match[1].strip() for match in _BRACES.finditer(text))


def is_name(text: str) -> bool:
    """Whether it is a name or a dotted path, and so is filled in."""
    return _NAME.fullmatch(text) is not None


def unknown_name(name: str, names: Collection[str]) -> str:
    """The warning about a name in braces that nothing provides."""
    return f"nothing is named {name!r}: it stays as written; the names are {name_list(names)}"
