"""What fails after an iteration, in a form that can be compared with the next one. Pure.

A check tells the more the better its output can be read: test ids (JUnit) say which tests fail; a
count (`Found 7 errors`, one number, lines that begin with a file) says how much is wrong; else only
the output as a whole can be compared, without what differs every time.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from foundry.circular.schema import Failure, Issue
from foundry.schema.command import KEPT_OUTPUT, CheckResult

NOT_RUN = "not run"
"""The digest of a check that could not be run: what it would say is unknown."""

SUMMARY_LINES = 6
"""Lines at the end of an output where tools sum up."""

_FOUND = (
    r"errors?|failures?|failed|failing|problems?|warnings?|issues?|violations?|findings?|matches|"
    r"occurrences?|offen[cs]es?|remaining|left"
)
_COUNTED = re.compile(rf"\b(\d+) (?:[a-z]+ ){{0,2}}?(?:{_FOUND})\b", re.IGNORECASE)
_NAMED = re.compile(rf"\b(?:{_FOUND}) ?[:=] ?(\d+)\b", re.IGNORECASE)
_FINDING = re.compile(r"[\w./\\-]+\.\w+(:.*)?")
_VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?([.,]\d+)?Z?"), "<time>"),
    (re.compile(r"\b\d\d:\d\d:\d\d([.,]\d+)?\b"), "<time>"),
    (re.compile(r"\b\d+([.,]\d+)? ?(ns|µs|us|ms|s|secs?|seconds?|min|minutes?)\b"), "<time>"),
    (re.compile(r"0x[0-9a-fA-F]+"), "<address>"),
    (re.compile(r"(/private)?(/var/folders|/var/tmp|/tmp)(/[\w.+-]+)+"), "<temporary>"),
    (re.compile(r"\b(pid|seed)([ =:]+)\d+", re.IGNORECASE), r"\1"),
)


def read_failures(checks: Sequence[CheckResult]) -> tuple[Failure, ...]:
    """The checks that do not hold; the results have to have their outputs still."""
    return tuple(_failure(check) for check in checks if not check.holds)


def issues_between(
    before: Sequence[Failure], after: Sequence[Failure]
) -> tuple[tuple[Issue, ...], tuple[Issue, ...]]:
    """The issues that were resolved and those that were discovered from one to the other.

    A check that could not be run, or that lost its test ids (the runner crashed), resolves nothing.
    """
    old, new = _by_check(before), _by_check(after)
    return tuple(_issues(old, new)), tuple(_issues(new, old))


def reported(claims: Iterable[str]) -> tuple[Issue, ...]:
    """Issues that a model tells of, each once however it is spelt."""
    issues = {_plain(claim): claim.strip() for claim in reversed(list(claims)) if _plain(claim)}
    return tuple(Issue(id=key, description=issues[key]) for key in reversed(issues))


def _failure(check: CheckResult) -> Failure:
    if check.status == "not_run":
        return Failure(check=check.name, digest=NOT_RUN)
    digest = _digest(check.output)
    if check.failing:
        return Failure(check=check.name, ids=check.failing, digest=digest)
    cut = len(check.output) >= KEPT_OUTPUT
    return Failure(check=check.name, count=_count(check.output), digest=digest, cut=cut)


def _count(output: str) -> int | None:
    """How much a tool says it found, or how many lines begin with the name of a file."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if len(lines) == 1 and lines[0].isdecimal():
        return int(lines[0]) or None
    end = _steady("\n".join(lines[-SUMMARY_LINES:]))
    counted = sum(int(n) for pattern in (_COUNTED, _NAMED) for n in pattern.findall(end))
    if counted:
        return counted
    if len(output) >= KEPT_OUTPUT:
        return None  # its beginning is lost, so lines say nothing about how many there are
    return len({line for line in lines if _FINDING.fullmatch(line)}) or None


def _digest(output: str) -> str:
    text = _steady(output).strip()
    return sha256(text.encode()).hexdigest()[:16] if text else ""


def _steady(text: str) -> str:
    """Text without what differs every time it is written."""
    for pattern, stand_in in _VARYING:
        text = pattern.sub(stand_in, text)
    return text


def steady(errors: Iterable[str]) -> tuple[str, ...]:
    """Error messages as they compare: sorted, each once, without what differs every time."""
    return tuple(sorted({_plain(_steady(error)) for error in errors} - {""}))


def _by_check(failures: Sequence[Failure]) -> dict[str, Failure]:
    return {failure.check: failure for failure in failures}


def _issues(some: Mapping[str, Failure], others: Mapping[str, Failure]) -> Iterable[Issue]:
    """What is among the failures of `some` and not among those of `others`."""
    for name, failure in some.items():
        other = others.get(name)
        if other is None:
            yield from _whole(failure)
        elif failure.ids and other.ids:
            yield from _tests(sorted(set(failure.ids) - set(other.ids)))
        elif failure.count is not None and other.count is not None:
            more = failure.count - other.count
            if more > 0:
                yield _check(name, more)


def _whole(failure: Failure) -> Iterable[Issue]:
    return _tests(failure.ids) if failure.ids else (_check(failure.check, failure.extent),)


def _tests(ids: Iterable[str]) -> tuple[Issue, ...]:
    return tuple(Issue(id=each, description=f"{each} fails", kind="test") for each in ids)


def _check(name: str, count: int) -> Issue:
    return Issue(id=name, description=f"{name} fails", kind="check", count=count)


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w./:<>-]+", " ", text.casefold()).split()).strip(" .:-")
