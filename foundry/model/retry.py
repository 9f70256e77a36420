"""When to try again: the policy is a value, the decision a pure function, the loop one screen."""

import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from email.utils import mktime_tz, parsedate_tz
from typing import TypeVar

from foundry.errors import ModelUnavailable
from foundry.schema.messages import Usage

T = TypeVar("T")


class Transient(Exception):
    """A fault that may pass. `again` is False where the server itself said not to retry.

    `usage` is what the server had counted of a reply that was cut: it is billed all the same.
    """

    def __init__(
        self,
        reason: str,
        *,
        hint: str = "",
        retry_after: float | None = None,
        again: bool = True,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint
        self.retry_after = retry_after
        self.again = again
        self.usage = usage or Usage()


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long to try. Seconds; `total` counts from the first attempt's start."""

    attempts: int = 6
    base: float = 1.0
    factor: float = 2.0
    cap: float = 60.0
    total: float = 600.0
    jitter: float = 0.25
    obeys: float | None = None
    """The longest wish of a server that is granted; without one it is `cap`."""

    def pause(
        self, attempt: int, elapsed: float, retry_after: float | None, chance: float
    ) -> float | None:
        """The wait after failed `attempt` (the first is 1), or None to give up.

        The server's own wish is kept to the letter; when it is longer than one wait may be,
        waiting is not our business but the run's. `chance` in [0, 1) shortens our own waits,
        so that tasks that run side by side don't come back together.
        """
        longest = self.cap if self.obeys is None else self.obeys
        if attempt >= self.attempts or (retry_after is not None and retry_after > longest):
            return None
        steps = min(attempt - 1, 64)  # later steps are over any cap, and floats end at 2**1024
        backoff = min(self.cap, self.base * self.factor**steps) * (1 - self.jitter * chance)
        pause = backoff if retry_after is None else retry_after
        return pause if elapsed + pause <= self.total else None


def patient(policy: RetryPolicy, seconds: float) -> RetryPolicy:
    """The policy of who has time: it waits as long as a server asks for, up to so long in all.

    Where a server says nothing it tries twenty times as often: about two hours by default. Who
    waits longer for a server that does not answer waits for a wrong address.
    """
    return replace(policy, attempts=policy.attempts * 20, total=seconds, obeys=seconds)


@dataclass(frozen=True, slots=True)
class RetryNotice:
    """Attempt number `attempt` of `attempts` failed; the next one starts in `wait` seconds.

    Text that was heard from the failed attempt is void: the next one starts over.
    """

    attempt: int
    attempts: int
    reason: str
    wait: float


def retrying(
    call: Callable[[], T],
    policy: RetryPolicy,
    *,
    wait: Callable[[float], object] = time.sleep,
    on_retry: Callable[[RetryNotice], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
    chance: Callable[[], float] = random.random,
) -> T:
    """Return what `call` returns; it is called again after Transient, within the policy.

    Raises ModelUnavailable when the policy is exhausted. Any other exception passes through.
    """
    started = clock()
    attempt = 0
    while True:
        attempt += 1
        try:
            return call()
        except Transient as fault:
            pause = policy.pause(attempt, clock() - started, fault.retry_after, chance())
            if pause is None or not fault.again:
                raise _give_up(fault, attempt) from fault
            notice = RetryNotice(attempt, policy.attempts, fault.reason, pause)
        if on_retry is not None:
            on_retry(notice)
        wait(pause)


def _give_up(fault: Transient, attempt: int) -> ModelUnavailable:
    tries = f" (tried {attempt} times)" if attempt > 1 else ""
    asked = f"; the server asks to wait {fault.retry_after:.0f} s" if fault.retry_after else ""
    return ModelUnavailable(
        f"{fault.reason}{tries}{asked}",
        hint=fault.hint or "Run `foundry resume` later",
        retry_after=fault.retry_after,
    )


def parse_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """The wait in seconds that a reply's headers ask for, or None.

    Takes `retry-after-ms`, and `retry-after` in seconds or as a date (`now` is Unix time).
    What makes no sense (words, a past date, nothing or less, not a number) counts as absent.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _number(value)
    return _until(value, now) if seconds is None else seconds


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number > 0 else None


def _until(text: str, now: float) -> float | None:
    try:
        date = parsedate_tz(text)
        seconds = mktime_tz(date) - now if date else 0
    except (ValueError, OverflowError):
        return None
    return seconds if seconds > 0 else None
