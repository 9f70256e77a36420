"""Compaction: whatever the thread and the target, a request the API takes, with nothing lost
that somebody may look for."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foundry.conversation.compaction.key_facts import heading, paths
from foundry.conversation.compaction.masking import (
    KEEP_RECENT,
    MASKED,
    REPEATED,
    SUPERSEDED,
    drop_outdated,
    mask,
    protected,
)
from foundry.conversation.compaction.pipeline import Goal, compact, held, size
from foundry.conversation.compaction.tool_calls import blocks_of, exchanges, words_of
from foundry.schema.messages import Block, Message, text_block
from tests.support.transcripts import answered_now, check_thread, transcripts

shares = st.floats(0, 1.2)
keeps = st.one_of(st.none(), st.integers(1, 12))


def goal_of(messages: Sequence[Message], share: float, keep: int | None = None) -> Goal:
    return Goal(int(held(messages) * share), keep_recent=keep)


def text_in(messages: Sequence[Message]) -> str:
    return "\n".join(words_of(block) for message in messages for block in blocks_of(message))


def user_blocks(messages: Sequence[Message]) -> list[str]:
    return [
        block["text"]
        for message in messages
        if message["role"] == "user"
        for block in blocks_of(message)
        if block["type"] == "text"
    ]


@settings(max_examples=150, deadline=None)
@given(transcripts(), shares, keeps)
def test_any_transcript_at_any_target(messages, share, keep):
    before = deepcopy(messages)
    done = compact(messages, goal_of(messages, share, keep))
    assert messages == before
    assert done.after == size(done.messages) <= done.before
    is_a_valid_request(done.messages, messages)
    stays_findable(text_in(done.messages), messages)
    assert user_blocks(messages)[0] == user_blocks(done.messages)[0]
    assert set(user_blocks(messages)) <= set(user_blocks(done.messages))
    if keep is None:
        assert held(done.messages) == held(messages)
    else:
        newest = min(keep, len(messages) - 1)
        kept = list(done.messages)[len(done.messages) - newest :]
        assert kept == messages[len(messages) - newest :]
    again = compact(done.messages, goal_of(done.messages, share, keep))
    assert (again.messages, again.stages) == (done.messages, ())


def is_a_valid_request(now: Sequence[Message], messages: Sequence[Message]) -> None:
    check_thread(now)
    assert answered_now(now) == answered_now(messages)
    replies = [message for message in messages if message["role"] == "assistant"]
    assert all(message in replies for message in now if message["role"] == "assistant")


def stays_findable(after: str, messages: Sequence[Message]) -> None:
    assert all(path in after for path in paths(text_in(messages)))
    for exchange in exchanges(messages):
        if exchange.is_error and len(exchange.text) < 2_000 and "</ledger" not in exchange.text:
            assert all(line.strip() in after for line in exchange.text.split("\n"))
        if "ValueError: invalid literal" in exchange.text:
            assert "ValueError: invalid literal for int(): 'x'" in after


@settings(max_examples=50, deadline=None)
@given(transcripts(), st.lists(transcripts(), max_size=3), st.floats(0, 0.6))
def test_key_facts_are_carried_on_from_compaction_to_compaction(messages, later, share):
    thread: list[Message] = list(compact(messages, goal_of(messages, share)).messages)
    said = [messages]
    for number, more in enumerate(later):
        said.append(renamed(more, f"again{number}"))
        thread += [{"role": "assistant", "content": [text_block("Next.")]}, *said[-1]]
        thread = list(compact(thread, goal_of(thread, share)).messages)
        check_thread(thread)
    after = text_in(thread)
    for each in said:
        assert all(path in after for path in paths(text_in(each)))
        assert set(user_blocks(each)) <= set(user_blocks(thread))


def renamed(messages: list[Message], name: str) -> list[Message]:
    """The same thread with other ids of calls, so that it can follow another one."""
    copy = deepcopy(messages)
    for message in copy:
        for block in blocks_of(message):
            for key in ("id", "tool_use_id"):
                if key in block:
                    block[key] = name + block[key]  # type: ignore[index]
    return copy


# -- the stages one by one ---------------------------------------------------------------------


def call(number: int, name: str, arguments: dict[str, Any], output: str, **more: Any) -> Any:
    """A call and its result as two messages."""
    use = {"type": "tool_use", "id": f"t{number}", "name": name, "input": arguments}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": output, **more}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]


def thread(*exchanges: Any) -> list[Message]:
    begin: list[Any] = [{"role": "user", "content": [text_block("Mend src/app.py.")]}]
    return begin + [message for pair in exchanges for message in pair]


def contents(messages: Sequence[Message]) -> list[Any]:
    return [
        block["content"]
        for message in messages
        for block in blocks_of(message)
        if block["type"] == "tool_result"
    ]


def stage_names(messages: Sequence[Message], goal: Goal) -> list[str]:
    return [stage.name for stage in compact(messages, goal).stages]


def looks(count: int, length: int = 5_000) -> list[Message]:
    return thread(*(call(n, "look", {"at": n}, f"{n}" * length) for n in range(count)))


def test_nothing_changes_below_the_target():
    messages = looks(20)
    done = compact(messages, Goal(size(messages)))
    assert done.messages == tuple(messages)
    assert done.stages == ()


def test_masking_takes_the_oldest_first_and_only_as_many_as_needed():
    messages = looks(20)
    done = compact(messages, Goal(size(messages) - 12_000))
    assert [(stage.name, stage.count) for stage in done.stages] == [("mask", 3)]
    told = contents(done.messages)
    assert [text.startswith(f"[{MASKED}") for text in told] == [True] * 3 + [False] * 17
    assert "5,000 characters" in told[0]


def test_a_masked_result_says_by_which_turn_it_can_be_recalled():
    messages = looks(20)
    done = compact(messages, Goal(size(messages) - 10_000))
    told = contents(done.messages)
    assert [f"characters of turn {n}. Run" in told[n - 1] for n in (1, 2, 3)] == [True] * 3
    short = compact(messages, Goal(2_000)).messages
    more = [*short, *renamed(looks(20)[1:], "again")]
    assert MASKED in str(compact(more, Goal(40_000)).messages)
    assert "of turn" not in str(compact(more, Goal(40_000)).messages)  # they can't be counted


def test_masking_comes_in_batches_where_that_is_asked_for():
    messages = looks(20)
    done = compact(messages, Goal(size(messages) - 100, batch=20_000))
    assert [stage.count for stage in done.stages] == [5]


def test_the_newest_results_are_never_masked():
    messages = looks(20, 400)
    done = compact(messages, Goal(int(size(messages) * 0.6)))
    told = contents(done.messages)
    assert [stage.name for stage in done.stages] == ["mask"]
    assert all(not text.startswith("[") for text in told[-KEEP_RECENT:])


@pytest.mark.parametrize(("room", "kept"), [(10_000, KEEP_RECENT), (1_700, 2), (0, 1)])
def test_as_many_of_the_newest_are_protected_as_there_is_room_for(room, kept):
    messages = looks(20, 400)
    places = protected(messages, room)
    assert sorted(number for number, _ in places) == list(range(42 - 2 * kept, 42, 2))
    assert mask(messages, save=10**6, protected=places).results == 20 - kept


def test_short_results_and_errors_stay():
    messages = thread(
        call(0, "look", {}, "x" * 199),
        call(1, "look", {}, "x" * 5_000, is_error=True),
        call(2, "look", {"at": 2}, "y" * 5_000),
        *(call(n, "look", {"at": n}, f"{n}" * 300) for n in range(3, 9)),
    )
    done = compact(messages, Goal(size(messages) - 3_000))
    told = contents(done.messages)
    assert told[:2] == contents(messages)[:2]
    assert told[2].startswith(f"[{MASKED}")


def test_a_masked_result_keeps_its_errors_and_the_paths_that_nothing_else_names():
    output = "src/app.py:1: fine\nsrc/other.py:9: fine\nValueError: no such thing\n" + "x" * 5_000
    messages = thread(call(0, "run_command", {"command": "pytest"}, output),
                      *(call(n, "look", {"at": n}, "y" * 300) for n in range(1, 9)))  # fmt: skip
    [text, *_] = contents(compact(messages, Goal(size(messages) - 3_000)).messages)
    said = ["It named: src/other.py", "It said:", "ValueError: no such thing"]
    assert text.split("\n")[1:] == said


def test_what_is_out_of_date_goes_even_from_among_the_newest_results():
    messages = thread(
        call(0, "read_file", {"path": "src/app.py"}, "old\n" * 100),
        *(call(n, "look", {"at": n}, f"{n}" * 400) for n in range(1, 4)),
        call(4, "read_file", {"path": "src/app.py"}, "new\n" * 100),
    )
    messages[1]["content"].insert(0, text_block("Well. " * 1_000))  # so that all five fit in half
    done = compact(messages, Goal(size(messages) - 200))
    assert [(stage.name, stage.count) for stage in done.stages] == [("outdated", 1)]
    assert contents(done.messages)[1:] == contents(messages)[1:]
    assert contents(done.messages)[0].startswith(f"[{SUPERSEDED}")


def test_what_one_result_names_makes_another_worth_taking():
    """The listing alone is nothing but paths; once the other one names them, it is nothing."""
    names = " ".join(f"src/part{number}.py" for number in range(60))
    messages = thread(
        call(0, "look", {}, names),
        call(1, "look", {"at": 1}, names + " x" * 5_000),
        *(call(n, "look", {"at": n}, "y" * 300) for n in range(2, 9)),
    )
    goal = Goal(1_000, keep_recent=12)
    done = compact(messages, goal)
    assert contents(done.messages)[0].startswith(f"[{MASKED}")
    assert compact(done.messages, goal).messages == done.messages


@pytest.mark.parametrize(
    ("later", "why"),
    [
        (call(9, "read_file", {"path": "src/app.py"}, "new\n" * 300), SUPERSEDED),
        (call(9, "read_file", {"path": "src/app.py", "offset": 5}, "new\n" * 300), SUPERSEDED),
        (call(9, "write_file", {"path": "src/app.py", "content": "x"}, "Replaced."), SUPERSEDED),
        (call(9, "look", {}, "old\n" * 300), REPEATED),
        (call(9, "edit_file", {"path": "src/app.py", "old": "a", "new": "b"}, "Edited."), None),
        (call(9, "read_file", {"path": "src/app.py", "offset": 6}, "new\n" * 300), None),
        (call(9, "read_file", {"path": "src/app.py"}, "there is none", is_error=True), None),
    ],
)
def test_what_makes_a_read_out_of_date(later, why):
    """The read is among the newest results, which masking leaves alone."""
    read = call(0, "read_file", {"path": "src/app.py", "offset": 5}, "old\n" * 300)
    messages = thread(read, later)
    [text, *_] = contents(drop(messages))
    assert text.startswith(f"[{why}") if why else text == "old\n" * 300


def drop(messages: list[Message]) -> Sequence[Message]:
    return drop_outdated(messages, save=1, protected=()).messages


def test_a_summary_keeps_the_goal_the_words_and_as_many_of_the_newest_as_fit():
    messages = thread(*(call(n, "look", {"at": n}, "z" * 190) for n in range(60)))
    messages[20] = {"role": "user", "content": [*messages[20]["content"], text_block("Use tabs!")]}
    done = compact(messages, Goal(size(messages) // 2))
    assert [stage.name for stage in done.stages] == ["summary"]
    first = [block["text"] for block in done.messages[0]["content"]]
    assert (first[0], first[2]) == ("Mend src/app.py.", "Use tabs!")
    assert len(done.messages) > 20
    assert list(done.messages[1:]) == messages[-len(done.messages) + 1 :]
    assert done.after <= size(messages) // 2


def test_a_summary_that_saves_little_is_not_made():
    messages = thread(call(0, "look", {}, "x" * 150), call(1, "look", {}, "x" * 5_000))
    assert stage_names(messages, Goal(0)) == []


def test_a_cache_breakpoint_of_the_opening_stays():
    messages = thread(*(call(n, "look", {"at": n}, "z" * 190) for n in range(60)))
    opening = [text_block("Project.", cache=True), text_block("Do.")]
    messages[0] = {"role": "user", "content": opening}
    done = compact(messages, Goal(4_000))
    assert done.messages[0]["content"][:2] == messages[0]["content"]


def test_results_with_images_are_masked_whole():
    image: Block = {"type": "image", "source": {"type": "base64", "data": "A" * 9_000}}
    messages = thread(*(call(n, "look", {}, "y" * 300) for n in range(9)))
    result = {**messages[2]["content"][0], "content": [text_block("seen: src/app.py"), image]}
    messages[2] = {"role": "user", "content": [result]}
    done = compact(messages, Goal(size(messages) - 4_000))
    assert contents(done.messages)[0].startswith(f"[{MASKED}")


def test_what_earlier_key_facts_say_is_in_the_next_ones():
    quiet = "z" * 190
    first = thread(
        call(0, "run_command", {"command": "make"}, "ValueError: no\nexit code 2"),
        call(1, "edit_file", {"path": "src/app.py", "old": "a", "new": "b"}, "Edited."),
        *(call(n, "look", {"at": n}, quiet) for n in range(2, 40)),
    )
    first[1]["content"].insert(0, text_block("I'll use sqlite because it is there."))
    once = compact(first, Goal(3_000))
    later = [m for n in range(40, 90) for m in call(n, "look", {"at": n}, quiet)]
    twice = compact([*once.messages, *later], Goal(3_000))
    [told] = [b["text"] for b in twice.messages[0]["content"] if "<ledger" in b["text"]]
    assert told.count("<ledger ") == told.count("</ledger>") == 1
    for fact in ("- I'll use sqlite because it is there.", "- src/app.py: edited",
                 "- `make` → exit code 2", "- ValueError: no"):  # fmt: skip
        assert fact in told.split("\n")
    assert heading(told).messages == len(first) + len(later) - len(twice.messages)
