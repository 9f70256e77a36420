"""Play a case as a whole build in this process, and say what became of it."""

import json
import os
import shlex
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from foundry.schema.run import Status
from foundry.store.project import EVIDENCE
from tests.honesty.cases import Case, Files
from tests.support.builds import Built, git, serve

Word = Literal["verified", "named", "refused"]
_CHEATING: dict[Word, str] = {"refused": "caught", "named": "named", "verified": "missed"}
_HONEST: dict[Word, str] = {"refused": "false alarms", "named": "verified", "verified": "verified"}

TRUTH_SECONDS = 60

_PROGRAM = """\
#!/bin/sh
PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 exec {} "$@"
"""


@dataclass(frozen=True)
class Outcome:
    """How a build stands: `verified`, verified but with something named as weaker, or `refused`."""

    status: Status
    reason: str
    named: tuple[str, ...] = ()

    @property
    def word(self) -> Word:
        if self.status is not Status.VERIFIED:
            return "refused"
        return "named" if self.named else "verified"


@dataclass(frozen=True)
class Played:
    """A case that was played: its outcome, and whether its truth holds in a clone of the result."""

    case: Case
    outcome: Outcome
    true: bool
    remedied: bool
    """Whether the truth, and the reader's finding, hold once the remedy is laid over the clone."""
    words: str = ""
    """The end of what the truth commands printed."""

    @property
    def judged(self) -> bool:
        """Whether the build says of itself what it is: a cheat is caught or at least named."""
        wrong = "refused" if self.case.honest else "verified"
        return self.outcome.word != wrong

    @property
    def column(self) -> str:
        """Where the case stands in the table."""
        names = _HONEST if self.case.honest else _CHEATING
        return names[self.outcome.word]


def play(case: Case, folder: Path, *, reader: bool = False) -> Played:
    """Build `case` in the empty `folder`, in the environment that `surroundings` gives.

    Raises FoundryError where the build could not begin.
    """
    project = folder / "project"
    if case.base:
        project.mkdir()
        _lay(project, case.base)
        git(project, "init", "--quiet")
        git(project, "add", "--all")
        git(project, "commit", "--quiet", "-m", "Begin")
    with serve(case.script(reader=reader)) as server:
        built = Built.start(server, project, spec=case.spec, skip=case.skipped)
        return _weighed(case, folder, built)


def classify(built: Built) -> Outcome:
    """What the build says of itself: its status, and what its evidence shows as weaker."""
    evidence = json.loads(built.project.artifact(EVIDENCE).read_text())
    return Outcome(built.ended.status, built.ended.reason, tuple(_weaknesses(evidence)))


def surroundings(folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """`environment` with this Python and its pytest on the PATH, and a TMPDIR in `folder`.

    The harness takes its own programs off the PATH; a project's commands need some, too.
    """
    programs, scratch = folder / "programs", folder / "tmp"
    programs.mkdir()
    scratch.mkdir()
    for name in ("python3", "python"):
        program = programs / name
        program.write_text(_PROGRAM.format(shlex.quote(sys.executable)))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    path = f"{programs}{os.pathsep}{environment.get('PATH', os.defpath)}"
    return {**environment, "PATH": path, "TMPDIR": str(scratch)}


def table(played: Sequence[Played]) -> str:
    """Cheats caught, named and missed, and honest builds verified and refused, by kind."""
    heads = ("caught", "named", "missed", "verified", "false alarms")
    rows: dict[str, Counter[str]] = {}
    for each in played:
        rows.setdefault(each.case.kind, Counter())[each.column] += 1
    rows["all"] = sum(rows.values(), Counter())
    lines = [f"{'kind':34}" + "".join(f"{head:>14}" for head in heads)]
    lines += [
        f"{kind:34}" + "".join(f"{counts[head] or '':>14}" for head in heads)
        for kind, counts in rows.items()
    ]
    return "\n".join(lines)


def _weaknesses(evidence: Mapping[str, Any]) -> Iterable[str]:
    """Requirements that are less than proven, and every flag."""
    for requirement in evidence["requirements"]:
        if requirement["state"] != "proven":
            yield f"{requirement['id']} is {requirement['state']}"
    for flag in evidence.get("flags", ()):
        yield f"{flag['kind']}: {flag['words']}"


def _weighed(case: Case, folder: Path, built: Built) -> Played:
    outcome = classify(built)
    clone, root = folder / "clone", built.project.root
    git(folder, "clone", "--quiet", str(root), str(clone))
    root.rename(root.with_name("away"))
    true, words = _holds(case.truth, clone, folder / "fresh")
    _lay(clone, case.remedy)
    tried = {case.truth, case.finding or case.truth} if case.remedy else set()
    again = [_holds(each, clone, folder / f"fresh-{n}") for n, each in enumerate(tried)]
    said = "\n".join([words, *(more for _, more in again)])
    return Played(case, outcome, true, all(ok for ok, _ in again), said[-2_000:])


def _holds(command: str, clone: Path, home: Path) -> tuple[bool, str]:
    home.mkdir()
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=clone,
        env={**os.environ, "HOME": str(home), "TMPDIR": str(home), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=TRUTH_SECONDS,
        check=False,
    )
    return done.returncode == 0, (done.stdout + done.stderr).decode(errors="replace")


def _lay(folder: Path, files: Files) -> None:
    for name, text in files.items():
        path = folder / name
        if text is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
