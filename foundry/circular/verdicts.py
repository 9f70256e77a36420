"""From what a thread says to a status: a verdict decides nothing before it is verified. Pure.

A claim comes from a submission, or from closing words where the model would not call tools. Words
can only ever say "looks done: verify"; they neither end a run nor block it. An end takes passed
checks, a clean and committed tree, and threads enough that agree.
"""

from dataclasses import dataclass
from typing import Literal

from foundry.circular.phrases import Reading, read_closing
from foundry.circular.schema import IterationStatus, Submission

AGREEING = 2
"""Threads that have to find it done, the one that claims it included."""

LOOKS_DONE = "looks done: verify"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a thread says of the task."""

    kind: Literal["done", "more", "blocked", "unclear"]
    source: Literal["submission", "words"]
    reason: str
    remaining: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """What the harness found when it looked whether a claim holds."""

    checks: bool | None
    """Whether every check passes; None: there is no check."""
    clean: bool
    """Nothing in the tree is uncommitted."""
    committed: bool
    """The work is in a commit."""
    agreeing: int
    """Fresh threads that say the same, the claimant included."""
    needed: int = AGREEING


@dataclass(frozen=True, slots=True)
class Settled:
    """The status of an iteration, whether the run ends with it, and why."""

    status: IterationStatus
    ends: bool
    reason: str


def claim_of(submission: Submission) -> Claim:
    """What a submission claims; done with something left is more."""
    remaining = tuple(each for each in submission.remaining if each.strip())
    if submission.verdict == "done" and remaining:
        reason = f"it says done, and that {len(remaining)} things are left"
        return Claim("more", "submission", reason, remaining)
    return Claim(submission.verdict, "submission", submission.evidence, remaining)


def claim_in_words(text: str) -> Claim:
    """What the closing words of a thread come to: at most that it looks done."""
    reading: Reading = read_closing(text)
    return Claim(reading.kind, "words", reading.reason)


def settle(claim: Claim, verification: Verification | None = None) -> Settled:
    """The status that a claim leads to, with what the harness verified of it so far."""
    match claim.kind:
        case "more":
            return Settled(IterationStatus.CONTINUE, False, claim.reason or "work is left")
        case "blocked" if claim.source == "submission":
            return _blocked(claim, verification)
        case "done":
            return _done(verification)
    return Settled(IterationStatus.UNKNOWN, False, f"no verdict: {claim.reason}")


def _blocked(claim: Claim, verification: Verification | None) -> Settled:
    """Being blocked is only a claim, too: as many threads have to agree."""
    agreed = verification is not None and verification.agreeing >= verification.needed
    return Settled(IterationStatus.BLOCKED, agreed, claim.reason)


def _done(verification: Verification | None) -> Settled:
    if verification is None:
        return Settled(IterationStatus.UNKNOWN, False, LOOKS_DONE)
    missing = _missing(verification)
    if missing:
        return Settled(IterationStatus.CONTINUE, False, f"it is not done: {missing}")
    if verification.agreeing < verification.needed:
        what = f"{verification.agreeing} of {verification.needed} threads find it done"
        return Settled(IterationStatus.UNKNOWN, False, what)
    if verification.checks is None:
        what = f"{verification.agreeing} threads find it done, and no check shows it"
        return Settled(IterationStatus.UNKNOWN, True, what)
    what = f"every check passes, and {verification.agreeing} threads find it done"
    return Settled(IterationStatus.SUCCESS, True, what)


def _missing(verification: Verification) -> str:
    if verification.checks is False:
        return "a check fails"
    if not verification.committed:
        return "the work is not committed"
    return "" if verification.clean else "the tree has changes that are not committed"
