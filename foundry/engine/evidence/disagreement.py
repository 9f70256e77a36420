"""A way out for the honest: an author may say that spec and test, or spec and spec, disagree.

An exit of this kind cut cheating from 54 to 9 percent where tests contradicted the task
(ImpossibleBench, arXiv 2510.20270). It is never a failure of the step; it goes to the reviewer and
onto the screen.
"""

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from foundry.engine.step_context import StepContext
from foundry.files import read_bounded
from foundry.schema.base import Value
from foundry.schema.flag import Flag

MAX_FILE = 2_000_000
"""Bytes of a file that is searched for a quote."""


class Disagreement(Value):
    """Two places that can't both be met."""

    spec: str = Field(min_length=3, description="words of the spec, copied exactly")
    other: str = Field(
        min_length=3, description="the words that contradict them, copied exactly from `file`"
    )
    file: str = Field("", description="the file of `other`, a test for example; empty: the spec")
    chosen: str = Field(min_length=1, description="what you did about it, and why")


def plain(text: str) -> str:
    """Text for comparison: case, quotes and white space do not matter."""
    straight = str.maketrans("\u2018\u2019\u201c\u201d\u2013\u2014", "''\"\"--")
    return " ".join(text.lower().translate(straight).split())


def unquoted(ctx: StepContext, said: Sequence[Disagreement]) -> tuple[str, ...]:
    """What is quoted and does not stand where it is said to."""
    spec, problems = plain(ctx.start.spec), []
    for each in said:
        if plain(each.spec) not in spec:
            problems.append(f"the spec does not hold the words {each.spec!r}")
        text = spec
        if each.file:
            text = plain(read_bounded(Path(each.file), MAX_FILE, root=ctx.project.root) or "")
        if plain(each.other) not in text:
            problems.append(f"{each.file or 'the spec'} does not hold the words {each.other!r}")
    return tuple(problems)


def disagreements(ctx: StepContext, said: Sequence[Disagreement]) -> tuple[Flag, ...]:
    """What an author says can't both be met, as flags."""
    return tuple(
        Flag(
            kind="disagreement",
            about=each.file or "the spec",
            words=f"the spec says \u201c{each.spec}\u201d, and {each.file or 'it also'} says "
            f"\u201c{each.other}\u201d; {ctx.instruction.id} chose: {each.chosen}",
        )
        for each in said
    )
