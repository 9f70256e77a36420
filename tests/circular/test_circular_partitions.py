"""The parts of a task: how they are shared out, which are done, when one thread has all of them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foundry.circular.assignment import Given, assigned
from foundry.circular.partitions import alone, done_parts, is_about, partitions
from foundry.circular.schema import BaseContext, Mark, Part, PartitionReport
from foundry.schema.journal import Entry
from tests.support.iterations import journal_of, measured, worked

FILES = [f"src/{folder}/{n}.py" for folder in "abcd" for n in range(4)] + ["README.md"]


def context(*parts: Part) -> BaseContext:
    return BaseContext.model_validate(
        {"project": {"name": "x"}, "objective": {"primary": "y"}, "parts": parts}
    )


def part(name: str, *paths: str) -> Part:
    return Part(id=name, title=f"part {name}", paths=paths)


def test_parts_of_the_context_are_shared_out_by_size() -> None:
    found = partitions(
        context(part("a", "src/a/**", "src/b/**"), part("c", "src/c"), part("d", "src/d/*.py")),
        "",
        FILES,
        2,
    )
    assert [each.items for each in found.partitions] == [("part a",), ("part c", "part d")]
    assert found.partitions[1].paths == ("src/c", "src/d/*.py")
    assert found.partitions[1].title == "part c and 1 more"
    assert found.reason == "3 parts in the base context as 2 partitions"


def test_parts_that_share_a_file_stay_together() -> None:
    both = part("ab", "src/a/0.py", "src/b/1.py")
    several = context(part("a", "src/a/**"), part("b", "src/b/**"), both, part("c", "src/c/**"))
    found = partitions(several, "", FILES, 4)
    assert [each.items for each in found.partitions] == [
        ("part a", "part b", "part ab"),
        ("part c",),
    ]
    together = partitions(context(part("a", "src/**"), part("b", "src/b")), "", FILES, 4)
    assert together.partitions == ()
    assert "share files" in together.reason


def test_open_items_of_a_checklist() -> None:
    prompt = """Do all of this:
    - [ ] migrate `src/a/0.py`
    - [x] migrate `src/b/0.py`
    - [ ] migrate `src/c/0.py`
    1. [ ] write the README
    """
    found = partitions(None, prompt, FILES, 9)
    items = [each.items[0] for each in found.partitions]
    assert items == ["migrate `src/a/0.py`", "migrate `src/c/0.py`", "write the README"]
    assert found.partitions[0].paths == ("src/a/0.py",)
    again = partitions(None, prompt.replace("[ ] migrate `src/a", "[x] migrate `src/a"), FILES, 9)
    assert [each.id for each in again.partitions] == [each.id for each in found.partitions[1:]]


def test_paths_of_a_prompt() -> None:
    found = partitions(
        None, "Remove legacy calls in\n\n- src/a/**\n- `src/b/`\nsrc/c/*.py\n", FILES, 3
    )
    assert [each.paths for each in found.partitions] == [
        ("src/a/**",),
        ("src/b/",),
        ("src/c/*.py",),
    ]
    assert "the paths of the prompt" in found.reason


@pytest.mark.parametrize(
    ("prompt", "at_most"), [("Remove it all.", 4), ("- [ ] one", 4), ("- [ ] a\n- [ ] b", 1)]
)
def test_what_is_not_split(prompt: str, at_most: int) -> None:
    found = partitions(None, prompt, FILES, at_most)
    assert found.partitions == ()
    assert "nothing to split" in found.reason


paths = st.lists(st.sampled_from([*FILES, "src/a/**", "src/*/1.py", "none/*"]), max_size=3)


@given(st.lists(paths, min_size=2, max_size=8), st.integers(2, 5))
@settings(deadline=None, max_examples=60)
def test_no_file_is_in_two_partitions_and_no_part_is_lost(
    globs: list[list[str]], at_most: int
) -> None:
    parts = [part(f"p{n}", *each) for n, each in enumerate(globs)]
    found = partitions(context(*parts), "", FILES, at_most).partitions
    if not found:
        return
    assert 2 <= len(found) <= at_most
    assert sorted(p.id for each in found for p in each.parts) == sorted(p.id for p in parts)
    matched = [
        {file for file in FILES for p in each.parts for glob in p.paths if _matches(glob, file)}
        for each in found
    ]
    assert sum(map(len, matched)) == len(set().union(*matched))


def _matches(glob: str, file: str) -> bool:
    if glob == "src/*/1.py":
        return file.endswith("/1.py")
    return file.startswith("src/a/") if glob == "src/a/**" else file == glob


# -- what is done ----------------------------------------------------------------------------------

CONTEXT = """\
project: {name: Greeter}
objective: {primary: Finish it}
parts:
  - {id: store, title: The store, paths: ["src/store/**"]}
  - {id: cli, title: The commands, paths: [src/cli.py]}
"""
PARTS = (
    Part(id="store", title="The store", paths=("src/store/**",)),
    Part(id="cli", title="The commands", paths=("src/cli.py",)),
)


def entries(*marks: Mark) -> tuple[Entry, ...]:
    return journal_of(assigned("Do it.", context=Given(CONTEXT, "base.yaml")), *marks)


BOTH = worked(parts_done=["store", "cli"])
DONE: dict[str, tuple[tuple[Mark, ...], set[str]]] = {
    "nothing is said": ((worked(),), set()),
    "a thread says so": ((BOTH,), {"store", "cli"}),
    "of no such part": ((worked(parts_done=["x"]),), set()),
    "and names what is left of it": (
        (worked(parts_done=["cli"], remaining=["src/cli.py:3: old()"]),), set()),
    "a later one finds a file of it": ((BOTH, worked(found=["see src/store/a.py"])), {"cli"}),
    "a check fails there": ((BOTH, measured("src/store/test_a.py::test_b")), {"cli"}),
    "a check fails elsewhere": ((BOTH, measured("test_a.py::test_b")), {"store", "cli"}),
    "a doubt names one": (
        (BOTH, worked(kind="doubt", remaining=["cli: the help text"])), {"store"}),
    "a doubt names none": ((BOTH, worked(kind="doubt", remaining=["the README"])), set()),
    "a doubt agrees": ((BOTH, worked(kind="doubt", verdict="done")), {"store", "cli"}),
}  # fmt: skip


@pytest.mark.parametrize("name", DONE)
def test_a_part_is_done_until_something_is_found_in_it(name: str) -> None:
    marks, expected = DONE[name]
    assert done_parts(entries(*marks)) == expected


def side(name: str, *, merged: bool = True, verdict: Any = "done") -> PartitionReport:
    return PartitionReport(
        id=name, title=f"The {name}", parts=(name,), ending="submitted", verdict=verdict,
        merged=merged, why="" if merged else "others changed a.py too",
    )  # fmt: skip


def test_parts_worked_on_side_by_side_are_done_when_they_were_merged() -> None:
    beside = worked(partitions=[side("store"), side("cli", merged=False)])
    assert done_parts(entries(beside)) == {"store"}
    assert done_parts(entries(worked(partitions=[side("cli", verdict="more")]))) == set()
    assert alone(entries(beside)) == "alone: could not be merged: The cli"
    assert alone(entries(beside, worked())) == ""
    assert alone(entries(BOTH, worked(kind="doubt"))) == "alone: what a doubt found"
    assert alone(entries()) == ""


def test_a_text_is_about_a_part_that_it_names_or_a_file_of_it() -> None:
    store, cli = PARTS
    assert is_about(store, "the store is not closed") and is_about(store, "`src/store/a/b.py:3`")
    assert not is_about(store, "the storage in src/stores/a.py, src/cli.py")
    assert is_about(cli, "Look at src/cli.py.") and not is_about(cli, "the client")
