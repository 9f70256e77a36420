"""Validation criteria: what a step's output has to be like; `workflow/criteria.py` judges it."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from foundry.schema.base import Document, Json
from foundry.schema.condition import Condition

_NEEDS = {
    "contains": ("value",),
    "regex": ("pattern",),
    "length": ("min", "max"),
    "schema": ("schema",),
}


class Rule(Document):
    """One rule over a step's output; its `message` says what is wrong when it does not hold."""

    type: Literal["contains", "regex", "length", "schema"]
    message: str = Field(min_length=1)
    value: str | None = None
    pattern: str | None = None
    flags: str = ""
    """Of `i`, `m`, `s`, and those of JavaScript that change nothing here: `g`, `u`, `y`."""
    min: float | None = None
    """Characters."""
    max: float | None = None
    schema_: dict[str, Json] | None = Field(None, alias="schema")
    """JSON Schema of the output, which then has to be JSON."""
    condition: Condition | None = None
    """The rule applies only where this holds."""

    @model_validator(mode="after")
    def _has_what_its_type_needs(self) -> "Rule":
        values = {"value": self.value, "pattern": self.pattern, "min": self.min,
                  "max": self.max, "schema": self.schema_}  # fmt: skip
        needed = _NEEDS[self.type]
        if all(values[name] is None for name in needed):
            raise ValueError(f"a {self.type} rule needs {' or '.join(map(repr, needed))}")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("'min' is greater than 'max': nothing can be that long")
        return self


class Composition(Document):
    """Exactly one of `and`, `or`, `not` over rules and compositions."""

    and_: tuple["Criterion", ...] | None = Field(None, alias="and", min_length=1)
    or_: tuple["Criterion", ...] | None = Field(None, alias="or", min_length=1)
    not_: "Criterion | None" = Field(None, alias="not")

    @model_validator(mode="after")
    def _is_exactly_one(self) -> "Composition":
        if sum(part is not None for part in (self.and_, self.or_, self.not_)) != 1:
            raise ValueError("criteria need exactly one of 'and', 'or', 'not'")
        return self


def _kind(value: Any) -> str:
    if isinstance(value, Composition):
        return "composition"
    composed = isinstance(value, dict) and not value.keys().isdisjoint(("and", "or", "not"))
    return "composition" if composed else "rule"


Criterion = Annotated[
    Annotated[Rule, Tag("rule")] | Annotated[Composition, Tag("composition")],
    Discriminator(_kind),
]

Composition.model_rebuild()


def _form(value: Any) -> str:
    return "list" if isinstance(value, list | tuple) else "composition"


Criteria = Annotated[
    Annotated[tuple[Criterion, ...], Tag("list")] | Annotated[Composition, Tag("composition")],
    Discriminator(_form),
]
"""Rules that all have to hold, or a composition."""
