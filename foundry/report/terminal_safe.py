"""Text that others wrote, made harmless for a terminal.

File names, a model's words and the output of commands may hold escape sequences, line breaks or
characters that reorder a line. They are shown as what they are, never carried out.
"""

_JOINERS = "\u200c\u200d"  # these stand inside ordinary words and emoji
_ASCII = str.maketrans({
    "✓": "+", "✗": "x", "●": "*", "🔄": ">>", "…": ".", "·": "-", "→": ">", "“": '"', "”": '"',
    "💭": "..", "🔍": "??", "📖": "<<", "✏": "~", "\ufe0f": "", "📝": "~~", "▶": "$", "⏺": "*",
    "█": "#", "░": ".", "↑": "^",
})  # fmt: skip


def safe(text: str) -> str:
    """One line: white space becomes spaces, control characters become visible escapes."""
    return text if text.isprintable() else "".join(map(_visible, " ".join(text.split())))


def safe_block(text: str) -> str:
    """Many lines: like `safe`, with line breaks kept and tabs as spaces."""
    return "\n".join(
        "".join(map(_visible, line.rstrip("\r").expandtabs(4))) for line in text.split("\n")
    )


def encodable(text: str, encoding: str) -> str:
    """The text as a stream with this encoding can write it: marks as ASCII, the rest as `?`."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_ASCII).encode(encoding, errors="replace").decode(encoding)
    return text


def _visible(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    if character.isspace() and ord(character) > 0x9F:
        return " "
    code = ord(character)
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}"
        if code < 0x10000
        else f"\\U{code:08x}"
    )
