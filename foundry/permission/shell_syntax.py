"""A shell command as a syntax tree, by shfmt (mvdan/sh), which knows the dialects.

`sh` is dash on one machine and bash on another, and they read some commands differently. So one
text has several readings, and all of them count.
"""

import json
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any
from unicodedata import category

from foundry.permission.globs import GAPS

Tree = dict[str, Any]

POSIX, BASH = "posix", "bash"
DIALECTS = {"sh": (POSIX, BASH), "dash": (POSIX, BASH), "ash": (POSIX, BASH), "bash": (BASH,)}
"""How the text that a shell is given is read, by the shell's name."""

LONGEST = 200_000
"""Characters of a command."""

SECONDS = 20
_PACKAGE = "shfmt-py"
_SPACES_AND_CONTROLS = ("Cc", "Zs", "Zl", "Zp")


class Unreadable(Exception):
    """The text can't be judged as a command; the message says why."""


def readings(text: str, shell: str = "sh") -> tuple[tuple[str, Tree], ...]:
    """The dialects that may read `text`, each with its tree; Unreadable when one can't."""
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
    _check_comments(tree, text.encode())
    return tree


def _check_comments(node: Any, source: bytes) -> None:
    """A comment ends with its line for a shell; for shfmt, not after a backslash."""
    if isinstance(node, list):
        for each in node:
            _check_comments(each, source)
    elif isinstance(node, dict):
        if "Hash" in node:
            start = node["Hash"]["Offset"]
            if source[start:].split(b"\n", 1)[0].endswith(b"\\"):
                raise Unreadable("it has a comment that ends in a backslash")
        for each in node.values():
            _check_comments(each, source)


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
