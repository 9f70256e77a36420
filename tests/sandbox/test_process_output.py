import json

from hypothesis import given
from hypothesis import strategies as st

from foundry.sandbox.process import HeadTail


def kept(chunks: list[bytes], limit: int) -> tuple[str, int]:
    capture = HeadTail(limit)
    for chunk in chunks:
        capture.feed(chunk)
    return capture.finish()


def test_short_output_is_whole():
    assert kept([b"one\n", b"two\n"], 8) == ("one\ntwo\n", 0)


def test_head_and_tail_stay_with_a_marker_between():
    assert kept([b"0123456789" * 10], 10) == ("0123\n[… 90 bytes left out …]\n456789", 90)


def test_marker_has_a_line_of_its_own_only_where_needed():
    assert kept([b"abc\n" + b"x" * 96], 10)[0] == "abc\n[… 90 bytes left out …]\nxxxxxx"


def test_no_character_is_cut_in_half():
    text, dropped = kept(["€".encode() * 100], 10)
    assert text == f"€\n[… {300 - 9} bytes left out …]\n€€"
    assert dropped == 300 - 9


def test_nothing_may_be_kept():
    assert kept([b"abc"], 0) == ("[… 3 bytes left out …]\n", 3)


def test_what_is_not_utf8_is_still_json():
    text, _ = kept([b"\xff\xed\xa0\x80 ok"], 100)
    assert text.endswith(" ok")
    assert json.loads(json.dumps(text).encode("utf-8")) == text
    text.encode("utf-8")


@given(st.lists(st.binary(max_size=300)), st.integers(0, 100))
def test_kept_and_dropped_add_up(chunks: list[bytes], limit: int):
    whole = b"".join(chunks)
    text, dropped = kept(chunks, limit)
    if len(whole) <= limit:
        assert (text, dropped) == (whole.decode("utf-8", "replace"), 0)
        return
    assert len(whole) - limit <= dropped <= len(whole) - limit + 6
    assert f"[… {dropped} bytes left out …]\n" in text


@given(st.lists(st.binary(max_size=300)), st.integers(0, 100))
def test_memory_is_bounded(chunks: list[bytes], limit: int):
    capture = HeadTail(limit)
    for chunk in chunks:
        capture.feed(chunk)
        assert len(capture._head) + len(capture._tail) <= 2 * limit
