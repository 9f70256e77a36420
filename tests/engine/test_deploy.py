"""Deploy: pushes what is verified, says what it skipped, and asks after it was cut off."""

import json
import os
from pathlib import Path

import pytest

from foundry.engine.steps.deploy import DeploySubmission
from foundry.engine.workspace import find
from foundry.model.rehearsal.script import say, turn
from foundry.schema.events import Event, Note
from foundry.schema.journal import Intent, StepRecord, Stop
from foundry.schema.run import Status
from foundry.store import journal
from foundry.store.git.repository import Repository
from tests.support.builds import Built, git
from tests.support.crash import Child, strays
from tests.support.rehearsals import SPEC, SmallBuild


@pytest.fixture
def remote(tmp_path) -> Path:
    """A bare repository to push to."""
    bare = tmp_path / "remote.git"
    git(tmp_path, "init", "--quiet", "--bare", str(bare))
    return bare


@pytest.fixture
def project(tmp_path, remote) -> Path:
    """An existing repository whose `origin` is the remote."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "notes.md").write_text("# Notes\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "Begin")
    git(folder, "remote", "add", "origin", str(remote))
    return folder


@pytest.fixture
def no_gh(tmp_path, monkeypatch) -> None:
    """A PATH on which there is everything but `gh`."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("git", "sh", "cat", "grep", "head", "ls"):
        found = next(p for d in ("/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin")
                     if (p := Path(d, name)).exists())  # fmt: skip
        (tools / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(tools))


def deployed(built: Built) -> str:
    """What the journal says of the deploy step."""
    found = [e for e in built.journal if isinstance(e, StepRecord) and e.step == "deploy"]
    return found[0].summary if found else ""


def notes(built: Built) -> list[str]:
    return [event.text for event in built.events if isinstance(event, Note)]


def summary(built: Built) -> dict[str, object]:
    found: dict[str, object] = json.loads(
        built.project.artifact("session-summary.json").read_text()
    )
    return found


def pushed(remote: Path, built: Built) -> str:
    """The commit that the run's branch has at the remote, or nothing."""
    branch = built.repository.branch()
    return git(remote, "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}").strip()


def test_nothing_is_pushed_unless_asked(build, project, remote):
    built = build(SmallBuild(tasks=1), folder=project)
    assert built.ended.status is Status.VERIFIED
    assert git(remote, "for-each-ref") == ""
    assert not {"describe", "deploy"} & set(built.steps)


def test_a_verified_branch_is_pushed(build, project, remote):
    built = build(SmallBuild(tasks=1), folder=project, deploy=True)
    assert built.ended.status is Status.VERIFIED
    sha = pushed(remote, built)
    assert sha
    assert built.repository.contains(built.repository.head(), sha)
    assert "hello" in git(remote, "show", f"{sha}:hello-1.txt")
    assert git(remote, "for-each-ref", "--format=%(refname)").split() == [
        f"refs/heads/{built.repository.branch()}"
    ]
    where = f"{remote} {built.repository.branch()}"
    assert (deployed(built), summary(built)["deployed"]) == (f"pushed {where}", where)
    kinds = [e for e in built.journal if isinstance(e, Intent)]
    assert [e.what for e in kinds] == [f"push {built.repository.branch()} to {remote}"]


def test_what_is_not_verified_is_not_pushed(build, project, remote):
    built = build(SmallBuild(tasks=1, broken=True, heals=9), folder=project, deploy=True)
    assert built.ended.status is Status.UNVERIFIED
    assert git(remote, "for-each-ref") == ""
    told = "not deployed: the build is not verified: checks are still failing: greetings"
    assert deployed(built) == told
    assert told in notes(built)


@pytest.mark.usefixtures("no_gh")
def test_without_remote_and_gh_it_is_skipped_with_the_reason(build):
    built = build(SmallBuild(tasks=1), deploy=True)
    assert built.ended.status is Status.VERIFIED
    assert "there is no remote 'origin' and the GitHub command line `gh` is not" in deployed(built)
    assert summary(built)["deployed"] == ""


def test_a_push_that_fails_leaves_it_verified_and_says_so(build, project, remote):
    remote.rename(remote.with_name("moved.git"))
    built = build(SmallBuild(tasks=1), folder=project, deploy=True)
    assert built.ended.status is Status.VERIFIED
    assert built.ended.status.exit_code == 0
    assert deployed(built).startswith("not deployed: the push failed: ")
    assert any(text.startswith("not deployed: the push failed: ") for text in notes(built))
    assert summary(built)["deployed"] == ""


def test_a_hook_of_the_person_is_not_run(build, project, remote, tmp_path):
    hook = project / ".git" / "hooks" / "pre-push"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hooked\nexit 1\n")
    hook.chmod(0o755)
    built = build(SmallBuild(tasks=1), folder=project, deploy=True)
    assert pushed(remote, built)
    assert not (tmp_path / "hooked").exists()


class Killed(Exception):
    """Stands for a kill: nothing below a test catches it."""


def cut_off(build, project, *, after_push: bool) -> Built:
    """A build that died after the intent to push; with `after_push` the push had arrived."""
    events: list[Event] = []

    def die(event: Event) -> None:
        events.append(event)
        if isinstance(event, Note) and event.text.startswith(("pushed to", "not deployed")):
            raise Killed

    script = SmallBuild(tasks=1)
    remote = Path(git(project, "remote", "get-url", "origin").strip())
    away = remote.with_name("away.git")
    if not after_push:
        remote.rename(away)
    built = build(script, folder=project, deploy=True, pause_after=("docs",))
    assert built.ended.status is Status.PAUSED
    with pytest.raises(Killed):
        built.resume(observe=die)
    if not after_push:
        away.rename(remote)
    assert isinstance(built.journal[-1], Intent)
    return built


def questions(answer: bool | None) -> tuple[list[str], object]:
    asked: list[str] = []

    def ask(question: str) -> bool | None:
        asked.append(question)
        return answer

    return asked, ask


def test_cut_off_and_nobody_there_pauses(build, project, remote):
    built = cut_off(build, project, after_push=False)
    asked, ask = questions(None)
    assert built.resume(ask=ask).status is Status.PAUSED
    assert "a decision is needed" in built.ended.reason
    assert asked == [f"A push of {built.repository.branch()} was begun and cut off. Push it now?"]
    assert git(remote, "for-each-ref") == ""
    asked, ask = questions(True)
    assert built.resume(ask=ask).status is Status.VERIFIED
    assert len(asked) == 1
    assert pushed(remote, built)
    assert sum(isinstance(entry, Intent) for entry in built.journal) == 1


def test_cut_off_and_not_wanted_any_more_is_skipped(build, project, remote):
    built = cut_off(build, project, after_push=False)
    _, ask = questions(False)
    assert built.resume(ask=ask).status is Status.VERIFIED
    assert deployed(built) == "not deployed: not wanted after it was cut off"
    assert git(remote, "for-each-ref") == ""


def test_cut_off_after_it_arrived_asks_nobody(build, project, remote):
    built = cut_off(build, project, after_push=True)
    asked, ask = questions(None)
    assert built.resume(ask=ask).status is Status.VERIFIED
    assert asked == []
    assert deployed(built).startswith("pushed ")


def test_cut_off_asks_also_where_the_branch_was_there_before(build, project, remote):
    built = cut_off(build, project, after_push=False)
    branch = built.repository.branch()
    git(project, "push", "--quiet", "origin", f"{built.journal[0].base}:refs/heads/{branch}")
    before = pushed(remote, built)
    asked, ask = questions(None)
    assert built.resume(ask=ask).status is Status.PAUSED
    assert len(asked) == 1
    assert pushed(remote, built) == before


def test_interrupted_in_the_last_push_it_stays_verified(rehearsal, project, remote, tmp_path):
    folder = tmp_path / "slow"
    folder.mkdir()
    (folder / "git").write_text(f"""\
#!/bin/sh
case "$*" in *" push --quiet "*)
  if ! mkdir {folder}/first 2>/dev/null && mkdir {folder}/second 2>/dev/null
  then kill -INT $PPID; sleep 1000; fi;;
esac
PATH="${{PATH#*:}}" exec git "$@"
""")
    (folder / "git").chmod(0o755)
    server = rehearsal(SmallBuild(tasks=1))
    words = ["build", SPEC, "--dir", str(project), "--base-url", server.url, "--deploy"]
    env = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    child = Child(words, log=tmp_path / "log", env=env)
    assert child.wait() == 0, child.output
    assert (folder / "second").exists()
    entries = journal.read(find(project).journal)
    stops = [entry.status for entry in entries if isinstance(entry, Stop)]
    assert stops == [Status.VERIFIED]
    assert strays(folder) == []


def test_cut_off_and_the_remote_is_gone_does_not_undo_the_build(build, project, remote):
    built = cut_off(build, project, after_push=False)
    remote.rename(remote.with_name("gone.git"))
    asked, ask = questions(True)
    assert built.resume(ask=ask).status is Status.VERIFIED
    assert len(asked) == 1
    assert deployed(built).startswith("not deployed: the push failed: ")


# -- gh: a stand-in on PATH that notes its arguments; GitHub itself can't be had ------------------

GH = """\
#!/bin/sh
printf '%s\\n' "$*" >> {log}
case "$1 $2" in
  "auth status") {auth} ;;
  "repo create") {create} ;;
esac
"""


@pytest.fixture
def gh(tmp_path, monkeypatch):
    """`gh(auth=, create=)` puts a stand-in on PATH and returns the log of its arguments."""

    def install(auth: str = "exit 0", create: str = "exit 0") -> Path:
        folder, log = tmp_path / "bin", tmp_path / "gh.log"
        folder.mkdir()
        (folder / "gh").write_text(GH.format(log=log, auth=auth, create=create))
        (folder / "gh").chmod(0o755)
        monkeypatch.setenv("PATH", str(folder), prepend=":")
        return log

    return install


def test_gh_creates_the_repository(build, gh, remote, tmp_path):
    source = tmp_path / "project"
    log = gh(create=f"cd {source} && git remote add origin {remote} && git push -q origin main")
    built = build(SmallBuild(tasks=1), deploy=True)
    assert built.ended.status is Status.VERIFIED
    assert log.read_text().splitlines() == [
        "auth status",
        "repo create hello --private --description Greetings in files "
        f"--source {source} --remote origin --push",
    ]
    assert deployed(built) == f"pushed {remote} main"
    assert pushed(remote, built)


def test_gh_that_is_not_logged_in_is_a_reason(build, gh):
    log = gh(auth="echo 'To get started, run: gh auth login' >&2; exit 1")
    built = build(SmallBuild(tasks=1), deploy=True)
    assert built.ended.status is Status.VERIFIED
    assert "`gh` is not logged in (To get started, run: gh auth login)" in deployed(built)
    assert log.read_text() == "auth status\n"


def test_gh_that_fails_leaves_it_verified(build, gh):
    gh(create="echo 'name already exists on this account' >&2; exit 1")
    built = build(SmallBuild(tasks=1), deploy=True)
    assert built.ended.status is Status.VERIFIED
    assert deployed(built) == "not deployed: the push failed: name already exists on this account"


def test_the_name_can_not_be_an_option():
    with pytest.raises(ValueError, match="pattern"):
        DeploySubmission(name="--template=x", description="d")


def test_remote_head_of_a_remote_that_is_gone_is_empty(project, remote):
    remote.rename(remote.with_name("gone.git"))
    assert Repository(project).remote_head("origin", "main") == ""


def test_what_is_pushed_is_the_whole_branch(build, project, remote):
    built = build(SmallBuild(tasks=1), deploy=True, folder=project)
    assert built.ended.status is Status.VERIFIED
    assert pushed(remote, built) == built.repository.head()


def test_an_unverified_build_is_not_pushed(build, project, remote):
    never = [turn(say("I will not write this."))] * 5
    built = build(SmallBuild(tasks=1, scenes={"docs": never}), deploy=True, folder=project)
    assert built.ended.status is Status.UNVERIFIED
    assert pushed(remote, built) == ""
    assert deployed(built).startswith("not deployed: the build is not verified")
    (file,) = (built.project.folder / "feedback").iterdir()
    assert json.loads(file.read_text())["status"] == "unverified"


def test_credentials_of_a_remote_are_kept_nowhere(build, project, remote):
    secret = "s3cret-token"
    url = f"https://bob:{secret}@example.invalid/x.git"
    git(project, "remote", "set-url", "origin", url)
    git(project, "config", f"url.{remote}.pushInsteadOf", url)
    built = build(SmallBuild(tasks=1), deploy=True, folder=project)
    assert built.ended.status is Status.VERIFIED
    assert pushed(remote, built)
    told = [*notes(built), *(entry.model_dump_json() for entry in built.journal)]
    kept = [path.read_text(errors="replace") for path in built.project.folder.rglob("*")
            if path.is_file()]  # fmt: skip
    assert any("https://example.invalid/x.git" in text for text in told)
    assert not any(secret in text for text in (*told, *kept, git(remote, "log", "--all")))
