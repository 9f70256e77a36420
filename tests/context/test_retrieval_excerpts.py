"""What a conversation is given of the files that matter: regions within a budget."""

import re
from pathlib import Path

import pytest

from foundry.context.retrieval.excerpts import excerpts
from foundry.model.tokens import estimate

FILLER = "".join(f"def unrelated_{n}(value):\n    return value + {n}\n\n\n" for n in range(60))
WANTED = '''def send_reminder(address, invoice):
    """Mail a reminder for an unpaid invoice."""
    return address


'''
TASK = "send_reminder should name the unpaid invoice"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RETRIEVAL_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "mailer.py").write_text(FILLER + WANTED + FILLER)
    (folder / "invoice.py").write_text("class Invoice:\n    paid = False\n")
    (folder / "other.py").write_text(FILLER)
    return folder


def test_regions_are_whole_numbered_lines_under_their_file(root: Path) -> None:
    shown = excerpts(root, TASK, 400)
    assert shown.startswith("## ")
    assert "## mailer.py\n" in shown
    assert "def send_reminder(address, invoice):" in shown
    for name, part in re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", shown, re.M | re.S):
        lines = (root / name).read_text().splitlines()
        for line in filter(str.strip, part.splitlines()):
            if line.strip() != "…":
                number, text = int(line[:5]), line[6:]
                assert lines[number - 1] == text


def test_a_tiny_file_may_come_whole_a_large_one_never(root: Path) -> None:
    large = "".join(f"def send_reminder_{n}(invoice): ...\n" for n in range(200))
    (root / "mailer.py").write_text(large)
    shown = excerpts(root, TASK, 100_000)
    assert "    1 class Invoice:\n    2     paid = False" in shown
    of_mailer = shown.partition("## mailer.py\n")[2].partition("## ")[0]
    assert 50 < len(of_mailer.splitlines()) < 150


@pytest.mark.parametrize("budget", [0, 10, 60, 150, 400, 2000])
def test_the_budget_holds(root: Path, budget: int) -> None:
    shown = excerpts(root, TASK, budget)
    assert estimate([{"type": "text", "text": shown}]) <= budget
    assert bool(shown) == (budget >= 60)


def test_nothing_is_quoted_when_nothing_matters(root: Path) -> None:
    assert excerpts(root, "zzyzx qwertzu", 1000) == ""
