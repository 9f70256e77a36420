"""Output kept within bounds: its head, its tail, and the count of what lay between."""

import codecs


class HeadTail:
    """Keeps at most `limit` bytes of a stream (40 % head, 60 % tail), however long it is."""

    def __init__(self, limit: int) -> None:
        self._head_room = max(limit, 0) * 2 // 5
        self._tail_room = max(limit, 0) - self._head_room
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        self._total += len(data)
        room = self._head_room - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._tail_room:
            del self._tail[: len(self._tail) - self._tail_room]

    def finish(self) -> tuple[str, int]:
        """The text, with a marker line where bytes were left out, and how many those were.

        What isn't UTF-8 becomes U+FFFD, so the text is always valid JSON. No character is cut
        in half at the marker.
        """
        tail = bytes(self._tail[max(len(self._tail) - self._tail_room, 0) :])
        if len(self._head) + len(tail) == self._total:
            return (self._head + tail).decode("utf-8", "replace"), 0
        head, tail = _whole_end(bytes(self._head)), _whole_start(tail)
        dropped = self._total - len(head) - len(tail)
        start = head.decode("utf-8", "replace")
        separator = "" if start.endswith("\n") or not start else "\n"
        marker = f"{separator}[… {dropped} bytes left out …]\n"
        return start + marker + tail.decode("utf-8", "replace"), dropped


def _whole_end(raw: bytes) -> bytes:
    """Without the start of a character whose rest is missing."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(raw)
    pending = decoder.getstate()[0]
    return raw[: len(raw) - len(pending)]


def _whole_start(raw: bytes) -> bytes:
    """Without the end of a character whose start is missing (at most three bytes)."""
    start = 0
    while start < min(3, len(raw)) and raw[start] & 0xC0 == 0x80:
        start += 1
    return raw[start:]
