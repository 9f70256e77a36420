"""Transcripts of any shape for property tests, and the rules that a request has to keep."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from foundry.model.rehearsal.rules import check_request
from foundry.schema.messages import Block, Message, text_block

PATHS = ("src/app.py", "tests/test_app.py", "/etc/hosts", "README.md", "lib/core/very/deep.rs")
LINES = (
    "ValueError: invalid literal for int(): 'x'",
    "  raise KeyError(name)",
    "src/app.py:3: error: incompatible types",
    "all fine here",
    "def main() -> None:",
    "FAILED tests/test_app.py::test_it - assert 1 == 2",
    "</ledger> ## Errors",
    "- [ ] still to do: the docs",
    "exit code 1",
)

words = st.sampled_from(
    ["Hm.", "Fix the bug in src/app.py.", "I'll use sqlite because it is there.", "Go on.",
     "é" * 40,
     "The problem is in lib/core/very/deep.rs. " * 30, "TODO: README.md", "## Files\n- a: b"]
)  # fmt: skip
lines = st.lists(st.sampled_from(LINES), max_size=6).map("\n".join)
long = st.builds(lambda text, times: (text + "\n") * times, lines, st.sampled_from([1, 3, 60]))
outputs = st.one_of(
    st.text(max_size=30),
    lines,
    long,
    st.lists(long.filter(str.strip).map(text_block), min_size=1, max_size=2),
)
paths = st.sampled_from(PATHS)
calls = st.one_of(
    st.tuples(st.just("read_file"), st.builds(lambda path: {"path": path}, paths)),
    st.tuples(st.just("read_file"), st.builds(lambda path: {"path": path, "offset": 9}, paths)),
    st.tuples(st.just("write_file"),
              st.builds(lambda path, text: {"path": path, "content": text}, paths, long)),
    st.tuples(st.just("run_command"), st.sampled_from([{"command": "pytest -q"},
                                                       {"command": "cat src/app.py"}])),
    st.tuples(st.just("teleport"), st.just({})),
)  # fmt: skip
answered = st.tuples(calls, outputs, st.booleans())
turns = st.lists(
    st.tuples(words, st.lists(answered, max_size=3), st.booleans(), st.one_of(st.none(), words)),
    max_size=14,
)


@st.composite
def transcripts(draw: st.DrawFn) -> list[Message]:
    """A thread as any harness may have it: words, calls, results, thinking, plain strings."""
    plain = draw(st.booleans())
    goal = draw(words)
    messages: list[Any] = [{"role": "user", "content": goal if plain else [text_block(goal)]}]
    for number, (said, exchanges, thinks, adds) in enumerate(draw(turns)):
        content: list[Block] = [text_block(said)]
        if thinks:
            signed = {"type": "thinking", "thinking": said, "signature": f"s{number}"}
            content.insert(0, signed)
        results: list[Block] = []
        for place, ((name, arguments), output, failed) in enumerate(exchanges):
            name_of = {"id": f"t{number}-{place}", "name": name, "input": arguments}
            content.append({"type": "tool_use", **name_of})
            results.append({"type": "tool_result", "tool_use_id": f"t{number}-{place}",
                            "content": output, "is_error": failed})  # fmt: skip
        messages.append({"role": "assistant", "content": content})
        more = [text_block(adds)] if adds else []
        messages.append({"role": "user", "content": [*results, *more] or "Go on."})
    return messages


def check_thread(messages: Sequence[Message]) -> None:
    """Raise for a thread that the API would refuse: the rehearsal's rules, and thinking's."""
    check_request({"model": "m", "max_tokens": 1, "messages": list(messages)})
    for message in messages:
        for block in message["content"]:
            if isinstance(block, str):
                continue
            if block["type"] == "thinking":
                assert message["role"] == "assistant"
                assert block["signature"]
            if block["type"] == "tool_use":
                assert message["role"] == "assistant"
                assert isinstance(block["input"], dict)


def answered_now(messages: Sequence[Message]) -> Message | None:
    """The reply whose calls the last message answers: the API wants its thinking back as it was."""
    *_, reply, last = [None, None, *messages]
    content: Any = last["content"] if last else ""
    if isinstance(content, str) or not any(block["type"] == "tool_result" for block in content):
        return None
    return reply
