"""Which files are there to test others: what must not be hollowed, and what speaks for the rest."""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

_FOLDER = re.compile(
    r"(^|/)([Tt]ests?|__tests?__|__mocks__|__fixtures__|__snapshots__|snapshots|[Ss]pecs?|testing|e2e|"
    r"test[-_]?(data|utils?|helpers?|support)|fixtures|cypress|playwright|androidTest|"
    r"(integration|unit|acceptance|functional|smoke)[-_]?tests?|features/step_definitions|"
    r"[^/]+[._-][Tt]ests?|\w*[a-z0-9](Unit|Integration)?Tests?)/"
)
_NAME = re.compile(
    r"^(test[-_.].*|tests?(\.\w+)?|conftest\.py|(spec|rails|test)[-_]?helpers?\.\w+|"
    r".+[-_.](tests?|spec|e2e|cy)\.\w+|.+[-_.](tests?|spec)|test(utils?|helpers?|support)\.\w+|"
    r"\w*[a-z0-9](Tests?|TestCase|Spec|IT)\.(java|kt|kts|groovy|scala|cs|fs|vb|php|swift|cpp|cc)|"
    r"Tests?[A-Z]\w*\.(java|kt|groovy|scala|cs|php|swift)|"
    r"setupTests\.\w+|.*\.(bats|snap|feature|t)|"
    r"(jest|vitest|karma|playwright|cypress|mocha)[.-](config|setup|conf)\.\w+|\.mocharc\.\w+|"
    r"(pytest|tox)\.ini|noxfile\.py|phpunit\.xml.*|\.rspec)$"
)
_RUNNERS = frozenset(
    """pytest py.test unittest nose2 jest vitest mocha ava tap tape jasmine karma rspec minitest
    phpunit pest bats prove shunit2 shellspec ctest --test""".split()  # noqa: SIM905
)
_SEPARATORS = frozenset(["&&", "||", ";", "&", "\n"])
_FLOWS = frozenset("|<>()`")


def is_test_file(path: str, commands: Iterable[str] = ()) -> bool:
    """Whether a file is there to test others, by its name, or because test commands are its run.

    `commands` are those of the checks that test. What a known runner is given is a test, and so is
    a script whose run is the whole command (`sh check.sh`): its exit code is all that is asked.
    `./tool.py add x | grep x` uses a tool, and makes no test of it.
    """
    name = PurePosixPath(path).name
    if _FOLDER.search(path) or _NAME.match(name):
        return True
    return any(path in _run_as_test(command) for command in commands)


def _run_as_test(command: str) -> set[str]:
    """The files that a command runs as tests, as far as its words tell."""
    found: set[str] = set()
    for words in _simple_commands(command):
        if _RUNNERS & {PurePosixPath(word).name for word in words}:
            found.update(_file(word) for word in words)
        elif len(words) <= 2 and not any("$(" in word or _FLOWS & set(word) for word in words):
            found.add(_file(words[-1]))
    return found


def _file(word: str) -> str:
    """A word as a file of the project: without `./`, and without a test's id within the file."""
    return str(PurePosixPath(word.partition("::")[0]))


def _simple_commands(command: str) -> Iterator[Sequence[str]]:
    """The parts of a command that run one after another; pipes stay within a part."""
    lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    part: list[str] = []
    try:
        words = list(lexer)
    except ValueError:  # an open quote
        return
    for word in (*words, ";"):
        if word not in _SEPARATORS:
            part.append(word)
        elif part:
            yield part
            part = []
