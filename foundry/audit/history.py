"""The chain through a run's commits: read from a clone, and judged. Judging is pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from foundry.engine.accept import JOURNAL
from foundry.errors import JournalError
from foundry.schema.audit import Finding, agrees, differs, unknown
from foundry.schema.journal import Entry, Start, Stop
from foundry.store import journal
from foundry.store.git.query import CHAIN_TRAILER, Query
from foundry.store.project import EDITABLE, FOLDER

SCRATCH = "foundry-audit-index"
WHEN_STOPPED = "a run that is stopped changes nothing of the project"


@dataclass(frozen=True, slots=True)
class Link:
    """A commit of a run. `tree` is what it holds with the journal as it was before it."""

    sha: str
    parent: str
    chain: str
    lines: tuple[str, ...]
    tree: str
    changed: tuple[str, ...]


def links(repository: Query, commit: str, run: str) -> tuple[Link, ...]:
    """The commits of a run in the history of one, oldest first; raises ProjectError for git."""
    return tuple(_link(repository, sha) for sha in repository.commits_of(commit, run))


def lines_at(repository: Query, commit: str) -> tuple[str, ...]:
    """The lines of the journal in a commit."""
    return journal.split(repository.show(JOURNAL, commit) or "").lines


def _link(repository: Query, sha: str) -> Link:
    form = f"--format=%P%x1f%(trailers:key={CHAIN_TRAILER},valueonly,separator=%x20)"
    parents, _, chain = repository.run("log", "-1", form, sha).strip("\n").partition("\x1f")
    parent = parents.partition(" ")[0]
    changed = repository.changed_between(parent, sha) if parent else ()
    tree = _tree_before(repository, sha, parent) if parent else ""
    return Link(sha, parent, chain.strip(), lines_at(repository, sha), tree, changed)


def _tree_before(repository: Query, sha: str, parent: str) -> str:
    """The tree of a commit with the journal of its parent; nothing where that has none."""
    status, blob, _ = repository.attempt("rev-parse", "--verify", "--quiet", f"{parent}:{JOURNAL}")
    if status:
        return ""
    scratch = Path(repository.git_dir(), SCRATCH)
    env = {"GIT_INDEX_FILE": str(scratch)}
    try:
        repository.run("read-tree", sha, env=env)
        cached = f"100644,{blob.strip()},{JOURNAL}"
        repository.run("update-index", "--cacheinfo", cached, env=env)
        return repository.run("write-tree", env=env).strip()
    finally:
        scratch.unlink(missing_ok=True)


def entries_of(found: Sequence[Link]) -> tuple[Entry, ...]:
    """The journal of the last commit; raises JournalError that names a damaged line."""
    return journal.parse(found[-1].lines, source=JOURNAL) if found else ()


def judged(found: Sequence[Link]) -> list[Finding]:
    """Whether lines, commits and trees hang together."""
    try:
        entries = entries_of(found)
    except JournalError as error:
        return [differs("journal", str(error))]
    if len(entries) != len(found) or not entries or not isinstance(entries[0], Start):
        text = f"{len(entries)} lines, but {len(found)} commits of the run"
        return [differs("journal", text)]
    return [
        _first("journal", _lines(found), f"{len(found)} lines, each added by its own commit"),
        _chain(found, entries),
        _first("commits", _trees(found, entries), "each holds the tree that its line names"),
    ]


def _first(about: str, problems: Iterator[str], otherwise: str) -> Finding:
    problem = next(problems, "")
    return differs(about, problem) if problem else agrees(about, otherwise)


def _lines(found: Sequence[Link]) -> Iterator[str]:
    before: tuple[str, ...] = ()
    for each in found:
        if each.lines[:-1] != before or not each.lines:
            yield f"{_short(each)} does not add one line to the journal before it"
        before = each.lines


def _chain(found: Sequence[Link], entries: Sequence[Entry]) -> Finding:
    """Whether each line names the one before it, and each commit its line."""
    old = next((n for n, each in enumerate(found) if each.chain), len(found))
    problem = next(_broken(found, entries, old), "")
    if problem:
        return differs("chain", problem)
    if old:
        return unknown("chain", f"{old} of {len(found)} lines were made before there was a chain")
    return agrees("chain", f"whole: each of {len(found)} lines names the one before it")


def _broken(found: Sequence[Link], entries: Sequence[Entry], old: int) -> Iterator[str]:
    last = ""
    for number, (each, entry) in enumerate(zip(found, entries, strict=True)):
        own = journal.link(each.lines[number]) if number < len(each.lines) else ""
        if number >= old and entry.previous != last:
            yield f"line {number + 1} names another line before it than there is"
        if number >= old and each.chain != own:
            yield f"{_short(each)} names another line than the one that it adds"
        if number < old and entry.previous:
            yield f"{_short(each)} does not name its line, which is one of a chain"
        last = own


def _trees(found: Sequence[Link], entries: Sequence[Entry]) -> Iterator[str]:
    """What a commit holds that its line does not name, or that stands at no place of its own."""
    start = entries[0]
    if isinstance(start, Start) and start.base != found[0].parent:
        yield f"the run began at another commit than {_short(found[0])} follows"
    for number in range(1, len(found)):
        each, entry, before = found[number], entries[number], entries[number - 1]
        if getattr(entry, "tree", "") != each.tree:
            yield f"{_short(each)} holds other files than its line names: it was changed afterwards"
        if each.parent != found[number - 1].sha and not isinstance(before, Stop):
            yield f"a commit that is none of the run's stands before {_short(each)}"
        if isinstance(entry, Stop) and not all(map(_of_ending, each.changed)):
            yield f"{_short(each)} changes more than summaries: {WHEN_STOPPED}"


def _of_ending(path: str) -> bool:
    return path.startswith(f"{FOLDER}/") and path.removeprefix(f"{FOLDER}/") not in EDITABLE


def _short(each: Link) -> str:
    return f"commit {each.sha[:12]}"
