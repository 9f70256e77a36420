"""Programs that run the command they are given: `env`, `xargs`, `sh -c`, `find -exec`, …

A wrapper is judged by what it runs. What cannot be taken apart with certainty is opaque.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from foundry.permission.globs import MANY, NAME, TEXT, known
from foundry.permission.shell_syntax import DIALECTS

_HARMLESS = frozenset(("--login", "--norc", "--noprofile", "--posix", "--version", "--help"))

Words = tuple[str, ...]
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_UNKNOWABLE = frozenset(
    ("eval", "alias", "enable", "parallel", "coproc", "script", "expect", "at", "batch", "watch")
)
_OTHER_SHELLS = frozenset(("zsh", "ksh", "mksh", "fish", "csh", "tcsh", "pwsh", "xonsh"))


@dataclass(frozen=True, slots=True)
class Inner:
    """What a command runs besides itself. With `exempt`, that alone is what needs allowance."""

    commands: tuple[Words, ...] = ()
    scripts: tuple[tuple[str, str], ...] = ()
    """Shell and text."""
    assigns: Words = ()
    writes: Words = ()
    opaque: str = ""
    exempt: bool = False
    only_forbid: bool = False
    """The inner commands need no allowance: the outer one has it or has it not."""
    here: bool = False
    """The scripts run in this very shell, and know its variables."""


@dataclass(frozen=True, slots=True)
class _Options:
    """A wrapper's own options: letters without and with a value, and the long ones."""

    flags: str = ""
    values: str = ""
    long: frozenset[str] = field(default_factory=frozenset)
    long_values: frozenset[str] = field(default_factory=frozenset)
    operands: int = 0
    exempt: bool = True


def _options(
    flags: str = "", values: str = "", long: str = "", long_values: str = "", operands: int = 0,
    *, exempt: bool = True,
) -> _Options:  # fmt: skip
    return _Options(
        flags, values, frozenset(long.split()), frozenset(long_values.split()), operands, exempt
    )


_WRAPPERS = {
    "nohup": _options(),
    "time": _options("pvaq", "fo", "portability verbose append quiet", "format output"),
    "nice": _options("0123456789", "n", "", "adjustment"),
    "ionice": _options("t", "cn", "ignore", "class classdata"),
    "timeout": _options(
        "v", "ks", "preserve-status foreground verbose", "kill-after signal", operands=1
    ),
    "stdbuf": _options("", "ioe", "", "input output error"),
    "setsid": _options("cfw", "", "ctty fork wait"),
    "unbuffer": _options("p"),
    "chronic": _options("ve"),
    "caffeinate": _options("disum", "t"),
    "xvfb-run": _options("al", "enpsfw", "auto-servernum"),
    "command": _options("p"),
    "builtin": _options(),
    "exec": _options("cl", "a"),
    "env": _options("i0v", "u", "ignore-environment null debug", "unset"),
    "xargs": _options(
        "0rtxpo", "IEnLPsdaJRS", "null no-run-if-empty verbose exit interactive open-tty",
        "replace max-args max-lines max-procs max-chars delimiter arg-file eof",
    ),
    "busybox": _options(exempt=False),
    "toybox": _options(exempt=False),
    "sudo": _options("AbEHnPSkKBN", "ugpCDhRTU", "preserve-env login", "user group", exempt=False),
    "doas": _options("nLs", "uC", exempt=False),
    "chroot": _options("", "", "skip-chdir", "userspec groups", operands=1, exempt=False),
    "flock": _options("sxeunoF", "wE", "nonblock", "timeout", operands=1, exempt=False),
}  # fmt: skip

_RUNNERS: dict[str, tuple[str, ...]] = {
    "npx": ("",), "bunx": ("",), "pnpx": ("",), "uvx": ("",),
    "uv": ("run", "tool run"), "poetry": ("run",), "pipenv": ("run",), "pdm": ("run",),
    "hatch": ("run",), "rye": ("run",), "conda": ("run",), "mise": ("exec", "x"),
    "bundle": ("exec",), "npm": ("exec",), "pnpm": ("exec", "dlx"), "yarn": ("exec", "dlx"),
    "git": ("bisect run", "rebase --exec", "submodule foreach"),
}  # fmt: skip
"""Tools with a command inside: what is forbidden, is forbidden there too."""


def inner_of(words: Words) -> Inner | None:
    """What `words` runs; None for a command that runs nothing but itself."""
    name = words[0].rpartition("/")[2]
    if name in _UNKNOWABLE:
        return Inner(opaque=f"what `{name}` leads to can't be known beforehand")
    if name in DIALECTS or name in _OTHER_SHELLS:
        return _shell(name, words)
    if name in _WRAPPERS:
        return _wrapped(name, words)
    return {"find": _find, "trap": _trap}.get(name, _run_by)(words)


def _wrapped(name: str, words: Words) -> Inner | None:
    options = _WRAPPERS[name]
    if name == "command" and words[1:2] and words[1] in ("-v", "-V"):
        return None
    at = _operand(words, 2 if words[:2] == (words[0], "-") else 1, options)
    if at is None:
        return Inner(opaque=f"an option of `{name}` that is not known here")
    assigns = []
    while name in ("env", "sudo", "doas") and at < len(words) and _ASSIGNMENT.match(words[at]):
        assigns.append(words[at])
        at += 1
    rest = words[at + options.operands :]
    if any(MANY in word for word in words[: len(words) - len(rest)]) or _dashed(rest):
        return Inner(opaque=f"which command `{name}` runs is known only when it runs")
    if name == "xargs":
        rest = _handed(words[1:at], rest)
    if not rest:
        return None if name != "exec" else Inner(exempt=True)
    if not known(rest[0]):
        return Inner(opaque=f"which command `{name}` runs is known only when it runs")
    return Inner((rest,), assigns=tuple(assigns), exempt=options.exempt)


def _dashed(words: Words) -> bool:
    return bool(words) and words[0].startswith("-")


def _operand(words: Words, at: int, options: _Options) -> int | None:
    """Where the operands begin; None when an option is unknown."""
    while at < len(words):
        word = words[at]
        if word == "--":
            return at + 1
        if not word.startswith("-") or word == "-":
            return at
        taken = _long(word, options) if word.startswith("--") else _short(word, options)
        if not taken:
            return None
        at += taken
    return at


def _long(word: str, options: _Options) -> int:
    name, equals, _ = word[2:].partition("=")
    if name in options.long:
        return 1
    return 0 if name not in options.long_values else (1 if equals else 2)


def _short(word: str, options: _Options) -> int:
    """How many words a cluster such as `-rn 1` takes; 0 when a letter is unknown."""
    for at, letter in enumerate(word[1:], start=1):
        if letter in options.values:
            return 1 if word[at + 1 :] else 2
        if letter not in options.flags:
            return 0
    return 1


def _handed(options: Words, command: Words) -> Words:
    """The command of xargs with what it is handed."""
    command = command or ("echo",)
    mark = ""
    for at, word in enumerate(options):
        if word in ("-I", "-J", "--replace"):
            mark = options[at + 1] if at + 1 < len(options) else "{}"
        elif word.startswith(("-I", "-J")):
            mark = word[2:]
        elif word.startswith("--replace"):
            mark = word.partition("=")[2] or "{}"
    if not mark:
        return (*command, MANY)
    return tuple(word.replace(mark, TEXT) for word in command)


def _shell(name: str, words: Words) -> Inner | None:
    """`sh -c TEXT`; a script file is a command like others, and a script on stdin is opaque."""
    at, text = 1, False
    while at < len(words) and words[at][:1] in ("-", "+") and words[at] not in ("-", "--"):
        word = words[at]
        if not known(word) or (word.startswith("--") and word not in _HARMLESS) or _fed(word):
            return Inner(opaque=f"an option of `{name}` that is not known here")
        text = text or ("c" in word and not word.startswith(("--", "+")))
        at += 2 if word.endswith(("o", "O")) else 1
    at += words[at : at + 1] == ("--",)
    if at >= len(words) or words[at] in ("-", "/dev/stdin", "/proc/self/fd/0"):
        asked = {"--version", "--help"}.intersection(words)
        return None if asked else Inner(opaque=f"`{name}` would run whatever it is fed")
    if not text:
        return None if known(words[at]) else Inner(opaque="which script runs is not known")
    if not known(words[at]):
        return Inner(opaque=f"the text that `{name} -c` runs is known only when it runs")
    if name in _OTHER_SHELLS:
        return Inner(opaque=f"commands for {name} can't be read")
    return Inner(scripts=((name, words[at]),), exempt=True)


def _fed(option: str) -> bool:
    """Whether a shell's option makes it read its commands from stdin."""
    return not option.startswith("--") and "s" in option and not option.endswith(("o", "O"))


def _trap(words: Words) -> Inner | None:
    operands = [word for word in words[1:] if word not in ("--", "-p", "-l")]
    if len(operands) < 2 or operands[0] in ("", "-"):
        return None
    if not known(operands[0]):
        return Inner(opaque="what `trap` runs is known only when it runs")
    return Inner(scripts=(("sh", operands[0]),), here=True)


def _run_by(words: Words) -> Inner | None:
    name = words[0].rpartition("/")[2]
    for prefix in _RUNNERS.get(name, ()):
        head = prefix.split()
        plain = [word for word in words[1:] if not word.startswith("-") or word in head]
        if plain[: len(head)] == head and plain[len(head) :]:
            rest = tuple(_suffixes(words, plain[len(head) :]))
            return Inner(rest, only_forbid=True)
    return None


def _suffixes(words: Words, operands: list[str]) -> Iterator[Words]:
    """The command, wherever it begins: an option before it may have taken a word."""
    for first in operands[:3]:
        rest = words[words.index(first) :]
        if known(first):
            yield rest


# -- find --------------------------------------------------------------------------------------

_EXEC = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_WRITES = frozenset(("-fprint", "-fprint0", "-fprintf", "-fls"))


def _find(words: Words) -> Inner | None:
    """What it finds is judged as the files in the folders that it starts from."""
    if any(word[:1] in (MANY, TEXT) for word in words):
        return Inner(opaque="`find` with an expression that is known only when it runs")
    starts = _starts(words)
    below = tuple(f"{start.rstrip('/')}/{NAME}" for start in starts)
    commands, at = [], 1
    while at < len(words):
        if words[at] in _EXEC:
            end = next((i for i in range(at, len(words)) if words[i] in (";", "+")), len(words))
            commands += [_each(words[at + 1 : end], each) for each in below]
            at = end
        elif words[at] == "-delete":
            commands.append(("rm", *below))
        at += 1
    if any(not command or not known(command[0]) for command in commands):
        return Inner(opaque="which command `find` runs is known only when it runs")
    writes = tuple(words[i + 1] for i in range(len(words) - 1) if words[i] in _WRITES)
    return Inner(tuple(commands), writes=writes) if commands or writes else None


def _each(command: Words, found: str) -> Words:
    return tuple(word.replace("{}", found) for word in command)


def _starts(words: Words) -> Words:
    at = 1
    while at < len(words) and words[at] in ("-H", "-L", "-P"):
        at += 1
    end = next((i for i in range(at, len(words)) if words[i][:1] in ("-", "(", "!")), len(words))
    return words[at:end] or (".",)
