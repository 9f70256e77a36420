"""What JSON can say, and what a document's values still have that it can't."""

import math
from dataclasses import dataclass, field
from typing import Any

from foundry.workflow.problem import Finding, Loc

MAX_DEPTH = 64
"""Levels of lists and objects; recursion over a document that keeps to it is safe."""

TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep: write it flatter"
_LARGEST = 10**308
_EXACT = 2**53


@dataclass(slots=True)
class Plain:
    """A document as JSON, and what had to be changed to make it so."""

    value: Any = None
    findings: list[Finding] = field(default_factory=list)


def plain(raw: Any) -> Plain:
    """`raw` as a JSON value; what JSON has not is reported and stands in it as text or null.

    A whole number is the same however it is written: `3.0` becomes 3.
    """
    result = Plain()
    result.value = _plain(raw, (), result.findings)
    return result


def _plain(raw: Any, loc: Loc, findings: list[Finding]) -> Any:
    if len(loc) > MAX_DEPTH:
        findings.append(Finding(loc, TOO_DEEP))
        return None
    if raw is None or isinstance(raw, bool):
        return raw
    if isinstance(raw, list | tuple):
        return [_plain(each, (*loc, place), findings) for place, each in enumerate(raw)]
    if isinstance(raw, dict):
        return _object(raw, loc, findings)
    return _scalar(raw, loc, findings)


def _scalar(raw: Any, loc: Loc, findings: list[Finding]) -> Any:
    match raw:
        case str():
            return _text(raw, loc, findings)
        case int() | float():
            return _number(raw, loc, findings)
        case _:
            what = f"is a {type(raw).__name__}, which JSON has not: write it as text, in quotes"
            findings.append(Finding(loc, what))
            return str(raw)


def _object(raw: dict[Any, Any], loc: Loc, findings: list[Finding]) -> dict[str, Any]:
    result = {}
    for key, value in raw.items():
        if not isinstance(key, str):
            findings.append(Finding((*loc, str(key)), "this key is not text: put it in quotes"))
        name = _text(str(key), (*loc, str(key)), findings)
        result[name] = _plain(value, (*loc, name), findings)
    return result


def _number(raw: float, loc: Loc, findings: list[Finding]) -> float | int:
    if isinstance(raw, int):
        if abs(raw) > _LARGEST:
            findings.append(Finding(loc, "is too large a number: write it as text, in quotes"))
            return 0
        return raw
    if not math.isfinite(raw):
        findings.append(
            Finding(loc, f"{raw} is no number that JSON has: leave it out or write it as text")
        )
        return 0
    return int(raw) if raw.is_integer() and abs(raw) <= _EXACT else raw


def _text(raw: str, loc: Loc, findings: list[Finding]) -> str:
    if raw.isascii():
        return raw
    mended = raw.encode("utf-8", "replace").decode()
    if mended != raw:
        findings.append(Finding(loc, "has half of a character (a lone surrogate): write it whole"))
    return mended
