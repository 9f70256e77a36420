"""The base context: YAML that a person wrote, to a value that every thread is told. Pure."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from pydantic import ValidationError

from foundry.circular.schema import BaseContext
from foundry.errors import ArtifactError
from foundry.schema.base import Value
from foundry.workflow.problem import json_path, meant, shown
from foundry.workflow.reading.read_yaml import read_yaml

_NAMES = {"migration_history": "history", "task_objective": "objective"}
"""The seed's own names of fields, and what they are here."""

_HINT = (
    "A base context has project (name), objective (primary), and may have history, constraints "
    "and parts"
)


def parse_base_context(text: str, file: str) -> BaseContext:
    """The base context in a YAML text; raises ArtifactError that names `file`, field and reason."""
    read = read_yaml(text, dates=True)
    if read.findings:
        first = read.findings[0]
        raise ArtifactError(file, _field(first.loc), first.message, hint=_HINT)
    raw = read.value
    if isinstance(raw, dict) and list(raw) == ["base_context"]:
        raw = raw["base_context"]
    if not isinstance(raw, dict):
        raise ArtifactError(file, "", f"is {shown(raw)} and no base context", hint=_HINT)
    return _validated(_renamed(raw, file), file)


def fingerprint(value: Value | str) -> str:
    """The SHA-256 of a text or a value, to notice that it changed between iterations."""
    text = value if isinstance(value, str) else value.model_dump_json()
    return sha256(text.encode()).hexdigest()


def _renamed(raw: Mapping[str, Any], file: str) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in raw.items():
        name = _NAMES.get(key, key)
        if name in result:
            raise ArtifactError(file, key, f"is given twice: it is the same as {name!r}")
        result[name] = value
    return result


def _validated(raw: dict[str, Any], file: str) -> BaseContext:
    try:
        return BaseContext.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        loc = tuple(first["loc"])
        raise ArtifactError(file, _field(loc), _reason(first, loc), hint=_HINT) from error


def _field(loc: tuple[str | int, ...]) -> str:
    return json_path(loc).removeprefix("$").removeprefix(".")


def _reason(first: Mapping[str, Any], loc: tuple[str | int, ...]) -> str:
    match first["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            known = BaseContext.model_fields if len(loc) == 1 else ()
            return "is no field of a base context" + meant(str(loc[-1]), tuple(known))
    return f"{str(first['msg']).removeprefix('Value error, ')} (it is {shown(first['input'])})"
