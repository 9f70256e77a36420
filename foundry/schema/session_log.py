"""What the lines of a session log mean, as a JSON Schema made from the events themselves."""

from dataclasses import fields
from typing import Any

from pydantic import TypeAdapter

from foundry.schema import events
from foundry.schema.events import Event, ToolRan

HEAD = {
    "at": {"type": "string", "format": "date-time", "description": "When, in UTC."},
    "event": {"type": "string", "description": "The kind of event."},
}
MEANINGS = {
    "actions": "what was read or searched for, a line each",
    "approval": "the decision on this call: allow or deny by rule, or a person's yes, no, always, "
    "edit; empty where calls need none",
    "artifacts": "files of the plan that a person may edit before going on",
    "attempt": "which try at this step, from 1",
    "available_tokens": "what the window still takes",
    "branch": "the git branch that is worked on",
    "breakdown": "the context's tokens by what they are used for; the parts add up",
    "built": "what was built, in words",
    "cache_read_tokens": "prompt tokens that the server read from its cache",
    "cache_write_tokens": "prompt tokens that it wrote to its cache",
    "checks": "how many checks were run",
    "command": "the command that was run",
    "commit": "the commit's sha",
    "commits": "how many commits the run has made",
    "compaction_count": "how often room was made in this conversation",
    "compactions": "how often room was made in conversations",
    "content": "its text; of an opening the beginning, the transcript has the rest",
    "context_share": "the part of its window that a conversation filled, from 0 to 1",
    "conversation": "the id of the conversation, which names its transcript; of a step's beginning "
    "or end, whether it is a conversation",
    "cost_usd": "US dollars; null where no price is known",
    "decision": "allow or deny by rule, wait where nobody was there to ask, or a person's answer",
    "detail": "the reason in words",
    "discovered": "issues that came to light",
    "doubt": "whether a thread tried to prove an end wrong",
    "error": "why it failed, empty where it did not",
    "exit_code": "what the process ends with",
    "failing": "how many of the checks do not hold",
    "files": "the project's files that the step changed",
    "files_changed": "how many files of the project were changed",
    "files_modified": "the project's files that were changed",
    "focus": "what the round was about",
    "input_tokens": "prompt tokens that were neither read from a cache nor written to one",
    "iteration": "which iteration, from 1",
    "limit": "tokens that the conversation may hold",
    "lines": "how many lines the whole answer has",
    "llm_calls": "calls of a model that came back",
    "log": "of a run's beginning this file, of its end the newest commits",
    "max_hours": "hours that this invocation may work",
    "max_usd": "US dollars that the run may cost",
    "message_count": "messages in the conversation",
    "messages_after": "messages that are left",
    "messages_before": "messages that there were",
    "model": "the model's name",
    "ms": "how long it took, or will take, in milliseconds",
    "name": "the check's name",
    "needs_compaction": "whether room is made before the next call",
    "number": "which of a loop's iterations, from 1; 0 outside of loops",
    "ok": "whether the tool did what it was called for",
    "output_tokens": "tokens of the reply",
    "merged": "whether its work is in the result",
    "part": "the piece of the call that decided; of threads side by side, what one worked on",
    "parts": "what each of the threads side by side works on; empty where there is one",
    "peak_usage_percent": "how full the fullest conversation was",
    "phase": "the step's phase",
    "phases": "the phases of the run, in their order",
    "place": "the project's folder",
    "progress": "the share of the known issues that is resolved, from 0 to 1",
    "prompt_version": "which wording of the prompt, 1 is the person's own",
    "proven": "requirements whose command failed without the work and passes with it",
    "proof": "the figures of the verdict in one line",
    "flags": "what a person should know before they trust the result",
    "purpose": "turn, or what else the model was called for",
    "reason": "why, in words",
    "reasons": "why it is set up so, by what was decided",
    "recalled": "ids of what the memory gave back",
    "reduction_percent": "by how much the conversation became smaller",
    "requirements": "how many requirements there are",
    "resolved": "issues that were resolved",
    "result": "the beginning and the end of the answer",
    "resume": "the command that goes on with the run",
    "resumed": "whether the run was taken up again",
    "retries": "calls of a model that were tried again",
    "round": "which round of thinking before the turn, from 1",
    "rounds": "of a round, how many there may be; of the end, how many there were",
    "rule": "the rule that decided",
    "run": "the run's id",
    "salvage": "the patch that keeps the step's work",
    "sandbox": "how commands are confined",
    "source": "spec, opening, or answer",
    "stages": "how much each stage took out: tool results or messages",
    "status": "how it stands",
    "step": "the step's id; empty for the run itself",
    "stop_reason": "why the reply ended",
    "subject": "the call's command, pattern or file",
    "summary": "what the step came to",
    "text": "the words",
    "threshold": "the share of its window at which the conversation ends",
    "title": "the step in words",
    "tokens": "how many tokens",
    "tokens_added": "by how many tokens the conversation became larger",
    "tokens_after": "the conversation's tokens afterwards",
    "tokens_before": "the conversation's tokens before",
    "tool": "the tool's name",
    "tools_executed": "tool calls that were answered",
    "tools_failed": "those that failed or were refused",
    "total": "how many iterations the loop has; 0 where that is open",
    "total_tokens": "the conversation's tokens",
    "total_tokens_used": "all tokens that were sent and received",
    "total_turns": "calls that were turns of a conversation",
    "trip": "the breaker that ends the run, empty while none does",
    "turn": "which turn of the conversation, from 1",
    "usage_percent": "the part of its window that the conversation fills, in percent",
    "verdict": "how the command ended",
    "who": "policy, person, or nobody",
    "why": "the reason in words",
}
"""A field means the same in whatever line it stands."""


def json_schema() -> dict[str, Any]:
    """The schema of a line."""
    kinds = [each for each in vars(events).values() if _is_kind(each)]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of a session log",
        "description": "`.context-foundry/local/logs/<session>.jsonl` has one JSON object a line. "
        "Lines are only added; the last one may be torn, and without a `stats` line at the end "
        "the process was killed. Other versions may add kinds and fields. Secrets are redacted.",
        "oneOf": [_line(kind) for kind in kinds],
    }


def _is_kind(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Event) and value is not Event


def _line(kind: type[Event]) -> dict[str, Any]:
    made = TypeAdapter(kind).json_schema()
    properties: dict[str, Any] = {**HEAD, "event": {**HEAD["event"], "const": kind.kind}}
    for each in fields(kind):
        name = "ms" if each.name == "seconds" else each.name
        given = {key: v for key, v in made["properties"][each.name].items()
                 if key not in ("title", "default")}  # fmt: skip
        about = {"type": "integer"} if name == "ms" else given
        properties[name] = {**about, "description": _sentence(MEANINGS[name])}
    if kind is ToolRan:
        properties["ok"] = {"type": "boolean", "description": _sentence(MEANINGS["ok"])}
    doc = " ".join((kind.__doc__ or "").split())
    return {
        "title": kind.kind,
        "description": doc,
        "type": "object",
        "properties": properties,
        "required": list(properties),
    }


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
