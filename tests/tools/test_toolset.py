"""What a step may name: ours in a fixed order, and the tools of installed packages."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from foundry.errors import PluginError, ProjectError
from foundry.plugins import installed
from foundry.tools.base import Arguments, Tool
from foundry.tools.toolset import OURS, TOOLS, make_tools
from tests.support.tools import tools_in, workbench

MODULE = """
from foundry.tools.base import Arguments, Tool


class Count(Arguments):
    path: str


def make(workbench):
    def call(arguments):
        return str(len((workbench.root / arguments.path).read_text().split()))
    return Tool("count_words", "Count words.", Count, call, reads_only=True, path="path")


def unmade(workbench):
    raise KeyError("key")
"""
POINTS = """[foundry.plugins]
tool.count_words = words_of_a_stranger:make
tool.other = words_of_a_stranger:make
tool.submit_early = words_of_a_stranger:gone
tool.unmade = words_of_a_stranger:unmade
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package with tools is installed."""
    (tmp_path / "words_of_a_stranger.py").write_text(MODULE)
    info = tmp_path / "words-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: words\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    installed.cache_clear()
    yield
    installed.cache_clear()
    sys.modules.pop("words_of_a_stranger", None)


def test_without_names_all_of_ours_in_their_order(tmp_path: Path, package: None):
    tool = tools_in(tmp_path, "read_file")["read_file"]
    made = make_tools(None, workbench(tmp_path, recall=lambda: replaced(tool, "recall_context")))
    assert list(made) == list(OURS)
    assert [each.name for each in made.values()] == list(OURS)


def replaced(tool: Tool[Arguments], name: str) -> Tool[Arguments]:
    return Tool(name, tool.description, tool.arguments, tool.call)


def test_a_packages_tool_where_a_step_names_it(tmp_path: Path, package: None):
    (tmp_path / "a.txt").write_text("one two")
    assert "count_words" in TOOLS
    made = tools_in(tmp_path, "count_words", "read_file")
    assert list(made) == ["count_words", "read_file"]
    assert made["count_words"].run({"path": "a.txt"}).content == "2"
    failed = made["count_words"].run({"path": "gone.txt"})
    assert failed.is_error
    assert failed.content.startswith("count_words failed: FileNotFoundError: ")


def test_a_packages_tool_that_can_not_be_used(tmp_path: Path, package: None):
    with pytest.raises(PluginError, match="makes no tool of this name"):
        tools_in(tmp_path, "other")
    with pytest.raises(PluginError, match="'unmade' can't be made: KeyError: 'key'"):
        tools_in(tmp_path, "unmade")
    with pytest.raises(PluginError, match=r"words 1\.0 can't be used"):
        tools_in(tmp_path, "submit_early")
    with pytest.raises(PluginError, match="there is no tool 'fly'"):
        tools_in(tmp_path, "fly")


def test_without_a_memory_there_is_nothing_to_recall(tmp_path: Path):
    with pytest.raises(ProjectError, match="no memory"):
        tools_in(tmp_path, "recall_context")


def test_what_permission_asks_about_is_an_argument():
    with pytest.raises(ValueError, match="no argument command, file"):
        Tool("x", "", Arguments, lambda _: "", path="file", command="command")
