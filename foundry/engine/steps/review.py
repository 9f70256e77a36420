"""Review: a reader who wrote none of it says what is wrong, each fault with a command that fails.

Four kinds of step: `review` of the project and `docs-review` of its documentation, and after each
another conversation that knows only the findings and has to reproduce them. Neither's word
decides: a finding counts when its command fails, whoever runs it, in a clean copy.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field

from foundry.engine.clean_copy import cleaned, in_clean_copy
from foundry.engine.evidence.diffs import diff_since
from foundry.engine.findings import CODE, DOCS, check_of, review_in
from foundry.engine.gates import run_once
from foundry.engine.markdown import bullets, document, section
from foundry.engine.records import one_line
from foundry.engine.step_context import StepContext, is_documentation
from foundry.engine.step_kind import GateResult, Result, StepKind
from foundry.engine.steps.checks import MAX_FIXES, SHOWN_OUTPUT, final_report
from foundry.engine.verdict import flags_of, last_checks
from foundry.schema.base import Value
from foundry.schema.command import CheckResult
from foundry.schema.events import Note
from foundry.schema.flag import FlagKind, Ruling
from foundry.schema.review import Asked, Finding, Review
from foundry.store.artifacts import read_text
from foundry.store.project import DOCS_REVIEWED, FINAL_REPORT, results_name, review_name

MAX_FINDINGS = 5
KEPT = 50
"""Things asked for, remarks and rulings that the journal keeps, which every commit carries."""
KEPT_TEXT = 400
"""Characters of each of their texts."""

RULED: tuple[FlagKind, ...] = ("tests", "protected")
"""The kinds of flags that a reader may find justified by the spec."""

_OF = {CODE: "the project", DOCS: "the documentation"}


class ReviewSubmission(Value):
    """What a reader found."""

    asked: tuple[Asked, ...] = Field(
        min_length=1, description="your own list, with what shows each or what is missing"
    )
    findings: tuple[Finding, ...] = Field((), max_length=MAX_FINDINGS)
    rulings: tuple[Ruling, ...] = Field((), description="on flags that ask for one")
    remarks: tuple[str, ...] = Field((), description="what is no fault, or what no command shows")


class Reproduction(Value):
    """What became of one finding in somebody else's hands."""

    title: str = Field(description="title of the finding, as it is given")
    reproduced: bool = Field(description="whether it is a real fault, which you saw")
    words: str = Field(description="what you ran and saw")


class ReproductionSubmission(Value):
    """Every finding, tried again."""

    findings: tuple[Reproduction, ...]


# -- a review --------------------------------------------------------------------------------------


def _review_values(wanted: Callable[[str], bool]) -> Callable[[StepContext], Mapping[str, Any]]:
    def values(ctx: StepContext) -> Mapping[str, Any]:
        flags = flags_of(ctx.records)
        return {
            "base": ctx.base,
            "diff": diff_since(ctx.repository, ctx.base, wanted),
            "flags": [f"- {flag.id}: {flag.words}" for flag in flags],
            "to_rule": [flag.id for flag in flags if flag.kind in RULED],
        }

    return values


def _review_gate(ctx: StepContext, done: ReviewSubmission) -> GateResult:
    """Rulings are about flags that are there, and every command fails in the clean copy."""
    known = {flag.id for flag in flags_of(ctx.records) if flag.kind in RULED}
    problems = [
        f"there is no flag {each.flag!r} to rule on"
        for each in done.rulings
        if each.flag not in known
    ]
    commanded = [each for each in done.findings if each.command.strip()]
    names = [check_of(each).name for each in commanded]
    problems += [f"the title {n!r} is used twice" for n in sorted({*names}) if names.count(n) > 1]
    if problems:
        return GateResult(tuple(problems))
    checks = _tried(ctx, commanded)
    holding = (
        f"{check.name}: `{check.command.strip()}` ended with {check.verdict} in a clean copy: give "
        'it one that fails while the fault is there, make it a remark (command ""), or drop it'
        for check in checks
        if check.holds
    )
    return GateResult(tuple(holding), checks)


def _tried(ctx: StepContext, found: Iterable[Finding]) -> tuple[CheckResult, ...]:
    """The command of each finding, run in the copy as it was before anybody worked there."""
    results = []
    for finding in found:
        cleaned(ctx)
        results.append(ctx.observed(run_once(ctx, check_of(finding), "finding")))
    return tuple(results)


def _review_result(variable: str) -> Callable[[StepContext, ReviewSubmission, GateResult], Result]:
    def result(ctx: StepContext, done: ReviewSubmission, evidence: GateResult) -> Result:
        before = review_in(ctx.context, variable)
        found = tuple(each for each in done.findings if each.command.strip())
        now = Review(
            candidates=bool(found),
            asked=tuple(_short_asked(each) for each in done.asked[:KEPT]),
            remarks=tuple(_short(each) for each in _remarks(done)[:KEPT]),
            rulings=tuple(_short_ruling(each) for each in done.rulings[:KEPT]),
            found=found,
            unreproduced=before.unreproduced,
        )
        name = DOCS_REVIEWED if variable == DOCS else review_name(ctx.iteration)
        told = f"reviewer: {_count(len(found), 'finding')} to reproduce"
        return Result(
            f"test: review {_OF[variable]}, {_count(len(found), 'finding')}",
            told,
            patch={variable: now.model_dump(mode="json")},
            artifacts={name: review(done, evidence.checks)},
            event=lambda _record: Note(told),
        )

    return result


def _remarks(done: ReviewSubmission) -> list[str]:
    """What was said that nothing can be run for."""
    unshown = [each for each in done.findings if not each.command.strip()]
    return [*(f"{each.title}: {each.explanation}" for each in unshown), *done.remarks]


def _short(text: str) -> str:
    return one_line(text[:KEPT_TEXT])


def _short_asked(asked: Asked) -> Asked:
    return asked.model_copy(update={name: _short(text) for name, text in asked})


def _short_ruling(ruling: Ruling) -> Ruling:
    return ruling.model_copy(update={"reason": _short(ruling.reason)})


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def review(done: ReviewSubmission, checks: Sequence[CheckResult]) -> str:
    """review-iteration-N.md, review-docs.md."""
    rows = ["| asked for | code | test | missing |", "|---|---|---|---|"]
    rows += [f"| {' | '.join(_cell(text) for _, text in asked)} |" for asked in done.asked]
    ruled = (
        f"{each.flag}: {'the spec asks for it' if each.justified else '**not justified**'}. "
        f"{each.reason}"
        for each in done.rulings
    )
    return document(
        "# Review",
        "\n".join(rows),
        section("Findings", _listed(done.findings, checks)),
        section("Rulings", bullets(ruled)),
        section("Remarks", bullets(_remarks(done))),
    )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _listed(found: Iterable[Finding], checks: Sequence[CheckResult]) -> str:
    """Findings that have a command, with how it ended."""
    ended = {check.name: check for check in checks}
    named = ((each, ended.get(check_of(each).name)) for each in found if each.command.strip())
    return "\n\n".join(_finding(each, check) for each, check in named if check)


def _finding(finding: Finding, check: CheckResult) -> str:
    fence = "~~~~~~"
    output = check.output[-SHOWN_OUTPUT:].strip().replace(fence, "~~~")
    shown = f"$ {finding.command.strip().replace(fence, '~~~')}\n{output or '(no output)'}"
    return document(
        f"### {one_line(finding.title)}",
        finding.explanation,
        f"{fence}text\n{shown}\n({check.verdict})\n{fence}",
    ).strip()


# -- its findings, reproduced ----------------------------------------------------------------------


def _found_values(variable: str) -> Callable[[StepContext], Mapping[str, Any]]:
    return lambda ctx: {"found": review_in(ctx.context, variable).found}


def _reproduced_gate(
    variable: str,
) -> Callable[[StepContext, ReproductionSubmission], GateResult]:
    """All findings are answered; what counts is said to be real and fails again."""

    def gate(ctx: StepContext, done: ReproductionSubmission) -> GateResult:
        found = review_in(ctx.context, variable).found
        if sorted(each.title for each in done.findings) != sorted(each.title for each in found):
            titles = "; ".join(each.title for each in found)
            return GateResult((f"answer each of these findings once, by its title: {titles}",))
        real = {each.title for each in done.findings if each.reproduced}
        checks = _tried(ctx, (each for each in found if each.title in real))
        return GateResult(checks=tuple(check for check in checks if not check.holds))

    return gate


def _reproduced_result(
    variable: str, heals: bool
) -> Callable[[StepContext, ReproductionSubmission, GateResult], Result]:
    def result(ctx: StepContext, done: ReproductionSubmission, evidence: GateResult) -> Result:
        before, names = review_in(ctx.context, variable), {check.name for check in evidence.checks}
        real = tuple(each for each in before.found if check_of(each).name in names)
        lost = len(before.found) - len(real)
        now = before.model_copy(update={
            "candidates": False, "found": real, "open": len(real),
            "unreproduced": before.unreproduced + lost,
        })  # fmt: skip
        told = f"reviewer: {_count(len(before.found), 'finding')}, {len(real)} reproduced"
        words = bullets(f"{each.title}: {each.words}" for each in done.findings)
        unsettled = bool(heals and real)
        return Result(
            f"test: {len(real)} of {_count(len(before.found), 'finding')} reproduced",
            f"{told}\n{words}",
            patch={variable: now.model_dump(mode="json"), **(_unsettled(ctx) if unsettled else {})},
            artifacts=_told(ctx, real, evidence.checks) if unsettled else {},
            event=lambda _record: Note(told),
        )

    return result


def _unsettled(ctx: StepContext) -> dict[str, Any]:
    """The checks as they stand now: there is something to heal, while there are iterations left."""
    settled = ctx.instruction.loop is None or ctx.iteration > MAX_FIXES
    return {"tests": {"passed": False, "settled": settled, "iterations": ctx.iteration}}


def _told(
    ctx: StepContext, real: Sequence[Finding], checks: tuple[CheckResult, ...]
) -> dict[str, str]:
    """The results of the iteration with the findings, for the plan that heals them."""
    name = results_name(ctx.iteration)
    results = read_text(ctx.project, name) or ""
    return {
        name: document(results, section("Findings of the reviewer", _listed(real, checks))),
        FINAL_REPORT: final_report(ctx.iteration, False, (*last_checks(ctx.records), *checks)),
    }


def _kind(name: str, variable: str, wanted: Callable[[str], bool]) -> StepKind:
    return StepKind(
        name=name,
        submission=ReviewSubmission,
        values=_review_values(wanted),
        gate=_review_gate,
        result=_review_result(variable),
        hold=in_clean_copy,
    )


def _reproducing(name: str, variable: str, *, heals: bool) -> StepKind:
    return StepKind(
        name=name,
        submission=ReproductionSubmission,
        values=_found_values(variable),
        gate=_reproduced_gate(variable),
        result=_reproduced_result(variable, heals),
        hold=in_clean_copy,
    )


REVIEW = _kind("review", CODE, lambda _path: True)
REPRODUCE = _reproducing("reproduce", CODE, heals=True)
DOCS_REVIEW = _kind("docs-review", DOCS, is_documentation)
DOCS_REPRODUCE = _reproducing("docs-reproduce", DOCS, heals=False)
