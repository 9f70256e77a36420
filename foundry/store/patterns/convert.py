"""Reading pattern files: ours strictly, those of the public Context Foundry with tolerance.

Its files share no one format: `issue` and `solution` are strings or objects, solutions may go by
phase, lists are called `patterns`, `learnings` or `issues_found` and are sometimes wrapped twice.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

import pydantic_core
from pydantic import ValidationError

from foundry.errors import ArtifactError
from foundry.schema.base import Json, first_problem
from foundry.schema.learning import (
    PHASES,
    SEVERITIES,
    TEXT_LIMIT,
    TITLE_LIMIT,
    Kind,
    Pattern,
    PatternFile,
    Phase,
    Severity,
    pattern_id,
)
from foundry.store.patterns.learn import collect
from foundry.tokenize import words

_HINT = "Mend the file, or move it away"
_LISTS = ("patterns", "learnings", "issues_found")
_PHASE_WORDS: dict[str, Phase] = {
    **{phase: phase for phase in PHASES},
    "analysis": "scout",
    "research": "scout",
    "architecture": "architect",
    "design": "architect",
    "testing": "test",
    "doc": "docs",
    "documentation": "docs",
    "deployment": "deploy",
}
_DEFAULT_PHASE: dict[Kind, Phase] = {
    "common-issue": "builder",
    "test": "test",
    "architecture": "architect",
    "scout": "scout",
}
_ADVICE = (
    "prevention",
    "risk_detection",
    "recommendation",
    "key_points",
    "recommended_testing",
    "implementation",
    "benefits",
)
_MOST_BUILDS = 99


class NewerVersion(ArtifactError):
    """A file that a later Foundry has written: not damaged, but not ours to change."""


@dataclass(frozen=True, slots=True)
class Found:
    """A pattern file as read; `foreign` when it was converted, with what could not be."""

    file: PatternFile
    foreign: bool = False
    problems: tuple[str, ...] = ()


def read_file(path: Path, kind: Kind) -> Found | None:
    """The patterns in a file of either format, None when there is no file.

    Raises ArtifactError with file, field and reason; NewerVersion for a later format of ours.
    """
    try:
        data = pydantic_core.from_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ArtifactError(str(path), "", f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ArtifactError(str(path), "", f"not JSON: {error}", hint=_HINT) from error
    if _is_foreign(data):
        return _converted(path, data, kind)
    version = data.get("version")
    if isinstance(version, int) and version > 1:
        reason = f"version {version} was written by a newer Foundry"
        raise NewerVersion(str(path), "version", reason, hint="Upgrade Foundry")
    try:
        file = PatternFile.model_validate(data)
    except ValidationError as error:
        field, reason = first_problem(error)
        raise ArtifactError(str(path), field, reason, hint=_HINT) from error
    if file.kind != kind:
        raise ArtifactError(str(path), "kind", f"expected {kind!r}, found {file.kind!r}")
    return Found(file)


def read_foreign(data: Json, kind: Kind, day: date) -> tuple[PatternFile, list[str]]:
    """The patterns in foreign JSON, and a line for each entry that could not be used.

    `day` dates what the file itself does not.
    """
    updated = _day(_at(data, "last_updated")) or _day(_at(data, "timestamp")) or day
    patterns: list[Pattern] = []
    problems: list[str] = []
    for where, entry in _entries(data):
        try:
            patterns.append(_pattern(entry, kind, updated))
        except ValidationError as error:
            field, reason = first_problem(error)
            problems.append(f"{where}: {field}: {reason}")
    latest = max([updated, *(pattern.last_seen for pattern in patterns)])
    return collect(kind, patterns, latest), problems


def _is_foreign(data: Json) -> bool:
    """Whether neither the file nor any of its entries has a `kind`, as all of ours have."""
    return _at(data, "kind") is None and not any(_at(each, "kind") for _, each in _entries(data))


def _converted(path: Path, data: Json, kind: Kind) -> Found:
    modified = datetime.fromtimestamp(path.stat().st_mtime, UTC).date()
    file, problems = read_foreign(data, kind, modified)
    if not file.patterns and not any(_at(data, name) == [] for name in _LISTS):
        reason = problems[0] if problems else "no patterns in it"
        raise ArtifactError(str(path), "", reason, hint=_HINT)
    return Found(file, foreign=True, problems=tuple(f"{path}: {each}" for each in problems))


def _entries(data: Json, where: str = "") -> Iterator[tuple[str, Json]]:
    if isinstance(data, list):
        yield from ((f"{where}.{number}".lstrip("."), each) for number, each in enumerate(data))
    elif isinstance(data, dict):
        for name in _LISTS:
            yield from _entries(data.get(name), f"{where}.{name}".lstrip("."))


def _pattern(entry: Json, kind: Kind, updated: date) -> Pattern:
    """One entry; ValidationError when it has no title or advises nothing."""
    issue = _at(entry, "issue") or _at(entry, "gap_identified")
    description = _text(_at(entry, "description") or _at(issue, "description") or issue)
    title = _cut(_title(entry, issue) or description, TITLE_LIMIT)
    seen = sorted(day for name in ("first_seen", "last_seen") if (day := _day(_at(entry, name))))
    return Pattern(
        id=pattern_id(kind, title),
        kind=kind,
        title=title,
        description=_cut(". ".join(filter(None, (description, _cause(entry)))), TEXT_LIMIT),
        advice=_cut(_advice(entry, issue), TEXT_LIMIT),
        phases=_phases(entry, issue) or (_DEFAULT_PHASE[kind],),
        severity=_severity(_at(entry, "severity") or _at(entry, "priority")),
        project_types=tuple(
            "any" if t == "all" else t for t in _names(_at(entry, "project_types"))
        ),
        tech_stack=_names(_at(entry, "tech_stack")),
        keywords=_names(_at(_at(entry, "risk_detection"), "trigger_keywords")),
        first_seen=seen[0] if seen else updated,
        last_seen=seen[-1] if seen else updated,
        builds=_builds(entry, title),
    )


def _title(entry: Json, issue: Json) -> str:
    named = next((text for n in ("title", "name") if (text := _text(_at(entry, n)))), "")
    ids = (_text(_at(entry, n)) for n in ("pattern_id", "learning_id"))
    return named or _text(_at(issue, "title")) or next(filter(None, ids), "").replace("-", " ")


def _advice(entry: Json, issue: Json) -> str:
    """The solution where there is one, else the first other field that says what to do."""
    solution = _solution(entry) or _at(issue, "solution")
    others = (found for name in _ADVICE if (found := _at(entry, name)))
    return _text(solution or next(others, None))


def _solution(entry: Json) -> Json:
    return _at(entry, "solution") or _at(entry, "solutions")


def _cause(entry: Json) -> str:
    cause = _text(_at(entry, "root_cause"))
    return f"Cause: {cause}" if cause else ""


def _phases(entry: Json, issue: Json) -> tuple[Phase, ...]:
    """The phases that the entry names: as a list, as keys of its solution, or in prose."""
    solution = _solution(entry)
    named = [
        *_names(_at(entry, "applies_to_phases")),
        *(solution if isinstance(solution, Mapping) else ()),
        _text(_at(entry, "should_detect_in_phase")),
        _text(_at(issue, "should_detect_in_phase")),
    ]
    found = [_PHASE_WORDS[word] for text in named for word in words(text) if word in _PHASE_WORDS]
    return tuple(dict.fromkeys(found))


def _severity(value: Json) -> Severity:
    return next((each for each in SEVERITIES if each == _text(value).lower()), "medium")


def _builds(entry: Json, title: str) -> tuple[str, ...]:
    """A name for each build behind a bare count, always the same: a second import adds nothing."""
    frequency = _at(entry, "frequency")
    count = min(frequency, _MOST_BUILDS) if isinstance(frequency, int) else 0
    name = _cut(_text(_at(entry, "pattern_id")) or title, TITLE_LIMIT - 20)
    return tuple(f"imported {name} {number}" for number in range(1, count + 1))


def _at(data: Json, name: str) -> Json:
    return data.get(name) if isinstance(data, Mapping) else None


def _text(value: Json) -> str:
    """Any JSON as prose; nothing for null, true and false."""
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {text}" for key, each in value.items() if (text := _text(each)))
    if isinstance(value, list):
        return "; ".join(filter(None, map(_text, value)))
    return "" if value is None or isinstance(value, bool) else str(value).strip()


def _names(value: Json) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else [value]
    return tuple(
        _cut(each, TITLE_LIMIT) for each in listed if isinstance(each, str) and each.strip()
    )


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _day(value: Json) -> date | None:
    found = re.match(r"\d{4}-\d{2}-\d{2}", value) if isinstance(value, str) else None
    try:
        return date.fromisoformat(found.group()) if found else None
    except ValueError:
        return None
