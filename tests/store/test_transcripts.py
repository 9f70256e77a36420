"""Transcripts as they lie on disk: both shapes, torn lines, and what is none."""

import json
import os

import pytest

from foundry.errors import InputError
from foundry.files import append_line
from foundry.store.transcripts import find, read_transcript

MESSAGES = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": []}]


def test_every_shape_of_a_transcript(tmp_path):
    path = tmp_path / "t.json"
    for document in (MESSAGES, {"messages": MESSAGES, "system": "S", "tools": [{"name": "t"}]}):
        path.write_text(json.dumps(document, indent=1))
        assert list(read_transcript(path).messages) == MESSAGES
    given = read_transcript(path)
    assert (given.system, given.tools) == ("S", ({"name": "t"},))
    path.write_text("\n".join(json.dumps(each) for each in MESSAGES) + "\n")
    assert list(read_transcript(path).messages) == MESSAGES
    path.write_text(json.dumps(MESSAGES[0]))
    assert list(read_transcript(path).messages) == MESSAGES[:1]


def test_a_torn_last_line_is_passed_over(tmp_path):
    path = tmp_path / "c.jsonl"
    for each in MESSAGES:
        append_line(path, json.dumps(each))
    append_line(path, json.dumps({"role": "user", "content": "字"}, ensure_ascii=False))
    whole = path.read_bytes()
    for end in range(len(json.dumps(MESSAGES[0])) + 1, len(whole) - 3):
        path.write_bytes(whole[:end])
        assert list(read_transcript(path).messages) in (MESSAGES[:1], MESSAGES)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is no JSON"),
        ("nonsense", "it is no JSON"),
        ("7", "no list of messages"),
        ("{}", "no list of messages"),
        ("[]", "no messages"),
        ("[7]", "message 1 is no object"),
        ('[{"role": "tool", "content": ""}]', "message 1 has the role 'tool'"),
        ('[{"role": "user"}]', "message 1 has neither text nor blocks"),
        ('[{"role": "user", "content": [7]}]', "message 1, block 1 is no block"),
        ('[{"role": "user", "content": [{"type": "text"}]}]', "(text) has no text"),
        ('[{"role": "user", "content": [{"type": "tool_result"}]}]', "no tool_use_id"),
        ('[{"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]}]', "has no name"),
        ('{"messages": [{"role": "user", "content": ""}], "tools": 5}', "`tools` is no list"),
        ('{"messages": [{"role": "user", "content": ""}], "system": 5}', "system has neither"),
        ('{"role": "user", "content": ""}\nnonsense\n{"role": "user", "content": ""}', "no JSON"),
        ("[" * 100_000, "no transcript"),
    ],
)
def test_what_is_no_transcript_is_told_apart(tmp_path, text, reason):
    path = tmp_path / "t.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_transcript(path)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_pipes_and_missing_files_are_told_apart(tmp_path):
    (tmp_path / "b").write_bytes(b"\xff\xfe\x00")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    reasons = {"b": "not UTF-8", "missing": "No such file", ".": "no file", "link": "no file"}
    for name, reason in {**reasons, "pipe": "no file"}.items():
        with pytest.raises(InputError, match=reason):
            read_transcript(tmp_path / name)


def test_a_conversation_is_found_by_any_part_of_its_id(tmp_path):
    for name in ("r1-0002-scout", "r1-0003-builder-1", "r1-0003-builder-1-again-1"):
        (tmp_path / f"{name}.jsonl").write_text("")
    assert find(tmp_path, "scout").stem == "r1-0002-scout"
    assert find(tmp_path, "r1-0003-builder-1").stem == "r1-0003-builder-1"
    with pytest.raises(InputError, match="several conversations match 'builder'"):
        find(tmp_path, "builder")
    with pytest.raises(InputError, match="there is no conversation 'nope'"):
        find(tmp_path, "nope")
