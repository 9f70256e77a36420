"""Look at a commit: every check in the work tree, in a clean clone, and what that shows beside.

The clone comes only when all checks hold in the tree, and the close look only when they hold there
as well: each is dearer than the one before, and says nothing of a project that fails already.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from foundry.engine.evidence.checking import Commands, Ran, run_checks_in, shown_by, verifying
from foundry.engine.evidence.examine import PATIENCE, SLOWER, CanItFail, hollow_flags
from foundry.engine.evidence.lost_tests import count_tests, lost_flags, read_ledger, unrun_flags
from foundry.engine.evidence.places import CleanClone, Place, WorkTree, clean_clone
from foundry.engine.evidence.protected import old_tests_flags
from foundry.engine.evidence.test_ledger import TestLedger, recorded
from foundry.engine.findings import findings
from foundry.engine.requirements import built_tasks
from foundry.engine.step_context import StepContext, own_files
from foundry.schema.command import CheckKind, CheckResult
from foundry.schema.examination import Examination
from foundry.schema.flag import Flag
from foundry.schema.plan import Check, Checks, Plan
from foundry.schema.tests_by_id import by_id
from foundry.store.artifacts import read_checks, read_plan

FAILS_APART = (
    "(This holds in the work tree and fails in a clean clone of what is committed: it needs "
    "something that git ignores or can't hold, that lies outside the project, or that another "
    "command had left behind.)\n"
)
BASELINE = "baseline"
"""The name of the run of the tests before anything was changed."""


@dataclass(frozen=True)
class Looked:
    """What a run of the checks found. `changed` are the files that they changed, since undone."""

    ran: tuple[Ran, ...] = ()
    ledger: TestLedger = field(default_factory=TestLedger)
    changed: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    examination: Examination | None = None

    @property
    def checks(self) -> tuple[CheckResult, ...]:
        """The results."""
        return tuple(each.result for each in self.ran)

    @property
    def holds(self) -> bool:
        """Whether there was something to run and all of it holds."""
        return bool(self.ran) and all(check.holds for check in self.checks)


def look(ctx: StepContext, name: str, *, again: bool = True, closely: bool = True) -> Looked:
    """Every check in the tree, `again` in a clean clone when all hold, and `closely` when all hold
    there. `name` is what the ledger of tests calls this run.
    """
    looked = look_in_tree(ctx, name)
    return look_apart(ctx, name, looked, closely=closely) if again and looked.holds else looked


def look_in_tree(ctx: StepContext, name: str) -> Looked:
    """Every check in the tree; afterwards the tree is what it was before."""
    snapshot, checks = ctx.repository.stage_all(), _checks(ctx)
    ran, ledger = _run(ctx, WorkTree(ctx), checks, (*verifying(checks), *_findings(ctx)), name)
    changed = ctx.repository.restore_to(snapshot)
    own = own_files(changed)
    if records := [path for path in changed if path not in own]:
        ctx.tampered(", ".join(records), f"of the checks changed {', '.join(records)}")
    return Looked(ran, ledger, own)


def look_apart(ctx: StepContext, name: str, looked: Looked, *, closely: bool) -> Looked:
    """Every check, and the commands of the requirements, in a clean clone of HEAD."""
    checks, plan = _checks(ctx), read_plan(ctx.project)
    with clean_clone(ctx) as clone:
        shown = shown_by(_commands(ctx, plan))
        commands = (*verifying(checks), *_findings(ctx), *shown)
        ran, ledger = _run(ctx, clone, checks, commands, name)
        found = Examination(
            commit=ctx.repository.head(), apart=clone.apart, tests=count_tests(ledger)
        )
        told = ran if not looked.ran else tuple(map(_told_apart, ran))
        again = Looked(told, ledger, looked.changed, (), found)
        return _closely(ctx, clone, again, checks, plan) if closely and again.holds else again


def _closely(
    ctx: StepContext, clone: CleanClone, looked: Looked, checks: Checks, plan: Plan | None
) -> Looked:
    """What the clean clone shows beside the checks themselves, all of which hold there."""
    obsolete = plan.obsolete if plan else ()
    tests: list[tuple[CheckKind, Check]] = [("test", check) for check in checks.test]
    before = _before(ctx, looked.ledger)
    old = old_tests_flags(clone, _references(ctx), tests, obsolete, before)
    held = {each.result.name: each for each in looked.ran}
    shows = [(kind, check, held[check.name]) for kind, check in verifying(checks) if kind != "lint"]
    probe = CanItFail(clone, shows, _doubtful(ctx, looked.checks), checks.setup, ctx.start.base)
    found = probe.look(ctx.repository.head())
    if looked.examination:
        found = found.model_copy(update={"tests": looked.examination.tests})
    lost = lost_flags(looked.ledger, old, obsolete)
    unrun = unrun_flags(_files_at_base(ctx, clone), looked.ledger)
    flags = (*hollow_flags(found), *old, *lost, *unrun, *_absent(ctx, plan))
    return replace(looked, flags=flags, examination=found)


def _run(
    ctx: StepContext, place: Place, checks: Checks, commands: Commands, name: str
) -> tuple[tuple[Ran, ...], TestLedger]:
    """The checks in a place, and the ledger of tests with what they ran."""
    ledger, ran = read_ledger(ctx.project), list[Ran]()
    for each in run_checks_in(place, checks.setup, commands, _before(ctx, ledger)):
        ctx.observed(each.result)
        ran.append(each)
    tests = [each.report for each in ran if each.report and each.result.kind == "test"]
    return tuple(ran), recorded(ledger, name, tests)


def _before(ctx: StepContext, ledger: TestLedger) -> dict[str, Ran]:
    """The checks as they ended before the run changed anything, by name."""
    baseline = ctx.last(BASELINE)
    if baseline is None:
        return {}
    known = ledger.runs[:1] == (BASELINE,) and ledger.known[0]
    report = by_id(BASELINE, ledger.outcomes(0)) if known else None
    return {check.name: Ran(check, report) for check in baseline.checks}


def _checks(ctx: StepContext) -> Checks:
    """checks.json, and with it what the person asked for (`--check`), which nobody can edit."""
    return (read_checks(ctx.project) or Checks()).also(ctx.start.checks)


def _findings(ctx: StepContext) -> Commands:
    """What a reviewer found and another conversation reproduced: it has to hold from then on."""
    return (("finding", check) for check in findings(ctx.records))


def _commands(ctx: StepContext, plan: Plan | None) -> dict[str, str]:
    """The commands of all tasks that are done."""
    done = built_tasks(ctx.workflow, ctx.journal)
    tasks = [task for task in plan.in_order() if task.id in done] if plan else []
    return {name: text for task in tasks for name, text in task.commands().items()}


def _doubtful(ctx: StepContext, results: Sequence[CheckResult]) -> list[Check]:
    """The commands of requirements that were not seen to fail before their work."""
    done = built_tasks(ctx.workflow, ctx.journal).values()
    red = {c.name for each in done for c in each.checks if c.before and not c.before.ok}
    return [
        Check(
            name=each.name,
            command=each.command,
            timeout_seconds=PATIENCE + SLOWER * each.seconds,
        )
        for each in results
        if each.kind == "verify" and each.name not in red
    ]


def _references(ctx: StepContext) -> list[str]:
    """The commits whose tests still have to hold: the base, and those that were to be healed."""
    failed = {r.step for r in ctx.records if r.patch.get("tests", {}).get("passed") is False}
    healed = [each.sha for each in ctx.repository.commits(ctx.start.run) if each.step in failed]
    return [*filter(None, [ctx.start.base]), *healed]


def _files_at_base(ctx: StepContext, clone: CleanClone) -> tuple[str, ...]:
    """The files that the project had before the run, if it was there."""
    return clone.repository.files_at(ctx.start.base) if ctx.start.base else ()


def _absent(ctx: StepContext, plan: Plan | None) -> tuple[Flag, ...]:
    """The files that the plan promised and that are not there."""
    done = built_tasks(ctx.workflow, ctx.journal)
    tasks = [task for task in plan.tasks if task.id in done] if plan else []
    return tuple(
        Flag(kind="absent", about=path, words=f"{path}, promised by task {task.id}, is not there")
        for task in tasks
        for path in task.files
        if not (ctx.project.root / path).exists()
    )


def _told_apart(ran: Ran) -> Ran:
    """A result of the clone with what it means there, for whoever has to mend it."""
    result = ran.result
    if result.holds or result.kind == "verify":
        return ran
    return Ran(result.model_copy(update={"output": FAILS_APART + result.output}), ran.report)
