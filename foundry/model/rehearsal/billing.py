"""Bills tokens as the API does, prefix cache included, from the lengths of what was sent.

A token is four characters of canonical JSON, over tools, then system, then messages. A prefix
that ends in a cache breakpoint is remembered; a later request reads the longest remembered
prefix that ends at one of its breakpoints or in the blocks just before it. Another way to think
loses the cached messages, but not tools and system. Not modelled: the cache's time to live
(nothing is ever forgotten), and that a change of tool_choice drops cached messages.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from foundry.model.rehearsal.rules import blocks_of, canonical
from foundry.schema.messages import Usage

CHARACTERS_PER_TOKEN = 4
MIN_CACHED_TOKENS = 1024
LOOKBACK_BLOCKS = 20


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request as billing sees it: per block the prefix that ends there, and the breakpoints."""

    prefixes: tuple[tuple[int, int], ...]
    """(hash, tokens) of everything up to and with the block."""
    breakpoints: tuple[int, ...]
    """Indexes into `prefixes`."""

    @property
    def tokens(self) -> int:
        """All that was sent."""
        return self.prefixes[-1][1]


def measure(request: Mapping[str, Any]) -> Prompt:
    """One pass over the request; each block is serialised once."""
    # Python's own hash is enough: it is salted per process, and so is the life of this cache.
    prefix, characters = hash(request.get("model")), 0
    prefixes: list[tuple[int, int]] = []
    breakpoints: list[int] = []
    thinking = canonical(request.get("thinking"))
    for owner, block in _blocks(request):
        if owner not in ("tool", "system"):
            owner = f"{owner}{thinking}"  # noqa: PLW2901
        text = owner + canonical(_without_breakpoint(block))
        prefix = hash((prefix, text))
        characters += len(text)
        if block.get("cache_control"):
            breakpoints.append(len(prefixes))
        prefixes.append((prefix, characters // CHARACTERS_PER_TOKEN))
    last = len(prefixes) - 1
    if request.get("cache_control") and last not in breakpoints:
        breakpoints.append(last)
    return Prompt(tuple(prefixes), tuple(breakpoints))


def count_output(content: list[dict[str, Any]]) -> int:
    """Tokens of a reply's blocks; an empty reply still costs one."""
    return max(1, sum(len(canonical(block)) for block in content) // CHARACTERS_PER_TOKEN)


class Ledger:
    """The cached prefixes of one server, and the sum of all that it billed."""

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._lock = Lock()
        self.total = Usage()

    def charge(self, prompt: Prompt, output_tokens: int) -> Usage:
        """Bill one reply and remember the prefixes that it caches."""
        ends = [prompt.prefixes[index] for index in prompt.breakpoints]
        ends = [(prefix, tokens) for prefix, tokens in ends if tokens >= MIN_CACHED_TOKENS]
        cached = max((tokens for _, tokens in ends), default=0)
        with self._lock:
            read = max(
                (tokens for prefix, tokens in _candidates(prompt) if prefix in self._known),
                default=0,
            )
            self._known.update(prefix for prefix, _ in ends)
            usage = Usage(
                input_tokens=prompt.tokens - cached,
                cache_read_tokens=read,
                cache_write_tokens=cached - read,
                output_tokens=output_tokens,
            )
            self.total += usage
        return usage


def _candidates(prompt: Prompt) -> Iterator[tuple[int, int]]:
    for index in prompt.breakpoints:
        yield from prompt.prefixes[max(0, index + 1 - LOOKBACK_BLOCKS) : index + 1]


def _blocks(request: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for tool in request.get("tools") or ():
        yield "tool", tool
    for block in blocks_of(request.get("system") or []):
        yield "system", block
    for message in request["messages"]:
        for block in blocks_of(message["content"]):
            yield message["role"], block


def _without_breakpoint(block: Mapping[str, Any]) -> Mapping[str, Any]:
    if "cache_control" not in block:
        return block
    return {key: value for key, value in block.items() if key != "cache_control"}
