"""From key facts to a summary with insights, by code; and a model's summary made whole by code.

What failed is never left out: a failed command stands in every summary, and so does the first line
of each error, until the room for them is used up.
"""

from collections.abc import Iterable, Iterator

from foundry.conversation.compaction.key_facts import KeyFacts, one_line
from foundry.model.tokens import CHARACTERS_PER_TOKEN
from foundry.schema.memory import Draft

MOST_TOKENS = 200
"""Of a summary with its insights; failed commands may exceed it."""

SENTENCE, INSIGHT, COMMAND = 240, 160, 120
"""Characters of what was said, of one insight, and of a command."""

FILES, INSIGHTS, FAILURES = 6, 4, 8
"""The most of each."""

_CHANGES = ("written", "edited")


def summary(
    said: str,
    facts: KeyFacts,
    *,
    called: Iterable[str] = (),
    per_token: float = CHARACTERS_PER_TOKEN,
    most: int = MOST_TOKENS,
) -> Draft:
    """What was said, done and found out, in a few lines; the same for the same facts.

    Where that is nothing, the tools that were `called`.
    """
    room = int(most * per_token)
    parts = [one_line(said, SENTENCE), *_deeds(facts)]
    text = " ".join(part for part in parts if part) or _calls(called)
    insights: list[str] = []
    left = room - len(text)
    for insight in _insights(facts):
        left -= len(insight)
        if len(insights) == INSIGHTS or left < 0:
            break
        insights.append(insight)
    return _counted(Draft(text=text, insights=tuple(insights)), per_token)


def completed(written: Draft, facts: KeyFacts, *, per_token: float = CHARACTERS_PER_TOKEN) -> Draft:
    """A model's summary with what it dropped: failed commands, changed files, errors."""
    written_text = "\n".join((written.text, *written.insights))
    dropped = [each for command, each in _failed(facts) if command not in written_text]
    changed = [path for path in _changed(facts) if path not in written_text]
    if changed:
        dropped.append(f"Changed: {_listed(changed)}.")
    errors = [each for each in _errors(facts) if each not in written_text]
    insights = (*written.insights, *errors[:INSIGHTS])
    text = " ".join((written.text.strip(), *dropped)).strip()
    return _counted(Draft(text=text, insights=insights, source="model"), per_token)


def tokens(draft: Draft, per_token: float = CHARACTERS_PER_TOKEN) -> int:
    """The tokens of a summary with its insights, estimated."""
    return int(len("\n".join((draft.text, *draft.insights))) / per_token)


def _counted(draft: Draft, per_token: float) -> Draft:
    return draft.model_copy(update={"tokens": tokens(draft, per_token)})


def _deeds(facts: KeyFacts) -> Iterator[str]:
    changed = _changed(facts)
    if changed:
        yield f"Changed: {_listed(changed)}."
    read = [path for path, deeds in facts.files if path not in changed]
    if read and not changed:
        yield f"Looked at: {_listed(read)}."
    failed = dict(_failed(facts))
    worked = [one_line(text, COMMAND) for text, _ in facts.commands if text not in failed]
    if worked:
        more = f" and {len(worked) - 1} more" if len(worked) > 1 else ""
        yield f"Ran `{worked[-1]}`{more}."
    yield from failed.values()


def _calls(tools: Iterable[str]) -> str:
    names = ", ".join(f"`{name}`" for name in dict.fromkeys(tools))
    return one_line(f"Called {names}.", SENTENCE) if names else "Nothing was said or done."


def _failed(facts: KeyFacts) -> list[tuple[str, str]]:
    """Each failed command with the sentence that tells of it, the newest ones."""
    return [
        (command, f"`{one_line(command, COMMAND)}` failed ({end}).")
        for command, end in facts.commands
        if end not in ("done", "exit code 0")
    ][-FAILURES:]


def _insights(facts: KeyFacts) -> Iterator[str]:
    yield from _errors(facts)
    for each in reversed((*facts.decisions, *facts.open)):
        yield one_line(each, INSIGHT)


def _errors(facts: KeyFacts) -> list[str]:
    """The line of each error that says most, the newest first."""
    lines = (_telling(each) for each in reversed(facts.errors))
    return list(dict.fromkeys(one_line(line, INSIGHT) for line in lines if line))


def _telling(error: str) -> str:
    """A traceback says what happened in its last line."""
    lines = [line.strip() for line in error.split("\n") if line.strip()]
    return (lines[-1] if lines[0].startswith("Traceback") else lines[0]) if lines else ""


def _changed(facts: KeyFacts) -> list[str]:
    return [path for path, deeds in facts.files if any(deed in _CHANGES for deed, _ in deeds)]


def _listed(paths: Iterable[str]) -> str:
    all_of = list(paths)
    more = f" and {len(all_of) - FILES} more" if len(all_of) > FILES else ""
    return ", ".join(all_of[:FILES]) + more
