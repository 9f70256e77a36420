"""What is found in real repositories, and `foundry context find` as a process."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from foundry.context.retrieval.ranker import find

PARSER = '''
class ConfigParser:
    """Reads the settings file and merges the defaults."""

    def parse_settings(self, text):
        return dict(line.split("=", 1) for line in text.splitlines())
'''
MAILER = '''
def send_reminder(address, invoice):
    """Mail a reminder for an unpaid invoice."""
    return f"To: {address}: please pay {invoice}"
'''
ROUTES = """
from shop.mailer import send_reminder

def register(application):
    application.route("/reminders", send_reminder)
"""


class Project:
    def __init__(self, root: Path, *, git: bool = True) -> None:
        self.root = root
        root.mkdir()
        if git:
            self.git("init", "--quiet")

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", "-C", str(self.root), *arguments], check=True, capture_output=True)

    def write(self, path: str, content: str | bytes) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        raw = content.encode() if isinstance(content, str) else content
        (self.root / path).write_bytes(raw)

    def commit(self, message: str) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)

    def start(self, *options: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "foundry", "context", "find", *options],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def find(self, task: str) -> list[str]:
        """The paths found, best first."""
        return list(self.scores(task))

    def scores(self, task: str) -> dict[str, float]:
        return {found.path: found.score for found in find(self.root, task)}

    def printed(self, task: str, *options: str) -> list[str]:
        """What the command prints; also checks that the process ended well and quietly."""
        process = self.start(*options)
        out, errors = process.communicate(task.encode())
        assert (process.returncode, errors) == (0, b"")
        return out.decode().splitlines()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RETRIEVAL_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def shop(tmp_path: Path) -> Project:
    project = Project(tmp_path / "shop")
    project.write("shop/config.py", PARSER)
    project.write("shop/mailer.py", MAILER)
    project.write("shop/routes.py", ROUTES)
    project.write("tests/test_mailer.py", "from shop.mailer import send_reminder\n" + MAILER)
    project.commit("Begin the shop")
    return project


def test_words_symbols_and_paths_find_their_files(shop: Project) -> None:
    assert shop.find("Unpaid invoices should be mailed twice")[0] == "shop/mailer.py"
    assert shop.find("parse_settings forgets quoted values")[0] == "shop/config.py"
    assert shop.find("look at shop/routes.py")[0] == "shop/routes.py"
    assert shop.find("parsing of settings")[0] == "shop/config.py"


def test_lines_are_path_tab_score_and_json_says_the_same(shop: Project) -> None:
    rows = [line.split("\t") for line in shop.printed("mail a reminder")]
    scores = [float(score) for _, score in rows]
    assert len(rows) > 1
    assert {path: float(score) for path, score in rows} == shop.scores("mail a reminder")
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    said = [json.loads(line) for line in shop.printed("mail a reminder", "--json")]
    assert [(each["path"], each["score"]) for each in said] == [(p, float(s)) for p, s in rows]
    assert len(shop.printed("mail a reminder", "--limit", "1")) == 1
    sure = shop.printed("mail a reminder", "--min-score", str(scores[0]))
    assert sure == ["\t".join(row) for row in rows if float(row[1]) >= scores[0]]
    assert shop.printed("\0\1 \x1b[31m ¿?") == []


@pytest.mark.parametrize("task", ["", "  \n", "zzyzx qwertzu", "the of and"])
def test_it_abstains_when_nothing_speaks_for_any_file(shop: Project, task: str) -> None:
    assert shop.find(task) == []


def test_tests_come_after_sources_unless_the_text_names_them(shop: Project) -> None:
    shop.write("shop/calendar.py", "def days(year):\n    return 365\n")
    shop.write("tests/test_leap_years.py", "def test_leap_years_are_counted():\n    ...\n")
    assert shop.find("leap years are counted wrongly in the calendar")[0] == "shop/calendar.py"
    silent = shop.scores("leap years are counted wrongly")["tests/test_leap_years.py"]
    spoken = shop.scores("leap years are counted wrongly, says a test")["tests/test_leap_years.py"]
    assert spoken > 1.5 * silent > 0
    assert shop.find("tests/test_mailer.py fails")[0] == "tests/test_mailer.py"


def test_an_earlier_commit_tells_where_such_changes_are_made(shop: Project) -> None:
    for number in range(3):
        shop.write("shop/currency.py", f"RATES = {{'x': {number}}}\n")
        shop.commit("Round prices to whole cents")
        shop.write(f"shop/other{number}.py", "pass\n")
        shop.commit(f"Something else {number}")
    assert shop.find("Prices are rounded wrongly")[0] == "shop/currency.py"


def test_a_renamed_file_keeps_its_history(shop: Project) -> None:
    shop.write("shop/currency.py", "RATES = {}\n")
    shop.commit("Round prices to whole cents")
    shop.git("mv", "shop/currency.py", "shop/money.py")
    shop.commit("Rename")
    assert shop.find("Prices are rounded wrongly")[0] == "shop/money.py"


def test_ignored_binary_generated_huge_and_minified_files_are_not_found(shop: Project) -> None:
    body = "def gyroscope():\n    return 1\n"
    shop.write(".gitignore", "build_output/\nlocal.py\n")
    shop.write("local.py", body)
    shop.write("build_output/a.py", body)
    shop.write("image.py", b"\0" + body.encode())
    shop.write("stub.py", "# Code generated by a tool. DO NOT EDIT.\n" + body)
    shop.write("huge.py", body + "# x\n" * 200_000)
    shop.write("bundle.js", "function gyroscope(){};" * 1000)
    shop.write("lib.min.js", "function gyroscope(){}\n")
    before = shop.find("gyroscope")
    shop.write("seen.py", body)
    after = shop.find("gyroscope")
    assert before == []
    assert after[0] == "seen.py"
    unseen = {"local.py", "build_output/a.py", "lib.min.js"}
    assert not unseen & set(after)


def test_links_are_not_followed(shop: Project, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.py").write_text("def gyroscope(): ...\n")
    (shop.root / "gyroscope.py").symlink_to(tmp_path / "outside/secret.py")
    shop.write("folder/secret.py", "def gyroscope(): ...\n")
    shop.commit("With links")
    (shop.root / "folder/secret.py").unlink()
    (shop.root / "folder").rmdir()
    (shop.root / "folder").symlink_to(tmp_path / "outside")
    assert shop.find("gyroscope") == []


def test_a_folder_without_git_is_walked(tmp_path: Path) -> None:
    project = Project(tmp_path / "plain", git=False)
    project.write("app/mailer.py", MAILER)
    project.write("node_modules/x/mailer.js", "function mailReminder() {}\n")
    project.write(".hidden/mailer.py", MAILER)
    project.write(".gitignore", "copies/\n")
    project.write("copies/mailer.py", MAILER)
    assert project.find("mail a reminder") == ["app/mailer.py"]
    (project.root / ".gitignore").unlink()
    assert sorted(project.find("mail a reminder")) == ["app/mailer.py", "copies/mailer.py"]


def test_a_repository_without_commits_and_an_empty_folder(tmp_path: Path) -> None:
    project = Project(tmp_path / "young")
    assert project.find("mail a reminder") == []
    project.write("mailer.py", MAILER)
    assert project.find("mail a reminder") == ["mailer.py"]


def test_a_folder_inside_a_repository_answers_with_its_own_paths(shop: Project) -> None:
    inner = Project.__new__(Project)
    inner.root = shop.root / "shop"
    assert inner.find("Unpaid invoices should be mailed twice")[0] == "mailer.py"


def test_edits_new_files_and_deletions_show_at_once(shop: Project) -> None:
    assert shop.find("gyroscope") == []
    shop.write("shop/mailer.py", MAILER + "\ndef gyroscope(): ...\n")
    assert shop.find("gyroscope")[0] == "shop/mailer.py"
    shop.write("shop/gyroscope.py", "class Gyroscope: ...\n")
    assert sorted(shop.find("gyroscope")) == ["shop/gyroscope.py", "shop/mailer.py"]
    (shop.root / "shop/gyroscope.py").unlink()
    assert shop.find("gyroscope")[0] == "shop/mailer.py"
    shop.write("shop/mailer.py", MAILER)
    assert shop.find("gyroscope") == []


@pytest.mark.parametrize("edited", ["left", "right"])
def test_work_that_is_not_committed_counts_as_the_latest_change(shop: Project, edited: str) -> None:
    for name in ("left", "right"):
        shop.write(f"shop/{name}.py", "def balance(): ...\n")
    shop.commit("Balance both sides")
    shop.write(f"shop/{edited}.py", "def balance(): ...\n\n")
    assert shop.find("balance")[0] == f"shop/{edited}.py"


def _damages(whole: bytes) -> Mapping[str, bytes]:
    middle = len(whole) // 2
    return {
        "empty": b"",
        "cut short": whole[:middle],
        "a flipped byte": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        "something else": b"hello\n" * 100,
        "another version": whole.replace(b"retrieval 2", b"retrieval 0", 1),
    }


def test_a_damaged_cache_is_made_anew(shop: Project, cache: Path) -> None:
    task = "Unpaid invoices should be mailed twice"
    expected = shop.find(task)
    files = {path: path.read_bytes() for path in cache.iterdir()}
    assert {path.suffix for path in files} == {".index", ".facts"}
    for path, whole in files.items():
        for what, damaged in _damages(whole).items():
            path.write_bytes(damaged)
            assert shop.find(task) == expected, what
            if path.suffix == ".index":
                assert path.read_bytes() != damaged, what


def test_a_cache_that_cannot_be_written_does_no_harm(shop: Project, cache: Path) -> None:
    cache.write_text("a file where a folder should be")
    assert shop.find("mail a reminder")[0] == "shop/mailer.py"


def test_processes_that_share_a_cache_agree(shop: Project, cache: Path) -> None:
    several = [shop.start() for _ in range(4)]
    answers = {process.communicate(b"mail a reminder") for process in several}
    assert len(answers) == 1
    assert answers.pop()[1] == b""
    assert [path.suffix for path in sorted(cache.iterdir())] == [".facts", ".index"]


def test_many_files_are_analysed_by_several_processes(tmp_path: Path) -> None:
    project = Project(tmp_path / "large")
    for number in range(600):
        project.write(f"part{number % 7}/unit{number}.py", f"def handle_case_{number}(): ...\n")
    assert project.find("handle_case_17 and handle_case_590")[:2] in (
        ["part3/unit17.py", "part2/unit590.py"],
        ["part2/unit590.py", "part3/unit17.py"],
    )


def test_a_project_with_a_package_named_foundry_is_read_and_never_run(tmp_path: Path) -> None:
    project = Project(tmp_path / "namesake")
    trap = f"open({str(tmp_path / 'sprung')!r}, 'w').close()\n"
    for path in ("__init__", "context/__init__", "context/retrieval/analysis"):
        project.write(f"foundry/{path}.py", trap)
    for number in range(600):
        project.write(f"unit{number}.py", f"def handle_case_{number}(): ...\n")
    assert project.printed("handle_case_17")[0].startswith("unit17.py\t")
    assert not (tmp_path / "sprung").exists()


def test_old_indexes_are_removed_and_strangers_files_stay(shop: Project, cache: Path) -> None:
    cache.mkdir()
    old, stranger = cache / ("a" * 24 + ".index"), cache / "letter.txt"
    for path in (old, stranger):
        path.write_text("x")
        os.utime(path, (0, 0))
    shop.find("mail a reminder")
    assert stranger.exists()
    assert not old.exists()
