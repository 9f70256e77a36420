"""The workflows that are served: listed, described, validated; read again when a file changed."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foundry.config import home
from foundry.mcp.messages import (
    GetReply,
    Listed,
    ListReply,
    Refusal,
    ValidateReply,
)
from foundry.mcp.prompts import engine_step_text
from foundry.schema.workflow import Workflow
from foundry.workflow import criteria, load
from foundry.workflow.cursor import Blocked, Instruction, begin, due
from foundry.workflow.disclosure import disclose
from foundry.workflow.validate import problems

Stamp = tuple[str, int, int]


class Catalog:
    """The workflows of this installation and of this home."""

    def __init__(self) -> None:
        self._library: tuple[tuple[Stamp, ...] | None, dict[str, load.Source]] = (None, {})
        self._loaded: dict[Path, tuple[Stamp, Workflow]] = {}

    def sources(self) -> Mapping[str, load.Source]:
        """What there is, by its id; of two with the same, the user's own."""
        now = tuple(stamp for folder in _folders() for stamp in _stamps(folder))
        seen, sources = self._library
        if now != seen:
            found = {each.id: each for each in reversed(load.library())}
            sources = dict(reversed(found.items()))
            self._library = (now, sources)  # as one value: threads look at it
        return sources

    def workflow(self, name: str) -> Workflow:
        """A workflow by its id; raises Refusal for one that there is not.

        Ids only and no paths: a client of this server has no business in the file system.
        """
        sources = self.sources()
        if name not in sources:
            raise Refusal(
                "unknown-workflow",
                f"there is no workflow {name!r}",
                hint=f"There are {', '.join(sources)}; `workflow_list` describes them",
            )
        path = sources[name].path
        stamp, known = _stamp(path), self._loaded.get(path)
        if known is None or known[0] != stamp:
            known = self._loaded[path] = (stamp, load.load(path))
        return known[1]


def _folders() -> tuple[Path, ...]:
    return load.BUILTIN, home() / "workflows"


def _stamps(folder: Path) -> Iterator[Stamp]:
    if folder.is_dir():
        with os.scandir(folder) as entries:
            found = [_stamp(entry) for entry in entries]
        yield from sorted(found)


def _stamp(file: Path | os.DirEntry[str]) -> Stamp:
    stat = file.stat()
    return os.fspath(file), stat.st_size, stat.st_mtime_ns


def list_workflows(catalog: Catalog) -> ListReply:
    """Every workflow in a line."""
    return ListReply(
        workflows=tuple(
            Listed(
                id=each.id,
                name=each.name,
                description=each.description,
                category="default",
                version=each.version,
            )
            for each in catalog.sources().values()
            if not each.problem
        )
    )


def describe_workflow(workflow: Workflow, *, preview: bool) -> GetReply:
    """A workflow's description, and where it begins."""
    reply = GetReply(
        id=workflow.id,
        name=workflow.name,
        description=workflow.description,
        version=workflow.version,
        preconditions=workflow.preconditions,
        clarification_prompts=workflow.clarification_prompts,
        meta_guidance=workflow.meta_guidance,
        function_definitions=tuple(
            each.model_dump(mode="json", by_alias=True, exclude_unset=True)
            for each in workflow.function_definitions
        ),
        total_steps=len(workflow.steps),
    )
    return reply.model_copy(update=_first(workflow)) if preview else reply


def _first(workflow: Workflow) -> dict[str, Any]:
    match due(workflow, begin(workflow)):
        case Instruction() as instruction:
            disclosed = disclose(workflow, instruction, "fresh")
            text = disclosed.guidance["prompt"] or engine_step_text(instruction.step)
            return {
                "first_step": {**disclosed.step, "prompt": text},
                "warnings": disclosed.warnings,
            }
        case Blocked(reason=reason, hint=hint):
            return {"first_step": None, "warnings": (f"{reason}. {hint}",)}
        case _:
            return {"first_step": None, "warnings": ("with an empty context no step runs",)}


def judge_output(
    workflow: Workflow, step: str, output: str, context: Mapping[str, Any]
) -> ValidateReply:
    """The verdict over a step's output; raises Refusal for a step that does not exist."""
    name = step.rsplit("/", 1)[-1]  # `loop[2]/step` is how a journal names a body step
    steps = {each.id: each for each in workflow.all_steps}
    if name not in steps:
        raise Refusal(
            "unknown-step",
            f"there is no step {step!r} in {workflow.id!r}",
            hint=f"Its steps are {', '.join(steps)}",
        )
    verdict = criteria.judge(steps[name].validation_criteria, output, context)
    return ValidateReply(
        valid=verdict.valid, issues=verdict.issues, suggestions=verdict.suggestions
    )


def validate_document(document: str | Mapping[str, Any]) -> ValidateReply:
    """Everything that is wrong with a document: errors as issues, warnings as suggestions."""
    if isinstance(document, str):
        found = load.examine_text(document, json=document.lstrip().startswith("{"))
    else:
        found = problems(document)
    return ValidateReply(
        valid=not any(each.level == "error" for each in found),
        issues=tuple(str(each) for each in found if each.level == "error"),
        suggestions=tuple(str(each) for each in found if each.level == "warning"),
    )
