"""`foundry plugins`: ours, and what installed packages bring."""

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from foundry.cli.plugins import REGISTRIES, command
from foundry.engine.step_kind import STEPS
from tests.support.packages import installed_packages

MODULE = """
print("noise")

def part(*_): ...
another = part
NOT_CALLABLE = 1
"""
PARTS = {
    "tool.count_words": "words_parts:part",
    "tool.read_file": "words_parts:part",
    "tool.twice": "words_parts:part",
    "model.gone": "words_gone:Provider",
    "model.wrong": "words_parts:NOT_CALLABLE",
    "report.fine": "words_parts:part",
    "colour.red": "words_parts:part",
    "nothing": "words_parts:part",
    "step.circular": "words_parts:part",
}


@pytest.fixture
def packages(tmp_path: Path) -> Iterator[None]:
    both = {"words": PARTS, "more": {"tool.twice": "words_parts:another"}}
    with installed_packages(tmp_path, both, {"words_parts": MODULE}):
        yield


def plugins(*options: str) -> Result:
    done = CliRunner().invoke(command, list(options), catch_exceptions=False)
    assert done.exit_code == 0
    return done


def test_all_of_ours_load() -> None:
    rows = json.loads(plugins("--json").stdout)
    assert [row for row in rows if row["origin"] != "foundry" or not row["loads"]] == []
    sorts = {}
    for target in REGISTRIES:
        module, _, attribute = target.partition(":")
        registry = getattr(import_module(module), attribute)
        sorts[registry.sort] = set(registry.names())
    assert len(sorts) == len(REGISTRIES)
    for sort, names in sorts.items():
        assert {row["name"] for row in rows if row["sort"] == sort} == names


def test_those_of_packages_say_whether_they_load(packages: None) -> None:
    rows = json.loads(plugins("--json").stdout)
    theirs = [row for row in rows if row["origin"] != "foundry"]
    assert all(row["loads"] == (not row["problem"]) for row in theirs)
    problems = {(row["origin"], row["sort"], row["name"]): row["problem"] for row in theirs}
    both = "1.0 both bring the tool 'twice'"
    expected = {
        ("words 1.0", "tool", "count_words"): "",
        ("words 1.0", "tool", "read_file"): "is Foundry's own",
        ("words 1.0", "tool", "twice"): both,
        ("more 1.0", "tool", "twice"): both,
        ("words 1.0", "model", "gone"): "No module named 'words_gone'",
        ("words 1.0", "model", "wrong"): "words_parts:NOT_CALLABLE is no model",
        ("words 1.0", "report", "fine"): "",
        ("words 1.0", "step", "circular"): "is Foundry's own",
        ("words 1.0", "colour", "red"): "there is no sort 'colour'",
        ("words 1.0", "nothing", ""): "there is no sort 'nothing'",
    }
    assert STEPS.get("circular").name == "circular"
    assert problems.keys() == expected.keys()
    for key, reason in expected.items():
        assert reason in problems[key]
        assert bool(reason) == bool(problems[key])


def test_a_table_holds_nothing_that_packages_print(packages: None) -> None:
    done = plugins()
    assert "noise" in done.stderr
    assert "noise" not in done.stdout
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["✓", "tool", "count_words", "words", "1.0"] in lines
    assert any(line[:5] == ["✗", "model", "gone", "words", "1.0"] for line in lines)
