"""A model's account of what is taken out, on top of the ledger and never instead of it.

A fixed template asks for it, and code completes it: every file, and every error and path that it
forgets, stays in the ledger. A model that fails, refuses, is cut or leaves a heading out changes
nothing.
"""

from collections.abc import Callable, Sequence

from foundry.context.templates import render as render_prompt
from foundry.conversation.compaction.ledger import Heading, Ledger, render
from foundry.conversation.compaction.summary import Writer
from foundry.conversation.compaction.tool_calls import blocks_of, words_of
from foundry.errors import ModelError
from foundry.model.base import Model
from foundry.schema.messages import Message, ModelRequest, Reply, Usage

TEMPLATE = "context/summary.md.j2"
HEADINGS = ("### Objective", "### Decisions and why", "### Done so far", "### State of the files",
            "### Errors and how they were mended", "### Open", "### Next step")  # fmt: skip
LONGEST = 1_500
"""Tokens of the account."""

SHOWN = 150_000
"""Characters of the messages that are shown; of longer ones the newest."""

SHOWN_BLOCK = 2_000


def model_writer(model: Model, paid: Callable[[Reply], object], allowed: int = LONGEST) -> Writer:
    """A writer that asks `model`; `paid` hears of the reply. `allowed` are the tokens that may be
    written; none are asked for below what an account needs."""

    def write(ledger: Ledger, messages: Sequence[Message]) -> str:
        if allowed < LONGEST:
            return ""
        facts = render(ledger, Heading(len(messages), 0, 0, 0))
        opening = render_prompt(TEMPLATE, {"facts": facts, "messages": shown(messages)})
        thread: Message = {"role": "user", "content": list(opening)}
        try:
            reply = model.complete(ModelRequest((), (), (thread,), LONGEST))
        except ModelError as error:
            if any(error.billed.values()):  # what was cut on the way is paid all the same
                paid(Reply((), "error", Usage(**error.billed)))
            return ""
        paid(reply)
        return reply.text.strip() if _complete(reply) else ""

    return write


def shown(messages: Sequence[Message]) -> str:
    """The messages as text, each block cut, the newest that fit."""
    room, parts = SHOWN, list[str]()
    for message in reversed(messages):
        blocks = blocks_of(message)
        text = "\n".join(filter(None, (words_of(block)[:SHOWN_BLOCK] for block in blocks)))
        room -= len(text)
        if room < 0:
            break
        results = any(block.get("type") == "tool_result" for block in blocks)
        parts.append(f"[{'tool' if results else message['role']}]\n{text}")
    return "\n\n".join(reversed(parts))


def _complete(reply: Reply) -> bool:
    return reply.stop_reason == "end_turn" and all(each in reply.text for each in HEADINGS)
