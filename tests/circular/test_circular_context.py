"""The base context: what is read, what is refused, and how it shrinks as work is done."""

import pytest

from foundry.circular.adaptation import shown
from foundry.circular.assignment import fingerprint, parse_base_context
from foundry.circular.metrics import progress_state
from foundry.circular.schema import BaseContext
from foundry.errors import ArtifactError
from tests.support.iterations import Histories, check

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


# -- progressive context ---------------------------------------------------------------------------


def after(mended: int, *more: int) -> Histories:
    history = Histories([check([f"t::{n}" for n in range(10)], total=20)])
    for count in (mended, *more):
        history.then(checks=[check([f"t::{n}" for n in range(count, 10)], total=20)])
    return history


def test_the_context_shrinks_with_progress_and_objective_and_constraints_stay() -> None:
    context = parse_base_context(SEED.replace("timestamp:", "notes: [moved]\n    timestamp:"), "c")
    left_out = []
    for mended in (0, 1, 5, 8, 10):
        history = after(mended)
        told = shown(context, progress_state(history.states, 20))
        left_out.append(told.left_out)
        assert told.context.objective.primary == context.objective.primary
        assert told.context.constraints == context.constraints
        assert told.context.project.name == context.project.name
        assert told.reason
    essence = ("project.description", "history", "objective.secondary")
    assert left_out == [(), (), ("history.notes",), essence, essence]


def test_parts_that_are_done_are_a_line() -> None:
    context = parse_base_context(MINE, "c.yaml")
    told = shown(context, progress_state(after(2).states, 20), {"api"})
    assert told.left_out == ("parts.api",)
    api, db = told.context.parts
    assert (api.title, api.details, api.paths) == ("The API (done)", "", ())
    assert db == context.parts[1]


def test_everything_is_back_when_nothing_was_gained() -> None:
    context = parse_base_context(MINE, "c.yaml")
    stuck = after(9, 9)
    told = shown(context, progress_state(stuck.states, 20), {"api"})
    assert (told.context, told.left_out) == (context, ())
    assert "gained nothing" in told.reason
    doubted = after(9).then(kind="doubt", number=1, checks=[check(["t::9"], total=20)])
    assert shown(context, progress_state(doubted.states, 20)).left_out


def test_at_the_beginning_all_is_shown() -> None:
    context = parse_base_context(MINE, "c.yaml")
    assert shown(context, progress_state((), 20)).context == context
