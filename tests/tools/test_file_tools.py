from pathlib import Path
from typing import Any

import pytest

from foundry.tools.base import ToolResult, Toolset
from tests.support.tools import FILES, tools_in


class Desk:
    """Tools in a folder, called as a model calls them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._tools = Toolset(tools_in(root, *FILES))

    def result(self, tool: str, **arguments: Any) -> ToolResult:
        return self._tools.run(tool, arguments)

    def ok(self, tool: str, **arguments: Any) -> str:
        result = self.result(tool, **arguments)
        assert not result.is_error, result.content
        return result.content

    def error(self, tool: str, **arguments: Any) -> str:
        result = self.result(tool, **arguments)
        assert result.is_error, result.content
        return result.content


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    root = tmp_path / "project"
    root.mkdir()
    return Desk(root)


# -- read_file -------------------------------------------------------------------------------


def test_a_small_file_is_read_whole(desk: Desk):
    (desk.root / "a.txt").write_text("one\n\ttwo\n")
    assert desk.ok("read_file", path="a.txt") == "one\n\ttwo"


def test_an_empty_file(desk: Desk):
    (desk.root / "a.txt").touch()
    assert desk.ok("read_file", path="a.txt") == "(the file is empty)"


def test_a_part_says_which_and_how_to_go_on(desk: Desk):
    (desk.root / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 11)))
    part = desk.ok("read_file", path="a.txt", offset=3, limit=2)
    assert part == "[lines 3-4 of 10; read on with offset=5]\n3\n4"
    assert desk.ok("read_file", path="a.txt", offset=10) == "[lines 10-10 of 10]\n10"
    assert "has 10 lines" in desk.error("read_file", path="a.txt", offset=11)


@pytest.mark.parametrize("bad", [{"offset": 0}, {"limit": 0}, {"offset": "x"}, {"lines": 3}])
def test_senseless_arguments(desk: Desk, bad: dict[str, Any]):
    (desk.root / "a.txt").write_text("one\n")
    assert "Invalid arguments" in desk.error("read_file", path="a.txt", **bad)


def test_reading_on_gives_the_whole_file(desk: Desk):
    lines = [f"line {number} " + "€" * 20 for number in range(3000)]
    (desk.root / "a.txt").write_text("\n".join(lines))
    seen: list[str] = []
    while len(seen) < len(lines):
        text = desk.ok("read_file", path="a.txt", offset=len(seen) + 1)
        assert len(text.encode()) < 24_100
        seen += text.split("\n")[1:]
    assert seen == lines


def test_long_lines_are_cut(desk: Desk):
    (desk.root / "a.txt").write_text("x" * 2000 + "y" * 500 + "\nshort\n")
    text = desk.ok("read_file", path="a.txt")
    assert text == "x" * 2000 + "[… 500 characters left out …]\nshort"


def test_binary_files_are_refused(desk: Desk):
    (desk.root / "a.png").write_bytes(b"\x89PNG\0\0")
    text = desk.error("read_file", path="a.png")
    assert "binary (image/png, 6 bytes)" in text
    assert "run_command" in text


def test_a_huge_file_is_refused(desk: Desk):
    with (desk.root / "a.log").open("wb") as file:
        file.truncate(9_000_000)
    assert "9,000,000 bytes" in desk.error("read_file", path="a.log")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings_are_read(desk: Desk, encoding: str):
    (desk.root / "a.txt").write_bytes("naïve\r\ncafé\r\n".encode(encoding))
    assert desk.ok("read_file", path="a.txt") == "naïve\ncafé"


# -- write_file ------------------------------------------------------------------------------


def test_create_then_replace(desk: Desk):
    created = desk.ok("write_file", path="a/b/c.txt", content="€\r\n")
    assert created == "Created a/b/c.txt (5 bytes)."
    assert (desk.root / "a/b/c.txt").read_bytes() == "€\r\n".encode()
    replaced = desk.ok("write_file", path="a/b/c.txt", content="")
    assert replaced == "Replaced a/b/c.txt (5 bytes before, 0 now)."


def test_a_script_is_executable(desk: Desk):
    desk.ok("write_file", path="run", content="#!/bin/sh\n", executable=True)
    assert (desk.root / "run").stat().st_mode & 0o100


def test_a_file_in_the_way_of_a_folder(desk: Desk):
    desk.ok("write_file", path="a", content="x")
    assert "not a folder" in desk.error("write_file", path="a/b", content="x")


def test_text_that_no_file_can_hold(desk: Desk):
    desk.error("write_file", path="a", content="\ud800")
    assert list(desk.root.iterdir()) == []


def test_refusals_come_back_as_results(desk: Desk):
    assert "outside the project" in desk.error("write_file", path="../a", content="x")
    assert "outside the project" in desk.error("read_file", path="/etc/passwd")
    assert "closed to tools" in desk.error("edit_file", path=".git/config", old="a", new="b")
    (desk.root / ".context-foundry").mkdir()
    (desk.root / ".context-foundry/tasks.json").write_text("{}")
    edit = desk.error("edit_file", path=".context-foundry/tasks.json", old="{", new="[")
    assert "written by the harness" in edit


# -- edit_file -------------------------------------------------------------------------------


def edited(desk: Desk, data: bytes, **arguments: Any) -> bytes:
    (desk.root / "a.txt").write_bytes(data)
    desk.ok("edit_file", path="a.txt", **arguments)
    return (desk.root / "a.txt").read_bytes()


def test_an_edit(desk: Desk):
    assert edited(desk, b"a\nb\nc\n", old="b\nc", new="B") == b"a\nB\n"
    assert desk.ok("edit_file", path="a.txt", old="B", new="") == "Edited a.txt at line 2."


def test_every_occurrence(desk: Desk):
    assert edited(desk, b"a a\na\n", old="a", new="b", replace_all=True) == b"b b\nb\n"
    said = desk.ok("edit_file", path="a.txt", old="b", new="c", replace_all=True)
    assert said == "Edited a.txt at lines 1, 1, 2."


def test_an_ambiguous_edit_changes_nothing(desk: Desk):
    (desk.root / "a.txt").write_text("x\n" * 30)
    said = desk.error("edit_file", path="a.txt", old="x", new="y")
    assert "occurs 30 times" in said
    assert "lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 20 more places" in said
    assert (desk.root / "a.txt").read_text() == "x\n" * 30


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encoding_mark_and_line_endings_stay(desk: Desk, encoding: str):
    before, after = "é\r\none\r\ntwo\r\n", "é\r\nüne\r\nnew\r\ntwo\r\n"
    data = edited(desk, before.encode(encoding), old="one\n", new="üne\nnew\n")
    assert data == after.encode(encoding)


def test_a_single_line_edit_in_crlf_adds_crlf(desk: Desk):
    assert edited(desk, b"a\r\nb\r\n", old="b", new="b\nc") == b"a\r\nb\r\nc\r\n"


def test_mixed_line_endings_stay(desk: Desk):
    assert edited(desk, b"a\r\nb\nc\r\n", old="b\nc", new="B\nC") == b"a\r\nB\nC\r\n"
    assert edited(desk, b"a\r\nb\r\nc\n", old="a\nb", new="A\nB") == b"A\r\nB\r\nc\n"


def test_bytes_of_no_encoding_stay(desk: Desk):
    noise = bytes(range(128, 256))
    assert edited(desk, noise + b"\nold\n", old="old", new="new") == noise + b"\nnew\n"


def test_a_character_that_the_file_can_not_hold(desk: Desk):
    (desk.root / "a.txt").write_bytes(b"caf\xe9 old")
    assert "latin-1" in desk.error("edit_file", path="a.txt", old="old", new="€")
    assert (desk.root / "a.txt").read_bytes() == b"caf\xe9 old"


def test_what_is_not_there_gets_a_hint(desk: Desk):
    (desk.root / "a.py").write_text("import os\n\ndef compute(x):\n    return x + 1\n")
    said = desk.error("edit_file", path="a.py", old="def compote(x):\n    pass", new="")
    assert "the closest is line 3: 'def compute(x):'" in said


def test_wrong_indentation_is_pointed_out(desk: Desk):
    (desk.root / "a.py").write_text("def f():\n    return 1\n")
    said = desk.error("edit_file", path="a.py", old="\treturn 1", new="")
    assert "line 2 is alike ('    return 1')" in said


def test_nothing_alike_gets_no_hint(desk: Desk):
    (desk.root / "a.py").write_text("abc\n")
    assert "closest" not in desk.error("edit_file", path="a.py", old="0123456789", new="")


def test_the_hint_is_given_for_a_file_that_is_made_to_be_slow(desk: Desk):
    import random

    letters = list("abcdefghij" * 20)
    random.Random(1).shuffle(letters)
    (desk.root / "a.txt").write_text(("".join(letters) + "\n") * 39_000)
    said = desk.error("edit_file", path="a.txt", old="abcdefghij" * 20, new="")
    assert said.startswith("old does not occur in the file")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [("", "x", "Invalid arguments"), ("a", "a", "same text"), ("\n\n\n", "x", "does not occur")],
)
def test_senseless_edits(desk: Desk, old: str, new: str, reason: str):
    (desk.root / "a.txt").write_text("a\n")
    assert reason in desk.error("edit_file", path="a.txt", old=old, new=new)


def test_a_missing_file(desk: Desk):
    assert "there is no a.txt" in desk.error("edit_file", path="a.txt", old="a", new="b")


def test_an_edit_keeps_the_mode(desk: Desk):
    (desk.root / "run").write_text("a")
    (desk.root / "run").chmod(0o751)
    desk.ok("edit_file", path="run", old="a", new="b")
    assert (desk.root / "run").stat().st_mode & 0o777 == 0o751
