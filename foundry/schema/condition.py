"""Conditions over a run's context, as documents write them; `workflow/conditions.py` judges them.

Operators and their lenient comparison are those of the public WorkRail format.
"""

from functools import cached_property

from pydantic import Field, model_validator

from foundry.schema.base import Document, Json

OPERATORS = (
    "equals",
    "not_equals",
    "gt",
    "gte",
    "lt",
    "lte",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "in",
)
"""The comparisons of a variable, as a document names them."""


class Condition(Document):
    """A comparison of a variable, or `and`, `or`, `not` over conditions; empty: always true."""

    var: str | None = Field(None, min_length=1, max_length=1024)
    """A name in the context, or a dotted path into it. Alone it asks whether it is truthy."""
    equals: Json = None
    not_equals: Json = Field(None, alias="not_equals")
    gt: float | None = None
    gte: float | None = None
    lt: float | None = None
    lte: float | None = None
    contains: str | None = None
    starts_with: str | None = None
    ends_with: str | None = None
    matches: str | None = None
    """A regular expression in RE2's syntax, case-insensitive, anywhere in the text."""
    in_: tuple[Json, ...] | None = Field(None, alias="in")
    and_: tuple["Condition", ...] | None = Field(None, alias="and")
    or_: tuple["Condition", ...] | None = Field(None, alias="or")
    not_: "Condition | None" = Field(None, alias="not")

    @cached_property
    def given(self) -> tuple[str, ...]:
        """What the document says, by the names that it uses."""
        fields = type(self).model_fields
        return tuple(fields[name].alias or name for name in fields if name in self.model_fields_set)

    @cached_property
    def comparisons(self) -> tuple[tuple[str, Json], ...]:
        """What the variable is compared with, by operator; all of them have to hold."""
        return tuple((name, getattr(self, _FIELDS[name])) for name in self.given
                     if name in OPERATORS)  # fmt: skip

    @model_validator(mode="after")
    def _says_one_thing(self) -> "Condition":
        given = self.given
        logic = [name for name in given if name in ("and", "or", "not")]
        compared = [name for name in given if name in OPERATORS]
        if len(logic) > 1 or (logic and len(given) > 1):
            raise ValueError(
                f"{' and '.join(map(repr, given))} can't stand together: "
                "nest one condition in the other's list"
            )
        if compared and "var" not in given:
            raise ValueError(f"{compared[0]!r} compares a variable: name it with `var`")
        nothing = [name for name in given if name not in ("equals", "not_equals")
                   and getattr(self, _FIELDS[name]) is None]  # fmt: skip
        if nothing:
            raise ValueError(f"{nothing[0]!r} needs a value")
        return self


_FIELDS = {field.alias or name: name for name, field in Condition.model_fields.items()}
"""The Python name of a field by the one that documents use."""
