"""`foundry audit` agrees with an honest run, and notices one that was changed afterwards."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from foundry.cli.main import run as foundry
from foundry.engine.steps.docs import shell_blocks
from foundry.errors import InputError
from foundry.schema.run import Status
from foundry.store import runs
from tests.engine.test_kept_runs import unpacked
from tests.support.audits import audited, told
from tests.support.builds import Built, git, tree
from tests.support.forgery import rewrite, without
from tests.support.rehearsals import SmallBuild, check

LEAN = ("docs", "feedback")
EVIDENCE, JOURNAL = ".context-foundry/evidence.json", ".context-foundry/journal.jsonl"


GUIDE = (Path(__file__).parents[2] / "docs/audit.md").read_text("utf-8")


@pytest.fixture
def honest(build: Any) -> Built:
    built: Built = build(SmallBuild(), skip=LEAN)
    assert built.ended.status is Status.VERIFIED
    return built


def verified_by_script(folder: Path) -> tuple[int, str]:
    """How verify.sh ends and what it prints, in a shell that knows no Foundry."""
    words = ["sh", ".context-foundry/verify.sh"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.returncode, done.stdout


def test_an_honest_run_agrees_and_stays_as_it_is(honest: Built) -> None:
    before = tree(honest.folder, without=()), git(honest.folder, "status", "--porcelain")
    done = audited(honest.folder)
    assert {each.says for each in done.findings} == {"agrees"}, told(done, "differs")
    about = [each.about for each in done.findings]
    assert about == [
        *("journal", "chain", "commits", "evidence.json", "evidence.json, field by field"),
        *("history", "greetings", "show", "R1, R2", "R1, R2"),
    ]
    assert (done.verdict, done.exit_code) == ("agrees: verified", 0)
    code, printed = verified_by_script(honest.folder)
    assert code == 0, printed
    assert printed.count("+ ") == 5
    assert (tree(honest.folder, without=()), git(honest.folder, "status", "--porcelain")) == before


def test_a_run_beside_an_existing_project_agrees(build: Any, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "--quiet")
    (project / "old.txt").write_text("old\n")
    git(project, "add", ".")
    git(project, "commit", "--quiet", "-m", "old")
    built: Built = build(SmallBuild(), folder=project, skip=LEAN)
    branch = git(built.project.root, "branch", "--show-current").strip()
    assert audited(project).exit_code == audited(project, branch).exit_code == 0
    assert verified_by_script(built.project.root)[0] == 0
    with pytest.raises(InputError, match="holds no run of Foundry"):
        audited(project, "HEAD")


def amended_evidence(folder: Path) -> None:
    text = (folder / EVIDENCE).read_text()
    (folder / EVIDENCE).write_text(text.replace("greetings", "greetings of every kind", 1))
    git(folder, "commit", "--quiet", "--all", "--amend", "--no-edit")


def amended_line(folder: Path) -> None:
    lines = (folder / JOURNAL).read_text().splitlines(keepends=True)
    lines[2] = lines[2].replace('"attempt":1', '"attempt":2', 1)
    (folder / JOURNAL).write_text("".join(lines))
    git(folder, "commit", "--quiet", "--all", "--amend", "--no-edit")


def amended_last_line(folder: Path) -> None:
    text = (folder / JOURNAL).read_text()
    (folder / JOURNAL).write_text(text.replace("all gates passed", "all is perfect"))
    git(folder, "commit", "--quiet", "--all", "--amend", "--no-edit")


def dropped_commit(folder: Path) -> None:
    without(folder, "HEAD~3")


def slipped_in(folder: Path) -> None:
    """Another file within the commit of a task, and everything after it on top."""
    git(folder, "reset", "--quiet", "--hard", "HEAD~1")
    (folder / "extra.txt").write_text("slipped in\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--amend", "--no-edit")
    git(folder, "cherry-pick", "ORIG_HEAD")


def commit_on_top(folder: Path) -> None:
    text = (folder / EVIDENCE).read_text()
    (folder / EVIDENCE).write_text(text.replace("greetings", "more", 1))
    git(folder, "commit", "--quiet", "--all", "-m", "nothing to see")


def uncommitted(folder: Path) -> None:
    text = (folder / EVIDENCE).read_text()
    (folder / EVIDENCE).write_text(text.replace("greetings", "more", 1))


TAMPERINGS = {
    amended_evidence: "commits",
    amended_line: "journal",
    amended_last_line: "chain",
    dropped_commit: "journal",
    slipped_in: "commits",
    commit_on_top: "later commits",
    uncommitted: "work tree",
}


@pytest.mark.parametrize("tamper", TAMPERINGS, ids=lambda each: each.__name__)
def test_what_was_changed_afterwards_is_noticed_without_a_key(
    honest: Built,
    tamper: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("FOUNDRY_HOME", str(tmp_path / "another"))  # no record of ours helps
    tamper(honest.folder)
    done = audited(honest.folder)
    assert TAMPERINGS[tamper] in told(done, "differs"), done.findings
    assert done.exit_code == 1
    code, printed = verified_by_script(honest.folder)
    assert (code, "x " in printed) == (1, True)


def test_a_history_that_was_rewritten_as_a_whole(
    honest: Built, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole = git(honest.folder, "rev-parse", "HEAD").strip()
    rewrite(honest.folder, line=lambda line: {**line, "at": line["at"].replace("2", "1", 1)})
    here = audited(honest.folder)
    assert list(told(here, "differs")) == ["history"]
    assert "was rewritten" in told(here, "differs")["history"]
    assert here.exit_code == 1

    monkeypatch.setenv("FOUNDRY_HOME", str(tmp_path / "another"))
    elsewhere = audited(honest.folder)
    assert not told(elsewhere, "differs"), "else the forgery of this test is none"
    assert "can't be noticed here" in told(elsewhere, "unknown")["history"]
    assert elsewhere.exit_code == 3
    assert verified_by_script(honest.folder)[0] == 0
    assert audited(honest.folder, whole).exit_code == 0  # who has kept the hash needs neither


def test_evidence_that_does_not_follow_from_the_journal(honest: Built) -> None:
    def improved(evidence: dict[str, Any]) -> dict[str, Any]:
        evidence["requirements"][1]["criteria"].pop()
        return evidence

    rewrite(honest.folder, evidence=improved)
    runs.keep_head(honest.journal[0].run, git(honest.folder, "rev-parse", "HEAD").strip())
    found = told(audited(honest.folder), "differs")
    assert list(found) == ["evidence.json, field by field"]
    assert found["evidence.json, field by field"].startswith("requirements[1].criteria ")


def test_what_follows_a_run_is_not_vouched_for(honest: Built) -> None:
    (honest.folder / "hello-1.txt").write_text("broken\n")
    git(honest.folder, "commit", "--quiet", "--all", "-m", "later")
    done = audited(honest.folder)
    assert told(done, "unknown") == {"later commits": "changed 1 files since the run's last one"}
    assert (told(done, "differs"), done.exit_code) == ({}, 3)


def test_commands_that_end_otherwise_now(build: Any, tmp_path: Path, monkeypatch: Any) -> None:
    tool = tmp_path / "bin" / "a-tool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\nexit 0\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=":")
    flag = tmp_path / "flag"
    flag.touch()
    checks = {"test": [check("tool", "a-tool"), check("flag", f"test -e {shlex.quote(str(flag))}")]}
    built: Built = build(SmallBuild(checks=checks), skip=LEAN)
    assert audited(built.folder).exit_code == 0

    tool.unlink()
    done = audited(built.folder)
    assert (list(told(done, "unknown")), told(done, "differs")) == (["tool"], {})
    assert (done.exit_code, "not confirmed" in done.verdict) == (3, True)

    flag.unlink()
    done = audited(built.folder)
    assert told(done, "differs") == {"flag": "exit code 1, and the build says that it passed"}
    assert done.exit_code == 1
    assert "x flag: exit code 1\n" in verified_by_script(built.folder)[1]


def test_commands_see_nothing_of_the_person(build: Any, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    empty = 'test -z "$(ls -A "$HOME")" && test -z "$(ls -A "$TMPDIR")" && test -z "$(git remote)"'
    command = f"test ! -e {shlex.quote(str(asked))} || ({empty})"
    built: Built = build(SmallBuild(checks={"test": [check("stranger", command)]}), skip=LEAN)
    assert built.ended.status is Status.VERIFIED
    asked.touch()
    assert told(audited(built.folder), "agrees")["stranger"].startswith("exit code 0")


def test_an_unverified_run_is_confirmed_as_that(build: Any) -> None:
    built: Built = build(SmallBuild(broken=True, heals=9), skip=LEAN)
    done = audited(built.folder)
    assert told(done, "agrees")["greetings"] == "exit code 1, as the build says"
    assert (done.verdict, done.exit_code) == ("agrees: unverified", 3)
    assert verified_by_script(built.folder)[0] == 1


NASTY = [
    check("it's $(touch owned) `touch owned`\n\"; touch owned #", "echo 'it'\"'\"'s'; exit 0"),
    check("\x1b[31mred\x07 %s%n @RUN@ @CALLS@", "cat <<'END' | grep -q '^a$'\na\nEND\n"),
    check("-n", "printf '%s' \"$HOME\" 'a\\b' >/dev/null # a comment that ends nothing"),
    check("'; exit 0; '", "test \"$(printf 'x\ny' | wc -l)\" -eq 1 && false || :"),
]


def test_names_and_commands_of_any_kind_stay_words(build: Any) -> None:
    built: Built = build(SmallBuild(checks={"test": NASTY}), skip=LEAN)
    assert built.ended.status is Status.VERIFIED, built.ended.reason
    code, printed = verified_by_script(built.folder)
    assert code == 0, printed
    assert all(each.isprintable() for each in printed.replace("\n", ""))
    assert printed.count(": exit code 0\n") == len(NASTY) + 2
    assert not list(built.folder.rglob("owned"))
    assert len((built.project.folder / "verify.sh").read_text().splitlines()) < 110
    assert audited(built.folder).exit_code == 0


def test_a_run_from_before_the_chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = unpacked("build", tmp_path, monkeypatch)
    done = audited(project)
    assert "made before there was a chain" in told(done, "unknown")["chain"]
    assert not told(done, "differs")
    assert foundry(["resume", "--quiet", str(project)]) == 0
    done = audited(project)
    assert "lines were made before there was a chain" in told(done, "unknown")["chain"]
    assert (told(done, "differs"), done.exit_code) == ({}, 3)


def test_the_command(honest: Built, capfd: pytest.CaptureFixture[str]) -> None:
    at = ["--dir", str(honest.folder)]
    capfd.readouterr()
    assert foundry(["audit", *at]) == 0
    out, progress = capfd.readouterr()
    assert "+ chain: whole" in out
    assert out.splitlines()[-1].startswith("agrees: verified (run ")
    assert "... greetings: sh test.sh" in progress
    assert foundry(["audit", "HEAD~1", "--json", *at]) == 3
    shown = json.loads(capfd.readouterr().out)
    assert (shown["exit_code"], shown["verdict"][:13]) == (3, "not confirmed")
    ended = [each for each in shown["findings"] if each["about"] == "evidence.json"]
    assert [each["text"] for each in ended] == ["the run has not ended here"]
    assert foundry(["audit", "no-such-branch", *at]) == 1
    assert foundry(["audit", "--sandbox", "none", *at]) == 1


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="there is no ssh-keygen")
def test_the_guide_is_true(build: Any, tmp_path: Path, environment: dict[str, str]) -> None:
    home = Path(environment["HOME"])
    (home / ".ssh").mkdir()
    key = home / ".ssh" / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    path = f"{Path(sys.executable).parent}:{environment['PATH']}"
    set_up, *rest = shell_blocks(GUIDE)

    def done(block: str, folder: Path) -> None:
        words = ["sh", "-e", "-c", block]
        subprocess.run(words, cwd=folder, check=True, env={**environment, "PATH": path})

    done(set_up, tmp_path)
    built: Built = build(SmallBuild(), skip=LEAN)
    for block in rest:
        done(block, built.folder)
    assert len(rest) == 2
    named = set(re.findall(r"^\| ([a-z. ]+?)(?:,.*)? \|", GUIDE, re.MULTILINE))
    about = {each.about for each in audited(built.folder).findings}
    assert {"journal", "chain", "commits", "evidence.json", "history", "signature"} <= named & about
