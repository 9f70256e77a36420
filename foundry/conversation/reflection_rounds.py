"""What a round of thinking came to, and whether there is to be another. Values in, values out."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from foundry.conversation.brief import SMALLEST_REPLY
from foundry.schema.messages import Reply, ToolCall
from foundry.schema.workflow import Reflection
from foundry.tools import think
from foundry.tools.base import explain
from foundry.tools.recall import NAME as RECALL

End = Literal[
    "done", "rounds", "tokens", "seconds", "repeated", "empty", "ignored", "acted", "cut",
    "refused", "context_full", "turns", "minutes", "budget", "deadline",
]  # fmt: skip
"""Why the rounds before a turn are over. `done`: the model said so; `ignored`: it said something,
but not whether to go on; `acted`: instead of thinking it did its work."""

DISCOURAGING: frozenset[End] = frozenset({"empty", "ignored", "acted", "cut", "refused"})
"""After these a conversation is not asked to think again."""

_STOPS: dict[str, End] = {
    "refusal": "refused", "max_tokens": "cut", "model_context_window_exceeded": "context_full",
}  # fmt: skip
"""How a reply may stop that is no round, or only half of one."""

NOT_RUN = "was not run: in a round of thinking there are only `continue_thinking` and "


@dataclass(frozen=True, slots=True)
class Round:
    """One round. `more` is None where the model did not say whether to go on."""

    number: int
    text: str = ""
    more: bool | None = None
    reason: str = ""
    focus: str = ""
    """What the next round is about."""
    summary: str = ""
    asked: tuple[ToolCall, ...] = ()
    """Calls of `recall_context`."""
    originals: tuple[str, ...] = ()
    """What they gave back, as it was given."""
    recalled: tuple[str, ...] = ()
    """The ids of that."""
    problems: tuple[str, ...] = ()
    """What was wrong with its calls, for the next round."""
    stopped: End | None = None
    """What kept it from being whole: its calls are not trusted then."""

    @property
    def thought(self) -> str:
        """What it thought, in its own words."""
        return self.text or self.reason

    @property
    def is_empty(self) -> bool:
        """Whether nothing came of it."""
        said = self.thought or self.asked or self.problems
        return not said and self.more is not False


@dataclass(frozen=True, slots=True)
class Used:
    """What all rounds of a conversation used so far: tokens sent and received, and seconds."""

    tokens: int = 0
    seconds: float = 0.0


def read(reply: Reply, number: int) -> Round:
    """A reply as a round; calls of other tools are problems, and so are malformed arguments."""
    stopped = _STOPS.get(reply.stop_reason)
    if stopped:
        return Round(number, "" if stopped == "refused" else reply.text.strip(), stopped=stopped)
    calls = list(reply.tool_calls())
    decisions = [call for call in calls if call.name == think.NAME]
    others = [call.name for call in calls if call.name not in (think.NAME, RECALL)]
    decision, problems = _decision(decisions)
    return Round(
        number=number,
        text=reply.text.strip(),
        more=decision.continueThinking if decision else None,
        reason=decision.reason.strip() if decision else "",
        focus=decision.nextFocus.strip() if decision else "",
        summary=decision.summary.strip() if decision else "",
        asked=tuple(call for call in calls if call.name == RECALL),
        problems=(*problems, *(f"`{name}` {NOT_RUN}`{RECALL}`." for name in others)),
    )


def is_turn(reply: Reply) -> bool:
    """Whether a model that was asked to think does its work instead: it calls other tools, and
    says nothing of thinking."""
    names = {call.name for call in reply.tool_calls()}
    if reply.stop_reason in _STOPS:
        return False
    return bool(names - {think.NAME, RECALL}) and think.NAME not in names


def ended(rounds: Sequence[Round], limits: Reflection) -> End | None:
    """Why there is no further round, or None when there is one."""
    last = rounds[-1]
    reasons: dict[End, bool] = {
        "empty": last.is_empty,
        "done": last.more is False,
        "ignored": last.more is None and not (last.asked or last.problems),
        "repeated": _repeats(last, rounds[:-1]),
        "rounds": len(rounds) >= limits.rounds,
    }
    first = next((end for end, holds in reasons.items() if holds), None)
    return last.stopped or first


def barred(used: Used, limits: Reflection, prompt: int) -> End | None:
    """The limit of a conversation's thinking that allows no further round, of which `prompt`
    tokens would be sent."""
    if used.seconds >= limits.seconds:
        return "seconds"
    return "tokens" if left(used, limits, prompt) < SMALLEST_REPLY else None


def left(used: Used, limits: Reflection, prompt: int) -> int:
    """Tokens that the reply of a further round may have."""
    return limits.tokens - used.tokens - prompt


def recalled_ids(originals: Sequence[str]) -> tuple[str, ...]:
    """The ids that originals are cited by, each once."""
    found = (each for text in originals for each in _CITED.findall(text))
    return tuple(dict.fromkeys(found))


def cited(text: str) -> tuple[str, ...]:
    """Every id of the memory that a text mentions."""
    return tuple(dict.fromkeys(_ID.findall(text)))


_ID = re.compile(r"\bctx_\w+")
_CITED = re.compile(r'^<context id="(ctx_\w+)"', re.MULTILINE)


def _decision(calls: Sequence[ToolCall]) -> tuple[think.Thinking | None, tuple[str, ...]]:
    """The last decision that makes sense; what is wrong with the others."""
    decision, problems = None, []
    for call in calls:
        try:
            decision = think.Thinking.model_validate(call.arguments)
        except ValidationError as error:
            problems.append(f"Invalid arguments for {think.NAME}:\n{explain(error)}")
    return decision, tuple(problems)


def _repeats(last: Round, earlier: Sequence[Round]) -> bool:
    """Whether a round brings nothing that an earlier one did not: the same focus or thought, and
    nothing recalled that was not recalled before."""
    known = {_request(call) for each in earlier for call in each.asked}
    if any(_request(call) not in known for call in last.asked):
        return False
    said = {_plain(text) for each in earlier for text in (each.focus, each.text) if text}
    again = last.focus or last.text
    return (bool(again) and _plain(again) in said) or bool(last.asked and not again)


def _request(call: ToolCall) -> Any:
    return repr(call.arguments)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
