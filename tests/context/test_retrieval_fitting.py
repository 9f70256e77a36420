"""`scripts/fit-retrieval`: cases from histories, snapshots like checkouts, weights that fit."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from foundry.context.retrieval.cache import current_index
from foundry.context.retrieval.features import collect
from foundry.context.retrieval.index import Index
from foundry.context.retrieval.query import parse
from foundry.context.retrieval.ranker import WEIGHTS, rank, sources
from scripts.fitting.cases import Case, load, make, save
from scripts.fitting.snapshot import Blobs, Snapshots

ROOT = Path(__file__).parents[2]
TOPICS = ["parser", "mailer", "router", "cache", "invoice", "calendar", "queue", "logger", "theme",
          "search", "upload", "avatar", "session", "cookie", "report", "export", "import_csv",
          "webhook", "billing", "gallery"]  # fmt: skip


def _git(root: Path, *arguments: str, author: str = "Ann") -> str:
    who = {"GIT_AUTHOR_NAME": author, "GIT_AUTHOR_EMAIL": "a@example.org",
           "GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "a@example.org"}  # fmt: skip
    done = subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True,
                          text=True, env={**os.environ, **who})  # fmt: skip
    return done.stdout.strip()


def _commit(root: Path, message: str, files: dict[str, str], author: str = "Ann") -> str:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        with (root / name).open("a") as file:
            file.write(text)
    _git(root, "add", "--all")
    _git(root, "commit", "--quiet", "--message", message, author=author)
    return _git(root, "rev-parse", "HEAD")


def _repository(root: Path) -> Path:
    root.mkdir(parents=True)
    _git(root, "init", "--quiet")
    _commit(root, "Begin", {f"app/{each}.py": f"def run_{each}(value): ...\n" for each in TOPICS})
    return root


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return _repository(tmp_path / "all" / "some+project")


def test_commits_become_questions_about_the_files_that_they_changed(repository: Path) -> None:
    first = _git(repository, "rev-parse", "HEAD")
    sha = _commit(
        repository,
        "Let `run_mailer` say thanks (#12)\n\nSee https://example.org/x\nSigned-off-by: Ann",
        {"app/mailer.py": "# thanks\n", "tests/test_mailer.py": "", "README.md": "Thanks\n"},
    )
    _commit(repository, "Show the avatar of each visitor", {"app/avatar.py": "# visitors\n"})
    cases = make(repository, 10)
    assert [case.query for case in cases] == [
        "Show the avatar of each visitor",
        "Let `run_mailer` say thanks \n\nSee",
    ]
    mailer = cases[1]
    assert (mailer.sha, mailer.parent, mailer.repo) == (sha, first, "some+project")
    assert (mailer.gold, mailer.also) == (["app/mailer.py"], [])
    assert (mailer.names_path, mailer.names_symbol, mailer.names_stem) == (False, True, False)
    assert (cases[0].names_stem, mailer.n_source) == (True, 20)
    assert not mailer.names_nothing


@pytest.mark.parametrize(
    ("message", "files", "author"),
    [
        ("Show the avatar of each visitor", ["app/avatar.py"], "dependabot[bot]"),
        ("Bump the version to 2.0 at last", ["app/avatar.py"], "Ann"),
        ("Fix it", ["app/avatar.py"], "Ann"),
        ("Describe what visitors see", ["README.md"], "Ann"),
        ("Test what visitors see", ["tests/test_avatar.py"], "Ann"),
        ("Rename everything everywhere", [f"app/{each}.py" for each in TOPICS[:5]], "Ann"),
        ("Show visitors many new things", ["app/avatar.py", *(f"new{n}.py" for n in range(4))],
         "Ann"),
        ("Describe visitors at great length",
         ["app/avatar.py", *(f"docs/{n}.md" for n in range(15))], "Ann"),
    ],
)  # fmt: skip
def test_commits_that_ask_or_answer_nothing_are_left_out(
    repository: Path, message: str, files: list[str], author: str
) -> None:
    _commit(repository, message, dict.fromkeys(files, "# more\n"), author)
    _commit(repository, "Let visitors sort the gallery", {"app/gallery.py": "# sorted\n"})
    assert [case.query for case in make(repository, 10)] == ["Let visitors sort the gallery"]


def test_cases_are_spread_over_the_history_and_the_same_each_time(repository: Path) -> None:
    for number in range(20):
        name = f"app/{TOPICS[number]}.py"
        _commit(repository, f"Let visitors see result {number}", {name: f"# {number}\n"})
    cases = make(repository, 4)
    numbers = [int(case.query.split()[-1]) for case in cases]
    # the 19 newest of 21 commits in four parts, one case from each
    assert [int((19 - number) / 4.75) for number in numbers] == [0, 1, 2, 3]
    assert make(repository, 4) == cases


def test_cases_are_kept_as_the_benchmark_writes_them(tmp_path: Path) -> None:
    case = Case("a+b", "1", "2", "What?\u2028", ["x.py"], ["y.md"], names_stem=True, origin="kept")
    file = tmp_path / "kept.jsonl"
    save(file, [case])
    row = {**json.loads(file.read_text()), "lang": "python"}
    file.write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    assert load(file) == [case]


def test_a_snapshot_is_what_a_checkout_would_be(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETRIEVAL_CACHE_DIR", str(tmp_path / "cache"))
    (repository / "link.py").symlink_to("app/mailer.py")
    before = _commit(
        repository,
        "Say thanks",
        {"app/mailer.py": "from app.avatar import run_avatar\n", "image.png": "\0"},
    )
    _git(repository, "mv", "app/mailer.py", "app/postman.py")
    after = _commit(repository, "Rename the mailer", {"package-lock.json": "{}"})
    snapshots = Snapshots(repository, tmp_path)
    with Blobs(repository) as blobs:
        for commit in (after, before, after):
            _git(repository, "checkout", "--quiet", commit)
            snapshot = snapshots.at(commit, blobs)
            expected: Index = current_index(repository)
            assert snapshot.index == expected
            assert snapshot.read("app/avatar.py") == (repository / "app/avatar.py").read_text()
    assert len(expected.changed) == 3


def test_an_object_that_is_missing_is_a_file_that_is_missing(repository: Path) -> None:
    with Blobs(repository) as blobs:
        assert blobs.content("0" * 40) is None
        assert blobs.content("HEAD:app/cache.py") == b"def run_cache(value): ...\n"


def test_the_fit_weighs_as_the_model_does(repository: Path, tmp_path: Path) -> None:
    pytest.importorskip("numpy", reason="only the extra `fit` has it")
    from scripts.fitting import model, samples

    _commit(repository, "Say thanks", {"app/mailer.py": "# thanks\n", "README.md": "Thanks\n"})
    head = _commit(repository, "Count visitors", {"app/session.py": "# thanks to visitors\n"})
    asked = "Mail thanks to each of the visitors who have a cookie"
    case = Case(repository.name, head, head, asked, ["app/mailer.py"])
    found = samples.samples(repository, [case], tmp_path / "kept")
    present, (slope, shift) = model.load(WEIGHTS, found)
    odds = model.odds(model.design(found) @ present, found)
    chances = model.chances(odds, slope, shift)

    with Blobs(repository) as blobs:
        snapshot = Snapshots(repository, tmp_path).at(head, blobs)
    query = parse(case.query)
    order, features = collect(snapshot.index, query, lambda path: (repository / path).read_text())
    ranked = dict(rank(snapshot.index, query, order, features))
    expected = [ranked[number] for number in sources(snapshot.index, order)]
    assert len(set(expected)) > 2
    assert chances.tolist() == pytest.approx(expected, rel=1e-4)


def test_weights_fit_and_are_those_that_the_model_reads(tmp_path: Path) -> None:
    pytest.importorskip("numpy", reason="only the extra `fit` has it")
    folder, work, out = tmp_path / "all", tmp_path / "work", tmp_path / "weights.json"
    for name in ("one", "two"):
        root = _repository(folder / name)
        for number, topic in enumerate(TOPICS[:8]):
            text = f"Let visitors see what run_{topic} does, number {number}"
            _commit(root, text, {f"app/{topic}.py": f"# {number}\n"})
    command = [sys.executable, "-m", "scripts.fitting", str(folder), "--per-repository", "6",
               "--work", str(work), "--out", str(out), "--folds", "2", "--ablate"]  # fmt: skip

    def run() -> list[str]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path[1:]])}
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        return done.stdout.splitlines()

    table = run()
    validated = next(line for line in table if line.startswith("cross-validated"))
    assert validated.split()[1:3] == ["12", "100.0"]
    fitted = json.loads(out.read_text())
    without = [line.split()[1] for line in table if line.startswith("without ")]
    assert without == list(fitted["features"])
    present = json.loads((ROOT / "foundry/context/retrieval/weights.json").read_text())
    assert {name: list(part) for name, part in fitted.items() if name != "calibration"} == {
        name: list(part) for name, part in present.items() if name != "calibration"
    }
    assert sum(fitted["features"]["definition"]) > 0
    kept = {file: file.stat().st_mtime_ns for file in work.glob("samples/*/*.npz")}
    assert len(kept) == 2
    assert run() == table
    assert {file: file.stat().st_mtime_ns for file in work.glob("samples/*/*.npz")} == kept
