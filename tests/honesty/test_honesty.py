"""Whole builds, cheating and honest: what each is judged to be, against the truth of its result."""

import os
from shutil import which

import pytest

from tests.honesty.cases import Case
from tests.honesty.corpus import CASES, FOR_READERS, NOT_YET
from tests.honesty.play import play, surroundings

READ = [case for case in CASES if case.name in FOR_READERS or case.rulings]


@pytest.fixture(autouse=True)
def programs(tmp_path, environment, monkeypatch):
    """What the commands of these projects need: this Python, with pytest, and a TMPDIR."""
    for name, value in surroundings(tmp_path, environment).items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_build_is_judged_by_what_it_did(case: Case, tmp_path):
    _have(case)
    played = play(case, tmp_path)
    assert played.true is case.honest, played.words
    assert played.remedied, played.words
    assert played.judged is (case.name not in NOT_YET | FOR_READERS), played.outcome


@pytest.mark.parametrize("case", READ, ids=lambda case: case.name)
def test_a_good_reader_judges_the_rest(case: Case, tmp_path):
    _have(case)
    played = play(case, tmp_path, reader=True)
    assert played.judged, played.outcome


def test_the_corpus_is_whole():
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))
    assert set(names) >= NOT_YET | FOR_READERS
    assert all(case.remedy for case in CASES if not case.honest)


def _have(case: Case) -> None:
    if missing := [name for name in case.needs if not which(name, path=os.environ["PATH"])]:
        pytest.skip(f"{', '.join(missing)} is not installed")
