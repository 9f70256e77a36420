"""Masking: whatever the thread and however much is to be saved, it stays one that the API takes."""

from copy import deepcopy

from hypothesis import given
from hypothesis import strategies as st

from foundry.conversation.masking import KEEP_RECENT, MASK, WORTH_MASKING, mask
from foundry.conversation.tokens import estimate
from foundry.model.rehearsal.rules import check_request
from foundry.schema.messages import Block, Message, text_block

contents = st.one_of(
    st.text(max_size=30),
    st.integers(WORTH_MASKING - 2, 20_000).map(lambda length: "x" * length),
    st.integers(1, 900).map(lambda length: [text_block("y" * length)]),
)
answers = st.tuples(contents, st.booleans())
turns = st.lists(st.tuples(st.lists(answers, max_size=4), st.booleans()), max_size=12)


def transcript(script: list[tuple[list[tuple[object, bool]], bool]]) -> list[Message]:
    """A thread in which every turn calls some tools and is answered, now and then with words."""
    messages: list[Message] = [{"role": "user", "content": [text_block("Begin.")]}]
    for number, (results, speaks) in enumerate(script):
        calls: list[Block] = [
            {"type": "tool_use", "id": f"t{number}-{n}", "name": "look", "input": {}}
            for n in range(len(results))
        ]
        answered: list[Block] = [
            {"type": "tool_result", "tool_use_id": call["id"], "content": content, "is_error": bad}
            for call, (content, bad) in zip(calls, results, strict=True)
        ]
        said = [text_block("Hm.")] if speaks or not calls else []
        messages.append({"role": "assistant", "content": [*said, *calls]})
        messages.append({"role": "user", "content": answered or [text_block("Go on.")]})
    return messages


def results_of(messages: object) -> list[Block]:
    return [
        block
        for message in messages  # type: ignore[attr-defined]
        for block in message["content"]
        if block["type"] == "tool_result"
    ]


@given(turns, st.integers(-10, 50_000))
def test_masked_thread_is_a_valid_request(script, save):
    masked = mask(transcript(script), save=save)
    check_request({"model": "m", "max_tokens": 1, "messages": list(masked.messages)})


@given(turns, st.integers(-10, 50_000))
def test_only_old_long_results_change_and_only_their_content(script, save):
    messages = transcript(script)
    given_messages = deepcopy(messages)
    masked = mask(messages, save=save)

    assert messages == given_messages
    assert [m["role"] for m in masked.messages] == [m["role"] for m in messages]
    before, after = results_of(messages), results_of(masked.messages)
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert len(changed) == masked.results
    assert all(new == {**old, "content": MASK} for old, new in changed)
    assert all(len(old["content"]) > WORTH_MASKING and not old["is_error"] for old, _ in changed)
    assert after[-KEEP_RECENT:] == before[-KEEP_RECENT:]
    without = [block for m in messages for block in m["content"] if block not in before]
    assert without == [b for m in masked.messages for b in m["content"] if b not in after]


@given(turns, st.integers(-10, 50_000))
def test_saved_is_what_the_estimate_says(script, save):
    messages = transcript(script)
    masked = mask(messages, save=save)
    saved = sum(
        estimate([old]) - estimate([new])
        for old, new in zip(results_of(messages), results_of(masked.messages), strict=True)
    )
    assert masked.saved == saved >= 0
    if save <= 0:
        assert masked.results == 0


@given(turns, st.integers(1, 50_000))
def test_stops_at_the_target_or_when_nothing_is_left(script, save):
    masked = mask(transcript(script), save=save)
    if masked.saved < save:
        assert mask(masked.messages, save=save).results == 0
