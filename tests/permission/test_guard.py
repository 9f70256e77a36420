"""The wrapper: what runs, what the model is told, what a person is asked, when the run pauses."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from foundry.errors import DecisionNeeded
from foundry.permission import approvals
from foundry.permission.approvals import Approve, nobody
from foundry.permission.guard import Guard
from foundry.permission.policy import load_policy
from foundry.schema.events import Event, Judged
from foundry.schema.permission import Answer, Effect, Mode, Policy, Question, Rule
from foundry.tools.base import Arguments, Tool, ToolResult, Toolset
from foundry.tools.toolset import OURS
from tests.support.tools import FILES, tools_in

RUN = "run-1"


@dataclass
class Person:
    """Answers one question after the other, and remembers them."""

    answers: list[Answer | None]
    questions: list[Question] = field(default_factory=list)

    def __call__(self, question: Question) -> Answer | None:
        self.questions.append(question)
        return self.answers.pop(0)


@dataclass
class Desk:
    """Tools behind a guard, and what was told of them."""

    root: Path
    tools: Toolset
    events: list[Event]

    def run(self, command: str) -> ToolResult:
        return self.tools.run("run_command", {"command": command})

    def write(self, path: str, content: str) -> ToolResult:
        return self.tools.run("write_file", {"path": path, "content": content})

    @property
    def decisions(self) -> list[tuple[str, str]]:
        return [(each.decision, each.who) for each in self.events if isinstance(each, Judged)]


Lay = Callable[..., Desk]


@pytest.fixture
def desk(tmp_path: Path) -> Lay:
    root = tmp_path / "project"
    root.mkdir()

    def lay(
        rules: Policy, approve: Approve = nobody, more: dict[str, Tool[Any]] | None = None
    ) -> Desk:
        events: list[Event] = []
        guard = Guard(
            rules, root, run=RUN, step="builder[1]/build", approve=approve, observe=events.append
        )
        tools = {**tools_in(root, *FILES, "run_command"), **(more or {})}
        return Desk(root, Toolset(guard.wrap(tools)), events)

    return lay


def rules(*given: Rule, **more: Any) -> Policy:
    return Policy(rules=given, **more)


def allow(*tools: str, **narrowed: Any) -> Rule:
    return Rule(effect=Effect.ALLOW, tools=tools, **narrowed)


ECHO = allow("run_command", commands=("echo *",))
ASK = Rule(effect=Effect.ASK, tools=("*",), source="mine")


def test_what_is_allowed_runs_and_is_told(desk: Lay):
    here = desk(rules(ECHO))
    assert here.run("echo hi") == ToolResult("hi\nexit code 0")
    assert here.decisions == [("allow", "policy")]


def test_a_refusal_says_why_and_what_else(desk: Lay):
    why = "nothing is published from here"
    push = Rule(effect=Effect.DENY, tools=("run_command",), commands=("touch *",), reason=why)
    here = desk(rules(ECHO, push))
    said = here.run("echo a && touch b")
    assert said.is_error
    assert "touch b" in said.content
    assert "Nothing is published from here." in said.content
    assert not (here.root / "b").exists()
    [event] = here.events
    assert isinstance(event, Judged)
    assert (event.tool, event.decision, event.part, event.who) == (
        "run_command", "deny", "touch b", "policy",
    )  # fmt: skip
    assert event.rule.startswith("deny run_command: touch *")


def test_nothing_of_a_command_runs_when_one_part_may_not(desk: Lay):
    here = desk(rules(ECHO, allow("write_file", paths=("**",))))
    assert here.run("echo a > made; reboot-everything").is_error
    assert not (here.root / "made").exists()


def test_unmatched_means_refused(desk: Lay):
    here = desk(rules())
    assert here.run("echo a").is_error
    assert here.write("a", "b").is_error
    assert list(here.root.iterdir()) == []


def test_arguments_that_do_not_fit_are_the_tools_own_matter(desk: Lay):
    here = desk(rules())
    said = here.tools.run("run_command", {"cmd": "ls"})
    assert "Invalid arguments" in said.content
    assert here.events == []


def test_so_many_refusals_pause_the_run(desk: Lay):
    here = desk(rules(denials=3))
    for command in ("one", "two"):
        assert here.run(command).is_error
    with pytest.raises(DecisionNeeded) as paused:
        here.run("three x")
    assert "3 calls were refused in builder[1]/build: one; two; three x" in str(paused.value)
    assert "--allow" in str(paused.value)
    assert desk(rules(denials=3)).run("four").is_error  # the next conversation counts anew


def test_plan_only_reads(desk: Lay, tmp_path: Path):
    everything = allow("*")
    here = desk(rules(everything, mode=Mode.PLAN))
    (here.root / "a").write_text("text")
    assert here.tools.run("read_file", {"path": "a"}) == ToolResult("text")
    for refused in (here.run("ls"), here.write("a", "b")):
        assert refused.is_error
        assert "only plans" in refused.content
    assert (here.root / "a").read_text() == "text"


def test_a_person_says_yes_and_no(desk: Lay):
    person = Person([Answer(kind="yes"), Answer(kind="no")])
    here = desk(rules(ASK), person)
    assert here.run("echo a").content.startswith("a\n")
    said = here.run("touch b")
    assert said.is_error
    assert "A person said no" in said.content
    assert not (here.root / "b").exists()
    assert here.decisions == [("yes", "person"), ("no", "person")]
    question = person.questions[0]
    assert (question.shown, question.editable) == ("echo a", "command")


def test_a_file_is_shown_as_a_diff(desk: Lay):
    person = Person([Answer(kind="yes"), Answer(kind="yes"), Answer(kind="yes")])
    here = desk(rules(ASK), person)
    here.write("a.py", "one\n")
    here.write("a.py", "two\n")
    here.tools.run("edit_file", {"path": "a.py", "old": "two", "new": "three"})
    assert (here.root / "a.py").read_text() == "three\n"
    shown = [question.shown for question in person.questions]
    assert shown[0].splitlines() == ["--- /dev/null", "+++ b/a.py", "@@ -0,0 +1 @@", "+one"]
    assert shown[1].splitlines()[-2:] == ["-one", "+two"]
    assert shown[2].splitlines()[-2:] == ["-two", "+three"]


def test_always_holds_for_the_run_and_for_no_more_than_was_shown(desk: Lay):
    person = Person([Answer(kind="always"), Answer(kind="no")])
    here = desk(rules(ASK), person)
    assert not here.run("echo '*'").is_error
    assert not here.run('echo "*"').is_error  # the same words
    assert here.run("echo else").is_error
    assert len(person.questions) == 2
    later = desk(rules(ASK))
    assert later.run("echo '*'").content.startswith("*\n")
    assert approvals.load(RUN).always == person.questions[0].always
    assert not (here.root / ".context-foundry").exists()


def test_always_for_a_file_is_its_folder(desk: Lay):
    person = Person([Answer(kind="always"), Answer(kind="no"), Answer(kind="no")])
    here = desk(rules(ASK), person)
    assert not here.write("src/a.py", "x").is_error
    assert not here.write("src/deep/b.py", "x").is_error
    assert here.write("c.py", "x").is_error
    assert here.write("src2/a.py", "x").is_error


def test_always_is_not_offered_for_what_is_only_known_when_it_runs(desk: Lay):
    person = Person([Answer(kind="no"), Answer(kind="no")])
    here = desk(rules(ASK), person)
    here.run("$X")
    here.run("echo a; rm $X")
    assert [question.always for question in person.questions] == [(), ()]


def test_only_the_parts_that_are_not_allowed_already_are_asked_for_ever(desk: Lay):
    person = Person([Answer(kind="no")])
    here = desk(rules(ASK, ECHO), person)
    here.run("echo a && touch b > c")
    assert [rule.text for rule in person.questions[0].always] == [
        "allow write_file, edit_file: ./c",
        "allow run_command: touch b",
    ]


@pytest.mark.parametrize(
    ("tool", "arguments", "edited", "content"),
    [
        ("run_command", {"command": "echo one > a"}, "echo two > a", "two\n"),
        ("write_file", {"path": "a", "content": "one"}, "two", "two"),
    ],
)
def test_an_edit_is_what_runs_and_the_model_is_told(
    desk: Lay, tool: str, arguments: dict[str, str], edited: str, content: str
):
    here = desk(rules(ASK), Person([Answer(kind="edit", text=edited)]))
    said = here.tools.run(tool, arguments)
    assert (here.root / "a").read_text() == content
    assert said.content.startswith("A person changed ")
    assert edited in said.content
    assert here.decisions == [("edit", "person")]


def test_without_a_person_the_question_is_kept_and_the_run_pauses(desk: Lay):
    here = desk(rules(ASK))
    with pytest.raises(DecisionNeeded, match="wants to use run_command: touch b"):
        here.run("touch b")
    assert not (here.root / "b").exists()
    kept = approvals.load(RUN)
    assert kept.pending is not None
    assert (kept.pending.shown, here.decisions) == ("touch b", [("wait", "nobody")])


@pytest.mark.parametrize(("answer", "made"), [("yes", True), ("no", False), ("edit", True)])
def test_an_answer_given_meanwhile_holds_for_that_call_once(desk: Lay, answer: Any, made: bool):
    with pytest.raises(DecisionNeeded):
        desk(rules(ASK)).run("touch b")
    kept = approvals.load(RUN)
    assert kept.pending is not None
    text = "touch b" if answer == "edit" else ""
    approvals.save(RUN, kept.answered(kept.pending, Answer(kind=answer, text=text)))
    again = desk(rules(ASK))
    assert again.run("touch b").is_error != made
    assert (again.root / "b").exists() == made
    with pytest.raises(DecisionNeeded):
        desk(rules(ASK)).run("touch b")


def test_the_shipped_policies(desk: Lay):
    auto = desk(load_policy(Mode.AUTO))
    assert not auto.write("src/a.py", "print(1)\n").is_error
    assert auto.run("python3 src/a.py").content == "1\nexit code 0"
    assert auto.run("git push origin main").is_error
    with pytest.raises(DecisionNeeded):
        desk(load_policy(Mode.ASK)).write("b", "c")
    assert desk(load_policy(Mode.ASK)).run("cat src/a.py").content.startswith("print(1)")
    assert desk(load_policy(Mode.PLAN)).run("cat src/a.py").is_error


class Both(Arguments):
    path: str = "a"
    command: str = "echo hi"


def strange(**asked: Any) -> dict[str, Tool[Any]]:
    """A tool of an installed package."""
    return {"strange": Tool("strange", "Of a package.", Both, lambda _: "done", **asked)}


def allowing(mode: Mode) -> Policy:
    shipped = load_policy(mode)
    return shipped.model_copy(update={"rules": (*shipped.rules, allow("strange"))})


def test_a_packages_tool_runs_only_where_a_rule_names_it(desk: Lay):
    for tool in (
        strange(),
        strange(reads_only=True),
        strange(path="path"),
        strange(command="command"),
    ):
        for mode in (Mode.AUTO, Mode.PLAN):
            assert desk(load_policy(mode), more=tool).tools.run("strange", {}).is_error
        with pytest.raises(DecisionNeeded):
            desk(load_policy(Mode.ASK), more=tool).tools.run("strange", {})
        assert desk(allowing(Mode.AUTO), more=tool).tools.run("strange", {}) == ToolResult("done")


def test_a_packages_tool_is_judged_by_its_path_and_by_its_command(desk: Lay):
    here = desk(rules(allow("strange", paths=("src/**",))), more=strange(path="path"))
    assert not here.tools.run("strange", {"path": "src/a"}).is_error
    assert here.tools.run("strange", {"path": "b"}).is_error
    given = rules(allow("strange"), ECHO)
    here = desk(given, more=strange(command="command"))
    assert not here.tools.run("strange", {}).is_error
    assert here.tools.run("strange", {"command": "touch b"}).is_error


def test_a_plan_may_use_a_packages_tool_that_only_reads(desk: Lay):
    given = allowing(Mode.PLAN)
    assert desk(given, more=strange()).tools.run("strange", {}).is_error
    assert not desk(given, more=strange(reads_only=True)).tools.run("strange", {}).is_error


def test_a_tool_of_ours_may_share_the_rules_of_another(
    desk: Lay, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Count(Arguments):
        path: str

    count = Tool(
        "of_ours", "Count.", Count, lambda _: "3", reads_only=True, path="path",
        rules_of="read_file",
    )  # fmt: skip
    reads = allow("read_file", paths=("**",))
    theirs = desk(rules(reads), more={"of_ours": count})
    assert theirs.tools.run("of_ours", {"path": "a"}).is_error  # a package's word is not taken
    monkeypatch.setitem(OURS, "of_ours", "foundry.tools.mine:of_ours")
    ours = theirs.tools
    assert ours.run("of_ours", {"path": "a"}).content == "3"
    assert ours.run("of_ours", {"path": "/etc/passwd"}).is_error
    named = rules(reads, Rule(effect=Effect.DENY, tools=("of_ours",)))
    assert desk(named, more={"of_ours": count}).tools.run("of_ours", {"path": "a"}).is_error
