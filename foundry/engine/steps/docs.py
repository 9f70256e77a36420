"""Docs: the documentation is written, and the commands that it shows are run."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from foundry.engine.evidence.findings import DOCS as DOCS_REVIEW
from foundry.engine.evidence.findings import check_of, review_in
from foundry.engine.gates import (
    VERIFY_SECONDS,
    failures,
    is_file_inside,
    run_once,
    staged_files,
    uncommittable,
)
from foundry.engine.step_context import StepContext, is_documentation, scratch
from foundry.engine.step_kind import GateResult, Result, StepKind
from foundry.files import read_bounded
from foundry.schema.base import Value
from foundry.schema.command import CheckResult, result_of
from foundry.schema.plan import Check
from foundry.store.git.trees import remove_tree

MAX_DOCUMENT = 2_000_000
"""Bytes."""

SHELLS = {"sh", "bash", "shell", "console"}


class DocsSubmission(Value):
    """The documentation that was written."""

    summary: str = Field(min_length=1)
    files: tuple[str, ...] = Field(
        ("README.md",), min_length=1, description="every documentation file, README.md among them"
    )


def _gate(ctx: StepContext, done: DocsSubmission) -> GateResult:
    """Only documentation changed, it is there, and the commands that it shows were run.

    In a project whose checks still fail they can't be asked to work: then they are only recorded.
    """
    if nested := uncommittable(ctx):
        return GateResult(nested)
    files = staged_files(ctx)
    problems = [
        f"{path} is not documentation: this step may not change the project itself"
        for path in files
        if not is_documentation(path)
    ]
    wanted = dict.fromkeys(("README.md", *done.files))
    problems += [
        f"{path} is missing" for path in wanted if not is_file_inside(ctx.project.root, path)
    ]
    if problems:
        return GateResult(tuple(problems), (), files)
    documents = [path for path in wanted if path.endswith(".md")]
    blocks = _run_documents(ctx, documents)
    found = (run_once(ctx, check, "finding") for check in _open(ctx))
    checks = (*blocks, *found)
    works = ctx.context.get("tests", {}).get("passed", True)
    return GateResult(failures(checks) if works else (), checks, files)


def _open(ctx: StepContext) -> tuple[Check, ...]:
    """What a reader found wrong in the documentation, as checks that hold when it is mended."""
    review = review_in(ctx.context, DOCS_REVIEW)
    return tuple(map(check_of, review.found)) if review.open else ()


def _values(ctx: StepContext) -> Mapping[str, Any]:
    review = review_in(ctx.context, DOCS_REVIEW)
    return {"found": review.found if review.open else ()}


def _result(ctx: StepContext, done: DocsSubmission, evidence: GateResult) -> Result:
    found = [check for check in evidence.checks if check.kind == "finding"]
    ran = len(evidence.checks) - len(found)
    still = sum(1 for check in found if not check.holds)
    review = review_in(ctx.context, DOCS_REVIEW).model_copy(update={"open": still})
    return Result(
        "docs: mend what a reader found" if found else "docs: describe the project",
        f"{done.summary} ({ran} command block{'s' if ran != 1 else ''} run)",
        patch={DOCS_REVIEW: review.model_dump(mode="json")} if found else {},
    )


def _run_documents(ctx: StepContext, documents: Iterable[str]) -> Iterable[CheckResult]:
    """Run every document's blocks in a copy of the project, one fresh copy a document."""
    for document in documents:
        text = read_bounded(Path(document), MAX_DOCUMENT, root=ctx.project.root)
        blocks = shell_blocks(text or "")
        if not blocks:
            continue
        copy = scratch(ctx)
        try:
            ctx.repository.export(copy)
            for number, block in enumerate(blocks, 1):
                limits = ctx.command_limits(VERIFY_SECONDS)
                result = ctx.sandbox.run(f"set -e\n{block}", cwd=copy, limits=limits)
                result = result.model_copy(update={"command": block.strip()})
                yield ctx.observed(result_of(f"{document} block {number}", "docs", result))
        finally:
            remove_tree(copy)


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


DOCS = StepKind(
    name="docs",
    submission=DocsSubmission,
    values=_values,
    gate=_gate,
    result=_result,
    edits=True,
)
