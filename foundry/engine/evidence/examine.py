"""Can the checks fail? In a clean clone where all hold they are run over code that does nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from foundry.engine.evidence.can_fail import can_fail
from foundry.engine.evidence.checking import Ran, run_check
from foundry.engine.evidence.deletion import delete_statements
from foundry.engine.evidence.places import CleanClone
from foundry.engine.step_context import own_files
from foundry.schema.command import CheckKind
from foundry.schema.evidence import HollowResult
from foundry.schema.examination import Examination
from foundry.schema.flag import Flag
from foundry.schema.plan import Check

DELETION_SECONDS = 60
"""The longest that single statements are deleted, to see which of them a check misses."""

SLOWER, PATIENCE = 3, 5.0
"""How much longer a check may take than it did, as a factor and in seconds."""

DELETION_RUNS = 3
"""How often the checks could be run in that time, where they are quick."""


@dataclass
class CanItFail:
    """The checks over code that does nothing.

    `held` are the checks that test or show the project, as they just held; `doubtful` the commands
    of requirements that were not seen to fail before their work.
    """

    clone: CleanClone
    held: Sequence[tuple[CheckKind, Check, Ran]]
    doubtful: Sequence[Check]
    setup: Sequence[Check]
    base: str
    unshown: set[str] = field(default_factory=set)

    def look(self, commit: str) -> Examination:
        """What the checks notice. Raises ProjectError when a file can't be written."""
        self.clone.reset()
        commands = [check.command for kind, check, _ in self.held if kind == "test"]
        self.unshown = {each.name for each in self.doubtful}
        hollow = can_fail(self.clone.root, self._changed, self._noticed_by_all, commands)
        found = Examination(commit=commit, hollow=hollow.state, apart=self.clone.apart)
        if hollow.state == "nothing":
            return found
        self._set_up()  # what was built of hollow code is no ground for what follows
        quick = DELETION_RUNS * sum(held.result.seconds for _, _, held in self.held)
        seconds = min(DELETION_SECONDS, quick)
        shares = delete_statements(
            self.clone.root, self._changed, self._noticed_by, seconds, commands
        )
        return found.model_copy(
            update={
                "unnoticed": _names(hollow),
                "unshown": tuple(sorted(self.unshown)),
                "deleted": shares.tried,
                "noticed": shares.noticed,
                "survivors": tuple(
                    f"{each.path}:{each.line}: {each.statement}" for each in shares.survivors
                ),
            }
        )

    @cached_property
    def _changed(self) -> Mapping[str, frozenset[int]]:
        lines = self.clone.repository.changed_lines(self.base, self.clone.commit)
        return {path: lines[path] for path in own_files(tuple(lines))}

    def _noticed_by(self) -> tuple[str, ...]:
        """The first check that no longer holds; code without its work may well never end."""
        for kind, check, held in self.held:
            seconds = min(check.timeout_seconds, SLOWER * held.result.seconds + PATIENCE)
            bounded = check.model_copy(update={"timeout_seconds": seconds})
            if _notices(run_check(self.clone, kind, bounded), held):
                return (check.name,)
        return ()

    def _set_up(self) -> tuple[str, ...]:
        """Set up again; the name of what fails."""
        ran = (run_check(self.clone, "setup", check) for check in self.setup)
        return next(((each.result.name,) for each in ran if not each.result.holds), ())

    def _noticed_by_all(self) -> tuple[str, ...]:
        """The same, with the set-up done again where nothing was noticed without: what is built
        from the code may be what is tested. And which commands of requirements still hold."""
        noticed = self._noticed_by()
        if not noticed and self.setup:
            noticed = self._set_up() or self._noticed_by()
        for check in self.doubtful:
            if (
                check.name in self.unshown
                and not run_check(self.clone, "verify", check).result.holds
            ):
                self.unshown.discard(check.name)
        return noticed


def hollow_flags(found: Examination) -> tuple[Flag, ...]:
    """What a person should know of it."""
    if found.hollow != "unnoticed":
        return ()
    names = ", ".join(found.unnoticed[:5])
    words = f"the checks hold without the work: nobody notices that {names} does nothing"
    return (Flag(kind="hollow", about="the checks", words=words, blocks=True),)


def _notices(now: Ran, held: Ran) -> bool:
    """Whether a check that held, or failed as it did before the run, ends worse now."""
    if held.result.status == "preexisting":
        return not set(now.result.failing) <= set(held.result.failing)
    return now.result.status == "failed"


def _names(hollow: HollowResult) -> tuple[str, ...]:
    named = (name for run in hollow.unnoticed for name in run.names)
    return tuple(dict.fromkeys(named))
