"""Input tokens and cost of a build in fresh conversations, against one continuous conversation.

The continuous one does the same work: it hears the task of each conversation, gives the same
replies and gets the same tool results, and carries all of it on. Both are billed by the same
rules, prefix cache included. It is not told again what stands in its own history, so its
openings hold the task alone.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from foundry.model.prices import cost
from foundry.model.rehearsal.billing import Ledger, count_output
from foundry.model.rehearsal.billing import measure as measure_prompt
from foundry.model.rehearsal.server import Recorded
from foundry.schema.messages import Usage
from scripts.benchmarks.builds import WorkingBuild, run_build
from scripts.benchmarks.figure import Figure

SIZES = (5, 10, 20, 50, 100)
MODEL = "claude-sonnet-5-5"
GOAL = 70.0


def measure() -> list[Figure]:
    figures = []
    for tasks in SIZES:
        built = run_build(WorkingBuild(tasks=tasks, size="large"), keep=None)
        assert built.summary.status == "verified", built.ended
        fresh = built.summary.tokens
        one, peak = _continuous(built.requests)
        saved = 100 * (1 - fresh.prompt_tokens / one.prompt_tokens)
        paid, paid_one = cost(MODEL, fresh) or 0, cost(MODEL, one) or 0
        detail = (
            f"{fresh.prompt_tokens:,} tokens, ${paid:.2f} against {one.prompt_tokens:,} tokens, "
            f"${paid_one:.2f}: {100 * (1 - paid / paid_one):.0f}% cheaper; the one needs a window "
            f"of {peak:,}"
        )
        goal = GOAL if tasks == 20 else None
        figures.append(Figure(f"input tokens saved, {tasks} tasks", saved, "%", goal, True, detail))
    return figures


def _continuous(requests: Sequence[Recorded]) -> tuple[Usage, int]:
    """What one conversation with the same work is billed, and how large it grows."""
    ledger = Ledger()
    first = requests[0].body
    messages: list[dict[str, Any]] = []
    peak = 0
    for request, reply in _turns(requests):
        opening = request["messages"][0] if len(request["messages"]) == 1 else None
        if opening is not None:
            text = opening["content"] if not messages else _task_alone(opening["content"])
            _add(messages, "user", text)
        else:
            _add(messages, "user", request["messages"][-1]["content"])
        body = {"system": first["system"], "tools": first["tools"], "model": first["model"],
                "messages": _with_breakpoint(messages)}  # fmt: skip
        prompt = measure_prompt(body)
        ledger.charge(prompt, count_output(reply))
        peak = prompt.tokens
        messages.append({"role": "assistant", "content": reply})
    return ledger.total, peak


def _turns(requests: Sequence[Recorded]) -> Iterator[tuple[Any, list[Any]]]:
    """Each request with the reply that it got: the next request of its conversation holds it."""
    bodies = [request.body for request in requests if request.path.endswith("/messages")]
    for number, body in enumerate(bodies):
        following = bodies[number + 1] if number + 1 < len(bodies) else None
        goes_on = following is not None and len(following["messages"]) > len(body["messages"])
        reply = following["messages"][-2]["content"] if goes_on and following else _SUBMITTED
        yield body, reply


_SUBMITTED = [{"type": "text", "text": "Done. " + "What was made is described here. " * 5}]


def _task_alone(content: Sequence[Any]) -> list[Any]:
    """The last block of an opening without file list: what is new to someone who remembers."""
    text = re.sub(r'<data name="(files|earlier tasks|components)">.*?</data>', "",
                  content[-1]["text"], flags=re.DOTALL)  # fmt: skip
    return [{"type": "text", "text": text}]


def _add(messages: list[dict[str, Any]], role: str, content: Sequence[Any]) -> None:
    blocks = [{k: v for k, v in block.items() if k != "cache_control"} for block in content]
    messages.append({"role": role, "content": blocks})


def _with_breakpoint(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    *earlier, last = messages
    *blocks, block = last["content"]
    marked = {**block, "cache_control": {"type": "ephemeral"}}
    return [*earlier, {**last, "content": [*blocks, marked]}]
