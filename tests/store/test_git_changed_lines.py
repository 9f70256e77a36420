"""Which lines of a file's new version a build made."""

from pathlib import Path

import pytest

from foundry.store.git.repository import Repository
from tests.support.builds import git

TEN = [f"line {n}" for n in range(1, 11)]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    root = tmp_path / "project"
    root.mkdir()
    found = Repository(root)
    found.init()
    return found


def commit(repository: Repository, **files: list[str] | bytes | None) -> str:
    for name, lines in files.items():
        path = repository.root / name
        if lines is None:
            path.unlink()
        elif isinstance(lines, bytes):
            path.write_bytes(lines)
        else:
            path.write_text("".join(f"{line}\n" for line in lines))
    repository.stage_all()
    return repository.commit("work", {})


def test_a_new_repository_is_new_as_a_whole(repository):
    head = commit(repository, a=TEN, b=["one"], empty=[])
    assert repository.changed_lines("", head) == {"a": frozenset(range(1, 11)), "b": frozenset([1])}


def test_added_changed_and_removed_lines(repository):
    base = commit(repository, a=TEN, gone=TEN)
    changed = ["new 1", *TEN[:3], "line four", *TEN[4:7], *TEN[9:], "new 2", "new 3"]
    head = commit(repository, a=changed, gone=None)
    assert repository.changed_lines(base, head) == {"a": frozenset([1, 5, 8, 10, 11])}


def test_lines_that_look_like_a_diff(repository):
    base = commit(repository, a=["-- a/x", *TEN])
    tricks = ["one", "++ b/c", "@@ -1 +9,9 @@", "diff --git a/c b/c", "+++ b/c"]
    head = commit(repository, a=[*tricks, *TEN[:5], "new", *TEN[5:]])
    assert repository.changed_lines(base, head) == {"a": frozenset([1, 2, 3, 4, 5, 11])}


def test_a_renamed_file_is_compared_with_what_it_was(repository):
    base = commit(repository, a=TEN, same=[f"other {n}" for n in range(9)])
    same = (repository.root / "same").read_bytes()
    head = commit(repository, a=None, b=[*TEN, "more"], same=None, moved=same)
    assert repository.changed_lines(base, head) == {"b": frozenset([11])}


@pytest.mark.parametrize("name", ["with space", 'quo"te', "tab\there", "back\\slash", "ümlaut"])
def test_names_that_git_quotes(repository, name):
    base = commit(repository, other=TEN)
    head = commit(repository, **{name: ["one"]})
    assert repository.changed_lines(base, head) == {name: frozenset([1])}


def test_no_setting_or_attribute_of_the_project_hides_a_line(repository):
    base = commit(repository, a=TEN)
    for setting in ("diff.noprefix", "diff.mnemonicPrefix", "color.diff", "diff.relative"):
        git(repository.root, "config", setting, "true" if setting != "color.diff" else "always")
    git(repository.root, "config", "diff.interHunkContext", "5")
    git(repository.root, "config", "diff.external", "false")
    hiding = b"a -diff\n"
    head = commit(repository, a=["new", *TEN[1:3], "new", *TEN[4:]], **{".gitattributes": hiding})
    assert repository.changed_lines(base, head)["a"] == frozenset([1, 4])


def test_carriage_returns_count_as_part_of_a_line(repository):
    base = commit(repository, a=b"one\r\ntwo\r\nthree\r\n")
    head = commit(repository, a=b"one\r\nTWO\r\nthree\r\x0cx\r\n")
    assert repository.changed_lines(base, head) == {"a": frozenset([2, 3])}
