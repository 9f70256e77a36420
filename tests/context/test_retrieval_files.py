"""Which files of a plain folder are read: those that git would see in it."""

import subprocess
from pathlib import Path

import pytest

from foundry.context.retrieval.files import read, walk

NAMES = [
    "a.py", "b.log", "keep.log", "é.py", "with space.py", "[x].py", "deep/a.py", "deep/b.log",
    "deep/er/a.py", "deep/er/keep.log", "logs/a.py", "logs/inner/a.py", "src/logs/a.py",
    "src/tmp1/a.py", "src/tmp2/b.py", "src/file", "x/y/z/a.py", "#hash.py", "!bang.py",
]  # fmt: skip


def _folder(root: Path, rules: dict[str, str]) -> Path:
    for name in NAMES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x\n")
    for name, text in rules.items():
        (root / name).write_text(text)
    return root


def _seen_by_git(root: Path, scratch: Path) -> set[str]:
    subprocess.run(["git", "init", "--quiet", "--bare", str(scratch)], check=True)
    listed = subprocess.run(
        ["git", f"--git-dir={scratch}", f"--work-tree={root}", "ls-files", "-z", "--others",
         "--exclude-standard"],
        cwd=root, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return {name for name in listed.stdout.split("\0") if name and ".gitignore" not in name}


@pytest.mark.parametrize(
    "rules",
    [
        {},
        {".gitignore": "*.log\n"},
        {".gitignore": "*.log\n!keep.log\n"},
        {".gitignore": "logs/\n"},
        {".gitignore": "/logs\n"},
        {".gitignore": "src/logs\nsrc/tmp?\n"},
        {".gitignore": "**/er\nx/**/a.py\n"},
        {".gitignore": "# a comment\n\n\\#hash.py\n\\!bang.py\n"},
        {".gitignore": "deep/\n!deep/a.py\n"},
        {".gitignore": "deep/*\n!deep/er/\n"},
        {".gitignore": "*.log\n", "deep/.gitignore": "!b.log\n"},
        {".gitignore": "*.py\n", "deep/.gitignore": "!*.py\n", "deep/er/.gitignore": "a.py\n"},
        {"src/.gitignore": "/file\nlogs\n"},
        {".gitignore": "with\\ space.py\né.py\n[[]x].py\n"},
        {".gitignore": "*.log   \n"},
        {".gitignore": "*.log\r\nlogs/\r\n"},
        {".gitignore": "*\n!*/\n!*.log\n"},
        {".gitignore": "file/\n"},
        {".gitignore": "!\n\\\n*.log\n"},
    ],
    ids=lambda rules: repr(rules)[:60],
)
def test_a_plain_folder_has_the_files_that_git_would_see(
    tmp_path: Path, rules: dict[str, str]
) -> None:
    root = _folder(tmp_path / "plain", rules)
    assert set(walk(root)) == _seen_by_git(root, tmp_path / "empty.git")


def test_a_repository_inside_a_plain_folder_is_walked_like_the_rest(tmp_path: Path) -> None:
    root = _folder(tmp_path / "plain", {".gitignore": "*.log\n"})
    subprocess.run(["git", "init", "--quiet", str(root / "deep")], check=True)
    assert "deep/er/a.py" in set(walk(root))


@pytest.mark.parametrize(
    "line", ["[z-a]q", "[[:digit:]]", "a\0b", "(" * 50, "*a" * 40 + "b", "\udc80"], ids=ascii
)
def test_no_line_of_a_stranger_stops_the_walk(tmp_path: Path, line: str) -> None:
    root = _folder(tmp_path / "plain", {})
    (root / ("a" * 60)).write_text("x\n")
    (root / ".gitignore").write_bytes(f"{line}\n*.log\n".encode("utf-8", "surrogateescape"))
    assert set(walk(root)) == {name for name in NAMES if not name.endswith(".log")} | {"a" * 60}


def test_names_that_mean_something_to_git_and_many_long_ones_are_just_names(
    tmp_path: Path,
) -> None:
    root = _folder(tmp_path / "plain", {".gitignore": "*.log\n"})
    names = {":(top)a.py", ":!b.py", "*.py", "new\nline.py", "-n"}
    names |= {f"{n}{'x' * 200}.py" for n in range(300)}
    for name in names:
        (root / name).write_text("x\n")
        (root / f"{name}.log").write_text("x\n")
    assert set(walk(root)) == names | {name for name in NAMES if not name.endswith(".log")}


def test_without_git_nothing_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = _folder(tmp_path / "plain", {".gitignore": "*.log\n"})
    monkeypatch.setenv("PATH", str(tmp_path))
    assert set(walk(root)) == set(NAMES)


def test_content_is_not_read_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("content")
    (tmp_path / "b.txt").symlink_to("a.txt")
    assert read(tmp_path, "a.txt") == b"content"
    assert read(tmp_path, "b.txt") == b""
    assert read(tmp_path, "missing.txt") == b""
