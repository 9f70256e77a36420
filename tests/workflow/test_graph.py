"""The flowchart: what can run is a way through it, and no title changes the drawing."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.schema.workflow import LoopStep, Workflow
from foundry.workflow.graph import graph, label
from foundry.workflow.load import builtin
from foundry.workflow.replay import trace
from tests.support.workflows import document, loop, step

NODE = re.compile(r"(\w+)(\[|\{|\(\[)\"(.*)\"(\]|\}|\]\))")
ARROW = re.compile(r"(\w+) -->(?:\|\"([^\"]*)\"\|)? (\w+)")
SUBGRAPH = re.compile(r"subgraph (\w+)\[\"(.*)\"\]")


class Chart:
    """A chart read back."""

    def __init__(self, text: str) -> None:
        head, *lines = text.splitlines()
        assert head == "flowchart TD"
        self.labels: dict[str, str] = {}
        self.inside: dict[str, str] = {}
        self.arrows: list[tuple[str, str, str]] = []
        within = ""
        for line in map(str.strip, lines):
            if match := SUBGRAPH.fullmatch(line):
                within, self.labels[match[1]] = match[1], shown(match[2])
            elif line == "end":
                within = ""
            elif match := ARROW.fullmatch(line):
                self.arrows.append((match[1], match[3], match[2] or ""))
            else:
                match = NODE.fullmatch(line)
                assert match, line
                self.labels[match[1]], self.inside[match[1]] = shown(match[3]), within

    def after(self, node: str) -> list[tuple[str, str]]:
        return [(target, text) for source, target, text in self.arrows if source == node]

    def steps_after(self, node: str) -> set[str]:
        """The boxes that can come next, past whatever is asked on the way."""
        found, waiting = set[str](), [node]
        seen = set(waiting)
        while waiting:
            for target, _ in self.after(waiting.pop()):
                if target not in seen:
                    seen.add(target)
                    question = target.endswith(("_if", "_next"))
                    (waiting.append if question else found.add)(target)
        return found | ({node} if node in {t for s in seen for t, _ in self.after(s)} else set())

    def named(self, step: str) -> str:
        return next(n for n, text in self.labels.items() if text.split("\n")[0] == step)


def shown(text: str) -> str:
    """What Mermaid makes of a label."""
    plain = re.sub(r"#(\d+);", lambda code: chr(int(code[1])), text.replace("<br/>", "\n"))
    return plain.replace("\u2060", "")


def workflow(*steps: Any, **fields: Any) -> Workflow:
    return Workflow.model_validate(document(*steps, **fields)).resolved()


def twice(name: str, body: Any, **fields: Any) -> dict[str, Any]:
    return {**loop(name, body, type="for", count=2), **fields}


MIXED = workflow(
    step("a", runCondition={"var": "x"}),
    twice("l", [step("b", runCondition={"var": "x"}), step("c", runCondition={"var": "y"})],
          runCondition={"var": "z"}),
    twice("m", "d"),
    step("d"),
    step("e", runCondition={"var": "y"}),
)  # fmt: skip


@pytest.mark.parametrize("x", [False, True])
@pytest.mark.parametrize("y", [False, True])
@pytest.mark.parametrize("z", [False, True])
def test_what_runs_is_a_way_through_the_chart(x: bool, y: bool, z: bool) -> None:
    chart = Chart(graph(MIXED))
    *lines, _ = trace(MIXED, {"x": x, "y": y, "z": z})
    here = "start"
    for line in lines:
        there = chart.named(line["step"])
        assert there in chart.steps_after(here), (here, there)
        here = there
    assert "done" in chart.steps_after(here)


@pytest.mark.parametrize("flow", [MIXED, builtin("build")], ids=lambda flow: flow.id)
def test_a_question_has_two_answers_and_a_step_one_way_on(flow: Workflow) -> None:
    chart = Chart(graph(flow))
    for node in chart.inside:
        answers = sorted(text.split(",")[0] for _, text in chart.after(node))
        if node.endswith(("_if", "_next")):
            assert answers == ["no", "yes"], node
        else:
            assert len(answers) == (node != "done"), node


def test_every_step_of_the_build_is_drawn() -> None:
    build = builtin("build")
    chart = Chart(graph(build))
    for each in build.steps:
        assert chart.named(each.id)
        for inner in each.steps if isinstance(each, LoopStep) else ():
            assert chart.inside[chart.named(inner.id)] == chart.named(each.id)


@pytest.mark.parametrize(
    ("config", "question", "on", "off"),
    [
        ({"type": "for", "count": 2}, "fewer than 2 done?", "yes", "no, or after 5"),
        ({"type": "for", "count": "n"}, "fewer than n done?", "yes", "no, or after 5"),
        ({"type": "forEach", "items": "files"}, "another of files?", "yes", "no, or after 5"),
        ({"type": "while", "condition": {"var": "n", "lt": 3}}, "n < 3?", "yes", "no, or after 5"),
        ({"type": "until", "condition": {"var": "done"}}, "done?", "no", "yes, or after 5"),
    ],
)
def test_a_loop_asks_before_every_iteration(
    config: dict[str, Any], question: str, on: str, off: str
) -> None:
    chart = Chart(graph(workflow(loop("l", [step("b")], **config), step("after"))))
    ask, body, after = chart.named(question), chart.named("b"), chart.named("after")
    assert chart.after("start") == [(ask, "")]
    assert chart.after(ask) == [(body, on), (after, off)]
    assert chart.after(body) == [(ask, "again")]
    assert chart.inside[ask] == chart.inside[body] == chart.named("l")
    assert chart.inside[after] == ""
    assert "at most 5 times" in chart.labels[chart.named("l")]


def test_a_condition_is_asked_in_words() -> None:
    condition = {"or": [
        {"and": [{"var": "a", "equals": "x"}, {"not": {"var": "b.c"}}]},
        {"var": "n", "gte": 1, "lt": 2.5},
        {"var": "k", "in": [1, "z"]},
        {"var": "t", "matches": "^a"},
    ]}  # fmt: skip
    chart = Chart(graph(workflow(step("s", runCondition=condition, requireConfirmation=True))))
    assert chart.labels["step1_if"] == (
        '(a is "x" and not b.c) or (n ≥ 1 and n < 2.5) or k is one of 1, "z" or t matches /^a/?'
    )
    assert chart.after("step1_if") == [("step1", "yes"), ("done", "no")]
    assert chart.labels["step1"] == "s\nThe step s (a person agrees first)"


HOSTILE = (
    'a"]; b["x', "`**b**`", "end", "%%{init: {}}%%", "<img src=x onerror=alert(1)>", "1. one",
    "- item", "# head", "a & b &lt; #quot;", "style a:b#35; c", 'click a "javascript:x"', "x --> y",
    "{{task.title}}", "www.example.com", "$$x$$", "a\\nb", "fa:fa-user", "_x_ -y-", "a|b",
    "ﬂ°°35¶ß",
)  # fmt: skip


@pytest.mark.parametrize("title", HOSTILE)
def test_no_title_changes_the_drawing(title: str) -> None:
    def drawn(text: str) -> Chart:
        inner = [step("b", title=text, runCondition={"var": "v", "equals": text})]
        repeat = {"type": "while", "condition": {"var": "v", "matches": text}}
        again = {**loop("l", inner, **repeat), "title": text}
        return Chart(graph(workflow(step("a", title=text), again, name=text)))

    hostile, harmless = drawn(title), drawn("plain")
    assert hostile.arrows == harmless.arrows
    assert hostile.inside == harmless.inside
    assert hostile.labels["step1"] == f"a\n{title}"
    assert hostile.labels["start"] == title


@given(st.text(min_size=1, max_size=40))
def test_a_label_holds_nothing_that_means_something_to_mermaid(text: str) -> None:
    made = label(text)
    left = re.sub(r"#\d+;", "", made)
    assert not set(left) & set('"`<>{}[]|#;:&%$*\\@~^+=.\n\r\t')
    assert not re.search(r"(?<![^\W_])[-_]|[-_](?![^\W_])", made)
    printable = "".join(c for c in " ".join(text.split()) if c.isprintable())
    assert shown(made) == printable.replace("\u2060", "")
