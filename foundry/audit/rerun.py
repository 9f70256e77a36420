"""Runs a project's own commands once more in a clean clone, and compares how they end."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from foundry.engine.evidence.checking import Ran, run_check, verifying
from foundry.engine.evidence.places import fresh_environment, with_environment
from foundry.engine.gates import VERIFY_SECONDS
from foundry.engine.verify_script import Proof
from foundry.sandbox.base import Sandbox
from foundry.schema.audit import Finding, agrees, differs, unknown
from foundry.schema.command import CheckKind, CheckResult, CommandLimits, CommandResult
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
    marked: list[str] = field(default_factory=list)

    @property
    def root(self) -> Path:
        """The clone."""
        return self.repository.root

    def mark(self) -> None:
        """Note the files as they are."""
        self.marked.append(self.repository.stage_all())

    def reset(self) -> None:
        """Make the files what they were when they were noted."""
        self.repository.restore_to(self.marked[-1])

    def run(
        self, command: str, seconds: float, more: Mapping[str, str] | None = None
    ) -> CommandResult:
        """Run a command of the project, as a stranger with nothing of the person's own."""
        fresh = fresh_environment(self.home, self.temporary)
        text = with_environment(command, {**(more or {}), **fresh})
        limits = CommandLimits(wall_seconds=seconds, idle_seconds=seconds)
        result = self.sandbox.run(text, cwd=self.root, limits=limits)
        return result.model_copy(update={"command": command})


def rerun(
    place: Place, checks: Checks, said: Sequence[CheckEvidence], proofs: Sequence[Proof]
) -> Iterator[Finding]:
    """How every check and every requirement's command ends now, against what is said of it."""
    for check in checks.setup:
        result = _run(place, f"set up, {check.name}", check).result
        if not result.holds:
            told = f"{result.verdict} here, so no check was run: {_end(result)}"
            yield unknown(f"set up, {check.name}", told)
            return
    place.mark()
    known = {(each.name, each.command): each for each in said}
    for kind, check in verifying(checks):
        yield _check(place, kind, check, known.pop((check.name, check.command), None))
    proved = {proof.command for proof in proofs}
    for each in known.values():  # what a reviewer found, say: it stands in the journal alone
        if each.command not in proved:
            place.reset()
            yield _check(place, "finding", Check(name=each.name, command=each.command), each)
    for proof in proofs:
        place.reset()
        about = ", ".join(proof.requirements)
        once = Check(name=about, command=proof.command, timeout_seconds=VERIFY_SECONDS)
        yield _compared(about, True, _run(place, about, once).result)


def _run(place: Place, about: str, check: Check, kind: CheckKind = "verify") -> Ran:
    place.tell(f"{about}: {' '.join(check.command.split())}")
    return run_check(place, kind, check)


def _check(place: Place, kind: CheckKind, check: Check, said: CheckEvidence | None) -> Finding:
    result = _run(place, check.name, check, kind).result
    if said is None or said.status == "not_run":
        return unknown(check.name, f"{result.verdict} here; the build never ran it at its end")
    if said.status == "preexisting":
        return agrees(check.name, f"{result.verdict}; the build called it failing before it began")
    return _compared(check.name, said.status == "passed", result)


def _compared(about: str, passed: bool, result: CheckResult) -> Finding:
    """A command that is said to have passed, or not, against how it ends now."""
    if result.exit_code is None or (result.exit_code in NOT_HERE and passed):
        return unknown(about, f"could not be run here: {result.verdict}, {_end(result)}")
    if result.holds == passed:
        return agrees(about, f"{result.verdict}, as the build says")
    return differs(
        about, f"{result.verdict}, and the build says that it {'passed' if passed else 'failed'}"
    )


def _end(result: CheckResult) -> str:
    lines = [line for line in result.output.splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else "no output"
