"""What the rehearsal bills, prefix cache included."""

from typing import Any

import anthropic
import httpx2
import pytest
from rehearsal_stage import EPHEMERAL, Stage, created, request, streamed, struck

from foundry.model.rehearsal import faults
from foundry.model.rehearsal.script import say, turn
from foundry.schema.messages import Usage

LONG = "The design of the program, at length. " * 200
TOOLS = [{"name": "x", "description": "d", "input_schema": {"type": "object"}}]


def shared(task: str, system: str = LONG, **more: Any) -> dict[str, Any]:
    block = {"type": "text", "text": system, "cache_control": EPHEMERAL}
    return request(task, system=[block], tools=TOOLS, **more)


def bill(client: anthropic.Anthropic, body: dict[str, Any]) -> tuple[int, int, int]:
    usage = created(client, **body).usage
    return (
        usage.input_tokens,
        usage.cache_creation_input_tokens,
        usage.cache_read_input_tokens,
    )


@pytest.fixture
def client(stage: Stage) -> anthropic.Anthropic:
    return stage.play(lambda _: turn(say("ok")))


def test_a_shared_prefix_is_written_once_and_read_after(client: anthropic.Anthropic) -> None:
    first, second = bill(client, shared("one")), bill(client, shared("two"))
    rest, written, read = first
    assert written > len(LONG) // 4
    assert 0 < rest < 50
    assert read == 0
    assert second == (rest, 0, written)


@pytest.mark.parametrize(
    "other",
    [
        shared("two", system="X" + LONG[1:]),
        {**shared("two"), "tools": [{**TOOLS[0], "description": "e"}]},
        {**shared("two"), "model": "claude-haiku-5-5"},
    ],
    ids=["system", "tools", "model"],
)
def test_a_changed_prefix_is_written_anew(
    client: anthropic.Anthropic, other: dict[str, Any]
) -> None:
    bill(client, shared("one"))
    _, written, read = bill(client, other)
    assert (written > 0, read) == (True, 0)


def test_a_short_prefix_is_not_cached(client: anthropic.Anthropic) -> None:
    bodies = [shared("one", system=LONG[:3500]), shared("two", system=LONG[:3500])]
    assert [bill(client, body)[1:] for body in bodies] == [(0, 0), (0, 0)]


def test_without_a_breakpoint_all_is_input(client: anthropic.Anthropic) -> None:
    rest, written, read = bill(client, request(LONG))
    assert rest > len(LONG) // 4
    assert (written, read) == (0, 0)


def test_a_growing_conversation_reads_what_it_wrote(client: anthropic.Anthropic) -> None:
    """Automatic caching: the breakpoint moves to the last block and is itself not hashed."""
    totals: list[int] = []
    messages: list[str] = []
    for number in range(5):
        messages += [f"{number} {LONG}"] if not number else ["ok", f"{number} {LONG}"]
        body = request(*messages, cache_control=EPHEMERAL)
        rest, written, read = bill(client, body)
        assert (rest, read) == (0, totals[-1] if totals else 0)
        totals.append(read + written)
    assert totals == sorted(set(totals))


def test_a_prefix_far_before_the_breakpoint_is_not_found(client: anthropic.Anthropic) -> None:
    start = {"type": "text", "text": LONG}
    near = [{"type": "text", "text": f"{n}"} for n in range(19)]
    end = {"type": "text", "text": "end", "cache_control": EPHEMERAL}
    bill(client, request([{**start, "cache_control": EPHEMERAL}]))
    assert bill(client, request([start, *near[:18], end]))[2] > 0
    assert bill(client, request([start, *near, end]))[2] == 0


def test_count_tokens_agrees_with_the_bill(client: anthropic.Anthropic) -> None:
    body = shared("one")
    counted = client.messages.count_tokens(
        **{key: value for key, value in body.items() if key != "max_tokens"}
    )
    assert counted.input_tokens == sum(bill(client, body))


def test_replies_lost_on_their_way_are_billed_and_refused_ones_are_not(stage: Stage) -> None:
    server = stage.serve(struck(faults.cut()))
    with pytest.raises(httpx2.RemoteProtocolError):
        streamed(stage.client(server))
    assert server.billed.output_tokens > 0
    refusing = stage.serve(struck(faults.status(529)))
    with pytest.raises(anthropic.OverloadedError):
        streamed(stage.client(refusing))
    assert refusing.billed == Usage()
