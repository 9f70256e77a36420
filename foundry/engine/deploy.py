"""Deploy: push the branch. It can't be undone, so it is journalled as an intent first."""

import shutil
import subprocess
from collections.abc import Callable

from foundry.engine.result import Result
from foundry.engine.step_context import Desk
from foundry.engine.verdict import verdict
from foundry.schema.events import Note
from foundry.schema.journal import Intent
from foundry.schema.run import Status
from foundry.store.git.query import cause

REMOTE = "origin"
GH_SECONDS = 120

Ask = Callable[[str], bool | None]
"""Asks the person; None when nobody is there to answer."""


def run_deploy(desk: Desk, intend: Callable[[str], None], ask: Ask) -> Result | None:
    """Push, or say what was skipped and why; None when a person has to decide first.

    Its failure is told and journalled, and does not undo a verified build.
    """
    remote = desk.repository.remote_url(REMOTE)
    if reason := _obstacle(desk, remote):
        return _skipped(desk, reason)
    branch = desk.repository.branch()
    begun = _intent(desk)
    if begun is None:
        intend(f"push {branch} to {remote or 'a new GitHub repository'}")
    elif not _arrived(desk, begun, remote, branch):
        answer = ask(f"A push of {branch} was begun and cut off. Push it now?")
        if answer is None:
            return None
        if not answer:
            return _skipped(desk, "not wanted after it was cut off")
    error = desk.repository.push(REMOTE, branch) if remote else _create(desk)
    if error:
        return _skipped(desk, f"the push failed: {error}")
    return _done(desk, remote or desk.repository.remote_url(REMOTE), branch)


def _obstacle(desk: Desk, remote: str) -> str:
    """Why there is nothing to push or nowhere to push it, or an empty string."""
    status, why = verdict(desk.workflow, desk.journal, desk.warnings)
    if status is not Status.VERIFIED:
        return f"the build is not verified: {why}"
    reason = "" if remote else _no_gh()
    return f"there is no remote {REMOTE!r} and {reason}" if reason else ""


def _arrived(desk: Desk, begun: Intent, remote: str, branch: str) -> bool:
    """Whether the push that was cut off had reached the remote; pushing again is then harmless.

    The branch may have been there before: what tells is the commit that the intent was made with.
    """
    pushed = desk.repository.remote_head(REMOTE, branch) if remote else ""
    commits = desk.repository.commits(begun.run)[begun.seq - 1 : begun.seq]
    return bool(pushed and commits) and desk.repository.contains(pushed, commits[0].sha)


def _create(desk: Desk) -> str:
    release = desk.context.get("release", {})
    name = release.get("name", desk.project.root.name)
    source = ["--source", str(desk.project.root), "--remote", REMOTE, "--push"]
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


def _intent(desk: Desk) -> Intent | None:
    """The intent of this step that an earlier process journalled."""
    mine = (e for e in desk.journal if isinstance(e, Intent) and e.step == desk.instruction.id)
    return next(mine, None)


def _done(desk: Desk, remote: str, branch: str) -> Result:
    where = f"{remote} {branch}"
    desk.observe(Note(f"pushed to {where}"))
    return Result("chore(foundry): pushed", f"pushed {where}", patch={"deployed": where})


def _skipped(desk: Desk, why: str) -> Result:
    desk.observe(Note(f"not deployed: {why}"))
    return Result("chore(foundry): not deployed", f"not deployed: {why}", patch={"deployed": ""})
