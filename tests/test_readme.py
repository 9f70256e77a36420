"""The README is true: its commands work as printed, its tables are those of the code."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from foundry.engine.steps.docs import shell_blocks
from foundry.exitcodes import EXIT_CODES
from foundry.model.rehearsal.script import SceneScript
from tests.conftest import Rehearse
from tests.support import circular
from tests.support.rehearsals import SmallBuild, submit, write
from tests.support.workflows import plays

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
OWN_SCRIPTS = ("scripts/demo", "scripts/test")
"""Run whole by .ci/run on a fresh clone; from inside the tests they would run the tests."""


REPORT = "# What to improve\n\n" + "- tests: 4, cover the store first\n" * 12


class Shortener(SmallBuild):
    """The README's wish, in the words that it uses."""

    def architect(self):
        turns = super().architect()
        plan = turns[0].content[0]["input"]["plan"]
        for requirement, quote in zip(
            plan["requirements"], ("a URL shortener", "a JSON API"), strict=True
        ):
            requirement["quote"] = quote
        return turns


def test_commands_work_as_printed(
    rehearsal: Rehearse, tmp_path: Path, environment: dict[str, str]
) -> None:
    triage = plays({
        "survey": [submit(summary="Two areas.", context={"areas": ["errors", "tests"]})],
        "review[1]/review-area": [submit(summary="Errors are fine.")],
        "review[2]/review-area": [submit(summary="Tests are few.")],
        "report": [write("IMPROVEMENTS.md", REPORT), submit(summary="Written.", output=REPORT)],
    })  # fmt: skip
    remedy = plays({
        circular.work(1): [write("README.md", "hello-1.txt hello-2.txt test.sh\n"),
                           circular.done()],
        circular.doubt(1): [circular.done()],
    })  # fmt: skip
    scenes = (*Shortener()().scenes, *triage.scenes, *remedy.scenes)
    server = rehearsal(SceneScript(scenes))
    here = tmp_path / "here"
    here.mkdir()
    path = f"{Path(sys.executable).parent}:{environment['PATH']}"
    env = {**environment, "PATH": path, "ANTHROPIC_BASE_URL": server.url}
    blocks = [block for block in shell_blocks(README) if not block.startswith(OWN_SCRIPTS)]
    assert len(blocks) >= 3
    for block in blocks:
        done = subprocess.run(
            ["sh", "-e", "-c", block],
            cwd=here,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
    assert (here / "shortener" / ".context-foundry" / "evidence.json").exists()
    assert server.requests


def test_own_scripts_are_run_by_ci() -> None:
    ci = (ROOT / ".ci" / "run").read_text()
    for block in shell_blocks(README):
        if block.startswith(OWN_SCRIPTS):
            assert block.split()[0] in ci


def test_exit_codes_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+?) \|$", README, flags=re.MULTILINE)
    assert {int(code): meaning for code, meaning in rows} == EXIT_CODES


def test_help_tells_the_exit_codes() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "foundry", "--help"], capture_output=True, text=True, check=True
    )
    text = " ".join(done.stdout.split())
    for code, meaning in EXIT_CODES.items():
        assert f"{code} {meaning}" in text


@pytest.mark.parametrize(
    "path", re.findall(r"\]\((?!http)([^)#]+)\)", README), ids=lambda path: path
)
def test_links_lead_somewhere(path: str) -> None:
    assert (ROOT / path).exists()


def test_nothing_is_left_to_fill_in() -> None:
    assert "@@" not in README


def test_files_that_it_names_exist() -> None:
    for path in re.findall(r"`((?:foundry|scripts|patterns)/[\w./-]+)`", README):
        assert (ROOT / path).exists(), path
