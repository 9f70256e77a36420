"""A shell command as a syntax tree, and what its words say as far as that is known beforehand.

The tree is that of shfmt (mvdan/sh), which knows the dialects.
`sh` is dash on one machine and bash on another, and they read some commands differently. So one
text has several readings, and all of them count.
"""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unicodedata import category

from foundry.permission.globs import BELOW, GAPS, MANY, NAME, TEXT, known

Tree = dict[str, Any]

POSIX, BASH = "posix", "bash"
DIALECTS = {"sh": (POSIX, BASH), "dash": (POSIX, BASH), "ash": (POSIX, BASH), "bash": (BASH,)}
"""How the text that a shell is given is read, by the shell's name."""

LONGEST = 200_000
"""Characters of a command."""

SECONDS = 20
_PACKAGE = "shfmt-py"
_SPACES_AND_CONTROLS = ("Cc", "Zs", "Zl", "Zp")

_NUMBER = re.compile(r"\d[\w#]*")

_ESCAPED = re.compile(r"\\(?:\n|([$`\"\\]))")
"""What a backslash escapes between double quotes; before anything else it is itself."""

_BRACES = re.compile(r"\{[^{}]*(,|\.\.)")

_PLAIN_EXPANSION = frozenset(
    ("Type", "Pos", "End", "Dollar", "Rbrace", "Short", "Length", "Param", "Exp", "Repl")
)

_BARE = frozenset(("Type", "Pos", "End", "Dollar", "Rbrace", "Short", "Param"))

_NO_VALUES: Mapping[str, str] = MappingProxyType({})

_COMPARES_NUMBERS = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))

_SETS = frozenset(
    ("read", "printf", "getopts", "mapfile", "readarray", "export", "declare", "typeset", "local",
     "readonly", "let")
)  # fmt: skip


class Unreadable(Exception):
    """The text can't be judged as a command; the message says why."""


def readings(text: str, shell: str = "sh") -> tuple[tuple[str, Tree], ...]:
    """The dialects that may read `text`, each with its tree; raises Unreadable where one can't."""
    if reason := _strange(text):
        raise Unreadable(reason)
    if shell not in DIALECTS:
        raise Unreadable(f"commands for {shell} can't be read")
    return tuple((dialect, _parsed(text, dialect)) for dialect in DIALECTS[shell])


def _parsed(text: str, dialect: str) -> Tree:
    command = [str(_program()), f"-ln={dialect}", "--to-json"]
    try:
        done = subprocess.run(
            command, input=text.encode(), capture_output=True, timeout=SECONDS, check=False
        )
        if done.returncode:
            raise Unreadable(_reason(done.stderr.decode("utf-8", "replace")))
        tree: Tree = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, RecursionError) as error:
        raise Unreadable("it is too deeply nested to be read") from error
    except OSError as error:
        raise Unreadable(f"shfmt, which reads commands, can't be run: {error}") from error
    _refuse_comments(tree, text.encode())
    return tree


def _refuse_comments(node: Any, source: bytes) -> None:
    """A comment ends with its line for a shell; for shfmt, not after a backslash."""
    if isinstance(node, list):
        for each in node:
            _refuse_comments(each, source)
    elif isinstance(node, dict):
        if "Hash" in node:
            start = node["Hash"]["Offset"]
            if source[start:].split(b"\n", 1)[0].endswith(b"\\"):
                raise Unreadable("it has a comment that ends in a backslash")
        for each in node.values():
            _refuse_comments(each, source)


def _reason(said: str) -> str:
    """shfmt's own words, without the name of its input."""
    line = said.strip().split("\n", 1)[0].removeprefix("<standard input>:")
    return f"it can't be read as a shell command ({line or 'no reason given'})"


def _strange(text: str) -> str:
    """Why a text is not even given to the parser: programs differ in how they see it."""
    if len(text) > LONGEST:
        return f"it is longer than {LONGEST:,} characters; put it into a script file"
    for char in text:
        if char in GAPS or "\ud800" <= char <= "\udfff":
            return "it holds characters that no shell reads"
        if char not in " \t\n" and category(char) in _SPACES_AND_CONTROLS:
            return f"it holds the character {char!a}, which shells read in different ways"
    return ""


@cache
def _program() -> Path:
    """shfmt as our own environment has it, wherever PATH leads."""
    files = metadata.files(_PACKAGE) or ()
    found = next((file for file in files if file.stem == "shfmt"), None)
    if found is None:
        raise Unreadable(f"shfmt, which reads commands, is missing: install {_PACKAGE}")
    return Path(str(found.locate())).resolve()


def spelled(word: Tree, dialect: str, home: str, values: Mapping[str, str] = _NO_VALUES) -> str:
    """A word's text after quoting and expansion; what only the shell will know is a gap.

    `values` are what variables surely hold: text that no shell reads as anything but itself.
    """
    return _unquoted(word.get("Parts", []), dialect, home, values)


def substitutions(node: Any) -> Iterator[list[Tree]]:
    """The statements of every `$(…)`, backtick and `<(…)` below a node, the outermost ones."""
    for inner in _children(node):
        if inner.get("Type") in ("CmdSubst", "ProcSubst"):
            yield inner.get("Stmts", [])
        else:
            yield from substitutions(inner)


def refuse_expansions(node: Any, numbers: frozenset[str], dialect: str) -> None:
    """Raises Unreadable for an expansion that may run what a variable holds."""
    for inner in _children(node):
        kind = inner.get("Type")
        if kind == "ParamExp" and not _plain(inner):
            raise Unreadable("an expansion such as ${!x}, ${x@P} or ${x[i]} may hold anything")
        if dialect == BASH and kind in ("ArithmExp", "ArithmCmd", "LetClause", "CStyleLoop"):
            _refuse_arithmetic(inner, numbers)
        if kind == "BinaryTest" and inner.get("Op") in _COMPARES_NUMBERS:
            _refuse_arithmetic(inner, numbers)
        refuse_expansions(inner, numbers, dialect)


def numbers_in(tree: Tree) -> frozenset[str]:
    """The variables that hold nothing but numbers in this command.

    bash calculates with what a variable holds, and `a[$(cmd)]` in there runs cmd.
    """
    found: dict[str, bool] = {}
    for node in everything(tree):
        for name, numeric in _set_by(node):
            found[name] = found.get(name, True) and numeric
    return frozenset(name for name, numeric in found.items() if numeric)


def _unquoted(parts: Sequence[Tree], dialect: str, home: str, values: Mapping[str, str]) -> str:
    text = ""
    for at, part in enumerate(parts):
        match part["Type"]:
            case "Lit":
                value = part.get("Value", "")
                start = _brace(value, parts[at + 1 :]) if dialect == BASH else len(value)
                text += _plain_text(value[:start], at == 0, home)
                if start < len(value):
                    return text + _braced(value[start:], parts[at + 1 :])
            case "SglQuoted":
                text += TEXT if part.get("Dollar") else part.get("Value", "")
            case "DblQuoted":
                text += TEXT if part.get("Dollar") else _quoted(part.get("Parts", []), values)
            case "ArithmExp" | "ProcSubst":
                text += TEXT
            case _:
                value = values.get(plain_name(part), MANY)
                text += value if known(value) else MANY  # a name that a glob finds may have blanks
    return text


def plain_name(part: Tree) -> str:
    """The name in `$name` and `${name}`; nothing for any other expansion."""
    return part["Param"]["Value"] if part["Type"] == "ParamExp" and set(part) <= _BARE else ""


def _quoted(parts: Sequence[Tree], values: Mapping[str, str]) -> str:
    text = ""
    for part in parts:
        if part["Type"] == "Lit":
            text += _ESCAPED.sub(lambda found: found[1] or "", part.get("Value", ""))
        elif part["Type"] == "ParamExp" and part.get("Param", {}).get("Value") == "@":
            text += MANY
        else:
            text += values.get(plain_name(part), TEXT)
    return text


def _plain_text(value: str, first: bool, home: str) -> str:
    """Unquoted text: backslashes, `~` and globs."""
    head = ""
    if first and value.startswith("~"):
        user, slash, value = value.partition("/")
        head, value = (home if user == "~" else TEXT), slash + value
    out, at = "", 0
    while at < len(value):
        char = value[at]
        if char == "\\":
            out += value[at + 1 : at + 2]
            at += 1
        elif char == "[" and (end := value.find("]", at + 1)) > 0:
            out += NAME
            at = end
        else:
            out += NAME if char in "*?" else char
        at += 1
    return head + out


def _brace(value: str, rest: Sequence[Tree]) -> int:
    """Where an unquoted `{a,b}` begins in `value`, or its length when none does."""
    joined = "".join(each.get("Value", "") if each["Type"] == "Lit" else "x" for each in rest)
    found = _BRACES.search(re.sub(r"\\.", "xx", value + joined, flags=re.DOTALL))
    return min(found.start(), len(value)) if found else len(value)


def _braced(value: str, rest: Sequence[Tree]) -> str:
    """What braces may become: several words, below the same folder if nothing leads out."""
    plain = all(part["Type"] == "Lit" for part in rest)
    text = value + "".join(part.get("Value", "") for part in rest if part["Type"] == "Lit")
    return BELOW if plain and ".." not in text and "{/" not in text and ",/" not in text else MANY


def _plain(expansion: Tree) -> bool:
    if set(expansion) - _PLAIN_EXPANSION:
        return False
    return bool(expansion.get("Exp", {}).get("Op") != "@")


def _refuse_arithmetic(node: Tree, numbers: frozenset[str]) -> None:
    for inner in everything(node):
        value = str(inner.get("Value"))
        if inner.get("Type") == "Lit" and value not in numbers and not _NUMBER.fullmatch(value):
            raise Unreadable(f"arithmetic with {value!r}, which may hold more than a number")
        if inner.get("Type") == "ParamExp" and inner.get("Param", {}).get("Value") not in numbers:
            raise Unreadable("arithmetic with a variable that may hold more than a number")
        if inner.get("Type") in ("CmdSubst", "SglQuoted"):
            raise Unreadable("arithmetic with text that may be more than a number")


def _set_by(node: Tree) -> Iterator[tuple[str, bool]]:
    """The variables that a node sets, and whether only to a number."""
    if "Name" in node and isinstance(node["Name"], dict) and node.get("Type") != "FuncDecl":
        value = node.get("Value", {})
        parts = value.get("Parts", []) if isinstance(value, dict) else []
        words = node.get("Items") if node.get("Type") == "WordIter" else [{"Parts": parts}]
        yield node["Name"]["Value"], bool(words) and all(map(_numeric, words or []))
    if node.get("Type") == "CallExpr" and node.get("Args"):
        names = [spelled(word, BASH, "") for word in node["Args"]]
        if names[0] in _SETS:
            yield from ((name.partition("=")[0], False) for name in names[1:])


def _numeric(word: Tree) -> bool:
    parts = word.get("Parts", [])
    if [part["Type"] for part in parts] == ["ArithmExp"]:
        return True
    text = "".join(part.get("Value", "x") for part in parts)
    return bool(_NUMBER.fullmatch(text))


def _children(node: Any) -> Iterator[Tree]:
    """The nearest nodes below a node; values that are no nodes are looked through."""
    for value in node.values() if isinstance(node, dict) else node:
        if isinstance(value, dict):
            yield value
        elif isinstance(value, list):
            yield from (each for each in value if isinstance(each, dict))


def everything(node: Tree) -> Iterator[Tree]:
    """A node and all that are below it."""
    yield node
    for inner in _children(node):
        yield from everything(inner)
