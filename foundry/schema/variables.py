"""The variables of a run: which names are the harness's own, and what a value may be."""

import json

from foundry.schema.base import Json

OWN_NAMES = frozenset(
    {"existing", "deploy", "deployed", "release", "tests", "tasks", "spec"}
    | {"size", "project_type", "tech_stack"}
    | {"review", "docs_review"}
    | {"circular", "circular_assignment", "circular_reverted", "unproven"}
)
"""Variables that the harness sets and believes: nobody else may."""

MAX_PATCH = 64_000
"""Bytes of JSON that one step may set."""

MAX_DEPTH = 20
"""Levels of lists and objects in a variable."""


def variable_problems(context: dict[str, Json]) -> tuple[str, ...]:
    """Why variables that somebody brings can't be taken."""
    problems = [
        f"{name!r} is the harness's own: choose another name"
        for name in sorted(OWN_NAMES & context.keys())
    ]
    if any(_deeper(value, MAX_DEPTH) for value in context.values()):
        return (*problems, f"a value is nested deeper than {MAX_DEPTH} levels: make it flatter")
    try:
        size = len(json.dumps(context, ensure_ascii=False, allow_nan=False).encode())
    except ValueError:
        return (*problems, "a number is not finite: JSON can't hold it")
    if size > MAX_PATCH:
        problems.append(
            f"they are {size:,} bytes, more than {MAX_PATCH:,}: keep what is large in a file and "
            "name the file"
        )
    return tuple(problems)


def _deeper(value: Json, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    parts = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_deeper(each, levels - 1) for each in parts)
