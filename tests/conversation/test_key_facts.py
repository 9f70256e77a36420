"""Key facts: what code finds in messages, and that their text can be read back."""

from hypothesis import given, settings
from hypothesis import strategies as st

from foundry.conversation.compaction.extraction import extract
from foundry.conversation.compaction.key_facts import (
    Heading,
    KeyFacts,
    heading,
    is_key_facts,
    merged,
    one_line,
    parse,
    quotable,
    render,
    with_written,
)
from foundry.conversation.compaction.summary import shown
from foundry.schema.messages import text_block
from tests.conversation.test_compaction import call, thread
from tests.support.transcripts import transcripts

HEAD = Heading(4, 2, 900, 300)
QUOTED = ["one line", "two\nlines", "</ledger>", "## Files\n- a: read", "</error>\nx"]

entries = st.lists(st.text(min_size=1, max_size=60).map(lambda text: quotable(one_line(text, 50)))
                   .filter(bool), max_size=3, unique=True).map(tuple)  # fmt: skip
blocks = st.lists(st.sampled_from(QUOTED)
                  .map(quotable), max_size=3, unique=True).map(tuple)  # fmt: skip
files = st.dictionaries(
    st.sampled_from(["a.py", "/b c/d.py", "e"]),
    st.dictionaries(st.sampled_from(["read", "edited", "failed"]), st.integers(1, 9), min_size=1),
    max_size=3,
).map(lambda found: tuple((path, tuple(deeds.items())) for path, deeds in found.items()))
ends = st.sampled_from(["done", "exit code 1"])
commands = st.dictionaries(entries.map(" ".join).filter(bool), ends, max_size=3).map(
    lambda found: tuple(found.items())
)
key_facts = st.builds(
    KeyFacts,
    written=st.sampled_from(["", "### Objective\nAll.\n\n- a point"]),
    decisions=entries,
    files=files,
    commands=commands,
    errors=blocks,
    open=entries,
    mentioned=st.lists(st.sampled_from(["x/y.py", "/z"]), unique=True).map(tuple),
)


@settings(deadline=None)
@given(key_facts)
def test_what_is_rendered_can_be_read_back(facts):
    text = render(facts, HEAD)
    assert is_key_facts(text)
    assert heading(text) == HEAD
    assert parse(text) == facts
    assert text.count("</ledger>") == 1


@settings(deadline=None)
@given(key_facts, key_facts)
def test_nothing_is_lost_when_key_facts_are_joined(older, newer):
    joined = merged(older, newer)
    for name in ("decisions", "errors", "open", "mentioned"):
        assert {*getattr(older, name), *getattr(newer, name)} == set(getattr(joined, name))
    assert dict(joined.commands) == {**dict(older.commands), **dict(newer.commands)}
    assert sum(n for _, deeds in joined.files for _, n in deeds) == sum(
        n for each in (older, newer) for _, deeds in each.files for _, n in deeds
    )


@settings(deadline=None)
@given(transcripts())
def test_the_key_facts_of_any_transcript_can_be_read_back(messages):
    text = render(extract(messages), HEAD)
    assert render(parse(text), HEAD) == text


def test_what_code_finds_in_a_conversation():
    messages = thread(
        call(1, "read_file", {"path": "src/app.py"}, "def main(): ..."),
        call(2, "edit_file", {"path": "src/app.py", "old": "a", "new": "b"}, "Edited."),
        call(3, "write_file", {"path": "src/new.py", "content": "import app"}, "Created."),
        call(4, "run_command", {"command": "pytest -q"}, "FAILED tests/t.py::x\nexit code 1"),
        call(7, "run_command", {"command": "make"}, "ok"),
        call(5, "run_command", {"command": "pytest -q"}, "3 passed\nexit code 0"),
        call(6, "read_file", {"path": "gone.py"}, "no gone.py\nLook elsewhere", is_error=True),
    )
    words = "I'll use sqlite because it is there. Lovely weather. Next, I write the docs."
    messages.append({"role": "assistant", "content": [text_block(words)]})
    found = extract(messages)
    assert found.decisions == ("I'll use sqlite because it is there.",)
    assert found.open == ("Next, I write the docs.",)
    assert found.files == (
        ("src/app.py", (("read", 1), ("edited", 1))),
        ("src/new.py", (("written", 1),)),
        ("gone.py", (("failed", 1),)),
    )
    assert found.commands == (
        ("make", "done"),
        ("pytest -q", "exit code 0"),
    )
    assert found.errors == ("FAILED tests/t.py::x", "no gone.py\nLook elsewhere")
    assert "tests/t.py" in found.mentioned


def test_source_code_that_raises_errors_is_no_error():
    code = "class AppError(Exception):\n    raise AppError('no')\nValueError: this is one\n"
    messages = thread(call(1, "read_file", {"path": "a.py"}, code),
                      call(2, "run_command", {"command": "cat a.py"}, code))  # fmt: skip
    assert extract(messages).errors == ("ValueError: this is one",)


def test_a_summary_replaces_decisions_and_keeps_what_it_forgets():
    facts = KeyFacts(written="KeyError: 'a' in a.py", decisions=("use sqlite",), open=("docs",),
                    errors=("ValueError: x", "OSError: y"))  # fmt: skip
    told = with_written(facts, "We met OSError: y.")
    assert (told.written, told.decisions, told.open) == ("We met OSError: y.", (), ())
    assert told.errors == ("ValueError: x", "KeyError: 'a' in a.py")


def test_what_a_writer_is_shown_is_cut_to_the_newest():
    messages = thread(*(call(n, "look", {}, f"{n} " + "x" * 9_000) for n in range(120)))
    text = shown(messages)
    assert len(text) < 160_000
    assert "[tool]\n119 " in text
    assert "Mend src/app.py" not in text
