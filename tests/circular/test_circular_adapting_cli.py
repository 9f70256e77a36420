"""What `foundry circular` adapts: its options, that they survive a resume, and how it is seen."""

import json
from pathlib import Path
from typing import Any

import pytest

from foundry.cli.main import run
from foundry.exitcodes import PAUSED, VERIFIED
from foundry.report.lines import FAILED, NEUTRAL, OK, plain
from foundry.report.narrate import Narrator
from foundry.schema.events import Event, IterationEnded, IterationStarted, PartEnded
from tests.support.circular import done, doubt, more, repository, work
from tests.support.rehearsals import submit, write
from tests.support.workflows import plays

OLD, NEW = "print(old())\n", "print(new())\n"
CONTEXT = """\
project: {name: Greeter, description: greets}
objective: {primary: Finish it}
parts: [{id: one, title: The first, paths: [a.py], details: With care.}]
"""
BLOCKED = submit(verdict="blocked", evidence="no password", remaining=["b.py"])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", a_py=OLD, b_py=OLD)


def test_how_a_run_adapts_survives_a_resume_and_is_seen(
    rehearsal: Any, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    context = tmp_path / "base.yaml"
    context.write_text(CONTEXT)
    server = rehearsal(
        plays(
            {
                work(1): [write("n.txt", "1\n"), more("a.py")],
                work(2): [write("a.py", NEW), BLOCKED],
                work(3): [write("m.txt", "1\n"), BLOCKED],
                work(4): [
                    write("b.py", NEW),
                    more("tidy", better_prompt="Use new().\nBe tidy.", parts_done=["one"]),
                ],
                work(5): [write("o.txt", "1\n"), done()],
                doubt(5): [done()],
            }
        )
    )
    words = ["--model", "small,large", "--adaptive", "--progressive", "--refine", "--context",
             str(context), "--dir", str(project), "--base-url", server.url]  # fmt: skip
    checks = [word for name in "ab" for word in ("--check", f"! grep old {name}.py")]
    assert run(["circular", "Use new().", *words, *checks]) == PAUSED
    shown = capsys.readouterr().err
    assert "model: large: small gained nothing in an iteration" in shown
    assert "iteration 1 · continue · submitted · 0 resolved" in shown
    assert run(["circular", "resume", str(project), "--model", "third,fourth", "-q"]) == VERIFIED
    assert run(["circular", "status", str(project), "--json"]) == VERIFIED
    told = json.loads(capsys.readouterr().out.split("\n{", 1)[1].join(["{", ""]))
    worked = [each for each in told["iterations"] if each["kind"] == "work"]
    assert [each["model"] for each in worked] == ["small", "large", "large", "third", "third"]
    assert all(set(each["reasons"]) == {"threshold", "model", "context", "prompt"}
               for each in worked)  # fmt: skip
    assert [each["prompt_version"] for each in worked] == [1, 1, 1, 1, 2]
    assert [each["decision"] for each in told["prompts"]["versions"]] == ["original", "rejected"]
    asked = [each.body["model"] for each in server.requests if each.path == "/v1/messages"]
    assert list(dict.fromkeys(asked)) == ["small", "large", "third", "fourth"]
    [report] = tmp_path.glob("project.foundry/*/.context-foundry/circular/report.md")
    assert "2 rejected: 0 issues a million tokens" in report.read_text()
    assert run(["circular", "status", str(project)]) == VERIFIED
    assert "iteration 2, model: large: small gained" in capsys.readouterr().out


WRONG = {
    "--parallel 2": "there are 0 parts",
    "--parallel 9": "not in the range",
    "--progressive": "there is none",
    "--model a,,b": "has an empty name",
    "--model a,a": "names a twice",
    "--model a,b,c,d,e,f,g,h,i": "more than 8",
    "--model a,b --model-for builder=c": "--model-for one of them for builder",
    "--models-by chance": "not one of",
}


@pytest.mark.parametrize("words", WRONG)
def test_what_makes_no_sense_is_refused_before_anything_begins(
    project: Path, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    place = ["--dir", str(project), "--base-url", "http://127.0.0.1:9"]
    assert run(["circular", "Use new().", *place, *words.split()]) in (1, 2)
    assert WRONG[words] in " ".join(capsys.readouterr().err.split())
    assert not project.with_name("project.foundry").exists()


STEP = "iterations[2]/work"
REASONS = {"threshold": "55%: further the same way", "model": "large: small is stuck"}


def begun(number: int, **reasons: str) -> IterationStarted:
    return IterationStarted(STEP, number, False, 0.55, "large", 1, reasons, ("One", "Two"))


def judged(**fields: Any) -> IterationEnded:
    values: dict[str, Any] = {
        "step": STEP, "iteration": 2, "doubt": False, "status": "continue", "reason": "restart",
        "context_share": 0.61, "files_changed": 3, "resolved": 2, "discovered": 1, "checks": 2,
        "failing": 1, "tokens": 45_300, "seconds": 72.4, "progress": 0.5, **fields,
    }  # fmt: skip
    return IterationEnded(**values)


def lines(*events: Event) -> list[str]:
    narrator = Narrator()
    return [plain(line) for event in events for line in narrator.tell(event)]


def test_an_iteration_is_a_row_and_what_stays_the_same_is_told_once() -> None:
    first, again = begun(2, **REASONS), begun(3, **{**REASONS, "model": "small: again"})
    assert lines(first, again) == [
        "    threshold 55%: further the same way",
        "    model: large: small is stuck",
        "    2 side by side: One; Two",
        "    model: small: again",
        "    2 side by side: One; Two",
    ]
    assert lines(judged()) == [
        f"{NEUTRAL} iteration 2 · continue · ended at its threshold · 2 resolved, 1 found "
        "· 1/2 checks · 3 files · ctx 61% · 45.3k tokens · 50% done"
    ]
    assert lines(judged(doubt=True, status="success", reason="submitted", checks=0)) == [
        f"{OK} doubt of iteration 2 · success · submitted · 2 resolved, 1 found · 3 files "
        "· ctx 61% · 45.3k tokens · 50% done"
    ]
    [tripped] = lines(judged(trip="same_tree"))
    assert tripped.startswith(FAILED) and "no progress (same tree)" in tripped
    merged = PartEnded(STEP, "One", True, "", "done", 0.2, 1, 900)
    left = PartEnded(STEP, "Two", False, "others changed b.py too", "done", 0.2, 1, 900)
    assert lines(merged, left) == [
        f"    {OK} One: merged · done · 1 file · ctx 20% · 900 tokens",
        f"    {NEUTRAL} Two: not merged, others changed b.py too; done · 1 file · ctx 20% "
        "· 900 tokens",
    ]
