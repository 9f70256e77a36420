"""Steps, conditions and loops in plain text: for prompts, outlines and diagrams. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foundry.schema.condition import Condition
from foundry.schema.criteria import Composition, Criteria, Criterion, Rule
from foundry.schema.workflow import Function, Loop, Step
from foundry.workflow.cursor import Instruction
from foundry.workflow.loops import Context
from foundry.workflow.placeholders import fill, in_braces, spelt, unknown_name, value_in_braces

COMPARISONS = {
    "equals": "is",
    "not_equals": "is not",
    "gt": ">",
    "gte": "≥",
    "lt": "<",
    "lte": "≤",
    "contains": "contains",
    "startsWith": "starts with",
    "endsWith": "ends with",
    "in": "is one of",
}


def condition_text(condition: Condition | None) -> str:
    """`round < 3 and not tests.passed`; a name alone: it is truthy; no condition: `always`."""
    if condition is None or not condition.given:
        return "always"
    if condition.not_ is not None:
        return f"not {_nested(condition.not_)}"
    if condition.and_ is not None:
        return " and ".join(map(_nested, condition.and_)) or "always"
    if condition.or_ is not None:
        return " or ".join(map(_nested, condition.or_)) or "never"
    compared = [_comparison(name, value) for name, value in condition.comparisons]
    return " and ".join(f"{condition.var} {each}" for each in compared) or str(condition.var)


def loop_text(loop: Loop) -> str:
    """`for each of tasks (as task), at most 1000 times`."""
    return f"{_repetition(loop)}, at most {loop.max_iterations} times"


def count_text(loop: Loop) -> str:
    """How often a `for` loop runs: a number, or the variable that holds it."""
    return loop.count if isinstance(loop.count, str) else _json(loop.count)


def _repetition(loop: Loop) -> str:
    match loop.type:
        case "for":
            return f"{count_text(loop)} times"
        case "forEach":
            return f"for each of {loop.items} (as {loop.item_var})"
        case _:
            return f"{loop.type} {condition_text(loop.condition)}"


def _nested(condition: Condition) -> str:
    """In parentheses where a reader could take it apart wrongly."""
    several = len(condition.and_ or condition.or_ or condition.comparisons) > 1
    text = condition_text(condition)
    return f"({text})" if several else text


def _comparison(name: str, value: Any) -> str:
    if name == "matches":
        return f"matches /{value}/"
    if name == "in":
        return f"{COMPARISONS[name]} {', '.join(map(_json, value)) or 'nothing'}"
    return f"{COMPARISONS[name]} {_json(value)}"


def _json(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


REPEATS = {
    "for": "a number of times",
    "forEach": "for each item of a list",
    "while": "while its condition holds",
    "until": "until its condition holds",
}

AGAIN = "The same step again."
MAX_OLD = 40
"""Characters of a value that no longer holds: enough to know it again."""


def step_text(step: Step, context: Context) -> tuple[str, tuple[str, ...]]:
    """What the step says, its variables filled in, and a warning for each that there is not."""
    filled = fill(_template(step), context)
    warnings = tuple(f"{step.id}: {unknown_name(name, context)}" for name in filled.unknown)
    criteria = criteria_text(step.validation_criteria)  # judged as written, so told as written
    return "\n\n".join(filter(None, (filled.text, criteria))), warnings


def again_text(step: Step, before: Context, now: Context) -> str:
    """A step that its reader has been told with the variables of `before`: what differs now.

    The text is the same but for what was filled in, so its changed variables say all of it.
    """
    names = dict.fromkeys(in_braces(_template(step)))
    values = [(name, _known(name, before), _known(name, now)) for name in names]
    lines = [f"- {name}: {new} (was {_shortened(old)})" for name, old, new in values if old != new]
    return "\n".join(("The same step again, with these values:", *lines)) if lines else AGAIN


def _template(step: Step) -> str:
    parts = [
        f"Your role: {step.agent_role}" if step.agent_role else "",
        "\n".join(("Guidance:", *(f"- {each}" for each in step.guidance))) if step.guidance else "",
        "Begin by looking for the files that matter here." if step.ask_for_files else "",
        step.prompt,
        _calls(step),
    ]
    return "\n\n".join(part for part in parts if part)


def _known(name: str, context: Context) -> str:
    value = value_in_braces(name, context)
    return "not known" if value is None else spelt(value)


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_OLD else text[: MAX_OLD - 1] + "…"


def functions_text(functions: Sequence[Function]) -> str:
    """Definitions in full."""
    lines = [f"- `{each.name}()`: {each.definition}" for each in functions]
    return "\n".join(("Functions that are referred to:", *lines)) if lines else ""


def loop_overview(instruction: Instruction) -> str:
    """What is repeated around the step."""
    loop, context = instruction.loop, instruction.context
    if loop is None:
        return ""
    title, *steps = (fill(each.title, context).text for each in (loop, *loop.steps))
    return f"This is part of {title!r}, repeated {REPEATS[loop.loop.type]}: {' → '.join(steps)}."


def item_text(instruction: Instruction) -> str:
    """The item that this iteration is about."""
    loop = instruction.loop
    if loop is None or loop.loop.type != "forEach":
        return ""
    return f"{loop.loop.item_var}: {spelt(instruction.context[loop.loop.item_var])}"


def iteration_text(instruction: Instruction) -> str:
    """Which iteration it is."""
    if instruction.loop is None:
        return ""
    total = f" of {instruction.total}" if instruction.loop.loop.type == "forEach" else ""
    return f"Iteration {instruction.number}{total}."


def criteria_text(criteria: Criteria | None) -> str:
    """What the output has to be like, rule by rule."""
    if not criteria:
        return ""
    lines = [f"- {line}" for line in _rules(criteria)]
    return "\n".join(("What the output has to be like:", *lines))


def _rules(criteria: Criteria) -> Iterator[str]:
    for each in criteria if isinstance(criteria, tuple) else (criteria,):
        yield _rule(each)


def _rule(criterion: Criterion) -> str:
    match criterion:
        case Rule():
            when = f" (when {condition_text(criterion.condition)})" if criterion.condition else ""
            return f"{criterion.message}{_detail(criterion)}{when}"
        case Composition(and_=tuple(parts)):
            return "all of: " + "; ".join(map(_rule, parts))
        case Composition(or_=tuple(parts)):
            return "one of: " + "; ".join(map(_rule, parts))
        case Composition(not_=part) if part is not None:
            return "not: " + _rule(part)
    raise AssertionError(criterion)


def _detail(rule: Rule) -> str:
    match rule.type:
        case "contains":
            return f" (contains {rule.value!r})"
        case "regex":
            return f" (matches /{rule.pattern}/{rule.flags})"
        case "length":
            low = f"at least {rule.min:g}" if rule.min is not None else ""
            high = f"at most {rule.max:g}" if rule.max is not None else ""
            return f" ({' and '.join(filter(None, (low, high)))} characters)"
        case "schema":
            return f" (JSON of the schema {json.dumps(rule.schema_, ensure_ascii=False)})"


def _calls(step: Step) -> str:
    lines = [f"- {call.name}({_arguments(call.args)})" for call in step.function_calls]
    return "\n".join(("Follow:", *lines)) if lines else ""


def _arguments(args: Mapping[str, Any]) -> str:
    return ", ".join(f"{k}={json.dumps(v, ensure_ascii=False)}" for k, v in args.items())
