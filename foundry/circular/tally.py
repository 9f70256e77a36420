"""Test functions, assertions and skips in lines of code, by what they look like. Pure.

For the languages that most projects are written in. A line that is commented out counts for
nothing, and neither does an assertion that can't fail.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

_TEST_FILE = re.compile(
    r"(^|/)(tests?|specs?|__tests__|testing|e2e)/|(^|/)(test_|conftest)[^/]*$|"
    r"[_.-](tests?|spec)\.\w+$|Tests?\.\w+$",
)
_COMMENT = re.compile(r"^\s*(#(?!\[)|//|/?\*|--)")
_FUNCTION = re.compile(
    r"^\s*(async )?def test\w*|\b(it|test)(\.(each|only|concurrent)\b.*)?\s*\(\s*[\"'`]|"
    r"^\s*func (Test|Fuzz)\w*\(|^\s*#\[(\w+::)?test\]|^\s*@(Parameterized)?Test\b|"
    r"^\s*(it|specify|scenario)\s+[\"']"
)
_ASSERTION = re.compile(
    r"\bassert(?!ion)\w*|\bexpect\s*\(|\bpytest\.raises\b|\.should\b|\bXCTAssert\w*|"
    r"\bt\.(Error|Errorf|Fatal|Fatalf|Fail|FailNow)\b|\brequire\.\w+\(|\b(refute|verify)\w*\("
)
_SHELL_ASSERTION = re.compile(r"\bgrep -q|\btest -|\btest \"|\[ ")
_EMPTY = re.compile(
    r"\bassert(\s+|\s*\(\s*)(True|true|1|not False|1 == 1|True is True)\s*[,);]*\s*($|#|[\"'])|"
    r"\bassertTrue\(\s*[Tt]rue\b|\bassert!\(\s*true\b|"
    r"\bexpect\(\s*(true|1)\s*\)\.(toBe|toEqual|toBeTruthy)\(\s*(true|1)?\s*\)"
)
_SKIP = re.compile(
    r"\bpytest\.(skip|xfail|importorskip)\(|@?\b(pytest\.)?mark\.(skip|skipif|xfail)\b|"
    r"@(unittest\.)?(skip|skipIf|skipUnless|expectedFailure)\b|\bself\.skipTest\(|"
    r"\b(it|test|describe|context)\.(skip|todo|failing|fixme)\b|\bx(it|describe|test)\s*\(|"
    r"\bt\.Skip\w*\(|#\[ignore\b|@(Disabled|Ignore)\b"
)


@dataclass(frozen=True, slots=True)
class Tally:
    """What was counted in lines of test code."""

    functions: int = 0
    assertions: int = 0
    skips: int = 0


def is_test_file(path: str) -> bool:
    """Whether a file is there to test others, by its name."""
    return bool(_TEST_FILE.search(str(PurePosixPath(path))))


def tally(lines: Iterable[str], path: str) -> Tally:
    """Test functions, assertions and skips in lines of a test file."""
    code = [line for line in lines if not _COMMENT.match(line)]
    shell = path.endswith((".sh", ".bats", ".bash"))
    return Tally(
        functions=sum(1 for line in code if _FUNCTION.search(line)),
        assertions=sum(1 for line in code if _asserts(line, shell=shell)),
        skips=sum(1 for line in code if _SKIP.search(line)),
    )


def _asserts(line: str, *, shell: bool) -> bool:
    found = _ASSERTION.search(line) or (shell and _SHELL_ASSERTION.search(line))
    return bool(found) and not _EMPTY.search(line)
