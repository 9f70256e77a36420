"""Runs a project's own commands once more in a clean clone, and compares how they end."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from foundry.engine.evidence.verify_script import Proof
from foundry.engine.gates import VERIFY_SECONDS
from foundry.engine.junit import read_junit
from foundry.sandbox.base import Sandbox
from foundry.schema.audit import Finding, agrees, differs, unknown
from foundry.schema.command import CommandLimits, CommandResult
from foundry.schema.plan import Check, Checks
from foundry.schema.summary import CheckEvidence
from foundry.store.git.repository import Repository

NOT_HERE = (126, 127)
"""What a shell ends with where there is no such program: nothing was tested."""


Tell = Callable[[str], None]
"""Hears what is being done."""


@dataclass(frozen=True, slots=True)
class Place:
    """A clean clone, an empty HOME and TMPDIR, and how commands are run there."""

    repository: Repository
    home: Path
    temporary: Path
    sandbox: Sandbox
    tell: Tell

    def run(self, about: str, command: str, seconds: float) -> CommandResult:
        """Run a command of the project, as a stranger with nothing of the person's own."""
        self.tell(f"{about}: {' '.join(command.split())}")
        own = f"HOME={shlex.quote(str(self.home))} TMPDIR={shlex.quote(str(self.temporary))}"
        limits = CommandLimits(wall_seconds=seconds, idle_seconds=seconds)
        root = self.repository.root
        return self.sandbox.run(f"export {own}\n{command}", cwd=root, limits=limits)


def rerun(
    place: Place, checks: Checks, said: Sequence[CheckEvidence], proofs: Sequence[Proof]
) -> Iterator[Finding]:
    """How every check and every requirement's command ends now, against what is said of it."""
    for check in checks.setup:
        result = place.run(f"set up, {check.name}", check.command, check.timeout_seconds)
        if not result.ok:
            told = f"{result.verdict} here, so no check was run: {_end(result)}"
            yield unknown(f"set up, {check.name}", told)
            return
    ready = place.repository.stage_all()
    known = {(each.name, each.command): each for each in said}
    for check in (*checks.test, *checks.lint, *checks.run):
        yield _check(place, check, known.pop((check.name, check.command), None))
    proved = {proof.command for proof in proofs}
    for each in known.values():  # what a reviewer found, say: it stands in the journal alone
        if each.command not in proved:
            place.repository.restore_to(ready)
            yield _check(place, Check(name=each.name, command=each.command), each)
    for proof in proofs:
        place.repository.restore_to(ready)
        about = ", ".join(proof.requirements)
        result = place.run(about, proof.command, VERIFY_SECONDS)
        yield _compared(about, True, result, result.ok)


def _check(place: Place, check: Check, said: CheckEvidence | None) -> Finding:
    result = place.run(check.name, check.command, check.timeout_seconds)
    report = read_junit(place.repository.root, check.junit)
    holds = result.ok and not (report and (report.counts.failed or not report.counts.total))
    if said is None or said.status == "not_run":
        return unknown(check.name, f"{result.verdict} here; the build never ran it at its end")
    if said.status == "preexisting":
        return agrees(check.name, f"{result.verdict}; the build called it failing before it began")
    return _compared(check.name, said.status == "passed", result, holds)


def _compared(about: str, passed: bool, result: CommandResult, holds: bool) -> Finding:
    """A command that is said to have passed, or not, against how it ends now."""
    if result.exit_code is None or (result.exit_code in NOT_HERE and passed):
        return unknown(about, f"could not be run here: {result.verdict}, {_end(result)}")
    words = result.verdict if holds or not result.ok else f"{result.verdict}, but tests fail"
    if holds == passed:
        return agrees(about, f"{words}, as the build says")
    return differs(about, f"{words}, and the build says that it {'passed' if passed else 'failed'}")


def _end(result: CommandResult) -> str:
    lines = [line for line in result.output.splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else "no output"
