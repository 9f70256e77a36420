"""Deploy: push the branch. It can't be undone, so it is journalled as an intent first."""

import shutil
import subprocess

from pydantic import Field

from foundry.engine.step_context import StepContext
from foundry.engine.step_kind import Acted, GateResult, Result, StepAction, StepKind
from foundry.engine.verdict import verdict
from foundry.schema.base import Value
from foundry.schema.events import Note
from foundry.schema.journal import Intent
from foundry.schema.run import Status
from foundry.store.artifacts import read_plan
from foundry.store.git.query import cause
from foundry.store.git.repository import REMOTE

GH_SECONDS = 120


class DeploySubmission(Value):
    """How the result is presented to those who receive it."""

    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", description="name of the repository"
    )
    description: str = Field(min_length=1, max_length=300, description="one line")


def _described(_ctx: StepContext, text: DeploySubmission, _evidence: GateResult) -> Result:
    return Result(
        "docs(foundry): name and description for the remote",
        f"{text.name}: {text.description}",
        patch={"release": text.model_dump()},
    )


def _act(ctx: StepContext) -> Acted | None:
    result = _pushed(ctx)
    return None if result is None else (result, GateResult())


def _pushed(ctx: StepContext) -> Result | None:
    """Push, or say what was skipped and why; None when a person has to decide first.

    Its failure is told and journalled, and does not undo a verified build.
    """
    remote = ctx.repository.remote_url(REMOTE)
    if reason := _obstacle(ctx, remote):
        return _skipped(ctx, reason)
    branch = ctx.repository.branch()
    begun = _intent(ctx)
    if begun is None:
        ctx.intend(f"push {branch} to {remote or 'a new GitHub repository'}")
    elif not _arrived(ctx, begun, remote, branch):
        answer = ctx.ask(f"A push of {branch} was begun and cut off. Push it now?")
        if answer is None:
            return None
        if not answer:
            return _skipped(ctx, "not wanted after it was cut off")
    error = ctx.repository.push(REMOTE, branch) if remote else _create(ctx)
    if error:
        return _skipped(ctx, f"the push failed: {error}")
    return _done(ctx, remote or ctx.repository.remote_url(REMOTE), branch)


def _obstacle(ctx: StepContext, remote: str) -> str:
    """Why there is nothing to push or nowhere to push it, or an empty string."""
    status, why = verdict(ctx.workflow, ctx.journal, ctx.warnings, read_plan(ctx.project))
    if status is not Status.VERIFIED:
        return f"the build is not verified: {why}"
    reason = "" if remote else _no_gh()
    return f"there is no remote {REMOTE!r} and {reason}" if reason else ""


def _arrived(ctx: StepContext, begun: Intent, remote: str, branch: str) -> bool:
    """Whether the push that was cut off had reached the remote; pushing again is then harmless.

    The branch may have been there before: what tells is the commit that the intent was made with.
    """
    pushed = ctx.repository.remote_head(REMOTE, branch) if remote else ""
    commits = ctx.repository.commits(begun.run)[begun.seq - 1 : begun.seq]
    return bool(pushed and commits) and ctx.repository.contains(pushed, commits[0].sha)


def _create(ctx: StepContext) -> str:
    release = ctx.context.get("release", {})
    name = release.get("name", ctx.project.root.name)
    source = ["--source", str(ctx.project.root), "--remote", REMOTE, "--push"]
    about = ["--private", "--description", release.get("description", "")]
    return _gh(["gh", "repo", "create", name, *about, *source])


def _no_gh() -> str:
    if shutil.which("gh") is None:
        return "the GitHub command line `gh` is not installed"
    error = _gh(["gh", "auth", "status"])
    return f"`gh` is not logged in ({error})" if error else ""


def _gh(command: list[str]) -> str:
    """What went wrong, or an empty string."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=GH_SECONDS, stdin=subprocess.DEVNULL,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"no answer within {GH_SECONDS} s"
    return "" if done.returncode == 0 else cause(done.stderr or done.stdout)


def _intent(ctx: StepContext) -> Intent | None:
    """The intent of this step that an earlier process journalled."""
    mine = (e for e in ctx.journal if isinstance(e, Intent) and e.step == ctx.instruction.id)
    return next(mine, None)


def _done(ctx: StepContext, remote: str, branch: str) -> Result:
    where = f"{remote} {branch}"
    ctx.observe(Note(f"pushed to {where}"))
    return Result("chore(foundry): pushed", f"pushed {where}", patch={"deployed": where})


def _skipped(ctx: StepContext, why: str) -> Result:
    ctx.observe(Note(f"not deployed: {why}"))
    return Result("chore(foundry): not deployed", f"not deployed: {why}", patch={"deployed": ""})


DESCRIBE = StepKind(name="deploy", submission=DeploySubmission, result=_described)
DEPLOY = StepAction("deploy", _act)
