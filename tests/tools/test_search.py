import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from foundry.errors import ProjectError
from foundry.tools.base import ToolResult
from tests.support.tools import tools_in


class Repository:
    """A folder with git's real answers."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._git("init", "--quiet")

    def add(self, path: str, content: str = "") -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(content)

    def paths(self) -> list[str]:
        out = self._git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        return out.split("\0")[:-1]

    def grep(self, pattern: str, path: str, *, regex: bool, ignore_case: bool) -> Sequence[str]:
        options = ["-E" if regex else "-F", *(["-i"] if ignore_case else [])]
        return self._git(
            "grep", "--untracked", "-nI", *options, "-e", pattern, "--", path
        ).splitlines()

    def run(self, tool: str, **arguments: Any) -> ToolResult:
        tools = tools_in(self.root, tool, list_paths=self.paths, grep=self.grep)
        return tools[tool].run(arguments)

    def _git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.root), *arguments],
            capture_output=True,
            check=False,
            text=True,
            errors="surrogateescape",
        )
        if done.returncode > 1:
            raise ProjectError(done.stderr.strip())
        return done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    root = tmp_path / "project"
    root.mkdir()
    found = Repository(root)
    found.add(".gitignore", "ignored/\n")
    found.add("ignored/x.py", "needle")
    found.add("src/app.py", "import os\nNeedle = 1\n")
    found.add("src/deep/util.py", "needle = a.b(c)\n")
    found.add("README.md", "nothing\n")
    return found


def test_all_files(repository: Repository):
    listed = repository.run("list_files").content
    assert listed.split("\n") == [".gitignore", "README.md", "src/app.py", "src/deep/util.py"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"path": "src"}, "src/app.py src/deep/util.py"),
        ({"path": "./src/deep/"}, "src/deep/util.py"),
        ({"path": "src/app.py"}, "src/app.py"),
        ({"pattern": "*.py"}, "src/app.py src/deep/util.py"),
        ({"pattern": "src/**/*.py"}, "src/app.py src/deep/util.py"),
        ({"pattern": "**/util.*"}, "src/deep/util.py"),
        ({"pattern": "src/app.py"}, "src/app.py"),
        ({"pattern": "./src/a*"}, "src/app.py"),
        ({"path": "src/deep", "pattern": "*.py"}, "src/deep/util.py"),
    ],
)
def test_some_files(repository: Repository, arguments: dict[str, str], expected: str):
    assert repository.run("list_files", **arguments).content.split("\n") == expected.split()


def test_a_neighbour_with_a_longer_name_is_not_below(repository: Repository):
    repository.add("src2/x.py")
    assert "src2" not in repository.run("list_files", path="src").content


def test_nothing_to_list(repository: Repository):
    said = repository.run("list_files", path="src", pattern="*.rs")
    assert not said.is_error
    assert said.content.startswith("None of the 2 files in src matches '*.rs'")
    (repository.root / "empty").mkdir()
    assert "no files in empty" in repository.run("list_files", path="empty").content
    said = repository.run("list_files", path="nope")
    assert said.is_error
    assert "there is no nope" in said.content


def test_many_files_are_capped_with_a_count(repository: Repository):
    for number in range(450):
        repository.add(f"many/{number:03}")
    lines = repository.run("list_files", path="many").content.split("\n")
    assert lines[:400] == [f"many/{number:03}" for number in range(400)]
    assert lines[400:] == ["[… 50 more files; narrow it down with path or pattern …]"]


def test_protected_places_are_neither_listed_nor_searched(repository: Repository):
    repository.add(".context-foundry/local/log", "needle")
    repository.add(".context-foundry/tasks.json", "needle")
    listed = repository.run("list_files", path=".context-foundry").content
    assert listed == ".context-foundry/tasks.json"
    found = repository.run("search_text", pattern="needle", path=".context-foundry").content
    assert found == ".context-foundry/tasks.json:1: needle"
    for tool in ("list_files", "search_text"):
        for path in ("..", "/etc", ".git", ".context-foundry/local"):
            extra = {"pattern": "x"} if tool == "search_text" else {}
            assert repository.run(tool, path=path, **extra).is_error


def test_names_that_would_forge_lines(repository: Repository):
    repository.add("a\nREADME.md")
    (repository.root / "\udcff\udcfe").touch()
    lines = repository.run("list_files").content.encode().split(b"\n")
    assert b"a\\nREADME.md" in lines
    assert b"\\udcff\\udcfe" in lines


def test_literal_search_is_the_default(repository: Repository):
    found = repository.run("search_text", pattern="a.b(c)")
    assert found.content == "src/deep/util.py:1: needle = a.b(c)"


def test_search_options(repository: Repository):
    found = repository.run("search_text", pattern="needle", ignore_case=True).content
    assert found == "src/app.py:2: Needle = 1\nsrc/deep/util.py:1: needle = a.b(c)"
    found = repository.run("search_text", pattern="^[Nn]e+dle", regex=True, path="src/deep").content
    assert found == "src/deep/util.py:1: needle = a.b(c)"
    found = repository.run("search_text", pattern="Needle", path="src/app.py").content
    assert found == "src/app.py:2: Needle = 1"


def test_a_pattern_that_looks_like_an_option(repository: Repository):
    repository.add("a.txt", "see --help\n")
    assert repository.run("search_text", pattern="--help").content == "a.txt:1: see --help"


def test_nothing_found_is_explained(repository: Repository):
    said = repository.run("search_text", pattern="absent")
    assert not said.is_error
    assert "No line in . matches 'absent'" in said.content
    assert "ignore_case" in said.content


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"pattern": "a("}, ""),
        ({"pattern": "a(", "regex": True}, "Mend the regular expression"),
        ({"pattern": ""}, "Invalid arguments"),
        ({"pattern": "x" * 2000}, "Invalid arguments"),
        ({"pattern": "a\nb"}, "several lines"),
        ({"pattern": "a\0b"}, "several lines"),
        ({"pattern": "x", "path": "nope"}, "there is no nope"),
    ],
)
def test_patterns_that_can_not_be(repository: Repository, arguments: dict[str, Any], reason: str):
    said = repository.run("search_text", **arguments)
    assert said.is_error == bool(reason)
    assert reason in said.content


def test_many_hits_are_capped_with_a_count(repository: Repository):
    repository.add("a.txt", "needle\n" * 350)
    lines = repository.run("search_text", pattern="needle", path="a.txt").content.split("\n")
    assert lines[199] == "a.txt:200: needle"
    assert lines[200:] == ["[… 150 more lines; narrow it down with path or pattern …]"]


def test_long_lines_are_cut(repository: Repository):
    repository.add("a.txt", ("needle" + "x" * 400 + "\n") * 200)
    said = repository.run("search_text", pattern="needle", path="a.txt").content
    first, *_, last = said.split("\n")
    assert first == "a.txt:1: needle" + "x" * 294 + "[…]"
    assert len(said) < 24_100
    assert last.startswith("[… ")


def test_control_characters_are_shown_not_sent(repository: Repository):
    repository.add("a.txt", "\x1b[31mneedle\x07\n")
    said = repository.run("search_text", pattern="needle", path="a.txt").content
    assert said == "a.txt:1: \\x1b[31mneedle\\x07"
