import math
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.errors import ModelRejected, ModelUnavailable
from foundry.model.retry import RetryNotice, RetryPolicy, Transient, parse_retry_after, retrying

NOW = 1_800_000_000.0


class Clock:
    """Time that passes only in waits, and by `cost` in every call."""

    def __init__(self, cost=0.0):
        self.now = 0.0
        self.cost = cost
        self.waits = []

    def __call__(self):
        return self.now

    def wait(self, seconds):
        self.waits.append(seconds)
        self.now += seconds


def failing(clock, *faults):
    """A call that raises each of `faults` in turn, then answers."""
    left = list(faults)

    def call():
        clock.now += clock.cost
        if left:
            raise left.pop(0)
        return "answer"

    return call


def run(call, clock, policy=None, notices=None):
    return retrying(
        call,
        policy or RetryPolicy(jitter=0),
        wait=clock.wait,
        clock=clock,
        chance=lambda: 0.0,
        on_retry=notices.append if notices is not None else None,
    )


def test_waits_double_up_to_the_cap():
    policy = RetryPolicy(attempts=10, cap=20)
    pauses = [policy.pause(n, 0, None, 0.0) for n in range(1, 11)]
    assert pauses == [1, 2, 4, 8, 16, 20, 20, 20, 20, None]


def test_jitter_only_shortens():
    policy = RetryPolicy(jitter=0.25)
    assert policy.pause(3, 0, None, 0.0) == 4
    assert policy.pause(3, 0, None, 1.0) == 3


def test_many_attempts_do_not_overflow():
    assert RetryPolicy(attempts=10**6, total=math.inf).pause(99_999, 0, None, 0.0) == 60


def test_the_server_s_wish_is_kept_to_the_letter_up_to_the_cap():
    policy = RetryPolicy(cap=60)
    assert policy.pause(1, 0, 0.25, 0.9) == 0.25
    assert policy.pause(5, 0, 60, 0.9) == 60
    assert policy.pause(1, 0, 60.5, 0.9) is None


def test_no_wait_that_would_pass_the_total():
    policy = RetryPolicy(total=10)
    assert policy.pause(4, 2, None, 0.0) == 8
    assert policy.pause(4, 2.5, None, 0.0) is None


def test_an_answer_after_faults():
    clock, notices = Clock(), []
    call = failing(clock, Transient("broken"), Transient("busy", retry_after=7))
    assert run(call, clock, notices=notices) == "answer"
    assert clock.waits == [1, 7]
    assert notices == [RetryNotice(1, 6, "broken", 1), RetryNotice(2, 6, "busy", 7)]


def test_exhausted_attempts_pause_the_run():
    clock = Clock()
    with pytest.raises(ModelUnavailable, match=r"busy \(tried 3 times\)") as caught:
        run(failing(clock, *[Transient("busy")] * 9), clock, RetryPolicy(attempts=3, jitter=0))
    assert clock.waits == [1, 2]
    assert caught.value.retry_after is None
    assert "foundry resume" in caught.value.hint


def test_slow_calls_count_towards_the_total():
    clock = Clock(cost=120)
    with pytest.raises(ModelUnavailable, match="tried 5 times"):
        run(failing(clock, *[Transient("stalled")] * 9), clock, RetryPolicy(jitter=0, total=600))
    assert clock.now == 5 * 120 + 1 + 2 + 4 + 8


def test_a_long_wish_is_handed_to_the_run_at_once():
    clock = Clock()
    with pytest.raises(ModelUnavailable, match="asks to wait 7200 s") as caught:
        run(failing(clock, Transient("limit", retry_after=7200)), clock)
    assert caught.value.retry_after == 7200
    assert clock.waits == []


def test_a_server_that_forbids_retries_is_obeyed():
    clock = Clock()
    with pytest.raises(ModelUnavailable, match=r"^limit"):
        run(failing(clock, Transient("limit", again=False, hint="wait")), clock)
    assert clock.waits == []


@pytest.mark.parametrize("error", [ModelRejected("no"), KeyboardInterrupt(), ZeroDivisionError()])
def test_other_exceptions_pass_through(error):
    clock = Clock()
    with pytest.raises(type(error)) as caught:
        run(failing(clock, error), clock)
    assert caught.value is error
    assert clock.waits == []


def test_an_interrupted_wait_ends_the_loop():
    clock = Clock()

    def interrupted(seconds):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        retrying(failing(clock, Transient("busy")), RetryPolicy(), wait=interrupted, clock=clock)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": "7200"}, 7200),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "0"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
        ({"retry-after": formatdate(NOW + 30, usegmt=True)}, 30),
        ({"retry-after": formatdate(NOW - 30, usegmt=True)}, None),
        ({"retry-after": "Fri, 99 Foo 2027 99:99:99 GMT"}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9),
    ],
)
def test_retry_after(headers, seconds):
    assert parse_retry_after(headers, NOW) == seconds


@given(st.text() | st.from_regex(r"\w{3}, \d+ (Jan|Feb|Dec) \d+ \d+:\d+(:\d+)? (GMT|[+-]\d+)"))
def test_any_retry_after_is_harmless(value):
    seconds = parse_retry_after({"retry-after": value}, NOW)
    assert seconds is None or (math.isfinite(seconds) and seconds > 0)
