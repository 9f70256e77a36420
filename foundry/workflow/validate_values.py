"""Values that are well-formed and still can't be used, or can't be meant."""

from collections.abc import Iterator

from foundry.schema.criteria import Rule
from foundry.schema.workflow import Loop, LoopStep, Workflow
from foundry.workflow.conditions import problems
from foundry.workflow.problem import Finding, Loc
from foundry.workflow.regex import FLAGS, Anything, compiled_with_lookaheads
from foundry.workflow.traverse import conditions, fields_given, nodes, rules

LINE = 256
"""Characters of a rule or a question in the public format; ours may be longer."""

_LOOP_FIELDS = {
    "condition": ("while", "until"),
    "items": ("forEach",),
    "itemVar": ("forEach",),
    "indexVar": ("forEach",),
    "onMissing": ("forEach",),
    "count": ("for",),
}
"""Fields of a loop, and the types that look at them."""

_RULE_FIELDS = {
    "contains": {"value"},
    "regex": {"pattern", "flags"},
    "length": {"min", "max"},
    "schema": {"schema"},
}
"""Types of a rule, and the fields that they look at."""


def patterns(workflow: Workflow) -> Iterator[Finding]:
    """Patterns that do not compile, and schemas that are none, in conditions and rules."""
    for loc, condition in conditions(workflow):
        for inner, message in problems(condition):
            yield Finding((*loc, *inner), message)
    for node in nodes(workflow):
        for loc, rule in rules(node):
            yield from _rule(loc, rule)


def oddities(workflow: Workflow) -> Iterator[Finding]:
    """Warnings about what is allowed."""
    for key, lines in (
        ("preconditions", workflow.preconditions),
        ("clarificationPrompts", workflow.clarification_prompts),
        ("metaGuidance", workflow.meta_guidance),
    ):
        for number, line in enumerate(lines):
            if len(line) > LINE:
                what = f"is {len(line)} characters long: WorkRail itself refuses more than {LINE}"
                yield Finding((key, number), what, "warning")
    for node in nodes(workflow):
        if isinstance(node.step, LoopStep):
            yield from _loop((*node.loc, "loop"), node.step.loop)
        elif node.step.has_validation and not node.step.validation_criteria:
            what = "there are no validationCriteria: any output that is not blank will do"
            yield Finding((*node.loc, "hasValidation"), what, "warning")


def _rule(loc: Loc, rule: Rule) -> Iterator[Finding]:
    if rule.type == "regex" and rule.pattern:
        try:
            matcher = compiled_with_lookaheads(rule.pattern, rule.flags)
        except ValueError as error:
            where = "flags" if set(rule.flags) - set(FLAGS) else "pattern"
            yield Finding((*loc, where), str(error))
        else:
            if isinstance(matcher, Anything):
                what = f"every text matches {rule.pattern!r}, at its end at the latest"
                yield Finding((*loc, "pattern"), f"{what}: begin it with '^'", "warning")
    if rule.type == "schema" and rule.schema_ is not None:
        from foundry.workflow.output_schema import faults

        for inner, message in faults(rule.schema_):
            yield Finding((*loc, "schema", *inner), message)
    useless = set().union(*_RULE_FIELDS.values()) - _RULE_FIELDS[rule.type]
    for name in sorted(useless & fields_given(rule)):
        what = f"means nothing to a {rule.type} rule: remove it, or make it a rule of its own"
        yield Finding((*loc, name), what, "warning")


def _loop(loc: Loc, loop: Loop) -> Iterator[Finding]:
    given = fields_given(loop)
    for field, types in _LOOP_FIELDS.items():
        if field in given and loop.type not in types:
            what = f"means nothing to a {loop.type} loop, only to {' and '.join(types)}"
            yield Finding((*loc, field), what, "warning")
    if loop.type == "for" and isinstance(loop.count, float):
        if loop.count == 0:
            yield Finding((*loc, "count"), "is 0: the loop's steps never run", "warning")
        if loop.count > loop.max_iterations:
            what = f"is {loop.count:g}, but the loop ends at maxIterations: {loop.max_iterations}"
            yield Finding((*loc, "count"), what, "warning")
