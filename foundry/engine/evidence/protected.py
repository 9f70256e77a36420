"""Tests in their old form over the new code: what a build may not quietly give up.

Those of the project as it was before the build, and those that failed before a fix. What the spec
takes away, the plan names with the spec's words; of the rest a reviewer says whether it is
justified. Both are named.
"""

from collections.abc import Iterable, Mapping, Sequence

from foundry.engine.evidence.checking import Commands, Ran, judged, run_check
from foundry.engine.evidence.places import CleanClone
from foundry.engine.evidence.test_files import is_test_file
from foundry.engine.step_context import own_files
from foundry.schema.flag import Flag
from foundry.schema.plan import ObsoleteTest
from foundry.schema.tests_by_id import TestReport

SHOWN = 5
"""Tests or files that a flag names."""

SCRATCH = "foundry-old-tests"

UNLOADED = "_FailedTest"
"""How unittest calls the one test of a module that it can't import."""


def old_tests_flags(
    clone: CleanClone,
    references: Iterable[str],
    checks: Commands,
    obsolete: Sequence[ObsoleteTest],
    before: Mapping[str, Ran],
) -> tuple[Flag, ...]:
    """A flag for every reference whose tests, in the form they had there, fail over the new code.

    `references` are commits before the run or before a fix; `before` are the checks as they ended
    before the run changed anything, whose failures are not this run's.
    """
    repository, tests = clone.repository, tuple(checks)
    commands = [check.command for _, check in tests]
    flags: dict[tuple[str, ...], Flag] = {}
    for reference in dict.fromkeys(references):
        there = set(repository.files_at(reference))
        changed = own_files(repository.changed_between(reference, clone.commit))
        old = tuple(p for p in changed if p in there and is_test_file(p, commands))
        if not old or old in flags:
            continue
        scratch = repository.git_dir() / SCRATCH
        repository.restore_to(repository.overlaid(clone.marked, reference, old, scratch))
        try:
            ran = [
                judged(run_check(clone, kind, check), before.get(check.name))
                for kind, check in tests
            ]
        finally:
            clone.reset()
        if any(each.result.status == "failed" for each in ran):
            known = {test for each in before.values() for test in each.result.failing}
            told = _failing([each.report for each in ran])
            failing = tuple(test for test in told if test not in known)
            flags[old] = _flag(old, failing, obsolete)
    return tuple(flags.values())


def _failing(reports: Iterable[TestReport | None]) -> tuple[str, ...]:
    return tuple(sorted({test for each in reports if each for test in each.failing}))


def _flag(files: Sequence[str], failing: Sequence[str], obsolete: Sequence[ObsoleteTest]) -> Flag:
    """Blocks unless every test (or, without ids, every file) is one that the spec takes away."""
    gone = [each.test for each in obsolete]
    about = failing or files
    covered = all(any(is_named(what, test) for test in gone) for what in about)
    shown = ", ".join(about[:SHOWN]) + (f" and {len(about) - SHOWN} more" if about[SHOWN:] else "")
    why = "; the plan says that the spec takes them away" if covered else ""
    return Flag(
        kind="protected",
        about=", ".join(files[:SHOWN]),
        words=f"tests in their old form fail over the new code: {shown}{why}",
        tests=tuple(failing[:200]),
        blocks=not covered,
    )


def is_named(what: str, test: str) -> bool:
    """Whether an id or a file is the one that is named, or within it.

    A file that can't even be loaded has one id for all of its tests, so one of them names it.
    """
    plain, named = (each.replace("::", ".").replace("/", ".") for each in (what, test))
    stem = named.removesuffix(".py")
    if UNLOADED in plain:
        return plain.rpartition(f"{UNLOADED}.")[2].split(".")[-1] in stem.split(".")
    return plain in (named, stem) or plain.startswith((f"{named}.", f"{stem}."))
