"""Variables: those of a loop don't hide each other, and what stands in braces is provided."""

import re
from collections.abc import Collection, Iterator

from foundry.schema.workflow import Loop, LoopStep, Step, Workflow
from foundry.workflow.conditions import names as names_asked
from foundry.workflow.loops import own_names
from foundry.workflow.placeholders import in_braces, is_name, unknown_name
from foundry.workflow.problem import Finding, Loc
from foundry.workflow.traverse import (
    Node,
    conditions,
    fields_given,
    loops_around,
    loops_by_body,
    nodes,
)

FIELDS = ("iterationVar", "itemVar", "indexVar")
"""The fields that name a loop's variables, in the order of `own_names`."""

_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*", re.ASCII)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")


def loop_variables(workflow: Workflow) -> Iterator[Finding]:
    """Variables of a loop that have one name, or that of something else."""
    for node in nodes(workflow):
        if isinstance(node.step, LoopStep):
            yield from _of_loop((*node.loc, "loop"), node.step.loop, workflow.context)


def unknown_placeholders(
    workflow: Workflow, names: Collection[str], *, strict: bool
) -> Iterator[Finding]:
    """Warnings about `{{name}}` that nothing provides; `names` is what a run is known to bring.

    Public documents write prose and expressions in braces (`{{itemIndex + 1}}`, Mermaid's
    `{{"text"}}`). An expression is told of only when `strict` is asked for, and only where it has
    a name that there is: then somebody expects it to be worked out, and it never is.
    """
    everywhere = _names(workflow) | set(names)
    by_body = loops_by_body(workflow)
    for number, line in enumerate(workflow.meta_guidance):
        yield from _unknown(("metaGuidance", number), line, everywhere, strict=strict)
    for node in nodes(workflow):
        loops = [node.step] if isinstance(node.step, LoopStep) else loops_around(node, by_body)
        here = everywhere.union(*(own_names(each.loop) for each in loops))
        for loc, text in _texts(node):
            yield from _unknown(loc, text, here, strict=strict)


def _of_loop(loc: Loc, loop: Loop, context: Collection[str]) -> Iterator[Finding]:
    own = dict(zip(FIELDS, own_names(loop), strict=False))  # only a forEach has all three
    given = fields_given(loop)
    runs_over = [_root(each) for each in (loop.items, loop.count) if isinstance(each, str)]
    for field, name in own.items():
        where = (*loc, field if field in given else "type")
        same = next(other for other in own if own[other] == name)
        if same != field:
            yield Finding(where, f"{same} and {field} are both {name!r}: give one another name")
        elif name in context:
            what = f"{name!r} hides the variable of the context inside this loop: rename one"
            yield Finding(where, what, "warning")
        elif name in runs_over:
            what = f"{name!r} hides what the loop runs over inside of it: rename it"
            yield Finding(where, what, "warning")


def _names(workflow: Workflow) -> set[str]:
    """What the document itself speaks of: its context, its conditions, what its loops run over."""
    found = set(workflow.context)
    for _, condition in conditions(workflow):
        found.update(map(_root, names_asked(condition)))
    for step in workflow.steps:
        if isinstance(step, LoopStep):
            found.update(
                _root(each) for each in (step.loop.items, step.loop.count) if isinstance(each, str)
            )
    return found - {""}


def _root(path: str) -> str:
    return path.partition(".")[0]


def _unknown(loc: Loc, text: str, names: set[str], *, strict: bool) -> Iterator[Finding]:
    for inside in dict.fromkeys(in_braces(text)):
        if is_name(inside):
            if _root(inside) not in names:
                yield Finding(loc, unknown_name(inside, names), "warning")
        elif strict and names & set(_WORD.findall(_QUOTED.sub("", inside))):
            yield Finding(
                loc,
                f"{{{{{inside}}}}} is not worked out, only names and paths are filled in: let "
                "an earlier step put the value into the context",
            )


def _texts(node: Node) -> Iterator[tuple[Loc, str]]:
    """The texts in which variables are filled in."""
    step, loc = node.step, node.loc
    yield (*loc, "title"), step.title
    if isinstance(step, Step):
        yield (*loc, "prompt"), step.prompt
        yield (*loc, "agentRole"), step.agent_role
        yield from (((*loc, "guidance", n), line) for n, line in enumerate(step.guidance))
