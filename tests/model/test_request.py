"""What a request says about thinking, by model; and the rehearsal, which binds thoughts."""

import pytest

from foundry.errors import ModelRejected
from foundry.model.anthropic import AnthropicModel
from foundry.model.rehearsal import faults
from foundry.model.rehearsal.script import call, parse, say, think, turn
from foundry.model.request import always_thinks, refuses_thinking, thinking_of
from foundry.schema.messages import Message, ModelRequest, text_block, tool_result
from foundry.schema.messages import ToolCall as Called
from tests.support.builds import FAST

ADAPTIVE = {"type": "adaptive", "display": "summarized"}
BUDGET = {"type": "enabled", "budget_tokens": 8_000}
DISABLED, BETWEEN = {"type": "disabled"}, {"type": "between_tools"}


@pytest.mark.parametrize(
    ("name", "on", "off", "never_off"),
    [
        ("claude-sonnet-5-5", ADAPTIVE, BETWEEN, False),
        ("claude-haiku-5-5", ADAPTIVE, DISABLED, False),
        ("claude-opus-5-5", ADAPTIVE, None, True),
        ("claude-fable-5-2", ADAPTIVE, None, True),
        ("claude-fable-5", ADAPTIVE, None, True),
        ("claude-mythos-preview", ADAPTIVE, None, True),
        ("claude-opus-5", ADAPTIVE, DISABLED, False),
        ("claude-sonnet-5", ADAPTIVE, DISABLED, False),
        ("claude-opus-4-8", ADAPTIVE, None, False),
        ("anthropic.claude-opus-4-6-v1", ADAPTIVE, None, False),
        ("claude-sonnet-4-6", ADAPTIVE, None, False),
        ("claude-sonnet-4-5-20250929", BUDGET, None, False),
        ("claude-opus-4-20250514", BUDGET, None, False),
        ("claude-haiku-4-5", BUDGET, None, False),
        ("claude-3-7-sonnet-20250219", BUDGET, None, False),
        ("claude-3-5-haiku-latest", None, None, False),
        ("qwen3-coder:30b", None, None, False),
        ("gpt-5", None, None, False),
    ],
)
def test_every_generation_is_told_in_its_own_words(name, on, off, never_off):
    assert thinking_of(name, "on", 32_000) == on
    assert thinking_of(name, "off", 32_000) == off
    assert thinking_of(name, "", 32_000) is None
    assert always_thinks(name) is never_off


@pytest.mark.parametrize(("most", "budget"), [(4_000, 2_000), (2_048, 1_024), (2_000, None)])
def test_a_budget_leaves_half_of_the_reply(most, budget):
    made = thinking_of("claude-haiku-4-5", "on", most)
    assert (made and made["budget_tokens"]) == budget


def answered(*blocks: object) -> list[Message]:
    results = [tool_result(Called("t1", "x"), "fine")]
    return [
        {"role": "user", "content": [text_block("Go.")]},
        {"role": "assistant", "content": [*blocks, {**call("x"), "id": "t1"}]},  # type: ignore[list-item]
        {"role": "user", "content": list(results)},
    ]


def test_a_budgeted_model_does_not_begin_to_think_between_a_call_and_its_result():
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    assert thinking_of("claude-haiku-4-5", "on", 32_000, answered(say("hm"))) is None
    assert thinking_of("claude-haiku-4-5", "on", 32_000, answered(thought)) == BUDGET
    assert thinking_of("claude-haiku-5-5", "on", 32_000, answered(say("hm"))) == ADAPTIVE


@pytest.mark.parametrize(
    ("words", "is_refused"),
    [
        ("thinking.type: Input should be 'enabled'", True),
        ('"thinking.type.disabled" is not supported for this model.', True),
        ("adaptive thinking is not supported on this model", True),
        ("messages.1.content.0: Invalid `signature` in `thinking` block.", False),
        ("max_tokens: too large", False),
    ],
)
def test_a_refused_wish_is_told_from_a_refused_thought(words, is_refused):
    assert refuses_thinking(words) is is_refused


def request(messages=None, wish="on", **more):
    messages = messages or [{"role": "user", "content": [text_block("Go.")]}]
    return ModelRequest((), (), tuple(messages), 4_000, thinking=wish, **more)


@pytest.fixture
def asked(rehearsal):
    """Asks a rehearsal by the SDK; gives the replies and the bodies."""

    def ask(script, *requests, name="claude-sonnet-5-5"):
        server = rehearsal(script)
        model = AnthropicModel(name, base_url=server.url, retry=FAST)
        try:
            replies = [model.complete(each) for each in requests]
        finally:
            model.close()
        return replies, [each.body for each in server.requests]

    return ask


def test_the_wish_goes_over_the_wire_and_thoughts_come_back_signed(asked):
    (reply, without), bodies = asked(
        lambda _: turn(think("What is it?"), say("It is.")), request(), request(wish="off")
    )
    assert [body["thinking"] for body in bodies] == [ADAPTIVE, BETWEEN]
    assert reply.content[0]["thinking"] == "What is it?"
    assert reply.content[0]["signature"]
    assert [block["type"] for block in without.content] == ["text"]


def test_a_server_that_takes_no_such_wish_is_asked_without(asked):
    refuse = faults.status(400, message="thinking.type: adaptive is not supported", times=-1)

    def script(body):
        return turn(say("Done."), fault=refuse if "thinking" in body else None)

    replies, bodies = asked(script, request(), request())
    assert [reply.text for reply in replies] == ["Done.", "Done."]
    assert ["thinking" in body for body in bodies] == [True, False, False]


def test_any_other_refusal_is_raised(asked):
    bad = faults.status(400, message="messages: Invalid `signature` in `thinking` block")
    with pytest.raises(ModelRejected, match="signature"):
        asked(lambda _: turn(say("x"), fault=bad), request())


def thread(reply):
    first = {"role": "user", "content": [text_block("Go.", cache=True)]}
    return [first, {"role": "assistant", "content": list(reply.content)},
            {"role": "user", "content": [text_block("On.")]}]  # fmt: skip


def test_the_rehearsal_takes_a_thought_back_only_after_the_same_words(asked):
    script = lambda _: turn(think("Hm."), say("It is."))  # noqa: E731
    [reply], _ = asked(script, request([{"role": "user", "content": [text_block("Go.")]}]))
    asked(script, request(thread(reply)))
    changed = thread(reply)
    changed[0] = {"role": "user", "content": [text_block("Go there.")]}
    with pytest.raises(ModelRejected, match="bound to a different conversation"):
        asked(script, request(changed))
    asked(script, request([changed[0], {"role": "assistant", "content": [say("It is.")]},
                           changed[2]]))  # fmt: skip


@pytest.mark.parametrize(
    ("wish", "told"),
    [
        ({"type": "maybe"}, "thinking.type"),
        ({"type": "enabled"}, "budget_tokens"),
        ({"type": "enabled", "budget_tokens": 4_000}, "max_tokens"),
    ],
)
def test_the_rehearsal_refuses_what_the_api_would(rehearsal, wish, told):
    import httpx2

    server = rehearsal(lambda _: turn(say("x")))
    body = {"model": "m", "max_tokens": 4_000, "messages": [{"role": "user", "content": "Go."}],
            "thinking": wish}  # fmt: skip
    answer = httpx2.post(f"{server.url}/v1/messages", json=body, headers={"x-api-key": "k"})
    assert answer.status_code == 400
    assert told in answer.json()["error"]["message"]


def test_another_wish_loses_the_cached_messages_and_no_more(asked):
    ground = [{"role": "user", "content": [text_block("The ground. " * 800, cache=True)]}]
    system = (text_block("Rules. " * 800, cache=True),)
    wishes = [ModelRequest(system, (), tuple(ground), 4_000, thinking=w) for w in
              ("on", "on", "off")]  # fmt: skip
    replies, _ = asked(lambda _: turn(say("x")), *wishes)
    first, same, other = [reply.usage.cache_read_tokens for reply in replies]
    assert first == 0
    assert 1_000 < other < same - 1_000


def test_scenes_play_rounds_and_thoughts():
    script = parse(
        """
        scenes:
          - match: "Step: it"
            rounds:
              - think: Deep.
                say: A risk.
                call: continue_thinking
                with: {continueThinking: true}
              - {call: continue_thinking, with: {continueThinking: false}}
            turns: [{say: First.}, {say: Second.}]
        """
    )

    def asked_with(*texts):
        return {"messages": [{"role": "user", "content": [text_block(each) for each in texts]}]}

    one = script(asked_with("Step: it", "Think.\nRound 1 of at most 3."))
    assert [block["type"] for block in one.content] == ["thinking", "text", "tool_use"]
    two = script(asked_with("Step: it", "x", "Round 2 of at most 3. Focus: Round 9 of it"))
    assert two.content[0]["input"] == {"continueThinking": False}
    assert script(asked_with("Step: it", "Now act.")).content == (say("First."),)
