"""One conversation over a real socket: how every kind of reply is answered, and how it ends."""

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foundry.conversation import loop
from foundry.conversation.brief import Allowance, Brief, Outcome
from foundry.conversation.compaction.summary import HEADINGS
from foundry.conversation.loop import converse
from foundry.engine.steps.summary import SummarySubmission
from foundry.errors import ModelRejected, ToolError
from foundry.model.anthropic import AnthropicModel
from foundry.model.rehearsal import faults
from foundry.model.rehearsal.script import Turn, call, say, turn
from foundry.model.rehearsal.server import RehearsalServer
from foundry.schema.events import Compacted, ContextUpdated, ToolRan, TurnEnded
from foundry.schema.messages import text_block
from foundry.schema.workflow import Budget
from foundry.tools.base import Arguments, Tool, ToolResult, Toolset, submit_tool
from tests.support.asked import results, words
from tests.support.builds import FAST, MODEL, serve

DONE = turn(call("submit", summary="done"))


class Note(Arguments):
    text: str


class Stage:
    """Holds conversations with a scripted model; `notes` is what its one tool was given."""

    def __init__(self, *turns: Turn, ending: Iterable[Turn] = (), window: int = 200_000) -> None:
        self.turns = itertools.chain(turns, ending)
        self.script: Callable[[Any], Turn] | None = None
        self.window = window
        self.notes: list[str] = []
        self.events: list[Any] = []
        self.recorded: list[Any] = []
        self.answer: Callable[[str], str] = lambda text: f"noted {text}"
        self.problems: tuple[str, ...] = ()
        self.opening = (text_block("# Step: it\nDo it."),)
        self.server: RehearsalServer | None = None

    def hold(self, budget: Budget | None = None, **allowed: Any) -> Outcome:
        limits: dict[str, Any] = {
            "budget": budget or Budget(turns=40),
            "usd_left": lambda: 10.0,
            "deadline": 100.0,
            "now": lambda: 0.0,
            **allowed,
        }
        with serve(self.script or (lambda _request: next(self.turns))) as self.server:
            model = AnthropicModel(
                MODEL, base_url=self.server.url, retry=FAST, read_timeout=5, window=self.window
            )
            try:
                self.outcome = converse(self._brief(model, Allowance(**limits)))
                return self.outcome
            finally:
                model.close()

    @property
    def headers(self) -> list[Any]:
        assert self.server is not None
        return [each.headers for each in self.server.requests]

    @property
    def asked(self) -> list[Any]:
        assert self.server is not None
        return [each.body for each in self.server.requests]

    def _brief(self, model: AnthropicModel, allowance: Allowance) -> Brief:
        tools = {
            "note": Tool("note", "Take a note.", Note, self._note),
            "submit": submit_tool(SummarySubmission, lambda _submission: self.problems),
        }
        return Brief(
            "c1", "it", (text_block("System."),), self.opening, Toolset(tools), model, allowance,
            self.events.append, self.recorded.append, lambda _usage, _usd, _why: None,
        )  # fmt: skip

    def _note(self, arguments: Note) -> ToolResult | str:
        self.notes.append(arguments.text)
        return self.answer(arguments.text)


def note(text: str, *more: Any, **options: Any) -> Turn:
    return turn(call("note", text=text), *more, **options)


def test_ends_with_the_accepted_submission():
    stage = Stage(note("a"), turn(say("Done."), call("submit", summary="all")))
    outcome = stage.hold()
    assert (outcome.reason, outcome.submission) == ("submitted", SummarySubmission(summary="all"))
    assert (outcome.spend.turns, stage.notes) == (2, ["a"])
    assert results(stage.asked[1]) == [("noted a", False)]


def test_nothing_runs_after_an_accepted_submission():
    stage = Stage(turn(call("note", text="a"), call("submit", summary="s"), call("note", text="b")))
    assert stage.hold().reason == "submitted"
    assert stage.notes == ["a"]


@pytest.mark.parametrize("marks", [0, 1, 2])
def test_a_turn_of_many_calls_reads_what_the_one_before_it_wrote(marks: int):
    """The API looks for a cached prefix 20 blocks back; two marks in the opening leave no room."""
    many = turn(*(call("note", text=str(number)) for number in range(24)))
    stage = Stage(note("a"), many, note("b"), DONE)
    stage.opening = (*(text_block("Shared.", cache=True) for _ in range(marks)), text_block("Do."))
    stage.answer = lambda text: f"noted {text} " * 900
    stage.hold()
    prompts = [event for event in stage.events if isinstance(event, TurnEnded)]
    first, long, after = ((each.cache_read_tokens, each.cache_write_tokens) for each in prompts[1:])
    assert first[1] > 1_000
    assert (long[0] == sum(first)) == (marks < 2)
    assert after[0] == sum(long)


def test_several_calls_are_answered_together_in_their_order():
    stage = Stage(turn(call("note", text="a"), call("nope"), call("note", text="b")), DONE)
    assert stage.hold().reason == "submitted"
    told = results(stage.asked[1])
    assert [error for _, error in told] == [False, True, False]
    assert (told[0][0], told[2][0]) == ("noted a", "noted b")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (call("teleport", to="mars"), "There is no tool 'teleport'. The tools are: note, submit."),
        (call("note", text=5), "- text: Input should be a valid string"),
        (call("note"), "- text: Field required"),
        (call("note", text="a", loud=True), "- loud: Extra inputs are not permitted"),
        ({**call("note"), "partial_json": '{"text": "half'}, "Invalid arguments for note"),
        ({**call("note"), "partial_json": "[1, 2]"}, "Invalid arguments for note"),
        (call("submit", summary=""), "- summary: String should have at least 1 character"),
        (call("submit", result="x"), "- summary: Field required"),
    ],
)
def test_wrong_calls_are_answered_with_the_reason_and_not_run(wrong, told):
    stage = Stage(turn(wrong), DONE)
    assert stage.hold().reason == "submitted"
    [(content, is_error)] = results(stage.asked[1])
    assert is_error
    assert told in content
    assert stage.notes == []


def test_a_tool_that_can_not_do_it_answers_with_an_error():
    def refuse(_text: str) -> str:
        raise ToolError("the disk is full", hint="Delete something")

    stage = Stage(note("a"), DONE)
    stage.answer = refuse
    assert stage.hold().reason == "submitted"
    assert results(stage.asked[1]) == [("the disk is full. Delete something", True)]
    assert next(e.error for e in stage.events if isinstance(e, ToolRan)).startswith("the disk")


def test_rejected_submissions_go_back_with_the_reasons_and_end_it_after_six():
    stage = Stage(ending=itertools.repeat(DONE))
    stage.problems = ("the tests fail", "no README")
    outcome = stage.hold()
    assert (outcome.reason, outcome.submission) == ("rejected", None)
    assert len(stage.asked) == loop.REJECTIONS
    [(content, is_error)] = results(stage.asked[1])
    assert is_error
    assert content.startswith("Not accepted:\n- the tests fail\n- no README\n")
    assert outcome.detail == content


def test_a_model_that_only_talks_is_reminded_three_times():
    stage = Stage(ending=itertools.repeat(turn(say("All done, shall I go on?"))))
    outcome = stage.hold()
    assert outcome.reason == "not_submitted"
    assert len(stage.asked) == 1 + loop.REMINDERS
    assert all("call of `submit`" in words(body) for body in stage.asked[1:])


def test_an_empty_reply_is_asked_for_again_then_the_model_is_reminded():
    stage = Stage(ending=itertools.repeat(turn(fault=faults.empty())))
    outcome = stage.hold()
    assert outcome.reason == "not_submitted"
    first, again, reminded, twice = stage.asked
    assert again == first
    assert words(reminded).count("call of `submit`") == 1
    assert words(twice).count("call of `submit`") == 2
    assert [len(body["messages"]) for body in stage.asked] == [1, 1, 1, 1]


def test_work_goes_on_after_an_empty_reply():
    stage = Stage(note("a"), turn(), turn(), note("b"), DONE)
    assert stage.hold().reason == "submitted"
    assert stage.notes == ["a", "b"]


@pytest.mark.parametrize(
    "cut",
    [
        turn(call("note", text="half of it"), fault=faults.truncate()),
        turn(call("note", text="whole, and still cut"), fault=faults.stop("max_tokens")),
        turn(call("submit", summary="whole"), fault=faults.stop("max_tokens")),
    ],
    ids=["half", "whole", "submit"],
)
def test_tool_calls_of_a_cut_reply_never_run(cut):
    stage = Stage(cut, note("small"), DONE)
    outcome = stage.hold()
    assert (outcome.reason, stage.notes) == ("submitted", ["small"])
    [(content, is_error)] = results(stage.asked[1])
    assert is_error
    assert content.startswith("Not run: the reply was cut")


@pytest.mark.parametrize("said", [(say("A long sto"),), ()], ids=["words", "nothing"])
def test_a_cut_reply_without_calls_goes_on(said):
    stage = Stage(note("a"), turn(*said, fault=faults.stop("max_tokens")), DONE)
    assert stage.hold().reason == "submitted"
    assert words(stage.asked[2]).endswith("Your reply was cut at its length limit. Go on.")


def test_four_cut_replies_end_it():
    stage = Stage(ending=itertools.repeat(note("a", fault=faults.truncate())))
    outcome = stage.hold()
    assert (outcome.reason, len(stage.asked), stage.notes) == ("cut", 1 + loop.CUTS, [])


@pytest.mark.parametrize(
    ("ending", "reason"),
    [("refusal", "refused"), ("model_context_window_exceeded", "context_full")],
)
def test_a_reply_that_ends_the_conversation_runs_no_call(ending, reason):
    stage = Stage(turn(say("No."), call("note", text="a"), fault=faults.stop(ending)))
    assert stage.hold().reason == reason
    assert (len(stage.asked), stage.notes) == (1, [])


@pytest.mark.parametrize("ending", ["pause_turn", "stop_sequence", "something_new"])
def test_an_ending_that_means_nothing_here_is_like_any_stop(ending):
    stage = Stage(turn(say("Hm."), fault=faults.stop(ending)), DONE)
    assert stage.hold().reason == "submitted"
    assert "call of `submit`" in words(stage.asked[1])


def test_a_prompt_that_does_not_fit_ends_it():
    outcome = Stage(note("a"), note("b", fault=faults.overflow())).hold()
    assert outcome.reason == "context_full"
    assert "no longer fits" in outcome.detail


def test_what_the_model_side_can_not_do_is_raised():
    with pytest.raises(ModelRejected, match="ANTHROPIC_API_KEY"):
        Stage(note("a", fault=faults.status(401))).hold()


@pytest.mark.parametrize(
    ("allowed", "reason", "requests"),
    [
        ({"budget": Budget(turns=2)}, "turns", 2),
        ({"deadline": 0.0}, "deadline", 0),
        ({"usd_left": lambda: 0.0001}, "budget", 0),
    ],
    ids=["turns", "deadline", "money"],
)
def test_limits_end_it_before_the_next_call(allowed, reason, requests):
    stage = Stage(ending=itertools.repeat(note("a")))
    assert stage.hold(**allowed).reason == reason
    assert len(stage.asked) == requests


def test_minutes_count_from_its_own_beginning():
    clock = itertools.count(start=1_000.0, step=31.0)
    stage = Stage(ending=itertools.repeat(note("a")))
    outcome = stage.hold(Budget(turns=40, minutes=1), now=lambda: next(clock), deadline=1e9)
    assert outcome.reason == "minutes"
    assert len(stage.asked) == 1


def test_a_reply_is_never_longer_than_the_money_left_pays_for():
    stage = Stage(DONE)
    stage.hold(usd_left=lambda: 0.05)
    [body] = stage.asked
    assert loop.REPLY_TOKENS > body["max_tokens"] > 1_000


def loud(stage: Stage) -> Stage:
    """Its tool answers with 8,000 characters."""
    stage.answer = lambda text: f"{text}:" + "x" * 8_000
    return stage


def test_old_results_are_masked_before_the_window_fills():
    stage = loud(Stage(*(note(str(n)) for n in range(30)), DONE, window=40_000))
    outcome = stage.hold()
    assert outcome.reason == "submitted"
    assert outcome.spend.context_share < 0.4
    compacted = [event for event in stage.events if isinstance(event, Compacted)]
    assert compacted
    assert all(event.tokens_after < event.tokens_before for event in compacted)
    assert all(set(event.stages) == {"mask"} for event in compacted)
    assert sum("[Taken out" in str(message) for message in stage.asked[-1]["messages"]) > 10


def test_the_thread_changes_seldom_for_the_prompt_cache():
    stage = loud(Stage(*(note(str(n)) for n in range(30)), DONE, window=60_000))
    stage.hold()
    changes = sum(isinstance(event, Compacted) for event in stage.events)
    assert 1 <= changes <= 30 / 3


def test_what_is_taken_out_is_still_in_the_transcript():
    stage = loud(Stage(*(note(str(n)) for n in range(30)), DONE, window=40_000))
    stage.hold()
    assert "Taken out" in str(stage.asked[-1])
    blocks = [block for message in stage.recorded for block in message["content"]]
    told = [block["content"] for block in blocks if block["type"] == "tool_result"]
    assert told == [*(stage.answer(str(n)) for n in range(30)), "Accepted."]


def talkative(number: int) -> Turn:
    """A turn whose words are what fills the window: no result could be masked."""
    return turn(say(f"The problem is in src/part{number}.py. " + "So it goes. " * 700),
                call("note", text=str(number)))  # fmt: skip


def test_older_messages_become_key_facts_when_masking_is_not_enough():
    stage = Stage(*(talkative(n) for n in range(20)), DONE, window=40_000)
    outcome = stage.hold()
    assert outcome.reason == "submitted"
    assert outcome.spend.context_share < 0.4
    compacted = [event for event in stage.events if isinstance(event, Compacted)]
    assert len(compacted) > 1
    assert all(event.messages_after < event.messages_before for event in compacted)
    opening, told, *_ = [block["text"] for block in stage.asked[-1]["messages"][0]["content"]]
    assert opening == "# Step: it\nDo it."
    assert told.startswith("<ledger ")
    whole = str(stage.asked[-1]["messages"])
    assert all(f"src/part{number}.py" in whole for number in range(20))


def test_restart_ends_it_at_the_threshold_with_what_is_known():
    stage = Stage(*(talkative(n) for n in range(20)), DONE, window=40_000)
    outcome = stage.hold(Budget(turns=40, on_full="restart"))
    assert outcome.reason == "restart"
    assert len(stage.asked) < 10
    assert "The problem is in src/part0.py." in outcome.known
    assert "3" in outcome.detail
    assert not any(isinstance(event, Compacted) for event in stage.events)


ACCOUNT = "\n".join(f"{heading}\nIn src/part0.py." for heading in HEADINGS)


def written_up(reply: Turn, share: float = 0.3) -> Stage:
    """A conversation that a model sums up with this reply, each time it is asked."""
    stage = Stage(window=40_000)
    left = iter(range(12))

    def answer(request: Any) -> Turn:
        if "has to be taken out to save" in words(request):
            return reply
        number = next(left, None)
        return DONE if number is None else talkative(number)

    stage.script = answer
    stage.hold(Budget(turns=40, compaction="model", threshold=share))
    return stage


def test_a_model_may_write_them_up_and_what_it_forgets_is_kept():
    stage = written_up(turn(say(ACCOUNT)))
    facts = stage.asked[-1]["messages"][0]["content"][1]["text"]
    assert "## Summary\n### Objective\nIn src/part0.py." in facts
    assert all(f"src/part{number}.py" in str(stage.asked[-1]) for number in range(12))
    spent = [event for event in stage.events if isinstance(event, TurnEnded)]
    assert "compaction" in {event.purpose for event in spent}
    assert stage.outcome.spend.usage.output_tokens == sum(event.output_tokens for event in spent)


@pytest.mark.parametrize(
    "reply",
    [
        turn(say("I would rather not.")),
        turn(say(ACCOUNT), fault=faults.stop("max_tokens")),
        turn(say(ACCOUNT), fault=faults.status(400)),
        turn(fault=faults.stop("refusal")),
    ],
    ids=["headings", "cut", "error", "refused"],
)
def test_where_the_model_fails_code_sums_up_alone(reply):
    stage = written_up(reply)
    assert stage.outcome.reason == "submitted"
    facts = stage.asked[-1]["messages"][0]["content"][1]["text"]
    assert facts.startswith("<ledger ")
    assert "## Summary" not in facts
    assert "The problem is in src/part" in facts


def test_a_write_up_that_is_cut_is_paid():
    stage = written_up(turn(say(ACCOUNT), fault=faults.cut(times=-1)))
    assert stage.outcome.reason == "submitted"
    assert stage.server is not None
    assert stage.outcome.spend.usage.prompt_tokens == stage.server.billed.prompt_tokens


def test_the_server_edits_the_context_only_when_that_is_asked_for():
    stage = Stage(note("a"), DONE)
    stage.hold()
    assert "context_management" not in stage.asked[0]
    assert stage.headers[0].get("anthropic-beta", "") == ""
    stage = Stage(note("a"), DONE)
    stage.hold(Budget(turns=40, compaction="server"))
    kinds = [edit["type"] for edit in stage.asked[0]["context_management"]["edits"]]
    assert kinds == ["clear_tool_uses_20250919", "compact_20260112"]
    assert "context-management-2025-06-27" in stage.headers[0]["anthropic-beta"]


def test_every_turn_tells_how_full_the_window_is():
    stage = loud(Stage(note("a"), note("b"), DONE))
    stage.hold()
    told = [event for event in stage.events if isinstance(event, ContextUpdated)]
    turns = [event for event in stage.events if isinstance(event, TurnEnded)]
    assert [each.total_tokens for each in told] == [
        each.input_tokens + each.cache_read_tokens + each.cache_write_tokens + each.output_tokens
        for each in turns
    ]
    assert all(sum(each.breakdown.values()) == each.total_tokens for each in told)
    assert told[1].breakdown["messages"] > told[0].breakdown["messages"]
    assert [each.message_count for each in told] == [2, 4, 6]


replies = st.sampled_from(
    [
        turn(),
        turn(say("Hm.")),
        turn(say("   ")),
        note("a"),
        note("a", call("note", text="b")),
        turn(call("nope")),
        turn(call("submit", summary="")),
        note("a", fault=faults.truncate()),
        turn(say("A long story"), fault=faults.truncate()),
        turn(fault=faults.stop("max_tokens")),
        turn(say("Hm."), fault=faults.stop("pause_turn")),
        note("a", fault=faults.stop("end_turn")),
        turn({**call("note"), "partial_json": '{"text'}),
        turn({**call("note"), "partial_json": "null"}),
    ]
)


@settings(max_examples=30, deadline=None)
@given(st.lists(replies, max_size=9))
def test_any_series_of_replies_makes_requests_that_the_api_takes(series):
    """The rehearsal refuses what the API would: a refusal would be raised here."""
    stage = Stage(*series, ending=itertools.repeat(DONE))
    outcome = stage.hold()
    assert outcome.reason in ("submitted", "not_submitted", "cut")
    if outcome.reason == "submitted":
        assert len(stage.asked) <= len(series) + 1
