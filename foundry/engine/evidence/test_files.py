"""Which files of a project are tests, or what tests compare with."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

_FOLDERS = {"test", "tests", "testing", "spec", "specs", "__tests__", "testdata", "fixtures"}
_NAME = re.compile(
    r"(^test_.*\.py|_test\.(py|go|rb|exs?|cc|cpp|c)|\.(test|spec)\.[cm]?[jt]sx?|_spec\.rb"
    r"|^conftest\.py|Tests?\.(java|kt|cs|php|scala|swift)|^test\.(sh|py|js))$"
)


def is_test_file(path: str, commands: Sequence[str] = ()) -> bool:
    """Whether a path names a test by the conventions of its ecosystem, or a command names it."""
    file = PurePosixPath(path)
    if _NAME.search(file.name) or {part.lower() for part in file.parts[:-1]} & _FOLDERS:
        return True
    return any(re.search(rf"(^|[\s/'\"=]){re.escape(path)}($|[\s'\";&|)])", c) for c in commands)
