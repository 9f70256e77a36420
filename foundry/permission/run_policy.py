"""Permission as a run has it: the rules that hold, and the question that waited meanwhile."""

from foundry.permission import approvals
from foundry.permission.guard import Approve
from foundry.permission.policy import check_tools, policy
from foundry.schema.permission import Mode, Policy, Rule
from foundry.tools.toolset import TOOLS


def policy_of(mode: Mode | None, rules: tuple[Rule, ...]) -> Policy:
    """The rules of a run with these options; raises InputError for a rule that is not valid."""
    found = policy(mode, rules)
    check_tools(found.rules, TOOLS)
    return found


def unanswered(run: str, approve: Approve) -> str:
    """Ask about the call that the run paused for; what still waits when nobody answers."""
    kept = approvals.load(run)
    if kept.pending is None:
        return ""
    answer = approve(kept.pending)
    if answer is None:
        waits = f"{kept.pending.step} wants to use {kept.pending.tool}: {kept.pending.subject}"
        return f"{waits}. `foundry resume` in a terminal asks about it"
    approvals.save(run, kept.answered(kept.pending, answer))
    return ""


def forget_question(run: str) -> None:
    """The rules have changed: what waited under the old ones is judged anew."""
    kept = approvals.load(run)
    if kept.pending is not None:
        approvals.save(run, kept.model_copy(update={"pending": None}))
