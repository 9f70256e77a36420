"""Work of another work tree is taken over whole, or not at all."""

from pathlib import Path

import pytest

from foundry.store.git.repository import Repository
from tests.support.builds import git, tree


@pytest.fixture
def main(tmp_path: Path) -> Repository:
    root = tmp_path / "main"
    root.mkdir()
    repository = Repository(root)
    repository.init()
    (root / "a.txt").write_text("".join(f"line {n}\n" for n in range(20)))
    (root / "b.bin").write_bytes(bytes(range(256)))
    repository.stage_all()
    repository.commit("as it was", {})
    return repository


def work(main: Repository, name: str, **files: str | bytes) -> str:
    """A commit of a work tree beside `main` in which these files were written."""
    place = main.root.parent / name
    main.add_worktree(place, name)
    beside = main.beside(place, lambda: None)
    for path, text in files.items():
        data = text if isinstance(text, bytes) else text.encode()
        (place / path.replace("_", ".")).write_bytes(data)
    return beside.commit_of(beside.stage_all(), name)


def edited(line: int, text: str) -> str:
    return "".join(f"{text}\n" if n == line else f"line {n}\n" for n in range(20))


def test_changes_to_different_places_of_a_file_are_taken_together(main: Repository) -> None:
    one = work(main, "one", a_txt=edited(2, "two"), new_bin=b"\0\xff")
    two = work(main, "two", a_txt=edited(17, "seventeen"))
    again = work(main, "again", a_txt=edited(2, "two"))
    assert [main.take(each) for each in (one, two, again)] == [(), (), ()]
    text = (main.root / "a.txt").read_text().splitlines()
    assert (text[2], text[17]) == ("two", "seventeen")
    assert (main.root / "new.bin").read_bytes() == b"\0\xff"
    assert git(main.root, "log", "--format=%s") == "as it was\n"


def test_what_is_in_the_way_of_others_leaves_everything_as_it_was(main: Repository) -> None:
    one = work(main, "one", a_txt=edited(2, "two"))
    two = work(main, "two", a_txt=edited(2, "zwei"), new_txt="new\n", b_bin=b"\1")
    assert main.take(one) == ()
    (main.root / "untracked.txt").write_text("mine\n")
    before, staged = tree(main.root), main.stage_all()
    assert main.take(two) == ("a.txt",)
    assert tree(main.root) == before and main.stage_all() == staged
    assert not (main.git_dir() / "CHERRY_PICK_HEAD").exists()
