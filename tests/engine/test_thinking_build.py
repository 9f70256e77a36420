"""Thinking in a whole build: where it happens, what it costs, and what is left of it."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from foundry.cli import log
from foundry.model.rehearsal import faults
from foundry.model.rehearsal.script import SceneScript, say, turn
from foundry.report.status import status_of
from foundry.schema.events import Reflected, ReflectionEnded
from foundry.schema.journal import StepRecord
from foundry.schema.memory import Filter
from foundry.schema.run import Status
from foundry.schema.workflow import BY_ROLE
from foundry.store.memory.store import ContextMemoryStore, memory_path
from foundry.store.project import SESSION_SUMMARY
from foundry.workflow.load import builtin
from tests.support.asked import requests_of
from tests.support.rehearsals import SmallBuild
from tests.support.thinking import enough, on, recall, texts

PLAN = "test[1]/plan"


def thinking(small: SmallBuild, **rounds) -> SceneScript:
    """The build's scenes, with rounds before the first turn of some."""
    named = {"architect": rounds["architect"], PLAN: rounds.get("plan", [])}
    return SceneScript(
        tuple(replace(each, rounds=tuple(named.get(each.name, ()))) for each in small().scenes)
    )


def test_architect_and_fix_plan_think_and_it_is_told_counted_and_remembered(build):
    script = thinking(
        SmallBuild(broken=True),
        architect=[on("A greeting is a file.", nextFocus="what a test sees"), enough()],
        plan=[on("What did Builder write?", recall(keywords=["hello-1.txt greets"])),
              enough("A typo.", summary="It is the spelling of the first line.")],
    )  # fmt: skip
    built = build(script)
    assert built.ended.status is Status.VERIFIED

    rounds = [event for event in built.events if isinstance(event, Reflected)]
    assert [(each.step, each.round) for each in rounds] == [
        ("architect", 1), ("architect", 2), (PLAN, 1), (PLAN, 2)]  # fmt: skip
    over = [event for event in built.events if isinstance(event, ReflectionEnded)]
    assert [each.reason for each in over] == ["done", "done"]
    [recalled] = {each.recalled for each in over if each.recalled}
    _, second, action, *_ = requests_of(built.server, PLAN)
    assert any(text.startswith(f'<context id="{recalled[0]}"') for text in texts(second))
    assert "3 files" not in texts(action)[0]
    assert "It is the spelling of the first line." in texts(action)[2]

    spends = {each.step: each.spend for each in built.journal if isinstance(each, StepRecord)}
    thought = [spends["architect"].reflection, spends[PLAN].reflection]
    summary = json.loads(built.project.artifact(SESSION_SUMMARY).read_text())
    line = summary["reflection"]
    assert line["rounds"] == sum(each.rounds for each in thought) == 4
    assert line["tokens"] == sum(each.usage.context_tokens for each in thought)
    assert line["cost_usd"] == pytest.approx(sum(each.cost_usd for each in thought), abs=1e-5)
    assert 0 < line["cost_usd"] < summary["cost_usd"]
    assert status_of(built.project).reflection.rounds == 4
    talks = {each["step"]: each["rounds"] for each in summary["conversations"]}
    assert {step for step, count in talks.items() if count == 2} == {"architect", PLAN}
    assert sum(talks.values()) == 4

    with ContextMemoryStore(memory_path(built.project.root)) as memory:
        [first] = [each for each in memory.heads(Filter(step=PLAN, kind="turn")) if each.turn == 1]
        entry = memory.get(first.id)
    assert first.summary.startswith("It is the spelling of the first line.")
    assert [each.source for each in entry.summaries] == ["code", "model"]
    assert entry.snapshot.state["thoughts"] == "What did Builder write?\n\nA typo."

    first_asked = {step: requests_of(built.server, step)[0]
                   for step in ("architect", "builder[1]/task", "docs")}  # fmt: skip
    kinds = [body["thinking"]["type"] for body in first_asked.values()]
    assert kinds == ["between_tools", "adaptive", "between_tools"]
    tools = [{tool["name"] for tool in body["tools"]} for body in first_asked.values()]
    assert ["continue_thinking" in names for names in tools] == [True, False, False]
    assert "recall_context" in tools[0]

    asked = [str(built.folder), "--kind", "reflection"]
    told = CliRunner().invoke(log.command, asked, catch_exceptions=False).output
    assert "💭 round 1/3 · A greeting is a file." in told
    assert "💭 round 2/3 · what a test sees" in told
    assert "🔍 recalled ctx_" in told


def test_a_build_that_was_paused_in_a_round_thinks_again_and_counts_both(build):
    busy = faults.status(529, times=3)
    rounds = [on("A greeting is a file."), turn(say("Hm."), *enough().content, fault=busy)]
    script = thinking(SmallBuild(tasks=1), architect=rounds)
    built = build(script)
    assert built.ended.status is Status.PAUSED
    assert built.resume(pause_after=("architect",)).reason == "asked to pause after architect"
    asked = requests_of(built.server, "architect")
    assert len(asked) == 1 + 3 + 3
    [spend] = [each.spend for each in built.journal
               if isinstance(each, StepRecord) and each.step == "architect"]  # fmt: skip
    summary = json.loads(built.project.artifact(SESSION_SUMMARY).read_text())
    assert (spend.reflection.rounds, summary["reflection"]["rounds"]) == (2, 3)


def test_who_does_not_think_by_the_shipped_workflow_and_who_does():
    modes = {step.id: step.thinks.mode for step in builtin("build").all_steps if not step.action}
    assert modes == {
        "scout": "native", "architect": "rounds", "task": "native", "plan": "rounds",
        "fix": "native", "docs": "off", "describe": "off", "feedback": "off",
        "review": "native", "reproduce": "native", "docs-review": "native",
        "docs-reproduce": "native", "docs-mend": "off",
    }  # fmt: skip
    assert BY_ROLE["architect"] == "rounds"
