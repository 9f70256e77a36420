"""JSON Schema of a step's output: nothing is fetched, and no pattern can hang.

Draft 2020-12, or the one that `$schema` names. Patterns are matched by RE2 in the keywords that
have them: `pattern`, `patternProperties`, and `additionalProperties`, which looks at the latter.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import count
from typing import Any

from foundry.workflow.problem import Loc, json_path, value_text
from foundry.workflow.regex import compiled

DRAFT = "https://json-schema.org/draft/2020-12/schema"
"""What a schema that names no draft is read as."""

MOST = 20
"""Faults of one output that are told at most."""

REFERENCES = 10_000
"""References that one comparison may follow: a few lines of schema can unfold without end."""

Faults = Iterator[tuple[Loc, str]]


def faults(schema: Mapping[str, Any]) -> Faults:
    """What is wrong with a schema, with its location; a schema that has nothing can be used."""
    found = False
    for fault in _faults(schema):
        found = True
        yield fault
    if not found:
        try:
            list(_validator(schema).iter_errors(None))
        except ValueError as error:
            yield ("$ref",), str(error)
        except RecursionError:
            yield ("$ref",), "the schema refers to itself without end: let it go through a property"


def violations(schema: Mapping[str, Any], value: Any) -> tuple[tuple[str, str], ...]:
    """Where a value does not keep to a schema, as JSONPaths with what is wrong there.

    Never raises: a schema that has faults is a violation.
    """
    found = []
    try:
        for error in _validator(schema).iter_errors(value):
            found.append((json_path(tuple(error.absolute_path)), _short(error.message)))
            if len(found) == MOST:
                break
    except RecursionError:
        return (("$", "it is nested too deeply to be compared with the schema"),)
    except ValueError as error:
        return (("$", f"the schema itself is wrong: {_short(str(error))}"),)
    return tuple(sorted(found))


def _faults(schema: Mapping[str, Any]) -> Faults:
    draft = schema.get("$schema", DRAFT)
    base = _draft(draft) if isinstance(draft, str) else None
    if base is None:
        yield ("$schema",), f"{value_text(draft)} is no draft of JSON Schema: use {DRAFT!r}"
        return
    try:
        resource = _resource(schema)
        resolver = _registry().resolver_with_root(resource)
        yield from _malformed(base, schema) or _inner_faults(base, resource, resolver, (), set())
    except (ValueError, RecursionError):  # a URI that is none; or too deep
        yield (), "is no JSON Schema that can be read: mend its $id and $ref, write it flatter"
    if '"unevaluatedProperties"' in (text := json.dumps(schema)) and '"patternProperties"' in text:
        what = "unevaluatedProperties and patternProperties"
        yield (), f"{what} can't stand in one schema here: use additionalProperties"


def _draft(name: str) -> Any:
    from jsonschema.validators import validator_for

    nothing: Any = None
    return validator_for({"$schema": name}, default=nothing)


def _malformed(base: Any, schema: Any) -> list[tuple[Loc, str]]:
    """The worst that the metaschema says against a schema; one mistake is many errors of it."""
    from jsonschema.exceptions import best_match

    error = best_match(base(base.META_SCHEMA).iter_errors(schema))
    if error is None:
        return []
    return [(tuple(error.absolute_path), f"is no JSON Schema: {_short(error.message)}")]


def _inner_faults(base: Any, resource: Any, resolver: Any, loc: Loc, seen: set[int]) -> Faults:
    """Faults of a well-formed schema, of the schemas in it, and of those that it refers to."""
    schema = resource.contents
    if not isinstance(schema, Mapping) or id(schema) in seen:
        return
    seen.add(id(schema))
    if loc and "$schema" in schema:
        yield (*loc, "$schema"), "a part of a schema can't be of another draft: remove it"
    yield from _patterns(schema, loc)
    for inner, part in _subschemas(schema, resource, loc):
        yield from _inner_faults(base, part, resolver.in_subresource(part), inner, seen)
    for key in ("$ref", "$dynamicRef"):
        if isinstance(schema.get(key), str):
            yield from _target(base, schema[key], resolver, (*loc, key), seen)


def _target(base: Any, reference: str, resolver: Any, loc: Loc, seen: set[int]) -> Faults:
    from referencing.exceptions import Unresolvable

    try:
        found = resolver.lookup(reference)
    except Unresolvable:
        what = f"{reference!r} is not in this schema, and nothing is fetched"
        yield loc, f"{what}: write it here, under $defs"
        return
    drafts = ("http://json-schema.org/", "https://json-schema.org/")
    if not reference.startswith(drafts) and id(found.contents) not in seen:
        faults = [message for _, message in _malformed(base, found.contents)]
        yield from ((loc, f"what it refers to {each}") for each in faults)
        if not faults:
            yield from _inner_faults(base, _resource(found.contents), found.resolver, loc, seen)


def _patterns(schema: Mapping[str, Any], loc: Loc) -> Faults:
    patterns: list[tuple[Loc, str]] = [
        ((*loc, "patternProperties", each), each) for each in schema.get("patternProperties", ())
    ]
    if "pattern" in schema:
        patterns.append(((*loc, "pattern"), schema["pattern"]))
    for where, pattern in patterns:
        try:
            compiled(pattern, "")
        except ValueError as error:
            yield where, str(error)


def _subschemas(schema: Mapping[str, Any], resource: Any, loc: Loc) -> Iterator[tuple[Loc, Any]]:
    """The schemas right inside of one, with their locations."""
    inside = {id(each.contents): each for each in resource.subresources()}
    for inner, value in _values(schema, loc):
        if isinstance(value, dict) and id(value) in inside:
            yield inner, inside[id(value)]


def _values(schema: Mapping[str, Any], loc: Loc) -> Iterator[tuple[Loc, Any]]:
    """Values one and two levels down, which is where keywords have their schemas."""
    for key, value in schema.items():
        yield (*loc, key), value
        items: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else ()
        for inner, each in enumerate(value) if isinstance(value, list) else items:
            yield (*loc, key, inner), each


def _validator(schema: Mapping[str, Any]) -> Any:
    """A validator for one comparison: it counts the references that it follows."""
    from jsonschema import validators

    document = _faultless(json.dumps(schema, sort_keys=True))
    base = _draft(document.get("$schema", DRAFT))
    followed = count(1)

    def counted(keyword: Any) -> Any:
        def follow(validator: Any, reference: Any, instance: Any, of: Any) -> Iterator[Any]:
            if next(followed) > REFERENCES:
                raise ValueError(f"its references unfold to more than {REFERENCES:,} schemas")
            yield from keyword(validator, reference, instance, of) or ()

        return follow

    references = {name: counted(base.VALIDATORS[name]) for name in ("$ref", "$dynamicRef")
                  if name in base.VALIDATORS}  # fmt: skip
    keywords = {"pattern": _pattern, "patternProperties": _pattern_properties,
                "additionalProperties": _additional_properties, **references}  # fmt: skip
    extend: Any = validators.extend
    return extend(base, keywords)(document, registry=_registry())


@lru_cache(maxsize=64)
def _faultless(schema: str) -> dict[str, Any]:
    """The schema of this text; raises ValueError when it has faults."""
    document: dict[str, Any] = json.loads(schema)
    for loc, fault in _faults(document):
        raise ValueError(f"{json_path(loc)}: {fault}")
    return document


def _registry() -> Any:
    """The drafts themselves and nothing else: it retrieves nothing."""
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    return REGISTRY


def _resource(schema: Mapping[str, Any]) -> Any:
    from referencing import Resource
    from referencing.jsonschema import DRAFT202012

    return Resource.from_contents(schema, default_specification=DRAFT202012)


def _pattern(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and not compiled(pattern, "").search(instance):
        yield ValidationError(f"{_short(repr(instance))} does not match {pattern!r}")


def _pattern_properties(validator: Any, named: Any, instance: Any, _: Any) -> Iterator[Any]:
    for pattern, schema in named.items() if isinstance(instance, dict) else ():
        for key, value in instance.items():
            if compiled(pattern, "").search(key):
                yield from validator.descend(value, schema, path=key, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any
                           ) -> Iterator[Any]:  # fmt: skip
    from jsonschema.exceptions import ValidationError

    if not isinstance(instance, dict):
        return
    patterns = [compiled(each, "") for each in schema.get("patternProperties", ())]
    known = schema.get("properties", {})
    extra = [key for key in instance
             if key not in known and not any(each.search(key) for each in patterns)]  # fmt: skip
    if isinstance(allowed, dict):
        for key in extra:
            yield from validator.descend(instance[key], allowed, path=key)
    elif not allowed and extra:
        names = ", ".join(map(repr, extra[:5])) + (", …" if len(extra) > 5 else "")
        yield ValidationError(f"{names} is not expected here")


def _short(message: str) -> str:
    return message if len(message) <= 200 else message[:200] + "…"
