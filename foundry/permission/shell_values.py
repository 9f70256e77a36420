"""What a variable surely holds, so that `d=$(mktemp -d) && … && rm -rf "$d"` can be judged.

Known is a variable that a text sets once, as a statement of its own that nothing passes by, to
what is written there or to a new temporary file. Whatever else might set it leaves it unknown.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foundry.permission.globs import NAME
from foundry.permission.operation import STEERING
from foundry.permission.shell_syntax import BASH, Tree, everything, plain_name, spelled

TEMPORARY = "tmp.XXXXXXXXXX"
"""The name that stands for what `mktemp` makes up."""

MOST_ROUNDS = 64
"""Rounds of loops that are judged one by one, those within each other multiplied; in a loop with
more its variable is unknown."""

_SAFE = re.compile(r"[\w./:@%+,][\w./:@%+,-]*")
_SET_BY_THE_SHELL = re.compile(
    r"_|[A-Z]*UID|PPID|PWD|OLDPWD|RANDOM|SRANDOM|SECONDS|EPOCH\w+|LINENO|COLUMNS|LINES|SHLVL|REPLY"
    r"|OPT\w+|BASH\w*|COMP\w+|COPROC|DIRSTACK|FUNCNAME|GROUPS|HIST\w+|HOST\w+|MACHTYPE|MAPFILE"
    r"|OSTYPE|PIPESTATUS|READLINE\w+"
)
_PECULIAR = frozenset(("Append", "Index", "Array", "Naked"))
_DECLARES = ("declare", "typeset", "local")
_SETS = (*_DECLARES, "export", "readonly", "read", "printf", "getopts", "mapfile", "readarray",
         "unset", "wait", "let")  # fmt: skip
_ARITHMETIC = ("ArithmExp", "ArithmCmd", "LetClause", "CStyleLoop")
_TMPDIR, _IFS = "TMPDIR", "IFS"


@dataclass(frozen=True, slots=True)
class Setting:
    """How far an assignment can be relied upon: until its `&&` chain ends, and after that.

    `perhaps`: it is empty should `mktemp` have failed. `after` is None where it may not have been
    reached.
    """

    perhaps: bool
    after_perhaps: bool | None


def settings(tree: Tree) -> Mapping[int, Setting]:
    """The assignments of a whole text, and its `for` loops, that settle a variable: by where they
    stand in it."""
    names = Counter(_names(tree))
    if _IFS in names or any(map(_sets_unseen, everything(tree))):
        return {}
    found = [*_assignments(tree.get("Stmts", []), _is_strict(tree)), *_loops(tree)]
    return {
        offset(node): setting
        for node, setting in found
        if names[name := node["Name"]["Value"]] == 1
        and not (STEERING.fullmatch(name) or _SET_BY_THE_SHELL.fullmatch(name))
        and not (is_made(node) and _TMPDIR in names)
    }


def offset(assign: Tree) -> int:
    """Where an assignment, or the head of a loop, stands in its text."""
    return int(assign["Name"]["Pos"]["Offset"])


def value(assign: Tree, spell: Callable[[Tree], str]) -> str:
    """What it assigns, where that is known and has no character that a shell would read."""
    text = _made(assign, spell) if is_made(assign) else spell(assign["Value"])
    return text if _SAFE.fullmatch(text) else ""


def items(words: Sequence[str], most: int) -> Sequence[str]:
    """The values that a `for` loop goes through, where all of them are known: whole, or names
    that a glob finds. Nothing for more than `most`."""
    plain = all(_SAFE.fullmatch(word.replace(NAME, "x")) for word in words)
    return words if plain and len(words) <= most else ()


def is_made(assign: Tree) -> bool:
    """Whether it assigns what a command prints."""
    return _printed_by(assign) is not None


def bare(statement: Tree) -> Sequence[Tree]:
    """The assignments of a statement that is nothing else."""
    node = statement.get("Cmd", {})
    plain = not statement.get("Redirs") and not statement.get("Background")
    if node.get("Type") != "CallExpr" or node.get("Args") or not plain:
        return ()
    assigns = node.get("Assigns", [])
    return [each for each in assigns if "Value" in each and not _PECULIAR.intersection(each)]


def whole(word: Tree) -> str:
    """The variable whose value is all that a word says, quoted or not."""
    parts = word.get("Parts", [])
    if len(parts) == 1 and parts[0]["Type"] == "DblQuoted" and not parts[0].get("Dollar"):
        parts = parts[0].get("Parts", [])
    return plain_name(parts[0]) if len(parts) == 1 else ""


# -- which assignments nothing passes by ---------------------------------------------------------


def _assignments(statements: Sequence[Tree], strict: bool) -> Iterator[tuple[Tree, Setting]]:
    for statement in statements:
        node = statement.get("Cmd", {})
        if statement.get("Background") or statement.get("Redirs") or statement.get("Negated"):
            continue
        ends = node.get("Type") == "BinaryCmd" and node["Op"] == "||" and _leaves(node["Y"])
        first, *rest = chained(node["X"] if ends else statement)
        for assign in bare(first):
            sure = ends or not is_made(assign) or (strict and not rest)
            yield assign, Setting(perhaps=not (sure or rest), after_perhaps=not sure)
        for each in rest:
            for assign in bare(each):
                yield assign, Setting(perhaps=False, after_perhaps=False if ends else None)


def _loops(tree: Tree) -> Iterator[tuple[Tree, Setting]]:
    """The heads of `for name in …`: in the body their variable is always set, wherever it is."""
    for node in everything(tree):
        if node.get("Type") == "WordIter" and "Items" in node:
            yield node, Setting(perhaps=False, after_perhaps=None)


def chained(statement: Tree) -> Iterator[Tree]:
    """The statements of `a && b && c`, in order; any other statement is one."""
    node = statement.get("Cmd", {})
    plain = not (statement.get("Redirs") or statement.get("Background") or statement.get("Negated"))
    if node.get("Type") == "BinaryCmd" and node["Op"] == "&&" and plain:
        yield from chained(node["X"])
        yield node["Y"]
    else:
        yield statement


def _leaves(statement: Tree) -> bool:
    words = statement.get("Cmd", {}).get("Args", [])
    return bool(words) and _text(words[0]) == "exit"


def _is_strict(tree: Tree) -> bool:
    """Whether a text begins with `set -e` and never takes it back."""
    calls = (node.get("Args", []) for node in everything(tree) if node.get("Type") == "CallExpr")
    sets = [words[1:] for args in calls if (words := tuple(map(_text, args)))[:1] == ("set",)]
    first = [node.get("Cmd", {}).get("Args", []) for node in tree.get("Stmts", [])][:1]
    begins = tuple(map(_text, first[0])) if first else ()
    taken_back = any(word.startswith("+") for words in sets for word in words)
    return (
        re.fullmatch(r"set -[a-z]*e[a-z]*( .*)?", " ".join(begins)) is not None and not taken_back
    )


# -- whatever may set a variable -----------------------------------------------------------------


def _names(tree: Tree) -> Iterator[str]:
    """Every name that a text may set: more than it does, never fewer."""
    for node in everything(tree):
        kind = node.get("Type")
        if isinstance(node.get("Name"), dict):
            yield node["Name"]["Value"]
        if kind == "CallExpr":
            yield from _named(tuple(map(_text, node.get("Args", []))))
        if kind == "ParamExp" and node.get("Exp", {}).get("Op") in (":=", "="):
            yield node["Param"]["Value"]
        if kind in _ARITHMETIC:
            yield from (each["Value"] for each in everything(node) if each.get("Type") == "Lit")
        for redirection in node.get("Redirs", []):
            yield str(redirection.get("N", {}).get("Value", "")).strip("{}")


def _named(words: Sequence[str]) -> Iterator[str]:
    """What `read d`, `unset d`, `printf -vd` and a text that `trap` will run may set."""
    program, *arguments = _unwrapped(words) or ("",)
    if program == "trap":
        for word in arguments:
            yield from re.findall(r"(?<![\w$])(?<!\$\{)[A-Za-z_]\w*", word)
    if program in _SETS:
        for word in arguments:
            yield re.split(r"[=\[+]", word, maxsplit=1)[0]
            yield from (word[at:] for at in range(1, len(word)) if word.startswith("-"))


def _unwrapped(words: Sequence[str]) -> Sequence[str]:
    """A command without the builtins that only say which one is meant."""
    while words and (words[0] in ("command", "builtin") or words[0].startswith("-")):
        words = words[1:]
    return words


def _sets_unseen(node: Tree) -> bool:
    """Whether a node may set variables that it does not name, or gives `mktemp` another sense."""
    kind = node.get("Type")
    if kind == "FuncDecl":
        return node["Name"]["Value"] in ("mktemp", "exit", "set")
    if kind == "DeclClause":
        return any("n" in _text(each.get("Value", {})).partition("-")[2]
                   for each in node.get("Args", []) if each.get("Naked"))  # fmt: skip
    words = _unwrapped([_text(word) for word in node.get("Args", [])] if kind == "CallExpr" else [])
    if words[:1] in (["."], ["source"]):
        return True
    declares = bool(words) and words[0] in _DECLARES
    return declares and any(each.startswith("-") for each in words[1:])


# -- mktemp --------------------------------------------------------------------------------------


def _printed_by(assign: Tree) -> Tree | None:
    """The command whose output is all that is assigned."""
    parts = assign.get("Value", {}).get("Parts", [])
    if len(parts) == 1 and parts[0]["Type"] == "DblQuoted":
        parts = parts[0].get("Parts", [])
    if len(parts) != 1 or parts[0]["Type"] != "CmdSubst" or len(parts[0].get("Stmts", [])) != 1:
        return None
    node: Tree = parts[0]["Stmts"][0].get("Cmd", {})
    return node


def _made(assign: Tree, spell: Callable[[Tree], str]) -> str:
    """The path that stands for what `mktemp` will print; nothing for another command."""
    node = _printed_by(assign) or {}
    plain = node.get("Type") == "CallExpr" and not node.get("Assigns")
    words = [spell(word) for word in node.get("Args", [])] if plain else []
    if words[:1] not in (["mktemp"], ["/usr/bin/mktemp"], ["/bin/mktemp"]):
        return ""
    short = re.compile(r"-[dqt]+|--directory|--quiet")
    options = [word for word in words[1:] if short.fullmatch(word)]
    names = [word for word in words[1:] if word not in options]
    folder = (os.environ.get(_TMPDIR) or "/tmp").rstrip("/")
    if len(names) > 1 or any(name.startswith("-") for name in names):
        return ""
    if not names:
        return f"{folder}/{TEMPORARY}"
    (name,) = names
    if any("t" in option for option in options if not option.startswith("--")):
        return "" if "/" in name else f"{folder}/{name}"
    return name if "XXX" in name else ""


def _text(word: Any) -> str:
    return spelled(word, BASH, "") if word else ""
