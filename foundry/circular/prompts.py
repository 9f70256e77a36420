"""The versions of the prompt, from the journal: what was proposed, tried, kept and rejected. Pure.

The prompt that the person gave is the first version and never changes. A thread may propose another
wording; it is told to the next one, and the measure after that decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from foundry.circular.base_context import fingerprint
from foundry.circular.history import assignment_of, mark_of, states_of
from foundry.circular.metrics import gains, is_measured
from foundry.circular.refining import active, begin, measured, propose
from foundry.circular.schema import IterationState, PromptHistory, PromptVersion
from foundry.circular.state_schema import Proposal, Report
from foundry.errors import ArtifactError
from foundry.schema.journal import Entry
from foundry.store.project import FOLDER

WHERE = f"{FOLDER}/journal.jsonl"


@dataclass(frozen=True, slots=True)
class Prompts:
    """Every version so far, and what the last iteration changed about them."""

    history: PromptHistory
    news: str = ""

    @property
    def active(self) -> PromptVersion:
        """The version that the next thread is given."""
        return active(self.history)


def prompts_of(entries: Sequence[Entry]) -> Prompts | None:
    """The versions of the prompt of a run; None where it was not given by `foundry circular`.

    Raises ArtifactError for a proposal whose text is not the one that was journalled. Where a
    person gives another prompt, the history begins anew with it.
    """
    assignment = assignment_of(entries)
    if assignment is None:
        return None
    found = Prompts(begin(assignment.prompt))
    if not assignment.settings.refine:
        return found
    states = states_of(entries)
    gained = steady_gains(states)
    place, report = -1, None
    for number, entry in enumerate(entries):
        own = assignment_of([entry])
        if own is not None and own.prompt != found.history.versions[0].text:
            found = Prompts(begin(own.prompt))
        mark = mark_of(entry)
        if mark is None:
            continue
        if mark.report:
            place, report = place + 1, mark.report
        if mark.measure and report:
            found = _after(found, report, states[place], gained[place], f"line {number + 1}")
    return found


def proposal_of(text: str, because: str) -> Proposal | None:
    """A proposed wording for the journal, with its hash; None where there is none."""
    text = text.strip()
    if not text:
        return None
    return Proposal(text=text, sha256=fingerprint(text), because=because.strip())


def steady_gains(states: Sequence[IterationState]) -> tuple[int, ...]:
    """The gain of every iteration by what was known then: what was decided by it stays decided."""
    first = next((n for n in range(len(states)) if is_measured(states[n : n + 1])), len(states))
    return (*gains(states[:first]), *gains(states)[first:])


def _after(found: Prompts, report: Report, state: IterationState, gain: int, where: str) -> Prompts:
    """The versions once an iteration was measured: its own is judged, then its proposal taken."""
    trial = found.active
    history = measured(found.history, state.number, gain, state.tokens)
    judged = history.versions[trial.number - 1]
    told = []
    if trial.decision == "trial":
        told.append(f"version {judged.number} {judged.decision}: {judged.verdict}")
    if report.proposal:
        history, news = _proposed(history, judged, report.proposal, where)
        told.append(news)
    return Prompts(history, "; ".join(told))


def _proposed(
    history: PromptHistory, told: PromptVersion, new: Proposal, where: str
) -> tuple[PromptHistory, str]:
    """The versions with a proposal of a thread that was `told` one of them, and what became of it.

    After a rejected one an iteration has no trial: with one after the other, threshold and model
    would stay as they are for good, however stuck it is.
    """
    if fingerprint(new.text) != new.sha256:
        raise ArtifactError(
            WHERE,
            f"{where}, circular.report.proposal",
            "its hash is not the one that was journalled with it: somebody changed it",
            hint=f"`git log -p -- {WHERE}` shows where; begin a new run with what you want",
        )
    if told.decision == "rejected":
        return history, f"a new wording is not tried: version {told.number} was rejected just now"
    proposal = propose(history, new.text, new.because)
    if proposal.accepted:
        why = f" ({new.because})" if new.because else ""
        return proposal.history, f"{proposal.why}{why}"
    return proposal.history, f"a new wording is not tried: {proposal.why}"
