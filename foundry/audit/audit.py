"""`foundry audit`: a clean clone, its chain, its evidence, and the project's own commands."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from pydantic import ValidationError

from foundry.audit import evidence as told
from foundry.audit.history import Link, entries_of, judged, lines_at, links
from foundry.audit.rerun import Place, Tell, rerun
from foundry.engine.step_context import own_files
from foundry.engine.verify_script import proofs
from foundry.engine.workspace import find
from foundry.errors import ArtifactError, InputError, JournalError, ProjectError
from foundry.sandbox.base import SANDBOXES
from foundry.schema.audit import Audit, Finding, differs, unknown
from foundry.schema.journal import Entry, Start, Stop
from foundry.schema.plan import Checks
from foundry.schema.summary import Evidence
from foundry.store.artifacts import read_checks, read_plan, read_text
from foundry.store.git.config import guard
from foundry.store.git.repository import Repository
from foundry.store.git.trees import remove_tree
from foundry.store.project import (
    EDITABLE,
    EVIDENCE,
    FOLDER,
    KEPT_BETWEEN_RUNS,
    LOCAL,
    SIGNATURE,
    Project,
)
from foundry.store.signature import signer

SHOWN = 5
"""Artifacts that are named."""

RUN = re.compile(r'"run":"([0-9a-zA-Z-]+)"')


@dataclass(frozen=True, slots=True)
class Meant:
    """What is audited: a commit of a repository, the run in it and the run's last commit there."""

    source: Repository
    commit: str
    run: str
    last: str
    named: bool
    """Whether the person gave its whole hash, which no rewriting keeps."""
    in_tree: bool
    """Whether it is what a work tree stands at."""


def audit(folder: Path, ref: str, sandbox: str, tell: Tell) -> Audit:
    """Re-derive the verdict of a run; nothing in the project is changed.

    Without `ref` it is the newest run in or beside the folder. `tell` hears what is being done.
    Raises InputError for a ref that holds no run, ProjectError where there is no repository,
    PluginError for a sandbox that does not exist.
    """
    run_by = SANDBOXES.get(sandbox)
    meant = _meant(folder, ref)
    with _room() as room:
        tell(f"cloning {meant.last[:12]}")
        clone = meant.source.copy_of(meant.last, room / "clone")
        keeper = guard(clone.root, room / "git-config.json", lambda _what: None)
        clone = Repository(clone.root, keeper.check)
        found = links(clone, meant.last, meant.run)
        findings = judged(found)
        project = Project(clone.root)
        said = _said(project)
        findings += _told(meant, clone, found, said)
        place = Place(clone, room / "home", room / "tmp", run_by(room / "running.json"), tell)
        findings += _rerun(place, project, said, found)
    status = said.status if said else None
    return Audit(run=meant.run, commit=meant.last, status=status, findings=tuple(findings))


def _meant(folder: Path, ref: str) -> Meant:
    source = Repository(find(folder).root if not ref else folder.expanduser().resolve())
    if not source.root.is_dir() or source.toplevel() is None:
        raise ProjectError(f"{folder} is no git repository", hint="Name one with --dir")
    commit = source.ref(ref or "HEAD")
    if not commit:
        raise InputError(f"there is no commit {ref or 'HEAD'!r} in {source.root}")
    first = next(iter(lines_at(source, commit)), "")
    run = RUN.search(first)
    last = source.commits_of(commit, run[1]) if run else ()
    if run is None or not last:
        raise InputError(
            f"{ref or 'HEAD'} holds no run of Foundry",
            hint="Name the branch or the commit of a build",
        )
    return Meant(source, commit, run[1], last[-1], ref == commit, not ref)


@contextmanager
def _room() -> Iterator[Path]:
    room = Path(mkdtemp(prefix="foundry-audit-")).resolve()
    try:
        for name in ("home", "tmp"):
            (room / name).mkdir()
        yield room
    finally:
        remove_tree(room)


def _said(project: Project) -> Evidence | None:
    try:
        return Evidence.model_validate_json(read_text(project, EVIDENCE) or "")
    except ValidationError:
        return None


def _told(
    meant: Meant, clone: Repository, found: tuple[Link, ...], said: Evidence | None
) -> Iterator[Finding]:
    """What is said at the end, and who else knows of it."""
    project, entries = Project(clone.root), _entries(found)
    if entries and not isinstance(entries[-1], Stop):
        yield unknown(EVIDENCE, "the run has not ended here")
    elif said is None and '"version": 1,' in (read_text(project, EVIDENCE) or ""):
        yield unknown(EVIDENCE, "made before there was a chain, in an earlier form")
    elif said is None:
        yield differs(EVIDENCE, "is not there, or is not one")
    elif len(entries) == len(found):
        yield told.bound(said, entries, found)
        yield told.derived(project, clone, entries, said)
    known = told.outside(meant.source, meant.commit, meant.last, meant.run, named=meant.named)
    signature = clone.show(f"{FOLDER}/{SIGNATURE}")
    if signature:
        text = clone.show(f"{FOLDER}/{EVIDENCE}") or ""
        known.append(told.signed(text, signature, signer(meant.source.root)))
    yield from told.vouched(known)
    later = meant.source.changed_between(meant.last, meant.commit)
    if own := own_files(later):
        yield unknown("later commits", f"changed {len(own)} files since the run's last one")
    if named := _of_run(later):
        yield differs("later commits", f"changed what the run had written: {', '.join(named)}")
    if meant.in_tree and (named := _of_run(meant.source.changes())):
        yield differs("work tree", f"holds other artifacts than its commit: {', '.join(named)}")


def _of_run(paths: Iterable[str]) -> tuple[str, ...]:
    """The artifacts of a run among paths: not what is a person's to edit, or another run's."""
    open_to_all = {*KEPT_BETWEEN_RUNS, *EDITABLE}
    split = (path.split("/") for path in paths if path.startswith(f"{FOLDER}/"))
    return tuple("/".join(each[1:]) for each in split if each[1] not in open_to_all)[:SHOWN]


def _entries(found: tuple[Link, ...]) -> tuple[Entry, ...]:
    """The journal, or nothing where it is damaged, which `judged` has told."""
    try:
        return entries_of(found)
    except JournalError:
        return ()


def _rerun(
    place: Place, project: Project, said: Evidence | None, found: tuple[Link, ...]
) -> Iterator[Finding]:
    try:
        checks, plan = read_checks(project) or Checks(), read_plan(project)
    except ArtifactError as error:
        yield differs("commands", str(error))
        return
    own = next((entry.checks for entry in _entries(found) if isinstance(entry, Start)), ())
    (project.folder / LOCAL).mkdir(parents=True, exist_ok=True)
    shown = said.final_checks if said else ()
    yield from rerun(place, checks.also(own), shown, proofs(plan, said) if said else ())
