"""`foundry memory`, on a real memory in a real folder."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from foundry.cli import memory as group
from foundry.cli.main import run
from foundry.schema.memory import Draft
from foundry.store.memory.store import ContextMemoryStore, memory_path
from tests.support.moments import call, moment


def cli(folder: Path, *arguments: object, expect: int = 0) -> Result:
    name, *rest = map(str, arguments)
    result = CliRunner().invoke(
        group.command, [name, "--dir", str(folder), *rest], standalone_mode=False,
        catch_exceptions=True,
    )  # fmt: skip
    if expect == 0:
        assert result.exception is None, result.output
    return result


def lines(result: Result) -> list[Any]:
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "shelf"


@pytest.fixture
def ids(project: Path) -> list[str]:
    with ContextMemoryStore(memory_path(project)) as memory:
        return [
            memory.store(moment(1, "The parser drops a token.", task="Mend the parser.",
                                calls=(call(path="src/parser.py", result="tokens[:-1]"),),
                                files=("src/parser.py",), state={"iteration": 1}),
                         Draft(text="Found the bound.", insights=("off by one",), tokens=8)),
            memory.store(moment(2, "Backoff doubles.", run="run-2", phase="test", step="test/fix"),
                         Draft(text="Wrote the backoff.", tokens=6)),
        ]  # fmt: skip


def test_search_prints_what_fits_best_first(project, ids):
    told = cli(project, "search", "parser", "token").stdout
    assert ids[0] in told
    assert "Found the bound." in told
    assert "builder[1] turn 1, run run-1" in told
    assert "nothing fits" in cli(project, "search", "zyzzyva").stdout
    found = lines(cli(project, "search", "--json", "--limit", 1, "the parser backoff"))
    assert [each["id"] for each in found] == [ids[0]]
    assert found[0]["score"] > 0


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (("--run", "run-2"), [1]),
        (("--phase", "test"), [1]),
        (("--step", "test/fix"), [1]),
        (("--file", "parser.py"), [0]),
        (("--kind", "step"), []),
        (("--since", "2026-01-02T03:06:05Z"), [1]),
        (("--until", "2026-01-02T03:06:01Z"), [0]),
        ((), [0, 1]),
    ],
)
def test_filters_of_search_and_timeline(project, ids, options, wanted):
    expected = {ids[number] for number in wanted}
    search = lines(cli(project, "search", "--json", "parser backoff", *options))
    timeline = lines(cli(project, "timeline", "--json", *options))
    assert "not in the range" in str(cli(project, "timeline", "-n", 10**30, expect=2).exception)
    assert {each["id"] for each in search} == expected
    assert {each["id"] for each in timeline} == expected


def test_show_prints_one_entry_whole(project, ids):
    told = cli(project, "show", ids[0][:9]).stdout
    for part in ("Mend the parser.", "The parser drops a token.", "tokens[:-1]", "off by one",
                 '"iteration": 1', "src/parser.py: read", "run run-1"):  # fmt: skip
        assert part in told
    (line,) = lines(cli(project, "show", ids[0], "--json"))
    assert (line["id"], line["version"]) == (ids[0], 1)


NO_TEXT = "caf\udce9"
"""What Python makes of an argument that is not UTF-8."""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("timeline", "--run", NO_TEXT), "nothing happened"),
        (("timeline", "--file", NO_TEXT), "nothing happened"),
        (("search", NO_TEXT), "nothing fits"),
        (("purge", "--yes", "--run", NO_TEXT), "removed 0 entries"),
    ],
)
def test_words_that_are_not_utf8_fit_nothing(project, ids, arguments, told):
    assert told in cli(project, *arguments).stdout


def test_an_id_that_there_is_not(project, ids):
    for wanted in ("ctx_9", NO_TEXT, ""):
        assert "there is no entry" in str(cli(project, "show", wanted, expect=1).exception)


def test_timeline_is_in_order_under_its_runs(project, ids):
    told = cli(project, "timeline").stdout
    places = [told.index(part) for part in ("run run-1", ids[0], "run run-2", ids[1])]
    assert places == sorted(places)
    assert [each["id"] for each in lines(cli(project, "timeline", "--json", "-n", 1))] == [ids[1]]


def test_stats_for_people_and_programs(project, ids):
    told = cli(project, "stats").stdout
    assert "2 turns and 0 steps of 2 runs" in told
    assert "14 tokens (93.0% fewer)" in told
    figures = json.loads(cli(project, "stats", "--json").stdout)
    assert figures["original_tokens"] == 200
    assert f"in a prompt    {figures['told_tokens']} tokens" in told


def test_export_and_import_into_another_project(project, ids, tmp_path):
    file = tmp_path / "memory.jsonl"
    assert "2 lines" in cli(project, "export", file).stdout
    other = tmp_path / "other"
    other.mkdir()
    assert "2 new, 0 known already" in cli(other, "import", file).stdout
    assert "0 new, 2 known already" in cli(other, "import", file).stdout
    file.write_text(file.read_text() + "{}\njunk\n")
    result = cli(other, "import", file)
    assert result.return_value == 1
    assert "0 new, 2 known already, 2 lines left out" in result.stdout
    assert f"{file}:3: " in result.stderr
    assert f"{file}:4: " in result.stderr
    assert lines(cli(other, "export", "-")) == lines(cli(project, "export", "-"))


def test_purge_asks_and_removes(project, ids):
    assert "--yes" in str(cli(project, "purge", "--run", "run-1", expect=2).exception)
    assert len(lines(cli(project, "timeline", "--json"))) == 2
    assert "removed 1 entry" in cli(project, "purge", "--run", "run-1", "--yes").stdout
    assert [each["id"] for each in lines(cli(project, "timeline", "--json"))] == [ids[1]]
    assert "removed 0 entries" in cli(project, "purge", "--before", "2020-01-01", "--yes").stdout
    assert "removed 1 entry" in cli(project, "purge", "--before", "1h", "--yes").stdout


@pytest.mark.parametrize(
    ("arguments", "told", "code"),
    [
        (("search", "x", "--dir", "none"), "there is no folder", 1),
        (("search", "x"), "there is no memory in", 1),
        (("import", "none.jsonl"), "cannot read none.jsonl", 1),
        (("search",), "Missing argument", 2),
        (("purge",), "--run or --before", 2),
        (("purge", "--before", "soon"), "is no time", 1),
    ],
)
def test_errors_are_one_line(tmp_path, monkeypatch, capsys, arguments, told, code):
    monkeypatch.chdir(tmp_path)
    assert run(["memory", *arguments]) == code
    err = capsys.readouterr().err
    assert told in err
    assert len(err.splitlines()) == 1


def test_an_id_that_is_none_or_several(project, ids, capsys):
    for wanted, told in (("ctx_", "several entries"), ("ctx_7", "no entry"), ("", "no entry")):
        assert run(["memory", "show", "--dir", str(project), wanted]) == 1
        assert told in capsys.readouterr().err


def test_a_damaged_memory_is_told_of_and_no_traceback(project, ids, capsys):
    path = memory_path(project)
    path.write_bytes(b"ruined " * 2_000)
    assert run(["memory", "timeline", "--dir", str(project)]) == 0
    assert "set aside as" in capsys.readouterr().err


def test_escape_sequences_of_a_model_are_not_carried_out(project, ids):
    with ContextMemoryStore(memory_path(project)) as memory:
        bad = memory.store(moment(3, "\x1b[2J\x1b]0;owned\x07", task="\x1b[31mred"),
                           Draft(text="\x1b[2Jquokka"))  # fmt: skip
    for arguments in (("show", bad), ("timeline",), ("search", "quokka")):
        assert "\x1b[2J" not in cli(project, *arguments).stdout
