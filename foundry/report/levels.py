"""What a sandbox level means to a person."""

UNCONFINED = {"process"}
_WORDS = {
    "process": "commands are bounded in time and output; files and network are not confined",
}


def confinement(level: str) -> str:
    """The level with what it does."""
    return f"{level}: {_WORDS[level]}" if level in _WORDS else level
