"""Every test by id over the baseline and all iterations: what ran, what is gone, what is muted."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Self

from pydantic import Field, model_validator

from foundry.errors import ArtifactError
from foundry.schema.base import Json, Value
from foundry.schema.tests_by_id import (
    FAILING,
    MAX_TESTS,
    MUTED,
    WORST_FIRST,
    Outcome,
    TestReport,
)

_LETTERS: dict[Outcome, str] = {
    "passed": "p",
    "failed": "f",
    "error": "e",
    "skipped": "s",
    "xfailed": "x",
}
_OUTCOMES = {letter: outcome for outcome, letter in _LETTERS.items()}
_ABSENT = "-"
_FORMAT = 1

FILE = "test-ledger.json"


class TestLedger(Value):
    """Runs in their order, and for every id a letter for each: p, f, e, s, x, or - (not there).

    `known` says of each run whether all of its tests had ids.
    """

    runs: tuple[str, ...] = ()
    known: tuple[bool, ...] = ()
    tests: dict[str, str] = Field(default_factory=dict)

    __test__ = False  # a value, not a pytest class

    @model_validator(mode="after")
    def _columns_fit(self) -> Self:
        letters = re.compile(f"[pfesx{_ABSENT}]{{{len(self.runs)}}}")
        if len(self.known) != len(self.runs) or not all(
            map(letters.fullmatch, self.tests.values())
        ):
            raise ValueError("its columns don't fit its runs")
        return self

    def outcomes(self, run: int) -> dict[str, Outcome]:
        """The outcomes of the run with this index."""
        return {
            name: _OUTCOMES[letters[run]]
            for name, letters in self.tests.items()
            if letters[run] != _ABSENT
        }


class Account(Value):
    """What the last run of a ledger shows against those before it. All ids, sorted.

    `gone`: passed once and did not run now; `muted`: passed once, now skipped or expected to fail;
    `new_failures`: fails now and did not in the first run; `moved`: pairs of an id that is gone and
    a new one of the same name elsewhere, for a person to judge (they are not in `gone`).
    Where `ids_known` is false, `gone`, `muted` and `moved` are empty since nothing is known.
    """

    ids_known: bool = False
    gone: tuple[str, ...] = ()
    muted: tuple[str, ...] = ()
    new_failures: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()


def recorded(ledger: TestLedger, run: str, reports: Sequence[TestReport]) -> TestLedger:
    """The ledger with one more run: the reports of all its checks. The worst outcome of an id
    counts where several checks ran it, but a run of it beats a skip."""
    now: dict[str, Outcome] = {}
    for report in reports:
        for name, outcome in report.outcomes.items():
            now[name] = min(now.get(name, outcome), outcome, key=WORST_FIRST.index)
    past = _ABSENT * len(ledger.runs)
    names = list(dict.fromkeys((*ledger.tests, *now)))[:MAX_TESTS]
    return TestLedger(
        runs=(*ledger.runs, run),
        known=(*ledger.known, bool(reports) and all(each.ids_known for each in reports)),
        tests={
            name: ledger.tests.get(name, past) + (_LETTERS[now[name]] if name in now else _ABSENT)
            for name in names
        },
    )


def account(ledger: TestLedger) -> Account:
    """What the last run shows against all before it."""
    if not ledger.runs:
        return Account()
    last = len(ledger.runs) - 1
    now = ledger.outcomes(last)
    first = ledger.outcomes(0) if last else {}
    new_failures = sorted(
        name for name, is_ in now.items() if is_ in FAILING and first.get(name) not in FAILING
    )
    if not ledger.known[last]:
        return Account(new_failures=tuple(new_failures))
    passed = {name for name, letters in ledger.tests.items() if "p" in letters[:last]}
    absent = {name for name in passed if name not in now}
    whole = {name for name in absent if now.get(_file(name)) in MUTED}  # skipped with its file
    muted = whole | {name for name in passed if now.get(name) in MUTED}
    before = {name for name, letters in ledger.tests.items() if letters[:last].strip(_ABSENT)}
    moved = _moved(absent - whole, set(now) - before)
    return Account(
        ids_known=True,
        gone=tuple(sorted(absent - whole - {old for old, _ in moved})),
        muted=tuple(sorted(muted)),
        new_failures=tuple(new_failures),
        moved=moved,
    )


def _moved(gone: Iterable[str], new: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Each id that is gone with a new one of equal name, each new one once."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(new, reverse=True):
        places[_own_name(name)].append(name)
    return tuple(
        (old, places[_own_name(old)].pop()) for old in sorted(gone) if places[_own_name(old)]
    )


def _file(name: str) -> str:
    return name.split("::", 1)[0]


def _own_name(name: str) -> str:
    """A test's name without its place: file, class and module go, parameters stay."""
    plain, bracket, parameters = name.partition("[")
    return re.split(r"::| > |\.|/", plain)[-1] + bracket + parameters


# Verdicts


def judge_tests(
    command: str, report: TestReport | None, promised_junit: bool, runner_expected: bool
) -> str:
    """Why a check does not hold although `command` ended with exit code 0; "" when it holds.

    `promised_junit`: a report was promised. `runner_expected`: the command calls a known runner
    (`runner_called`), so that silence is no answer.
    """
    if promised_junit and not (report and report.promised_found):
        return "the promised test report is missing, unreadable or older than the run"
    if report is None:
        return f"`{command[:80]}` calls a test runner and no test was seen" * runner_expected
    if report.counts.failed:
        return f"{report.counts.failed} failed by the test report"
    if report.incomplete:
        return report.incomplete
    if not report.counts.total:
        return "no test was run"
    return f"all {report.counts.total} tests were skipped" if report.nothing_ran else ""


def preexisting(now: TestReport | None, before: TestReport | None) -> bool:
    """Whether every failure of `now` failed `before`, told by ids; without ids none did."""
    if now is None or before is None or now.incomplete or not now.ids_known:
        return False
    return bool(now.failing) and set(now.failing) <= set(before.failing)


_PLAIN = re.compile(r"[\w./=:,@%+ -]+")
"""A command without any syntax of a shell."""

_ASKS = frozenset(
    ("--version", "-V", "--help", "-h", "--fixtures", "--markers", "--showConfig", "--listTests")
)
_CALLS = (
    (("pytest",), "pytest"),
    (("python", "-m", "pytest"), "pytest"),
    (("python3", "-m", "pytest"), "pytest"),
    (("python", "-m", "unittest"), "unittest"),
    (("python3", "-m", "unittest"), "unittest"),
    (("node", "--test"), "node --test"),
    (("cargo", "test"), "cargo test"),
    (("ctest",), "ctest"),
)


def runner_called(command: str) -> str:
    """The runner that this command certainly calls by itself and that always tells what it ran:
    "" for anything less certain, such as a script, a pipe, or a variable that is set."""
    words = tuple(command.split())
    if not _PLAIN.fullmatch(command.strip()) or _ASKS.intersection(words):
        return ""
    quiet = any(re.fullmatch(r"-q{2,}|--no-summary|--silent|--quiet|-Q|no:\w+", w) for w in words)
    called = (name for call, name in _CALLS if words[: len(call)] == call)
    return "" if quiet else next(called, "")


# Storage


def to_json(ledger: TestLedger) -> str:
    """test-ledger.json: ids grouped by file, one line each file."""
    files: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for name, letters in ledger.tests.items():
        file, separator, rest = name.partition("::")
        files[file if separator else ""][rest if separator else name] = letters
    head = {"format": _FORMAT, "runs": ledger.runs, "known": ledger.known}
    lines = ",\n".join(f"{_compact(file)}:{_compact(tests)}" for file, tests in files.items())
    return f'{_compact(head)[:-1]},\n"tests":{{{lines}}}}}\n'


def from_json(text: str, name: str = FILE) -> TestLedger:
    """The ledger that `to_json` wrote into the file `name`.

    Raises ArtifactError when it is no such text.
    """
    try:
        return _ledger(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ArtifactError(name, "", f"it is no ledger of tests ({error})") from error


def _ledger(value: Json) -> TestLedger:
    if value["format"] != _FORMAT:
        raise ValueError("its format is of another version")
    return TestLedger(
        runs=tuple(value["runs"]),
        known=tuple(value["known"]),
        tests={
            f"{file}::{test}" if file else test: letters
            for file, tests in value["tests"].items()
            for test, letters in tests.items()
        },
    )


def _compact(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
