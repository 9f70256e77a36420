"""The base context: what is read, and what is refused."""

import pytest

from foundry.circular.assignment import fingerprint, parse_base_context
from foundry.circular.schema import BaseContext
from foundry.errors import ArtifactError

SEED = """
base_context:
  project:
    name: "Home Inventory System"
    description: "Inventory management application"
    tech_stack: ["TypeScript", "Drizzle ORM"]
  migration_history:
    from: "Goose ORM"
    to: "Drizzle ORM"
    completion: "95%"
    timestamp: "2025-12-31"
  task_objective:
    primary: "Remediate post-migration bugs"
    secondary: "Ensure robust, production-ready codebase"
  constraints:
    - "Maintain API compatibility"
"""
MINE = """
project: {name: shop, description: A shop}
objective: {primary: no legacy calls}
history: {from: a, to: b, notes: [the API moved]}
constraints: [keep the API]
parts:
  - {id: api, title: The API, paths: ["src/api/**"], details: routes are in routes.ts}
  - {id: db, title: The database, paths: [src/db]}
"""


def test_the_seeds_context_is_read() -> None:
    context = parse_base_context(SEED, "context.yaml")
    assert context.project.tech_stack == ("TypeScript", "Drizzle ORM")
    assert context.history is not None
    assert (context.history.origin, context.history.completion) == ("Goose ORM", "95%")
    assert context.objective.primary == "Remediate post-migration bugs"
    assert BaseContext.model_validate_json(context.model_dump_json()) == context
    assert parse_base_context(SEED.replace('"2025-12-31"', "2025-12-31"), "c.yaml") == context


def test_a_hash_tells_contexts_apart() -> None:
    context = parse_base_context(MINE, "c.yaml")
    assert fingerprint(context) == fingerprint(parse_base_context(MINE + "\n# said\n", "c.yaml"))
    changed = MINE.replace("keep the API", "drop the API")
    assert fingerprint(context) != fingerprint(parse_base_context(changed, "c.yaml"))
    assert len(fingerprint("x")) == 64


@pytest.mark.parametrize(
    ("old", "new", "field", "reason"),
    [
        ("name: shop, ", "", "project.name", "is missing"),
        ("objective: {primary: no legacy calls}", "", "objective", "is missing"),
        ("{name: shop, description: A shop}", "shop", "project", "the text 'shop'"),
        ("[keep the API]", "keep", "constraints", "valid tuple"),
        ("constraints", "constraint", "constraint", "did you mean 'constraints'?"),
        ("id: db", "id: api", "", "the part id 'api' is used twice"),
        ("id: db", "id: D B", "parts[1].id", "the text 'D B'"),
        ("from: a", "form: a", "history.form", "is no field"),
        ("{from: a", "{from: 2025", "history.from", "should be a valid string"),
        ("notes: [the", "notes: [[the", "", "is not valid YAML"),
        ("history:", "migration_history: {}\nhistory:", "history", "is given twice"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_field(
    old: str, new: str, field: str, reason: str
) -> None:
    assert old in MINE
    with pytest.raises(ArtifactError) as caught:
        parse_base_context(MINE.replace(old, new), "context.yaml")
    assert caught.value.file == "context.yaml"
    assert caught.value.field == field
    assert reason in caught.value.reason
    assert str(caught.value).startswith("context.yaml")


@pytest.mark.parametrize("text", ["", "- a\n", "just text", "base_context: []"])
def test_what_is_no_context_at_all(text: str) -> None:
    with pytest.raises(ArtifactError, match="and no base context"):
        parse_base_context(text, "context.yaml")
