import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foundry.model.request import sendable
from foundry.model.retry import Transient
from foundry.model.stream import read_reply, without_surrogates
from foundry.schema.messages import Usage

START = {
    "type": "message_start",
    "message": {
        "id": "msg_1",
        "model": "m",
        "content": [],
        "usage": {"input_tokens": 9, "cache_read_input_tokens": 5, "output_tokens": 1},
    },
}
STOP = {"type": "message_stop"}


def end(reason="end_turn", **usage):
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


def block(index, start, *deltas):
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def text(*pieces, index=0):
    deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
    return block(index, {"type": "text", "text": "", "citations": None}, *deltas)


def tool(*pieces, index=0, **start):
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    call = {"type": "tool_use", "id": "t1", "name": "write_file", "input": {}} | start
    return block(index, call, *deltas)


def read(*blocks, reason="end_turn"):
    return read_reply([START, *(e for b in blocks for e in b), end(reason), STOP])


def test_a_reply_of_text_and_a_tool_call():
    heard = []
    events = [START, *text("Hel", "lo"), *tool('{"path": ', '"a.py"}', index=1)]
    reply = read_reply([*events, end("tool_use", output_tokens=7), STOP], heard.append)
    assert reply.content == (
        {"type": "text", "text": "Hello"},
        {"type": "tool_use", "id": "t1", "name": "write_file", "input": {"path": "a.py"}},
    )
    assert heard == ["Hel", "lo"]
    assert (reply.stop_reason, reply.id, reply.model) == ("tool_use", "msg_1", "m")


def test_later_counts_replace_earlier_ones_where_given():
    last = end(output_tokens=40, input_tokens=None, cache_creation_input_tokens=3)
    usage = read_reply([START, last, STOP]).usage
    assert usage == Usage(
        input_tokens=9, output_tokens=40, cache_read_tokens=5, cache_write_tokens=3
    )


def test_a_server_without_usage():
    start = {"type": "message_start", "message": {"content": []}}
    bare = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    assert read_reply([start, bare]).usage == Usage()


def test_thinking_is_kept_to_the_letter():
    thinking = block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": " hm"},
        {"type": "thinking_delta", "thinking": "\n"},
        {"type": "signature_delta", "signature": "c2ln"},
    )
    hidden = {"type": "redacted_thinking", "data": "xyz"}
    assert read(thinking, block(1, hidden)).content == (
        {"type": "thinking", "thinking": " hm\n", "signature": "c2ln"},
        hidden,
    )


def test_unknown_blocks_fields_deltas_and_events_come_through():
    strange = {"type": "hologram", "depth": {"z": [1]}, "caller": {"type": "direct"}}
    odd = block(0, strange, {"type": "hologram_delta", "more": 1})
    assert read(odd, [{"type": "weather"}]).content == (strange,)


def test_citations_are_collected():
    deltas = [{"type": "citations_delta", "citation": {"cited_text": c}} for c in "ab"]
    words = {"type": "text_delta", "text": "so"}
    (found,) = read(block(0, {"type": "text", "text": ""}, words, *deltas)).content
    assert found["citations"] == [{"cited_text": "a"}, {"cited_text": "b"}]


def test_blank_text_is_left_out_for_the_api_refuses_to_be_sent_it():
    assert read(text(" \n"), tool("{}", index=1)).content[0]["type"] == "tool_use"
    assert read(text()).content == ()


@pytest.mark.parametrize(
    ("pieces", "arguments"),
    [
        ([], {}),
        ([""], {}),
        (['{"a"', ": 1}"], {"a": 1}),
        (['{"path": "a.py", "cont'], '{"path": "a.py", "cont'),
        (["[1, 2]"], [1, 2]),
        (["null"], None),
        (['{"a": NaN}'], '{"a": NaN}'),
        (["[" * 100_000], "[" * 100_000),
        (['{"a":' * 101 + "1" + "}" * 101], '{"a":' * 101 + "1" + "}" * 101),
        (['{"a":' * 100 + "1" + "}" * 100], json.loads('{"a":' * 100 + "1" + "}" * 100)),
        (['{"a": "line\nline"}'], {"a": "line\nline"}),
        (['{"a": "\\ud800!"}'], {"a": "\ufffd!"}),
        (['{"a": "\ud83d', '\ude00"}'], {"a": "😀"}),
    ],
)
def test_arguments_are_what_the_model_said(pieces, arguments):
    (call,) = read(tool(*pieces), reason="tool_use").content
    assert call["input"] == arguments
    (sent,) = sendable({"role": "assistant", "content": [call]})["content"]
    assert isinstance(sent["input"], dict)
    json.dumps(sent, allow_nan=False, ensure_ascii=False).encode()


def test_arguments_that_came_whole_at_the_start():
    assert read(tool(input={"a": 1})).content[0]["input"] == {"a": 1}


def test_arguments_that_are_no_object_are_sent_as_the_api_takes_them():
    good = {"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1}}
    bad = {"type": "tool_use", "id": "2", "name": "f", "input": '{"a": '}
    listed = {"type": "tool_use", "id": "3", "name": "f", "input": ["ä"]}
    sent = sendable({"role": "assistant", "content": [good, bad, listed]})
    assert sent["content"] == [
        good,
        {**bad, "input": {"INVALID_JSON": '{"a": '}},
        {**listed, "input": {"INVALID_JSON": '["ä"]'}},
    ]


def test_users_messages_are_sent_as_they_are():
    message = {"role": "user", "content": [{"type": "tool_use", "input": 1}]}
    assert sendable(message) is message


WHOLE = [START, *text("Hello"), *tool('{"path": "a.py"}', index=1), end("tool_use"), STOP]


@pytest.mark.parametrize("length", range(len(WHOLE) - 2))
def test_every_cut_is_noticed(length):
    with pytest.raises(Transient, match="cut off" if length else "before"):
        read_reply(WHOLE[:length])


def test_a_missing_message_stop_is_forgiven_once_the_reason_is_known():
    assert read_reply(WHOLE[:-1]) == read_reply(WHOLE)


@pytest.mark.parametrize(
    "events",
    [
        [5],
        [None],
        [{}],
        [{"type": "message_start"}],
        [START, {"type": "content_block_delta", "index": 3, "delta": {"type": "text_delta"}}],
        [START, *text("a", None), end(), STOP],
        [START, *block(0, {"text": "untyped"}), end(), STOP],
        [START, *tool("{}", id=None), end(), STOP],
        [START, {"type": "message_delta"}],
        [START, end(output_tokens="many"), STOP],
    ],
)
def test_nonsense_is_a_fault_that_may_pass(events):
    with pytest.raises(Transient, match="garbled"):
        read_reply(events)


WORDS = st.text(max_size=5)
JSON = st.recursive(
    st.none() | st.integers() | WORDS,
    lambda x: st.lists(x, max_size=3) | st.dictionaries(WORDS, x, max_size=3),
    max_leaves=5,
)
KINDS = ["message_start", "content_block_start", "content_block_delta", "message_delta", "ping"]
DELTAS = ["text_delta", "input_json_delta", "citations_delta"]
DELTA = st.fixed_dictionaries(
    {"type": st.sampled_from(DELTAS), "text": JSON, "partial_json": JSON, "citation": JSON}
)
EVENT = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS), "index": st.integers(0, 1) | JSON, "delta": DELTA | JSON},
    optional={"content_block": JSON | st.just({"type": "text"}), "message": JSON, "usage": JSON},
)


@settings(max_examples=50)
@given(st.lists(EVENT | JSON, max_size=12))
def test_any_stream_gives_a_reply_or_may_pass(events):
    try:
        reply = read_reply([START, *events])
    except Transient:
        return
    assert reply.stop_reason


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_what_is_mended_can_be_encoded(words):
    mended = without_surrogates({words: [words, 1]})
    json.dumps(mended, ensure_ascii=False).encode()
    if all(not 0xD800 <= ord(c) <= 0xDFFF for c in words):
        assert mended == {words: [words, 1]}


def test_several_rounds_of_one_reply_are_added_up_and_the_last_one_kept():
    """The server compacted first: the top level tells of the last round alone."""
    rounds = [
        {"type": "compaction", "input_tokens": 55_000, "output_tokens": 300},
        {"type": "message", "input_tokens": 220, "cache_read_input_tokens": 9, "output_tokens": 7},
    ]
    counted = {"input_tokens": 220, "output_tokens": 7, "iterations": rounds}
    reply = read_reply([START, *text("Hi"), end(**counted), STOP])
    assert reply.usage == Usage(input_tokens=55_220, cache_read_tokens=9, output_tokens=307)
    assert reply.context == Usage(input_tokens=220, cache_read_tokens=9, output_tokens=7)


def test_one_round_is_the_reply():
    rounds = [{"type": "message", "input_tokens": 20, "output_tokens": 7}]
    reply = read_reply([START, *text("Hi"), end(output_tokens=7, iterations=rounds), STOP])
    assert reply.context == reply.usage == Usage(input_tokens=20, output_tokens=7)
