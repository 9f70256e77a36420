"""Simple commands and redirections: what they run, what they set, which files they are about."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from foundry.permission.globs import GAPS, MANY, known, shown
from foundry.permission.operation import (
    COMMAND,
    READ,
    STEERING,
    WRITE,
    Operation,
    command_text,
    is_system,
    name_of,
    path_in,
)
from foundry.permission.resolved_path import PathResolver, ResolvedPath
from foundry.permission.shell_syntax import Tree, spelled
from foundry.permission.shell_values import whole
from foundry.permission.shell_wrappers import Inner, Words, inner_of

_WRITES = frozenset((">", ">>", ">|", ">&", "&>", "&>>", "<>", ">!", "&>|", ">>|"))
_READS = frozenset(("<", "<>"))
_NOWHERE = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty"))
_DESCRIPTOR = re.compile(r"\d+-?|-")
_MOVES = frozenset(("cd", "pushd", "popd"))
_NAMED = re.compile(r"([A-Za-z_]\w*)(=.*)?", re.DOTALL)
_SETS = frozenset(
    ("export", "readonly", "declare", "typeset", "local", "read", "getopts", "mapfile",
     "readarray", "unset")
)  # fmt: skip


Folders = tuple[str, ...] | None
"""Absolute paths; None when it may be any folder."""


def opaque(text: str, why: str) -> Operation:
    """A piece that nobody can know before it runs."""
    return Operation(COMMAND, shown(" ".join(text.split())), opaque=why)


class Commands(ABC):
    """Gathers the operations of simple commands, and knows where they run."""

    def __init__(self, resolver: PathResolver, dialect: str, folders: Folders) -> None:
        self.operations: list[Operation] = []
        self._resolver, self._dialect, self._folders = resolver, dialect, folders
        self._exempt = False
        self._sure: dict[str, str] = {}
        self._perhaps: dict[str, str] = {}

    def knows(self, sure: Mapping[str, str], perhaps: Mapping[str, str]) -> None:
        """What variables hold from the beginning: surely, and unless something failed."""
        self._sure, self._perhaps = dict(sure), dict(perhaps)

    @abstractmethod
    def _inner_script(self, shell: str, text: str, *, here: bool) -> list[Operation]:
        """The operations of a text that a command hands to a shell: to this one, or to another."""

    @contextmanager
    def _subshell(self, really: bool) -> Iterator[None]:
        """In a subshell a `cd` moves nobody else."""
        kept = self._folders
        yield
        if really:
            self._folders = kept

    def _assigned(self, assign: Tree) -> None:
        if "Index" in assign:
            self.operations.append(opaque("(an array)", "an index may run what a variable holds"))
        self._set(
            assign.get("Name", {}).get("Value", ""),
            self._spelled(assign["Value"]) if "Value" in assign else "",
        )

    def _set(self, name: str, value: str) -> None:
        if STEERING.fullmatch(name):
            self._add((f"{name}={value}",))

    def _simple(self, words: Words) -> None:
        if not words[0] or not known(words[0]):
            why = "which command that is, is known only when it runs"
            self.operations.append(opaque(command_text(words), why))
            return
        self._set_by(words)
        inner = inner_of(words)
        self._add(words, exempt=bool(inner and inner.exempt) and is_system(words[0]))
        if inner:
            self._inner(words, inner)
        self._linked(words)
        if name_of(words[0]) in _MOVES:
            self._folders = either(self._folders, after_cd(words, self._folders, self._resolver))

    def _linked(self, words: Words) -> None:
        """What a program that is a link really is: that may be forbidden, or a wrapper."""
        if "/" not in words[0]:
            return
        kept, self._exempt = self._exempt, True
        for each in self._found(words[0]):
            real = each.absolute
            if name_of(real) != name_of(words[0]) and known(real):
                self._simple((real, *words[1:]))
        self._exempt = kept

    def _set_by(self, words: Words) -> None:
        """The variables that a builtin sets by name."""
        names = words[1:] if words[0] in _SETS else ()
        if words[0] == "printf" and len(words) > 2 and words[1][:2] in ("-v", MANY):
            names = (words[1][2:] or words[2],)
        for name in names:
            if name[:1] in GAPS:
                why = f"which variable `{words[0]}` sets is known only when it runs"
                self.operations.append(opaque(command_text(words), why))
            elif named := _NAMED.fullmatch(name):
                self._set(named[1], (named[2] or "=")[1:])

    def _inner(self, words: Words, inner: Inner) -> None:
        if inner.opaque:
            self.operations.append(opaque(command_text(words), inner.opaque))
        for path in inner.writes:
            self._file(WRITE, path)
        self._set_by(("export", *inner.assigns))
        kept, self._exempt = self._exempt, self._exempt or inner.only_forbid
        for command in inner.commands:
            self._simple(command)
        for shell, text in inner.scripts:
            operations = self._inner_script(shell, text, here=inner.here)
            self.operations += (
                replace(operation, exempt=operation.exempt or self._exempt)
                for operation in operations
            )
        self._exempt = kept

    def _add(self, words: Words, *, exempt: bool = False) -> None:
        paths = (path for word in words[1:] if (path := path_in(word)))
        found = tuple(dict.fromkeys(each for path in paths for each in self._found(path)))
        exempt = exempt or self._exempt
        self.operations.append(
            Operation(COMMAND, command_text(words), words, found, self._program(words), exempt)
        )

    def _program(self, words: Words) -> tuple[ResolvedPath, ...]:
        """The file that a program is named by, as it is written."""
        if "/" not in words[0].partition("=")[0]:
            return ()
        return tuple(
            self._resolver.resolve(folder, words[0])[-1] for folder in self._folders or (None,)
        )

    # -- words and files ---------------------------------------------------------------------

    def _redirection(self, operator: str, word: Tree) -> None:
        """`> file` and `< file`; here-documents and copies of descriptors name no file."""
        if operator not in _WRITES and operator not in _READS:
            return
        path = self._spelled(word)
        if path in _NOWHERE or (operator == ">&" and _DESCRIPTOR.fullmatch(path)):
            return
        for tool, operators in ((WRITE, _WRITES), (READ, _READS)):
            if operator in operators:
                self._file(tool, path)

    def _file(self, tool: str, path: str) -> None:
        mark = {WRITE: ">", READ: "<"}[tool]
        found = self._found(path)
        self.operations.append(
            Operation(tool, f"{mark} {shown(path)}", paths=found, exempt=self._exempt)
        )

    def _found(self, path: str) -> tuple[ResolvedPath, ...]:
        folders = self._folders or (None,)
        found = (each for folder in folders for each in self._resolver.resolve(folder, path))
        return tuple(dict.fromkeys(found))

    def _words(self, nodes: Sequence[Tree]) -> Words:
        """A folder that is perhaps empty leads nowhere: `cd ""` stays where it is."""
        moves = bool(nodes) and name_of(self._spelled(nodes[0])) in _MOVES
        return tuple(map(self._spelled_surely if moves else self._spelled, nodes))

    def _spelled(self, word: Tree) -> str:
        """With what variables hold. One that is perhaps empty names no file then; at the beginning
        of a path it would make another path of it."""
        name = whole(word)
        return self._perhaps[name] if name in self._perhaps else self._spelled_surely(word)

    def _spelled_surely(self, word: Tree) -> str:
        return spelled(word, self._dialect, self._resolver.home, self._sure)


# -- where `cd` leads --------------------------------------------------------------------------


def either(one: Folders, other: Folders) -> Folders:
    """The folders of one or the other."""
    if one is None or other is None:
        return None
    return tuple(dict.fromkeys((*one, *other)))


def after_cd(words: tuple[str, ...], before: Folders, resolver: PathResolver) -> Folders:
    """Where `cd` leads when it succeeds; anywhere for `pushd`, `popd` and `cd -`."""
    operands = [word for word in words[1:] if word not in ("-L", "-P", "-e", "--")]
    path = operands[0] if operands else resolver.home
    if words[0] != "cd" or len(operands) > 1 or path.startswith("-"):
        return None
    found = (each for folder in before or (None,) for each in resolver.resolve(folder, path))
    folders = tuple(dict.fromkeys(each.absolute for each in found))
    return folders if all(known(folder) for folder in folders) else None
