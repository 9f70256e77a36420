"""Bad input at the command line: one line that says what to do, exit code 1, nothing lost or left.

Everything goes through the command line as a person's shell does; a subprocess where the process
itself matters (stdin, PATH).
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from foundry.cli.main import run as run_foundry
from foundry.store.git.repository import Repository
from tests.support.builds import Built, git, tree
from tests.support.rehearsals import SPEC, SmallBuild

SERVER = ("--base-url", "http://127.0.0.1:9")
"""Nobody listens there: whatever is refused is refused before the first request."""


@dataclass(frozen=True)
class Said:
    """What a command said, and its exit code."""

    code: int
    out: str
    err: str

    def error(self, code: int = 1) -> str:
        """The one line on stderr, after the checks that every refusal has to pass."""
        assert self.code == code, self
        assert self.out == ""
        assert self.err.startswith("error: ")
        assert self.err.count("\n") == 1
        return self.err


Foundry = Callable[..., Said]


@pytest.fixture
def foundry(capfd, tmp_path, monkeypatch) -> Foundry:
    """The command line, in an empty folder of its own."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)

    def call(*arguments: object) -> Said:
        capfd.readouterr()
        code = run_foundry([str(each) for each in arguments])
        out, err = capfd.readouterr()
        return Said(code, out, err)

    return call


def process(*arguments: object, stdin: bytes = b"", **env: str) -> Said:
    done = subprocess.run(
        [sys.executable, "-m", "foundry", *map(str, arguments)],
        input=stdin, capture_output=True, check=False, env={**os.environ, **env},
    )  # fmt: skip
    return Said(done.returncode, done.stdout.decode(), done.stderr.decode())


def nothing_left(*folders: Path) -> bool:
    """Whether these folders hold nothing at all."""
    return not any(list(folder.iterdir()) for folder in folders if folder.exists())


# -- the spec --------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["", " \n\t ", "\udcff\udcfe not utf-8"])
def test_spec_that_says_nothing_or_is_no_text(foundry, spec):
    said = foundry("build", spec, *SERVER).error()
    assert "the spec is empty. Say what to build" in said or "is not UTF-8 text" in said
    assert nothing_left(Path.cwd())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the spec is empty"),
        (b"x" * 10_000_000, "the spec has 10,000,000 characters, more than 100,000. Shorten it"),
        (b"caf\xe9", "the spec is not UTF-8 text (byte 3). Give it as plain text"),
        (b"a\0b", "the spec holds NUL bytes. Give it as UTF-8 text"),
    ],
    ids=["empty", "10 MB", "latin-1", "nul"],
)
def test_spec_file(foundry, tmp_path, content, says):
    file = tmp_path / "spec.md"
    file.write_bytes(content)
    assert says in foundry("build", "--spec-file", file, *SERVER).error()
    assert nothing_left(Path.cwd())


@pytest.mark.parametrize(("stdin", "says"), [(b"", "is empty"), (b"\xff\xfe", "is not UTF-8")])
def test_spec_from_stdin(tmp_path, stdin, says):
    said = process("build", "-", "--dir", tmp_path / "p", *SERVER, stdin=stdin)
    assert says in said.error()
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("name", ["nope.md", ".", "/proc/self/mem", "x" * 5000])
def test_spec_file_that_can_not_be_read(foundry, name):
    assert "cannot read the spec from" in foundry("build", "--spec-file", name, *SERVER).error()


@pytest.mark.parametrize("arguments", [(), ("a spec", "--spec-file", "spec.md")])
def test_one_spec_and_only_one(foundry, arguments):
    said = foundry("build", *arguments, *SERVER).error(2)
    assert "Give the spec as an argument, with --spec-file, or - for stdin" in said


# -- options ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--skip", "scuot"), 1, "there is no phase 'scuot'. The phases are scout, architect"),
        (("--pause-after", "lunch"), 1, "there is no phase 'lunch'. The phases are"),
        (("--skip", "builder"), 1, "the phase 'builder' can't be skipped"),
        (("--model-for", "cook=x"), 1, "there is no role 'cook' for --model-for. Roles are scout"),
        (("--model-for", "builder"), 1, "is not ROLE=MODEL"),
        (("--model-for", "builder="), 1, "is not ROLE=MODEL"),
        (("--model", "rehearsal:nope"), 1, "there is no rehearsal 'nope'. Shipped ones: "),
        (("--max-usd", "0"), 2, "--max-usd"),
        (("--max-usd", "-3"), 2, "--max-usd"),
        (("--max-usd", "nan"), 2, "--max-usd"),
        (("--max-usd", "inf"), 2, "--max-usd"),
        (("--max-usd", "much"), 2, "--max-usd"),
        (("--max-hours", "0"), 2, "--max-hours"),
        (("--colour", "red"), 2, "No such option"),
    ],
    ids=str,
)
def test_options(foundry, arguments, code, says):
    assert says in foundry("build", SPEC, *arguments, *SERVER).error(code)
    assert nothing_left(Path.cwd())


def test_without_any_model_the_ways_to_have_one_are_named(foundry):
    said = foundry("build", SPEC).error()
    assert said.startswith("error: there is no model to talk to. ")
    for way in ("ANTHROPIC_API_KEY", "--base-url", "Ollama", "`foundry demo`"):
        assert way in said
    assert nothing_left(Path.cwd())


# -- the folder ------------------------------------------------------------------------------------


def test_folder_that_is_a_file(foundry, tmp_path):
    (tmp_path / "file").write_text("mine\n")
    said = foundry("build", SPEC, "--dir", tmp_path / "file", *SERVER).error()
    assert f"{tmp_path / 'file'} is a file. Give a folder with --dir" in said
    assert (tmp_path / "file").read_text() == "mine\n"


@pytest.mark.parametrize("name", ["below/deep", "x" * 300])
def test_folder_that_can_not_be_made(foundry, tmp_path, name):
    (tmp_path / "below").write_text("a file\n")
    foundry("build", SPEC, "--dir", f"{tmp_path}/{name}", *SERVER).error()


def test_folder_that_is_not_empty_and_no_repository(foundry, tmp_path):
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine\n")
    said = foundry("build", SPEC, "--dir", folder, *SERVER).error()
    assert "is not empty and not a git repository. Choose a new folder with --dir, or run" in said
    assert tree(folder, without=()) == {"mine.txt": b"mine\n"}


def test_folder_inside_another_repository(foundry, tmp_path):
    git(tmp_path, "init", "--quiet", "outer")
    inner = tmp_path / "outer" / "inner"
    inner.mkdir()
    (inner / "mine.txt").write_text("mine\n")
    said = foundry("build", SPEC, "--dir", inner, *SERVER).error()
    assert f"is inside the repository {tmp_path / 'outer'}. Use --dir" in said
    assert [path.name for path in inner.iterdir()] == ["mine.txt"]


def test_repository_without_a_commit(foundry, tmp_path):
    git(tmp_path, "init", "--quiet", "p")
    (tmp_path / "p" / "mine.txt").write_text("mine\n")
    said = foundry("build", SPEC, "--dir", tmp_path / "p", *SERVER).error()
    assert "is a repository without a commit. Commit what is there first" in said
    assert git(tmp_path / "p", "status", "--porcelain") == "?? mine.txt\n"


@pytest.fixture
def read_only(tmp_path) -> Iterator[Path]:
    """A folder that can't be written, not by root either."""
    folder = tmp_path / "read-only"
    folder.mkdir()
    with mounted(folder, "ro") if os.geteuid() == 0 else _without_permission(folder):
        yield folder


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    """A file system in memory at `folder`; skips where mounting is not allowed."""
    if os.geteuid() != 0 or sys.platform != "linux":
        pytest.skip("only root on Linux can mount a file system for this")
    command = ["mount", "-t", "tmpfs", "-o", options, "foundry-test", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def _without_permission(folder: Path) -> Iterator[None]:
    folder.chmod(0o500)
    try:
        yield
    finally:
        folder.chmod(0o700)


@pytest.mark.parametrize("inside", [".", "new/deep"])
def test_folder_that_can_not_be_written(foundry, read_only, inside):
    said = foundry("build", SPEC, "--dir", read_only / inside, *SERVER).error()
    assert f"cannot write in {(read_only / inside).resolve()}: " in said
    assert "Choose another folder with --dir" in said


def test_home_that_can_not_be_written(foundry, read_only, tmp_path, monkeypatch):
    monkeypatch.setenv("FOUNDRY_HOME", str(read_only / "home"))
    assert "cannot write" in foundry("build", SPEC, "--dir", tmp_path / "p", *SERVER).error()
    assert not (tmp_path / "p").exists()


# -- git -------------------------------------------------------------------------------------------


def test_without_git(tmp_path):
    (tmp_path / "empty").mkdir()
    said = process("build", SPEC, "--dir", tmp_path / "a/b", *SERVER, PATH=str(tmp_path / "empty"))
    assert said.error() == "error: git is not installed. Install git 2.30 or newer\n"
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("known", ["", "GIT_AUTHOR", "GIT_COMMITTER"])
def test_git_that_does_not_know_its_user(foundry, tmp_path, monkeypatch, known):
    (tmp_path / "person" / ".gitconfig").write_text("")
    if known:
        monkeypatch.setenv(f"{known}_NAME", "Ada")
        monkeypatch.setenv(f"{known}_EMAIL", "ada@example.org")
    said = foundry("build", SPEC, "--dir", tmp_path / "a" / "b", *SERVER).error()
    assert "git does not know who you are. Run `git config --global user.name" in said
    assert not (tmp_path / "a").exists()


def test_an_empty_repository_stays_one_when_the_build_is_refused(foundry, tmp_path):
    git(tmp_path, "init", "--quiet", "p")
    (tmp_path / "person" / ".gitconfig").write_text("")
    before = tree(tmp_path / "p", without=())
    foundry("build", SPEC, "--dir", tmp_path / "p", *SERVER).error()
    assert tree(tmp_path / "p", without=()) == before


# -- artifacts that were edited by hand ------------------------------------------------------------


@pytest.fixture
def paused(build) -> Built:
    """A build that waits for its person after the plan is made."""
    built: Built = build(SmallBuild(tasks=2), pause_after=("architect",))
    return built


BROKEN = {
    "cut": (lambda text: text[:-20], "tasks.json: line "),
    "empty": (lambda _text: "", "tasks.json: line 1 column 1"),
    "unknown field": (
        lambda text: text.replace('"description"', '"descripton"', 1),
        "tasks.json: tasks.0.description: Field required. "
        "Mend .context-foundry/tasks.json by hand, or",
    ),
    "a circle": (
        lambda text: text.replace('"depends_on": []', '"depends_on": ["hello-2"]', 1),
        "in a circle",
    ),
    "no list": (lambda _text: "[]", "tasks.json: "),
    "not utf-8": (lambda text: text.replace("Add", "\udcff", 1) + "x", "tasks.json: line "),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_tasks_json(foundry, paused, name):
    spoil, says = BROKEN[name]
    file = paused.project.artifact("tasks.json")
    good = file.read_text()
    bad = spoil(good).encode(errors="surrogateescape")
    file.write_bytes(bad)
    head, journal = paused.repository.head(), paused.project.journal.read_bytes()

    assert says in foundry("resume", paused.folder).error()
    assert file.read_bytes() == bad
    assert paused.project.journal.read_bytes() == journal
    assert paused.repository.head() == head

    file.write_text(good.replace("Add greeting 2", "Add the second greeting"))
    assert foundry("resume", paused.folder, "--quiet").code == 0
    assert "feat: add the second greeting" in [commit.subject for commit in paused.commits]


def test_broken_checks_json(foundry, paused):
    paused.project.artifact("checks.json").write_text('{"version": 1, "tests": []}')
    said = foundry("resume", paused.folder).error()
    assert "checks.json: tests: Extra inputs are not permitted. Mend" in said


def test_a_task_that_was_taken_out_while_it_was_due(foundry, build):
    """What a person takes out of the plan is not built; what they put back is."""
    stuck = SmallBuild(tasks=2, scenes={"builder[2]/task": []})
    built = build(stuck)
    assert built.ended.status.exit_code == 1  # the rehearsal has no turn for the second task
    file = built.project.artifact("tasks.json")
    plan = json.loads(file.read_text())
    file.write_text(json.dumps({**plan, "tasks": plan["tasks"][:1]}))
    assert foundry("resume", built.folder, "--quiet").code == 0
    assert not (built.folder / "hello-2.txt").exists()
    assert json.loads(file.read_text())["tasks"] == plan["tasks"][:1]


@pytest.mark.parametrize("where", ["nowhere", ".", "file"])
def test_resume_where_there_is_no_run(foundry, tmp_path, where):
    (Path.cwd() / "file").write_text("")
    said = foundry("resume", where).error()
    assert "there is no Foundry run in" in said or "there is no folder" in said
    assert [path.name for path in Path.cwd().iterdir()] == ["file"]


# -- a disk that fills up --------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_output_that_can_not_be_written():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "foundry", "--help"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert "No space left on device" in Said(done.returncode, "", done.stderr).error()


@pytest.mark.parametrize("free", [0, 60, 150, 300])
def test_a_disk_that_fills_up(foundry, rehearsal, tmp_path, free):
    """Whatever is being written when no block is left: one line, and it goes on with room again."""
    disk = tmp_path / "disk"
    disk.mkdir()
    with mounted(disk, "size=4m"):
        server = rehearsal(SmallBuild(tasks=3))
        folder, ballast = disk / "p", disk / "ballast"
        options = ("--base-url", server.url)
        paused = foundry("build", SPEC, "--dir", folder, *options, "--pause-after", "scout", "-q")
        assert paused.code == 4
        commits = Repository(folder).run("rev-list", "HEAD").split()

        status = os.statvfs(disk)
        ballast.write_bytes(b"\0" * (status.f_bavail * status.f_frsize - free * 1024))
        full = foundry("resume", folder, "--quiet")
        full.error()
        assert "space" in full.err

        ballast.unlink()
        assert foundry("resume", folder, "--quiet").code == 0
        subjects = Repository(folder).run("log", "--format=%s").splitlines()
        assert [subjects.count(f"feat: add greeting {n}") for n in (1, 2, 3)] == [1, 1, 1]
        assert set(commits) <= set(Repository(folder).run("rev-list", "HEAD").split())
        git(folder, "fsck", "--no-dangling")
