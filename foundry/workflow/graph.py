"""A workflow as a Mermaid flowchart. Pure.

Steps are boxes, conditions are diamonds, a loop is a subgraph with the question that is asked
before every iteration. Names in the chart come from positions and labels hold no character that
means something to Mermaid, so that no title can change the drawing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from foundry.schema.workflow import LoopStep, Step, Workflow
from foundry.workflow.describe import condition_text, count_text, loop_text

SPECIAL = re.compile(r"[^\w ,()'/?≥≤-]|(?<![^\W_])[_-]|[_-](?![^\W_])")
"""What can't stand in a label as it is: quotes, markup, links, and `_` or `-` outside of words."""

LATER = re.compile(r"\$(?=\$)|\\(?=n)|:(?=fa-)|\ufb02(?=°)|¶(?=ß)")
"""What begins a formula, a line break, an icon or a code even after codes were resolved: an
invisible word joiner keeps it apart."""

End = tuple[str, str]
"""A node that an arrow still has to leave, and what the arrow says."""


@dataclass(frozen=True, slots=True)
class _Drawing:
    """What is drawn of a step: its nodes, the arrows, and how it is left.

    All nodes are written before the arrows: Mermaid puts a node into the subgraph that first
    mentions it.
    """

    nodes: tuple[str, ...]
    arrows: tuple[str, ...]
    ends: tuple[End, ...]


def graph(workflow: Workflow) -> str:
    """The chart of a resolved workflow, ending with a line break."""
    start = (("start", ""),)
    drawing = _sequence("step", workflow.steps, start)
    lines = (
        f"start([{_label(workflow.name)}])",
        *drawing.nodes,
        f"done([{_label('complete')}])",
        *drawing.arrows,
        *_arrows(drawing.ends, "done"),
    )
    return "\n".join(("flowchart TD", *(f"    {line}" for line in lines))) + "\n"


def label(text: str) -> str:
    """Text as Mermaid shows it: what is no letter, digit or harmless becomes a character code."""
    shown = "".join(each for each in " ".join(text.split()) if each.isprintable())
    apart = LATER.sub("\\g<0>\u2060", shown)
    return SPECIAL.sub(lambda each: f"#{ord(each[0])};", apart)


def _sequence(name: str, steps: tuple[LoopStep | Step, ...], ends: tuple[End, ...]) -> _Drawing:
    drawings: list[_Drawing] = []
    for number, step in enumerate(steps, 1):
        drawings.append(_gated(f"{name}{number}", step, ends))
        ends = drawings[-1].ends
    return _Drawing(
        tuple(chain.from_iterable(drawing.nodes for drawing in drawings)),
        tuple(chain.from_iterable(drawing.arrows for drawing in drawings)),
        ends,
    )


def _gated(name: str, step: LoopStep | Step, ends: tuple[End, ...]) -> _Drawing:
    """A step behind the question whether it runs at all, where it has a condition."""
    condition = step.run_condition
    if condition is None or not condition.given:
        return _drawn(name, step, ends)
    gate = f"{name}_if"
    inner = _drawn(name, step, ((gate, "yes"),))
    return _Drawing(
        (f"{gate}{{{_label(condition_text(condition) + '?')}}}", *inner.nodes),
        (*_arrows(ends, gate), *inner.arrows),
        (*inner.ends, (gate, "no")),
    )


def _drawn(name: str, step: LoopStep | Step, ends: tuple[End, ...]) -> _Drawing:
    if isinstance(step, LoopStep):
        return _loop(name, step, ends)
    asks = " (a person agrees first)" if step.require_confirmation else ""
    box = f"{name}[{_label(step.id, step.title + asks)}]"
    return _Drawing((box,), tuple(_arrows(ends, name)), ((name, ""),))


def _loop(name: str, step: LoopStep, ends: tuple[End, ...]) -> _Drawing:
    question, on, off = _question(step)
    question_node = f"{name}_next"
    body = _sequence(f"{name}_", step.steps, ((question_node, on),))
    asks = " (a person agrees first)" if step.require_confirmation else ""
    nodes = (
        f"subgraph {name}[{_label(step.id, step.title + asks, loop_text(step.loop))}]",
        f"    {question_node}{{{_label(question)}}}",
        *(f"    {node}" for node in body.nodes),
        "end",
    )
    again = tuple((node, f"{text}, again".removeprefix(", ")) for node, text in body.ends)
    arrows = (*_arrows(ends, question_node), *body.arrows, *_arrows(again, question_node))
    return _Drawing(
        nodes, arrows, ((question_node, f"{off}, or after {step.loop.max_iterations}"),)
    )


def _question(step: LoopStep) -> tuple[str, str, str]:
    """What is asked before every iteration, and the answers that go on and leave."""
    match step.loop.type:
        case "for":
            return f"fewer than {count_text(step.loop)} done?", "yes", "no"
        case "forEach":
            return f"another of {step.loop.items}?", "yes", "no"
        case "while":
            return f"{condition_text(step.loop.condition)}?", "yes", "no"
        case "until":
            return f"{condition_text(step.loop.condition)}?", "no", "yes"


def _arrows(ends: tuple[End, ...], target: str) -> Iterator[str]:
    for node, text in ends:
        yield f'{node} -->|"{text}"| {target}' if text else f"{node} --> {target}"


def _label(*lines: str) -> str:
    return '"' + "<br/>".join(label(line) for line in lines if line) + '"'
