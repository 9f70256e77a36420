"""What every stored value shares: frozen, strict about unknown fields, JSON in and out."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

Json = Any
"""A JSON value. Structure that matters has a model; this is for what users and models bring."""


class Value(BaseModel):
    """An immutable value; two values with the same fields are the same value."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Document(Value):
    """A part of a document that people write: camelCase on disk, snake_case here."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


def now() -> datetime:
    """The time in UTC, to the millisecond: what journals and logs are stamped with."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def first_problem(error: ValidationError) -> tuple[str, str]:
    """The first thing that is wrong with a value: its field as a dotted path, and why."""
    first = error.errors(include_url=False, include_context=False)[0]
    return ".".join(str(part) for part in first["loc"]), first["msg"]


def strings(value: Json) -> Iterator[str]:
    """All texts within a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from strings(each)
