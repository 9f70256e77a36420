"""One piece of a call: what the rules decide on."""

import re
import shlex
from dataclasses import dataclass

from foundry.permission.globs import TEXT, known, shown
from foundry.permission.resolved_path import ResolvedPath

COMMAND, WRITE, READ = "run_command", "write_file", "read_file"
"""The tools whose rules are asked: a redirection is a write or a read like the tools' own."""

STEERING = re.compile(
    r"PATH|HOME|IFS|ENV|SHELL|CDPATH|PS4|VISUAL|BROWSER|BASH_ENV|BASHOPTS|SHELLOPTS|BASH_FUNC.*"
    r"|PROMPT_COMMAND|XDG_CONFIG_HOME|MAKEFLAGS|TAR_OPTIONS|LESSOPEN|LESSCLOSE|LD_.*|DYLD_.*|GIT_.*"
    r"|.*PAGER|.*EDITOR|NODE_OPTIONS|PERL5OPT|RUBYOPT|PYTHONSTARTUP|_?JAVA.*OPTIONS"
    r"|RIPGREP_CONFIG_PATH"
)
"""Variables that decide what other programs run: setting one is judged like a command."""

_SYSTEM = frozenset(
    ("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin",
     "/opt/homebrew/bin", "/opt/local/bin")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Operation:
    """One piece of a call. `paths` are the files that it could be about.

    With `opaque` (why) nobody can know what it does. An `exempt` operation needs no allowance of
    its own, because what it runs is judged; it can still be forbidden.
    """

    tool: str
    text: str
    words: tuple[str, ...] = ()
    paths: tuple[ResolvedPath, ...] = ()
    program: tuple[ResolvedPath, ...] = ()
    exempt: bool = False
    opaque: str = ""


def name_of(program: str) -> str:
    """A program's name without its folder."""
    return program.rpartition("/")[2]


def is_system(program: str) -> bool:
    """Whether a program is the one that its name promises, and not a file that is called so."""
    folder, slash, _ = program.rpartition("/")
    return not slash or folder in _SYSTEM


def command_text(words: tuple[str, ...]) -> str:
    """A command for people and models."""
    return " ".join(shlex.quote(word) if known(word) else shown(word) for word in words)


def path_in(word: str) -> str:
    """What of an argument could name a file; nothing for an option without one."""
    if not word.startswith("-"):
        name, equals, value = word.partition("=")
        return value if equals and value and "/" not in name else word
    if not known(word):
        return TEXT
    _, equals, value = word.partition("=")
    glued = value if equals else word.lstrip("-")[1:]
    return glued if equals or "/" in glued or ".." in glued or "~" in glued else ""
