"""Where a path leads: links followed, `..` and `~` resolved, inside the project or not."""

import glob
import os
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from foundry.permission.globs import BELOW, GAPS, MANY, NAME, TEXT, covers
from foundry.schema.permission import Policy, Rule

MOST_MATCHES = 500
"""Files that a glob in a command is followed to; one that matches more may lead anywhere."""

_EVERYWHERE = "/**"
_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class ResolvedPath:
    """Where a path leads, as far as that is known before the command runs.

    `inside` is the path from the project's root ("" is the root), None outside of it. A path
    that only the shell will know is `absolute == TEXT`.
    """

    absolute: str
    inside: str | None = None

    @property
    def unknown(self) -> bool:
        """Whether it may lead anywhere."""
        return self.absolute == TEXT

    def covered(self, pattern: str, *, surely: bool) -> bool:
        """Whether a rule's path pattern covers this path."""
        if self.unknown:
            return not surely or pattern == _EVERYWHERE
        if pattern.startswith("/"):
            return covers(pattern, self.absolute, surely=surely)
        return self.inside is not None and covers(pattern, self.inside, surely=surely)


ANYWHERE = ResolvedPath(TEXT)


@dataclass(frozen=True, slots=True)
class PathResolver:
    """A project's root and the person's home, to resolve paths against."""

    root: str
    home: str

    @classmethod
    def of(cls, root: Path) -> "PathResolver":
        """The resolver for a project and the person who runs this."""
        return cls(os.path.realpath(root), os.path.realpath(Path("~").expanduser()))

    def resolve(self, folder: str | None, path: str) -> tuple[ResolvedPath, ...]:
        """Where `path` leads when seen from `folder` (None: from somewhere).

        Several paths when links are on the way: where it really leads, and as it is written.
        """
        if folder is None and not path.startswith("/"):
            return (ANYWHERE,)
        written = _joined(folder or "/", path)
        leads_to = written and _follow_links(written)
        if not written or not leads_to:
            return (ANYWHERE,)
        return tuple(dict.fromkeys(map(self._from_root, (*leads_to, os.path.normpath(written)))))

    def _from_root(self, absolute: str) -> ResolvedPath:
        if absolute == self.root:
            return ResolvedPath(absolute, "")
        below = f"{self.root.rstrip('/')}/"
        return ResolvedPath(
            absolute, absolute[len(below) :] if absolute.startswith(below) else None
        )

    def resolve_rules(self, policy: Policy) -> Policy:
        """The policy with its path patterns as `ResolvedPath.covered` reads them."""
        rules = tuple(self._resolved_rule(rule) for rule in policy.rules)
        return policy.model_copy(update={"rules": rules})

    def _resolved_rule(self, rule: Rule) -> Rule:
        commands = tuple(self._program(command) for command in rule.commands)
        paths = tuple(self.pattern(path) for path in rule.paths)
        return rule.model_copy(update={"commands": commands, "paths": paths})

    def _program(self, command: str) -> str:
        """A command pattern; a program given by its path begins with `/` or `./`."""
        program, blank, arguments = command.partition(" ")
        if "/" not in program or "=" in program:
            return command
        anchored = self.pattern(program if program[:1] in "~/." else f"./{program}")
        return ("" if anchored.startswith("/") else "./") + anchored + blank + arguments

    def pattern(self, pattern: str) -> str:
        """A path pattern, absolute (with its links followed) or seen from the root.

        As in .gitignore: one without a slash matches in every folder, and one that matches a
        folder covers all that is in it.
        """
        if pattern == "~" or pattern.startswith("~/"):
            pattern = self.home + pattern[1:]
        if pattern.startswith("/"):
            real = _without_links(pattern)
            return real if real == _EVERYWHERE else real.removesuffix("/**")
        anchored = pattern.removeprefix("./").rstrip("/")
        if "/" not in anchored and not pattern.startswith("./") and anchored != "**":
            return f"**/{anchored}"
        return anchored.removesuffix("/**")


def _joined(folder: str, path: str) -> str | None:
    """An absolute path, or None when a gap may lead anywhere."""
    start = min((at for gap in GAPS if (at := path.find(gap)) >= 0), default=len(path))
    rest = path[start:]
    if MANY in rest or TEXT in rest:
        return None
    name = path[:start].rpartition("/")[2]
    if rest and (name.startswith(".") or "/." in rest):
        return None  # a glob that begins with a dot may match `..`
    return f"{folder.rstrip('/')}/{path}" if not path.startswith("/") else path


def _follow_links(path: str) -> tuple[str, ...]:
    """Where a path leads with links followed; nothing when the system can't tell.

    A glob leads to its folder, and through the links that it matches now.
    """
    if NAME not in path and BELOW not in path:
        real = _realpath(path)
        return () if real is None else (real,)
    start = min(at for gap in (NAME, BELOW) if (at := path.find(gap)) >= 0)
    fixed, rest = path[:start], path[start:]
    folder, _, name = fixed.rpartition("/")
    real = _realpath(folder or "/")
    if real is None:
        return ()
    if BELOW in rest:  # `find` does not follow links
        return (f"{real.rstrip('/')}/{name}{rest}",)
    pattern = glob.escape(fixed) + "*".join(map(glob.escape, rest.split(NAME)))
    matching = glob.iglob(pattern)  # noqa: PTH207  (like a shell it leaves hidden files out)
    found = list(islice(matching, MOST_MATCHES + 1))
    if len(found) > MOST_MATCHES:
        return ()
    links = (there for each in found if (there := _realpath(each)) and there != each)
    return (f"{real.rstrip('/')}/{name}{rest}", *dict.fromkeys(links))


def _realpath(path: str) -> str | None:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError, RecursionError):
        return None


def _without_links(pattern: str) -> str:
    """An absolute pattern whose fixed beginning has its links followed, as paths have."""
    match = _GLOB.search(pattern)
    if match is None:
        return _realpath(pattern) or pattern
    fixed, _, name = pattern[: match.start()].rpartition("/")
    return f"{(_realpath(fixed or '/') or fixed).rstrip('/')}/{name}{pattern[match.start() :]}"
