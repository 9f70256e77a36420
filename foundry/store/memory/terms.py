"""What an entry is found by: the terms of what was said, and of what was done with which files."""

from collections.abc import Iterable

from foundry.schema.base import strings
from foundry.schema.memory import RECALL, MemorySummary, Moment
from foundry.tokenize import IDENTIFIER, terms

LONGEST = 16_000
"""Characters of a text that are searched; of a longer one the beginning and the end."""

TAIL = 4_000


def said(moment: Moment, summaries: Iterable[MemorySummary]) -> set[str]:
    """The terms of an entry's words, decisions and summaries.

    The task counts for the step alone: all of its turns have the same.
    """
    snapshot = moment.snapshot
    texts = [snapshot.said, *snapshot.decisions]
    texts += [snapshot.task] if moment.kind == "step" else []
    for summary in summaries:
        texts += [summary.text, *summary.insights]
    return distinct(texts)


def done(moment: Moment) -> set[str]:
    """The terms of an entry's files, calls, results and state.

    What it recalled is not its own: a search finds where that was first.
    """
    snapshot = moment.snapshot
    texts = [touched.path for touched in snapshot.files]
    for call in snapshot.calls:
        if call.tool != RECALL:
            texts += [*strings(call.arguments), call.result]
    return distinct([*texts, *strings(snapshot.state)])


def distinct(texts: Iterable[str]) -> set[str]:
    """The terms in texts, each once."""
    found: set[str] = set()
    for text in texts:
        for identifier in set(IDENTIFIER.findall(searched(text))):
            found.update(terms(identifier))
    return found


def searched(text: str) -> str:
    """What of a text is searched."""
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST - TAIL]}\n{text[-TAIL:]}"
