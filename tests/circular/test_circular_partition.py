"""Independent parts become partitions that share no file, and come together again."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foundry.circular.partitions import merged, partitions
from foundry.circular.schema import BaseContext, Issue, IterationStatus, Part
from foundry.schema.checks import CheckResult
from tests.support.iterations import Histories, changed, check

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


# -- together again ----------------------------------------------------------------------------


def test_iterations_of_partitions_become_one() -> None:
    one = Histories([check(["t::1"], total=3)]).then(
        checks=[check(total=3)], files_modified=("a.py", "both.py"), peak_context=0.2,
        verdict="done", cost_usd=1.0, model="small", change=changed("a.py"), reason="completion",
    )  # fmt: skip
    two = Histories([check(["t::2"], total=3)])
    two.then(
        checks=[check(total=3)], files_modified=("both.py", "c.py"), peak_context=0.5,
        verdict="more", cost_usd=0.5, model="large", errors=("crash",), change=changed("c.py"),
        issues_discovered=(Issue(id="x", description="x"),), status=IterationStatus.CONTINUE,
    )  # fmt: skip
    merge = merged(7, (one.states[0], two.states[0]))
    state = merge.state
    assert merge.conflicts == ("both.py",)
    assert (state.number, state.tokens, state.peak_context, state.cost_usd) == (
        7,
        200_000,
        0.5,
        1.5,
    )
    assert state.files_modified == ("a.py", "both.py", "c.py")
    assert {issue.id for issue in state.issues_resolved} == {"t::1", "t::2"}
    assert (state.verdict, state.status, state.reason) == (
        "more",
        IterationStatus.CONTINUE,
        "threshold",
    )
    assert (state.model, state.errors) == ("small, large", ("crash",))
    assert (state.change.files, state.change.added) == (("a.py", "c.py"), 10)
    no_checks: tuple[CheckResult, ...] = ()
    assert (state.checks, state.failures, state.tree, state.commit) == (no_checks, (), "", "")


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (("done", "done"), "done"),
        (("done", "more"), "more"),
        (("done", "blocked"), "blocked"),
        (("blocked", "more"), "more"),
        (("done", None), "more"),
        ((None, None), None),
    ],
)
def test_the_verdict_of_several(verdicts: tuple[str | None, ...], expected: str | None) -> None:
    states = [Histories().then(verdict=each).states[0] for each in verdicts]
    assert merged(1, states).state.verdict == expected


def test_nothing_can_not_be_merged() -> None:
    with pytest.raises(ValueError, match="no partition"):
        merged(1, ())
