"""The beginning and the end of a text that is too long to be shown."""

LINES = 24
CHARACTERS = 1_200
LONGEST_LINE = 200


def excerpt(text: str) -> str:
    """The text, or where it is longer its first and last lines and how many were left out.

    The end gets two thirds of the room: that is where commands say how it went.
    """
    lines = text.rstrip("\n").split("\n")
    if len(lines) <= LINES and len(text) <= CHARACTERS:
        return text.rstrip("\n")
    head = _fitting(lines[: LINES // 3], CHARACTERS // 3)
    tail = _fitting(lines[len(head) :][::-1][: LINES - LINES // 3], CHARACTERS * 2 // 3)[::-1]
    left_out = len(lines) - len(head) - len(tail)
    middle = [f"[… {left_out:,} lines left out …]"] if left_out else []
    return "\n".join((*head, *middle, *tail))


def _fitting(lines: list[str], room: int) -> list[str]:
    found = []
    for line in lines:
        cut = line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"
        room -= len(cut) + 1
        if room < 0:
            break
        found.append(cut)
    return found
