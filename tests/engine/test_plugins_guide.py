"""docs/plugins.md is true: its package, installed, brings a step and a tool that a run uses."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from foundry.model.rehearsal.script import call, say, turn
from tests.support.builds import git
from tests.support.rehearsals import submit
from tests.support.workflows import plays

GUIDE = (Path(__file__).parents[2] / "docs/plugins.md").read_text("utf-8")
LONG, SHORT = "word " * 60, "Dawn is quiet."


def block(language: str) -> str:
    """The guide's code block in this language."""
    found = re.search(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)
    assert found
    return found[1]


def test_the_example_is_thirty_lines() -> None:
    lines = (block("toml") + block("python")).splitlines()
    assert len([line for line in lines if line.strip()]) <= 30


def test_the_example_is_installed_and_used(rehearsal: Any, tmp_path: Path) -> None:
    package, site = tmp_path / "foundry-essay", tmp_path / "site"
    package.mkdir()
    (package / "pyproject.toml").write_text(block("toml"))
    (package / "foundry_essay.py").write_text(block("python"))
    (tmp_path / "essay.yaml").write_text(block("yaml"))
    install = ["pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target", site]
    quiet = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run([sys.executable, "-m", *install, package], check=True, env=quiet)
    server = rehearsal(plays({
        "write": [turn(say("Counting."), call("count_words", text=SHORT)),
                  submit(text=LONG), submit(text=SHORT)],
    }))  # fmt: skip

    def foundry(*words: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": str(site), "ANTHROPIC_BASE_URL": server.url}
        return subprocess.run(
            [sys.executable, "-m", "foundry", *words], cwd=tmp_path, env=env, text=True,
            capture_output=True, check=False,
        )  # fmt: skip

    listed = foundry("plugins").stdout
    assert re.search(r"step +essay +foundry-essay 1\.0", listed)
    done = foundry("workflow", "run", "essay.yaml", "--spec", "On dawn", "--dir", "out",
                   "--allow", "count_words", "--check", "true", "--quiet")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert git(tmp_path / "out", "show", "HEAD:.context-foundry/essay.md") == SHORT + "\n"
    told = str([each.body["messages"][-1] for each in server.requests if "messages" in each.body])
    assert "60 words are too many: at most 50" in told
    assert "'3'" in told or '"3"' in told
