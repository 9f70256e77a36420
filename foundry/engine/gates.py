"""Deterministic checks of a step's contract. What a model says is never evidence here."""

import json
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from pydantic import BaseModel

from foundry.engine.result import Evidence
from foundry.engine.step_context import StepContext, is_documentation, own_files, scratch
from foundry.schema.command import CheckResult, result_of
from foundry.schema.plan import MAX_TASKS, ArchitectSubmission, ScoutSubmission
from foundry.schema.work import DocsSubmission, SummarySubmission
from foundry.store.git.trees import remove_tree

VERIFY_SECONDS = 900
SHELLS = {"sh", "bash", "shell", "console"}
SHOWN_OUTPUT = 3_000
MAX_CONTEXT = 256_000
"""Bytes of JSON that all variables of a run may have."""


Gate = Callable[[StepContext, BaseModel], Evidence]


def no_gate(_ctx: StepContext, _submission: BaseModel) -> Evidence:
    """The schema alone decides."""
    return Evidence()


def summary_gate(ctx: StepContext, submission: BaseModel) -> Evidence:
    """What was changed can be committed, and the variables stay within bounds."""
    assert isinstance(submission, SummarySubmission)
    if problems := _uncommittable(ctx, ()):
        return Evidence(problems)
    size = len(json.dumps({**ctx.context, **submission.context}, ensure_ascii=False).encode())
    if submission.context and size > MAX_CONTEXT:
        told = f"with these the run's variables have {size:,} bytes, more than {MAX_CONTEXT:,}"
        return Evidence((f"context: {told}: keep what is large in a file and name the file",))
    return Evidence((), (), staged_files(ctx))


def scout_gate(_ctx: StepContext, submission: BaseModel) -> Evidence:
    """Something has to be able to show that the project holds."""
    assert isinstance(submission, ScoutSubmission)
    if submission.commands.test:
        return Evidence()
    return Evidence(("commands.test is empty: name the command that will run the tests",))


def architect_gate(ctx: StepContext, submission: BaseModel) -> Evidence:
    """Requirements quote the spec word for word; the plan has the size that Scout saw."""
    assert isinstance(submission, ArchitectSubmission)
    spec = _words(ctx.start.spec)
    problems = [
        f"requirement {requirement.id}: the spec does not hold the words {requirement.quote!r}"
        for requirement in submission.plan.requirements
        if _words(requirement.quote) not in spec
    ]
    size = str(ctx.context.get("size", "medium"))
    count, most = len(submission.plan.tasks), MAX_TASKS[size]
    if count > most:
        problems.append(f"{count} tasks are too many for a {size} project: at most {most}")
    return Evidence(tuple(problems))


def builder_gate(ctx: StepContext, _submission: BaseModel) -> Evidence:
    """The tree changed, and the task's own command ends with 0."""
    task = ctx.task()
    if problems := _uncommittable(ctx, task.files):
        return Evidence(problems)
    files = staged_files(ctx)
    if not files:
        return Evidence(("nothing in the project has changed",))
    check = run_command(ctx, f"verify {task.id}", task.verify)
    return Evidence(_failures([check]), (check,), files)


def changed_gate(ctx: StepContext, _submission: BaseModel) -> Evidence:
    """The tree changed; whether the change heals is for the next test run to say."""
    if problems := _uncommittable(ctx, ()):
        return Evidence(problems)
    files = staged_files(ctx)
    return Evidence((), (), files) if files else Evidence(("nothing in the project has changed",))


def docs_gate(ctx: StepContext, submission: BaseModel) -> Evidence:
    """Only documentation changed, it is there, and the commands that it shows were run.

    In a project whose checks still fail they can't be asked to work: then they are only recorded.
    """
    assert isinstance(submission, DocsSubmission)
    if nested := _uncommittable(ctx, ()):
        return Evidence(nested)
    files = staged_files(ctx)
    problems = [
        f"{path} is not documentation: this step may not change the project itself"
        for path in files
        if not is_documentation(path)
    ]
    root = ctx.project.root
    wanted = dict.fromkeys(("README.md", *submission.files))
    problems += [f"{path} is missing" for path in wanted if not _inside(root, path)]
    if problems:
        return Evidence(tuple(problems), (), files)
    documents = [path for path in wanted if path.endswith(".md")]
    checks = tuple(_run_documents(ctx, documents))
    works = ctx.context.get("tests", {}).get("passed", True)
    return Evidence(_failures(checks) if works else (), checks, files)


def committable(ctx: StepContext) -> Evidence:
    """What was changed can be committed; that nothing was is no problem."""
    problems = _uncommittable(ctx, ())
    return Evidence(problems) if problems else Evidence((), (), staged_files(ctx))


def staged_files(ctx: StepContext) -> tuple[str, ...]:
    """Stage everything and tell which of the project's files differ from HEAD."""
    tree = ctx.repository.stage_all()
    return own_files(ctx.repository.changed_between("HEAD", tree))


def _uncommittable(ctx: StepContext, files: Iterable[str]) -> tuple[str, ...]:
    """Why some of the files that a task made would not be in its commit."""
    nested = ctx.repository.nested()
    problems = [
        f"{path} is a git repository of its own, so its files would not be committed: remove "
        f"{path}/.git"
        for path in nested
    ]
    ignored = ctx.repository.ignored([each for each in files if _inside(ctx.project.root, each)])
    problems += [f"{path} is ignored by git: it would not be committed" for path in ignored]
    return tuple(problems)


def run_command(ctx: StepContext, name: str, command: str) -> CheckResult:
    """Run a verify command and undo what it leaves in the tree."""
    snapshot = ctx.repository.stage_all()
    limits = ctx.limits(VERIFY_SECONDS)
    result = ctx.sandbox.run(command, cwd=ctx.project.root, limits=limits)
    ctx.repository.restore_to(snapshot)
    return ctx.told(result_of(name, "verify", result))


def shell_blocks(markdown: str) -> list[str]:
    """The commands of a document's shell blocks: `sh`, `bash`, `shell`, and `console` prompts."""
    from markdown_it import MarkdownIt

    blocks = []
    for token in MarkdownIt().parse(markdown):
        words = token.info.split() if token.type == "fence" else []
        if not words or words[0] not in SHELLS:
            continue
        code = token.content
        if words[0] == "console":
            code = "\n".join(re.findall(r"^\s*\$ (.*)$", code, flags=re.MULTILINE))
        if code.strip():
            blocks.append(code)
    return blocks


def _run_documents(ctx: StepContext, documents: Iterable[str]) -> Iterable[CheckResult]:
    """Run every document's blocks in a copy of the project, one fresh copy a document."""
    for document in documents:
        text = (ctx.project.root / document).read_text(encoding="utf-8", errors="replace")
        blocks = shell_blocks(text)
        if not blocks:
            continue
        copy = scratch(ctx)
        try:
            ctx.repository.export(copy)
            for number, block in enumerate(blocks, 1):
                limits = ctx.limits(VERIFY_SECONDS)
                result = ctx.sandbox.run(f"set -e\n{block}", cwd=copy, limits=limits)
                result = result.model_copy(update={"command": block.strip()})
                yield ctx.told(result_of(f"{document} block {number}", "docs", result))
        finally:
            remove_tree(copy)


def _failures(checks: Iterable[CheckResult]) -> tuple[str, ...]:
    return tuple(
        f"{check.name}: `{check.command.strip()}` ended with {check.verdict}. The end of its "
        f"output:\n{check.output[-SHOWN_OUTPUT:].strip()}"
        for check in checks
        if not check.holds
    )


def _inside(root: Path, path: str) -> bool:
    try:
        target = Path(os.path.realpath(root / path))
        return target.is_relative_to(os.path.realpath(root)) and target.is_file()
    except (OSError, ValueError):  # too long, or no path at all
        return False


def _words(text: str) -> str:
    """Text for comparison: case, quotes and white space do not matter."""
    plain = text.lower().translate(
        str.maketrans("\u2018\u2019\u201c\u201d\u2013\u2014", "''\"\"--")
    )
    return " ".join(plain.split())
