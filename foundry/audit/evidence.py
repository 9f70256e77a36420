"""What is said of a run at its end, against its journal and what stands outside of its history."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

from foundry import __version__
from foundry.audit.history import Link
from foundry.engine.pinned_workflow import kept
from foundry.engine.summary import Facts, evidence
from foundry.errors import FoundryError
from foundry.schema.audit import Finding, agrees, differs, unknown
from foundry.schema.base import Json
from foundry.schema.journal import Entry, Start, Stop
from foundry.schema.summary import Evidence
from foundry.store import runs
from foundry.store.artifacts import read_plan
from foundry.store.git.repository import Repository
from foundry.store.ledger import Spent
from foundry.store.project import EVIDENCE, Project
from foundry.store.signature import Signer, examined
from foundry.workflow.cursor import Cursor, after

OURS = ("chain", "follows", "foundry")
"""Fields that bind the evidence to its place; the rest follows from the journal."""


def bound(said: Evidence, entries: Sequence[Entry], links: Sequence[Link]) -> Finding:
    """Whether the evidence belongs to the line and the commit before the run's last."""
    if why := _unbound(said, entries):
        return unknown(EVIDENCE, why)
    if why := _misplaced(said, entries[-1], links[-1]):
        return differs(EVIDENCE, why)
    return agrees(EVIDENCE, f"belongs to the end of the run: {said.status}")


def _unbound(said: Evidence, entries: Sequence[Entry]) -> str:
    """Why nothing can be said of where the evidence belongs."""
    if not said.chain:
        return "made before there was a chain"
    earlier = any(isinstance(e, Stop) and e.previous == said.chain for e in entries[:-1])
    return "the run went on after it was written" if earlier else ""


def _misplaced(said: Evidence, last: Entry, link: Link) -> str:
    """Where else the evidence belongs than to the run's last line and commit."""
    if said.chain != last.previous:
        return "names a line that does not stand before the run's last"
    if said.follows != link.parent:
        return "names another commit than the one before the run's last"
    status = getattr(last, "status", "")
    if (said.run, said.status) != (last.run, status):
        return f"says {said.status} of {said.run}, and the journal {status} of {last.run}"
    return ""


def derived(
    project: Project, repository: Repository, entries: tuple[Entry, ...], said: Evidence
) -> Finding:
    """Whether the evidence is what its journal, plan and commits make of it."""
    about = f"{EVIDENCE}, field by field"
    if said.foundry != __version__:
        writer = said.foundry or "an earlier version"
        return unknown(about, f"written by Foundry {writer}; this is {__version__}")
    try:
        expected = _expected(project, repository, entries, said)
    except FoundryError as error:
        return unknown(about, f"can't be derived anew: {error}")
    place = _difference(_plain(expected), _plain(said))
    if place:
        return differs(about, f"{place} is not what the journal says")
    return agrees(about, "follows from the journal")


def outside(source: Repository, commit: str, last: str, run: str, *, named: bool) -> list[Finding]:
    """What speaks for a history from outside of it: this home's own record, or a full hash.

    `commit` is what was asked for, `last` the run's last commit in it.
    """
    found = [agrees("history", "you named the commit by its whole hash")] if named else []
    known = runs.head(run)
    if known and not source.ref(known):
        found.append(unknown("history", f"this home knows {known[:12]} as the run's last commit, "
                             "which is not in this repository"))  # fmt: skip
    elif known and known != last and source.contains(known, last):
        found.append(agrees("history", f"this home knows it; the run went on to {known[:12]}"))
    elif known and source.contains(commit, known):
        found.append(agrees("history", "ends with the commit that this home has kept"))
    elif known:
        found.append(differs("history", f"was rewritten: this home knows {known[:12]} as the run's "
                             f"last commit, and not {last[:12]}"))  # fmt: skip
    return found


def signed(text: str, signature: str, by: Signer) -> Finding:
    """Whether the signature fits the evidence, and whose it is."""
    found = examined(text, signature, by)
    if found.why:
        return unknown("signature", f"can't be examined: {found.why}")
    if not found.whole:
        return differs("signature", f"does not fit {EVIDENCE}")
    if found.who or found.own:
        return agrees("signature", f"of {found.who or 'your own key'}, {found.key}")
    return unknown("signature", f"whole, by a key that your git settings don't know: {found.key}")


def vouched(found: Sequence[Finding]) -> list[Finding]:
    """The findings from outside, or that there are none."""
    if any(each.about in ("history", "signature") for each in found):
        return list(found)
    words = (
        "neither this home nor a signature knows it: a history that was rewritten as a whole, "
        "chain included, can't be noticed here"
    )
    return [*found, unknown("history", words)]


def _expected(
    project: Project, repository: Repository, entries: tuple[Entry, ...], said: Evidence
) -> Evidence:
    start = next(entry for entry in entries if isinstance(entry, Start))
    workflow, before = kept(start).workflow, entries[:-1]
    cursor = reduce(lambda at, entry: after(workflow, at, entry), before, Cursor())
    facts = Facts(
        workflow=workflow,
        journal=before,
        cursor=cursor,
        plan=read_plan(project),
        commits=repository.commits(start.run)[:-1],
        branch=start.branch,
        spent_in_all=Spent(),
    )
    return evidence(facts, said.status)


def _plain(value: Evidence) -> Json:
    return value.model_dump(mode="json", exclude=set(OURS))


def _difference(wanted: Any, found: Any, path: str = "") -> str:
    """Where two JSON values first differ, as a path; empty where they don't."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        keys = [key for key in wanted if wanted[key] != found.get(key)]
        return _difference(wanted[keys[0]], found.get(keys[0]), f"{path}.{keys[0]}") if keys else ""
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for number, pair in enumerate(zip(wanted, found, strict=True)):
            if pair[0] != pair[1]:
                return _difference(*pair, f"{path}[{number}]")
        return ""
    return "" if wanted == found else path.lstrip(".") or "all of it"
