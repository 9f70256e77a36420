"""From messages to key facts: what was decided, done to which file, run with what end, gone wrong.

Code alone, so that the same messages give the same facts, and every word of these stands in them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from foundry.conversation.compaction.key_facts import (
    KeyFacts,
    errors,
    is_key_facts,
    merged,
    one_line,
    parse,
    paths,
)
from foundry.conversation.compaction.masking import is_masked
from foundry.conversation.compaction.tool_calls import (
    Exchange,
    blocks_of,
    exchanges,
    text_of,
    words_of,
)
from foundry.schema.messages import Block, Message

LONGEST_ENTRY = 300
LONGEST_COMMAND = 160
LONGEST_ERROR = 2_000
"""Characters of a failed call's answer that are kept as they are."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_DECISION = re.compile(
    r"(?i:\b(?:decid\w+|chose|choose|instead of|rather than|because|therefore|root cause"
    r"|the (?:problem|bug|issue|cause|reason|fix|solution) (?:is|was|seems)|turns out|caused by"
    r"|I(?:'ll| will| am going to|'m going to)|let(?:'s| us|me)? (?:use|add|change|fix|implement)"
    r"|we (?:should|need|must|will)|fixed|implemented|conclu\w+|confirm\w*)\b)"
)
_OPEN = re.compile(
    r"(?i:^\W*\[ \]|\bTODO\b|\bFIXME\b|\bnot yet\b|\bstill (?:need|has|have|fail|to)|\bremain\w*\b"
    r"|\bnext(?: step)?,? (?:I|we|is|step|let)|\bleft to do\b|\bblocked\b)"
)
_VERBS = {"read": "read", "write": "written", "edit": "edited", "search": "searched",
          "command": "run", "other": "used"}  # fmt: skip


def extract(messages: Sequence[Message]) -> KeyFacts:
    """The key facts of messages, joined to those that stand in them already."""
    earlier = KeyFacts()
    for message in messages:
        for block in blocks_of(message):
            if block.get("type") == "text" and is_key_facts(text_of(block)):
                earlier = merged(earlier, parse(text_of(block)))
    found = list(exchanges(messages))
    said = [
        text for message in messages if message["role"] == "assistant" for text in _said(message)
    ]
    new = KeyFacts(
        decisions=_unique(_sentences(said, _DECISION)),
        files=_files(found),
        commands=_commands(found),
        errors=_unique(each for exchange in found for each in _errors(exchange)),
        open=_unique(_sentences(said[-6:], _OPEN)),
        mentioned=_unique(path for message in messages for path in named(message)),
    )
    # What was open is done or said again by now; only what was said last is known to be open.
    return merged(replace(earlier, open=() if new.open else earlier.open), new)


def own_words(messages: Sequence[Message]) -> list[Block]:
    """What the person said in these messages, block by block as it was; results and key facts
    are not their words. The same words count once."""
    found: list[Block] = []
    for message in messages:
        if message["role"] == "assistant":
            continue
        for block in blocks_of(message):
            facts = block.get("type") == "text" and is_key_facts(text_of(block))
            if block.get("type") != "tool_result" and not facts and block not in found:
                found.append(block)
    return found


def named(message: Message) -> Iterator[str]:
    """Every path in a message."""
    for block in blocks_of(message):
        yield from paths(words_of(block))


def _said(message: Message) -> Iterator[str]:
    for block in blocks_of(message):
        if block.get("type") == "text":
            yield text_of(block)


def _sentences(texts: Iterable[str], cue: re.Pattern[str]) -> Iterator[str]:
    for text in texts:
        for sentence in _SENTENCE.split(text):
            if len(sentence) > 12 and cue.search(sentence):
                yield one_line(sentence.lstrip("-*# "), LONGEST_ENTRY)


def _files(found: Iterable[Exchange]) -> tuple[tuple[str, tuple[tuple[str, int], ...]], ...]:
    files: dict[str, dict[str, int]] = {}
    for exchange in found:
        path = exchange.path
        if not path or not path.isprintable() or ": " in path:
            continue
        deed = "failed" if exchange.is_error else _VERBS[exchange.kind]
        deeds = files.setdefault(path, {})
        deeds[deed] = deeds.get(deed, 0) + 1
    return tuple((path, tuple(deeds.items())) for path, deeds in files.items())


def _commands(found: Iterable[Exchange]) -> tuple[tuple[str, str], ...]:
    commands: dict[str, str] = {}
    for exchange in found:
        text = one_line(exchange.command, LONGEST_COMMAND)
        if text and exchange.kind == "command":
            commands.pop(text, None)
            commands[text] = _end(exchange)
    return tuple(commands.items())


def _end(exchange: Exchange) -> str:
    code = exchange.exit_code
    if code is not None:
        return f"exit code {code}"
    return "failed" if exchange.is_error else "done"


def _errors(exchange: Exchange) -> Iterator[str]:
    """A failed call's answer as it was, as far as it is short; of others the lines that tell of
    an error."""
    text = exchange.text.strip()
    if exchange.is_error and len(text) <= LONGEST_ERROR and not is_masked(text):
        if text:
            yield "\n".join(line.rstrip("\r") for line in text.split("\n"))
        return
    if is_masked(text):
        yield from text.partition("It said:\n")[2].splitlines()
        return
    if exchange.is_error:
        yield one_line(text, LONGEST_ENTRY)
    yield from errors(text, source=exchange.shows_source)


def _unique(entries: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in entries if each.strip()))
