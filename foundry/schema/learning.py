"""What a build teaches: its feedback, and the patterns that later builds are told.

Ids, dates, counts and provenance are set by code; a model only words a lesson.
"""

import hashlib
from collections import Counter
from datetime import UTC, date
from typing import Annotated, Literal, get_args

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BeforeValidator,
    Field,
    StringConstraints,
    model_validator,
)

from foundry.schema.base import Value
from foundry.schema.run import Status
from foundry.tokenize import words

Phase = Literal["scout", "architect", "builder", "test", "docs", "deploy", "feedback"]
PHASES: tuple[Phase, ...] = get_args(Phase)

Severity = Literal["low", "medium", "high", "critical"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""In rising order."""

Kind = Literal["common-issue", "test", "architecture", "scout"]
FILES: dict[Kind, str] = {
    "common-issue": "common-issues.json",
    "test": "test-patterns.json",
    "architecture": "architecture-patterns.json",
    "scout": "scout-learnings.json",
}
"""The file that holds the patterns of a kind, in a project and in a library."""

TEXT_LIMIT = 2000
TITLE_LIMIT = 160


def _encodable(text: object) -> object:
    """Half a surrogate pair, which JSON escapes can bring, can't be written as UTF-8."""
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else text


def _one_line(text: object) -> object:
    return " ".join(text.split()) if isinstance(text, str) else text


def _sorted_set(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))


def _in_order(phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
    return tuple(phase for phase in PHASES if phase in phases)


Text = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=TEXT_LIMIT),
    BeforeValidator(_encodable),
]
Title = Annotated[
    str,
    StringConstraints(min_length=1, max_length=TITLE_LIMIT),
    BeforeValidator(_one_line),
    BeforeValidator(_encodable),
]
Names = Annotated[tuple[Title, ...], AfterValidator(_sorted_set)]


class Issue(Value):
    """Something that went wrong in this build."""

    title: Title = Field(description="the problem in general words, without this project's names")
    description: Text = Field(description="what was seen")
    root_cause: Text = Field(description="why it happened")
    solution: Text = Field(description="what mended it")
    detected_in_phase: Phase = Field(description="the phase in which it showed")
    should_detect_in_phase: Phase = Field(description="the earliest phase that could have seen it")
    severity: Severity = Field(description="how much harm it does where it goes unseen")
    prevention: Text = Field(
        min_length=1, description="what that phase should do in the next build, as an order"
    )
    technologies: Names = Field(
        (), description="what it is bound to, such as pytest or npm; empty if it holds anywhere"
    )


class Success(Value):
    """Something that worked and is worth doing again."""

    title: Title = Field(description="the practice in general words, without this project's names")
    description: Text = Field(min_length=1, description="what to do, when, and why it works")
    kind: Literal["architecture", "test", "scout"] = Field(
        description="a way to design, a way to test, or something to find out first"
    )
    technologies: Names = Field(
        (), description="what it is bound to, such as pytest or npm; empty if it holds anywhere"
    )


class Recommendation(Value):
    """Advice to a phase of later builds."""

    for_phase: Phase
    recommendation: Text = Field(min_length=1, description="one thing to do, as an order")
    priority: Severity


class FeedbackSubmission(Value):
    """What this build teaches the next ones. Leave out what is true of this project alone."""

    issues: tuple[Issue, ...] = Field((), max_length=20, description="what went wrong")
    worked: tuple[Success, ...] = Field((), max_length=20, description="what worked")
    recommendations: tuple[Recommendation, ...] = Field(
        (), max_length=20, description="advice that no issue above already gives"
    )


class Feedback(Value):
    """feedback/build-feedback-<timestamp>.json: the submission, and the facts of the build."""

    version: Literal[1] = 1
    run: str = Field(min_length=1)
    timestamp: AwareDatetime
    project_type: str
    tech_stack: tuple[str, ...] = ()
    status: Status
    test_iterations: int = Field(ge=0)
    duration_seconds: float = Field(ge=0)
    issues: tuple[Issue, ...] = ()
    worked: tuple[Success, ...] = ()
    recommendations: tuple[Recommendation, ...] = ()

    @property
    def file_name(self) -> str:
        """The name of its file; its timestamp is UTC, so names sort by time."""
        return f"build-feedback-{self.timestamp.astimezone(UTC):%Y%m%dT%H%M%SZ}.json"


class Pattern(Value):
    """A lesson. Two builds that teach the same one share its id, and the pattern holds both."""

    id: str = Field(min_length=1, max_length=64)
    kind: Kind
    title: Title
    description: Text = ""
    advice: Text = Field(min_length=1)
    phases: Annotated[tuple[Phase, ...], AfterValidator(_in_order)] = Field(min_length=1)
    severity: Severity = "medium"
    project_types: Names = ()
    tech_stack: Names = ()
    keywords: Names = ()
    first_seen: date
    last_seen: date
    builds: Names = ()
    source: Literal["local", "shipped"] = "local"

    @property
    def frequency(self) -> int:
        """In how many builds it was seen; shipped knowledge starts at none."""
        return len(self.builds)

    @property
    def summary(self) -> str:
        """The pattern on one line."""
        advice = " ".join(self.advice.split())
        return f"[{self.severity}] {self.title}: {advice}"


class PatternFile(Value):
    """The patterns of one kind, by id."""

    version: Literal[1] = 1
    kind: Kind
    last_updated: date
    patterns: tuple[Pattern, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _by_id(cls, data: object) -> object:
        """One order, so that equal contents are equal values and equal bytes."""
        if isinstance(data, dict) and isinstance(patterns := data.get("patterns"), list | tuple):
            return {**data, "patterns": sorted(patterns, key=_id_of)}
        return data

    @model_validator(mode="after")
    def _hangs_together(self) -> "PatternFile":
        counts = Counter(pattern.id for pattern in self.patterns)
        problems = [f"the id {each!r} is used twice" for each, n in counts.items() if n > 1]
        problems += [
            f"{pattern.id!r} is of kind {pattern.kind!r}, the file of kind {self.kind!r}"
            for pattern in self.patterns
            if pattern.kind != self.kind
        ]
        if problems:
            raise ValueError("; ".join(problems))
        return self


def pattern_id(kind: Kind, title: str) -> str:
    """The id of a lesson: its kind and the set of its title's words, whatever their order."""
    essence = " ".join(sorted(set(words(title)))) or title.casefold()
    digest = hashlib.sha256(f"{kind}\n{essence}".encode("utf-8", "replace"))
    return f"{kind}-{digest.hexdigest()[:12]}"


def _id_of(pattern: object) -> str:
    found = pattern.get("id") if isinstance(pattern, dict) else getattr(pattern, "id", "")
    return str(found)
