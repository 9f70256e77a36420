"""Thinking in rounds, over a real socket: what each request holds, and how the rounds end."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foundry.conversation.reflection import on_top
from foundry.conversation.reflection_rounds import End
from foundry.errors import ModelUnavailable
from foundry.model.prices import cost
from foundry.model.rehearsal import faults
from foundry.model.rehearsal.script import Turn, call, say, think, turn
from foundry.schema.events import (
    Compacted,
    Reasoned,
    Reflected,
    ReflectionEnded,
    ToolRan,
    TurnEnded,
)
from foundry.schema.messages import Usage, text_block
from foundry.schema.workflow import Budget, Reflection
from foundry.tools.recall import recall_tool
from tests.support.asked import results, words
from tests.support.builds import MODEL
from tests.support.thinking import DONE, Stage, enough, on, recall, texts

RUN = call("run_command", command="make")


@pytest.fixture
def stage(tmp_path):
    """Makes a stage; the memory is a file of this test."""
    return lambda rounds=(), turns=(DONE,): Stage(tmp_path, rounds, turns)


def costly(reply: Turn) -> Turn:
    """A reply that is billed 50,000 tokens."""
    return replace(reply, usage=Usage(input_tokens=49_000, output_tokens=1_000))


def ended(stage: Stage) -> list[End]:
    return [event.reason for event in stage.of(ReflectionEnded)]


def test_each_round_sees_the_ones_before_it_the_memory_and_the_workspace(stage):
    held = stage([on("The parser is the risk.", nextFocus="the parser"), enough()])
    assert held.hold().reason == "submitted"
    first, second, action = held.asked
    [invitation] = texts(first)[1:][-1:]
    assert held.told in invitation
    assert "3 files" in invitation
    assert invitation.endswith("Round 1 of at most 3.")
    assert texts(second)[:3] == texts(first)
    assert "The parser is the risk." in texts(second)[3]
    assert texts(second)[-1] == "Round 2 of at most 3. Focus: the parser"
    assert "1. The parser is the risk.\n\n2. That will do." in texts(action)[2]
    assert texts(action)[-1] == "Now act."
    assert ended(held) == ["done"]


def test_what_was_recalled_stands_byte_for_byte_in_the_very_next_request(stage):
    held = stage([on("What did it hold?", recall(turnNumbers=[1])), enough()])
    given = recall_tool(held.memory, "talk").run({"turnNumbers": [1]}).content
    assert "retries = 3 # ünïcode\t\n" in given
    held.hold()
    _, second, action = held.asked
    assert given in texts(second)
    assert given not in texts(action)
    assert f"Recalled: [{held.ids[0]}]" in texts(action)[2]


def test_what_the_last_round_recalls_stands_in_the_request_of_the_turn(stage):
    held = stage([enough("It is in the memory.", recall(contextIds=["{}"]))])
    held.rounds = iter([enough("It is in the memory.", recall(contextIds=[held.ids[1]]))])
    given = recall_tool(held.memory, "talk").run({"contextIds": [held.ids[1]]}).content
    held.hold()
    assert given in texts(held.asked[1])
    assert held.of(ReflectionEnded)[0].recalled == (held.ids[1],)


def test_summaries_that_stand_in_the_opening_are_not_told_again(stage):
    held = stage([enough()])
    held.told = "[ctx_1_0] An earlier step."
    brief = held._brief

    def with_memory(*given):
        made = brief(*given)
        told = {**made.opening[-1], "text": f"# Step: it\n{held.told}"}
        return replace(made, opening=(made.opening[0], told))

    held._brief = with_memory
    held.hold()
    assert words(held.asked[0]).count("An earlier step.") == 1


def test_rounds_share_the_cached_prefix_and_leave_little_behind(stage):
    thoughts = [on(f"Thought {n}. " + "It goes on. " * 400, nextFocus=f"part {n}") for n in "ab"]
    held = stage([*thoughts, enough()], [turn(RUN), DONE])
    held.hold()
    one, two, three, action, later = held.asked
    for body in (two, three, action, later):
        assert (body["tools"], body["system"]) == (one["tools"], one["system"])
    assert all(usage.cache_read_tokens > 1_000 for usage, _ in held.paid[1:])
    assert held.paid[3][0].cache_write_tokens < 1_000, "all of the conversation was read"
    blocks = [len(str(body["messages"])) for body in (one, three, action)]
    assert blocks[1] - blocks[0] > 4_000
    assert blocks[2] - blocks[0] < 3_500
    assert [message["role"] for message in later["messages"]] == ["user", "assistant", "user"]
    assert [len(message["content"]) for message in later["messages"]] == [4, 1, 1]


def test_the_request_of_the_turn_is_what_the_next_one_goes_on_from(stage):
    held = stage([on("Hm.", recall(turnNumbers=[2])), enough()], [turn(RUN), DONE])
    held.hold()
    *_, action, later = held.asked
    bare = [{k: v for k, v in block.items() if k != "cache_control"}
            for block in action["messages"][0]["content"]]  # fmt: skip
    assert [{k: v for k, v in block.items() if k != "cache_control"}
            for block in later["messages"][0]["content"]] == bare  # fmt: skip
    told = [block for message in held.recorded for block in message["content"]]
    assert bare[-2:] == told[2:4]


@pytest.mark.parametrize("marks", [0, 1, 2])
def test_a_round_has_no_more_breakpoints_than_the_api_takes(marks):
    opening = [text_block(str(n), cache=n < marks) for n in range(3)]
    thread = [{"role": "user", "content": opening}]
    [message] = on_top(thread, [text_block("Round 1"), text_block("Round 2")])
    marked = ["cache_control" in block for block in message["content"]]
    assert sum(marked) <= 3
    assert marked[-1]
    assert marked[2] is (marks < 2)


@pytest.mark.parametrize(
    ("rounds", "limits", "asked", "reason"),
    [
        ([on(f"Thought {n}") for n in "abcd"], Reflection(rounds=2), 2, "rounds"),
        ([on(f"Thought {n}") for n in "abcd"], Reflection(tokens=2_000), 0, "tokens"),
        ([costly(on("Thought")), on("b")], Reflection(tokens=50_000), 1, "tokens"),
        ([on(f"Thought {n}") for n in "abcd"], Reflection(seconds=1e-9), 1, "seconds"),
        ([on("A", nextFocus="the store"), on("B", nextFocus="The  store!")], None, 2, "repeated"),
        ([on("The same."), on("the same")], None, 2, "repeated"),
        ([on("A", recall(turnNumbers=[1])), on("A", recall(turnNumbers=[1]))], None, 2, "repeated"),
        ([on("A", recall(turnNumbers=[1])), on("A", recall(turnNumbers=[2])), enough()],
         None, 3, "done"),
        ([on("", recall(turnNumbers=[1])), on("", recall(turnNumbers=[1]))], None, 2, "repeated"),
        ([on()], None, 1, "empty"),
        ([turn(fault=faults.empty())], None, 1, "empty"),
        ([turn(say("I think that is easy."))], None, 1, "ignored"),
        ([turn(say("No."), fault=faults.stop("refusal"))], None, 1, "refused"),
        ([turn(say("Lo" * 50), fault=faults.truncate())], None, 1, "cut"),
        ([turn(call("continue_thinking", continueThinking=True), fault=faults.truncate())],
         None, 1, "cut"),
        ([turn(call("submit", summary="half"), fault=faults.stop("max_tokens"))], None, 1, "cut"),
        ([turn(fault=faults.stop("model_context_window_exceeded"))], None, 1, "context_full"),
        ([turn(fault=faults.overflow())], None, 1, "context_full"),
    ],
)  # fmt: skip
def test_rounds_end_with_what_there_is_and_say_why(stage, rounds, limits, asked, reason):
    held = stage(rounds)
    assert held.hold(limits).submission.summary == "done"
    assert (len(held.asked_rounds), ended(held)) == (asked, [reason])
    assert len(held.asked) == asked + 1


@pytest.mark.parametrize(
    ("allowed", "asked", "reason", "outcome"),
    [
        ({"budget": Budget(turns=1)}, 0, "turns", "submitted"),
        ({"budget": Budget(turns=2)}, 1, "turns", "submitted"),
        ({"usd_left": lambda: 0.04}, 0, "budget", "submitted"),
    ],
)
def test_the_budget_of_the_conversation_holds_for_rounds(stage, allowed, asked, reason, outcome):
    held = stage([on(f"Thought {n}") for n in "abc"])
    held.told += "x" * 60_000  # makes a round cost much more than a turn
    assert held.hold(**allowed).reason == outcome
    assert (len(held.asked_rounds), ended(held)) == (asked, [reason])


@pytest.mark.parametrize("keeps", [True, False])
def test_a_server_that_fails_in_a_round_ends_it_as_one_that_fails_in_a_turn(stage, keeps):
    held = stage([turn(fault=faults.status(503, times=-1))] * 3)  # as often as it is asked
    brief = held._brief
    held._brief = lambda *given: replace(brief(*given), keeps=keeps)
    if keeps:
        outcome = held.hold()
        assert (outcome.reason, outcome.failure.message) == ("unavailable", outcome.detail)
    else:
        with pytest.raises(ModelUnavailable):
            held.hold()


def test_rounds_leave_the_money_for_the_turn(stage):
    """After the first there is enough for one more call, be it a round or the turn."""
    held = stage([costly(on("Thought")), on("b")])
    spent = lambda: sum(cost(MODEL, usage) for usage, _ in held.paid)  # noqa: E731
    once = cost(MODEL, Usage(input_tokens=49_000, output_tokens=1_000))
    assert held.hold(usd_left=lambda: once + 0.025 - spent()).reason == "submitted"
    assert (len(held.asked_rounds), ended(held)) == (1, ["budget"])


@pytest.mark.parametrize(("minutes", "reason"), [(60, "deadline"), (1, "minutes")])
def test_time_that_thinking_used_up_is_gone(stage, minutes, reason):
    clock = [0.0]

    def rounds():
        clock[0] = 90.0 if reason == "minutes" else 500.0
        yield on("Hm.")

    held = stage(rounds())
    outcome = held.hold(budget=Budget(minutes=minutes), deadline=400.0, now=lambda: clock[0])
    assert (outcome.reason, ended(held), len(held.asked)) == (reason, [reason], 1)


def test_a_model_that_does_its_work_instead_pays_no_call_more(stage):
    held = stage([turn(say("I look."), RUN)], [DONE])
    outcome = held.hold()
    assert (outcome.reason, outcome.spend.turns, len(held.asked)) == ("submitted", 2, 2)
    assert results(held.asked[1]) == [("ran make", False)]
    assert ended(held) == ["acted"]
    assert outcome.spend.reflection.rounds == 0
    assert {why for _, why in held.paid} == {"turn"}
    assert [event.text for event in held.of(Reasoned)] == ["I look."]


def test_a_submission_within_a_round_is_the_turn_and_is_judged_like_any(stage):
    held = stage([turn(call("submit", summary="at once"))], [turn(call("submit", summary="b"))])
    held.problems = ["the tests fail"]
    outcome = held.hold()
    assert (outcome.reason, len(outcome.rejections)) == ("submitted", 1)
    assert outcome.submission.summary == "b"
    assert len(held.asked_rounds) == 1, "who acts at once is not asked again"


def test_what_is_called_beside_a_decision_is_not_run(stage):
    ran: list[str] = []
    held = stage([on("Look.", RUN), enough("Enough.", call("submit", summary="x"))])
    held.answer = lambda command: ran.append(command) or "ran"
    assert held.hold().submission.summary == "done"
    assert ran == []
    assert "`run_command` was not run" in "".join(texts(held.asked[1]))


@pytest.mark.parametrize(
    "wrong",
    [
        call("continue_thinking"),
        call("continue_thinking", continueThinking="perhaps"),
        call("continue_thinking", continueThinking=True, nextFocus="x" * 500),
        call("continue_thinking", continueThinking=False, more=1),
        {**call("continue_thinking"), "partial_json": '{"continueThinking": tr'},
        {**call("continue_thinking"), "partial_json": "[1]"},
        call("recall_context", turnNumbers="all"),
        call("recall_context", contextIds=["ctx_404"]),
        call("recall_context"),
    ],
)
def test_malformed_calls_are_explained_to_the_next_round(stage, wrong):
    held = stage([turn(say("Hm."), wrong), enough()])
    assert held.hold().reason == "submitted"
    told = "".join(texts(held.asked[1]))
    assert any(each in told for each in ("Invalid arguments", "no ctx_404", "say what to recall"))
    assert ended(held) == ["done"]


def test_a_round_that_is_wrong_again_and_again_ends_it(stage):
    held = stage([turn(say("Hm."), call("continue_thinking"))] * 3)
    assert held.hold().reason == "submitted"
    assert (len(held.asked_rounds), ended(held)) == (2, ["repeated"])


def test_no_more_than_three_recalls_are_answered_in_a_round(stage):
    held = stage([on("All.", *(recall(turnNumbers=[1]) for _ in range(9))), enough()])
    held.hold()
    assert sum(event.tool == "recall_context" for event in held.of(ToolRan)) == 3
    assert "Only 3 calls" in "".join(texts(held.asked[1]))


def test_it_thinks_before_the_first_turn_and_after_a_refused_submission(stage):
    rounds = [enough("Plan."), enough("The gate wants tests.")]
    held = stage(rounds, [turn(RUN), DONE, DONE])
    held.problems = ["no tests"]
    outcome = held.hold()
    assert outcome.reason == "submitted"
    assert [len(body["messages"]) for body in held.asked_rounds] == [1, 5]
    assert [event.turn for event in held.of(Reflected)] == [1, 3]
    again = held.asked_rounds[1]["messages"][-1]["content"]
    assert "no tests" in again[0]["content"]
    assert outcome.spend.reflection.rounds == 2


def test_tokens_are_counted_over_all_rounds_of_a_conversation(stage):
    held = stage([costly(enough("Plan.")), enough("Again.")], [DONE, DONE])
    held.problems = ["no tests"]
    held.hold(Reflection(tokens=50_000))
    assert ended(held) == ["done", "tokens"]


def test_rounds_are_told_paid_and_counted_apart(stage):
    held = stage([on("Look there.", recall(turnNumbers=[1]), nextFocus="the file"), enough()])
    spend = held.hold().spend
    first, second = held.of(Reflected)
    assert (first.round, first.rounds, first.text) == (1, 3, "Look there.")
    assert first.recalled == (held.ids[0],)
    assert (second.focus, second.recalled) == ("the file", ())
    [over] = held.of(ReflectionEnded)
    assert (over.rounds, over.recalled) == (2, (held.ids[0],))
    thought = sum((usage for usage, why in held.paid if why == "reflection"), Usage())
    assert spend.reflection.usage == thought
    assert (spend.reflection.rounds, over.tokens) == (2, thought.context_tokens)
    assert over.cost_usd == pytest.approx(spend.reflection.cost_usd)
    assert spend.usage == sum((usage for usage, _ in held.paid), Usage())
    assert 0 < spend.reflection.cost_usd < spend.cost_usd
    assert spend.turns == 1
    called = [event.purpose for event in held.of(TurnEnded)]
    assert called == ["reflection", "reflection", "turn"]


def test_the_summary_of_a_turn_is_the_models_made_whole_by_code(stage):
    held = stage([enough(summary="I run the checks.")], [turn(RUN), DONE])
    held.answer = lambda _command: "E  boom\nexit code 2"
    held.hold()
    first, second = held.done
    assert first.summary.text.startswith("I run the checks. `make` failed (exit code 2).")
    assert first.summary.source == "model"
    assert first.thoughts == "That will do."
    assert (second.summary, second.thoughts) == (None, "")


def test_without_a_summary_of_the_model_there_is_none(stage):
    held = stage([enough()], [DONE])
    held.hold()
    assert [done.summary for done in held.done] == [None]


def test_thinking_tools_do_nothing_outside_of_rounds(stage):
    decide = call("continue_thinking", continueThinking=True)
    held = stage([enough()], [turn(decide, recall(turnNumbers=[1])), DONE])
    held.hold()
    (refused, is_error), (given, _) = results(held.asked[2])
    assert is_error
    assert "no round of thinking" in refused
    assert "retries = 3" in given


def test_off_and_native_ask_for_no_rounds(stage):
    for mode in ("off", "native"):
        held = stage([], [DONE])
        held.hold(Reflection(mode=mode))
        assert len(held.asked) == 1
        assert held.of(ReflectionEnded) == []


def test_native_thinking_is_asked_for_and_stays_in_the_thread(stage):
    held = stage([], [turn(think("What does make do?"), RUN), DONE])
    assert held.hold(Reflection(mode="native")).reason == "submitted"
    first, second = held.asked
    assert first["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert second["thinking"] == first["thinking"]
    [thought, _] = second["messages"][1]["content"]
    assert (thought["thinking"], bool(thought["signature"])) == ("What does make do?", True)


def test_rounds_and_off_do_not_pay_for_native_thinking_on_top(stage):
    held = stage([turn(think("Deep."), *enough().content)], [turn(think("Deeper."), RUN), DONE])
    held.hold()
    assert {body["thinking"]["type"] for body in held.asked} == {"between_tools"}
    assert "Deep" not in str(held.asked[-1])
    off = stage([], [DONE])
    off.hold(Reflection(mode="off"))
    assert off.asked[0]["thinking"] == {"type": "between_tools"}


def test_a_model_that_always_thinks_has_rounds_only_to_recall(stage):
    held = stage([], [DONE])
    held.name, held.told = "claude-opus-5-5", ""
    held.hold()
    assert (len(held.asked), "thinking" in held.asked[0]) == (1, False)
    held = stage([enough()], [DONE])
    held.name = "claude-opus-5-5"
    held.hold()
    assert (len(held.asked), len(held.asked_rounds)) == (2, 1)


def test_room_that_is_made_leaves_no_thought_that_is_bound_to_what_was_there(stage):
    """The rehearsal refuses a thought that comes back after other words than it had."""
    held = stage([], [*(turn(think(f"Part {n}?"), RUN) for n in range(30)), DONE])
    held.window, held.answer = 40_000, lambda command: command + "x" * 8_000
    assert held.hold(Reflection(mode="native")).reason == "submitted"
    assert held.of(Compacted)
    thoughts = [str(body).count("'thinking': 'Part") for body in held.asked]
    assert any(later < earlier for earlier, later in pairwise(thoughts))


def test_a_thought_that_was_cut_is_not_sent_back(stage):
    held = stage([], [turn(think("A long thought"), fault=faults.truncate()), DONE])
    assert held.hold(Reflection(mode="native")).reason == "submitted"
    assert "A long" not in str(held.asked[1])
    assert "cut at its length limit" in words(held.asked[1])


replies = st.sampled_from(
    [
        turn(),
        turn(say("Hm.")),
        on("A"),
        on("B", nextFocus="c"),
        on("C", recall(turnNumbers=[1])),
        enough(),
        turn(RUN),
        turn(think("Hm."), RUN),
        turn(say("x"), RUN, call("continue_thinking", continueThinking=True)),
        turn(call("submit", summary="")),
        turn(call("nope")),
        turn({**call("continue_thinking"), "partial_json": '{"con'}),
        turn(recall(contextIds=["ctx_1"])),
        turn(say("Half"), fault=faults.truncate()),
        turn(say("No."), fault=faults.stop("refusal")),
    ]
)


@settings(max_examples=12, deadline=None)
@given(st.lists(replies, max_size=4), st.lists(replies, max_size=3))
def test_any_series_of_replies_makes_requests_that_the_api_takes(tmp_path_factory, rounds, turns):
    held = Stage(tmp_path_factory.mktemp("any"), [*rounds, *[enough()] * 9], [*turns, *[DONE] * 9])
    assert held.hold().reason in ("submitted", "not_submitted", "refused")
    assert len(held.of(Reflected)) == sum(why == "reflection" for _, why in held.paid)
