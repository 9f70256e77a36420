"""What several tests of the memory share."""

from pathlib import Path

from tests.support.moments import call, moment

RICH = moment(
    3,
    "I read the parser: it drops the last token.",
    task="Mend parseHTTPRequest in src/http/parser.py.",
    state={"iteration": 2, "passed": False, "ratio": 0.5, "names": ["ä", "日本"], "none": None},
    decisions=("Keep the tokenizer.", "Mend the loop's bound, because it is off by one."),
    files=("src/http/parser.py", "tests/test_parser.py"),
    calls=(
        call(path="src/http/parser.py", result="for token in tokens[:-1]:\n" * 30),
        call("run_command", "E  AssertionError: 3 != 4\nexit code 1", True, command="pytest -q"),
    ),
    run="run-7",
)


def everything_in(path: Path) -> bytes:
    """The bytes of the database and of what SQLite has beside it."""
    return b"".join(each.read_bytes() for each in path.parent.glob(f"{path.name}*"))
