"""What can be asked of a repository. Nothing here changes it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from foundry.errors import ProjectError
from foundry.store.git.command import DENIED, GitCommand, last_line
from foundry.store.git.trees import closed, is_special

RUN_TRAILER = "Foundry-Run"
STEP_TRAILER = "Foundry-Step"
CHAIN_TRAILER = "Foundry-Chain"
"""The hash of the journal line that the commit adds: git then holds the chain in place."""

ANSWER_SECONDS = 60
"""How long a remote may take to say what it has."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of a run. `step` is empty for those that carry no step."""

    sha: str
    subject: str
    step: str


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a work tree stands. `commit` and `branch` are empty where there is none."""

    git_dir: Path
    commit: str
    branch: str


class Query(GitCommand):
    """Looks at one work tree. Every method raises ProjectError when git can't do what it asks."""

    def git_dir(self) -> Path:
        """The repository's own folder for this work tree."""
        return Path(self.run("rev-parse", "--absolute-git-dir").strip())

    def toplevel(self) -> Path | None:
        """The root of the work tree that holds this folder, or None outside any repository."""
        anywhere = {"GIT_CEILING_DIRECTORIES": ""}
        status, out, _ = self.attempt("rev-parse", "--show-toplevel", env=anywhere)
        return Path(out.strip()) if status == 0 and out.strip() else None

    def head(self) -> str:
        """The commit that is checked out, or an empty string before the first one."""
        status, out, _ = self.attempt("rev-parse", "--verify", "--quiet", "HEAD")
        return out.strip() if status == 0 else ""

    def branch(self) -> str:
        """The branch that is checked out, or an empty string when there is none."""
        status, out, _ = self.attempt("symbolic-ref", "--quiet", "--short", "HEAD")
        return out.strip() if status == 0 else ""

    def standing(self) -> Standing:
        """What `git_dir`, `head` and `branch` tell, in one call of git."""
        asked = ("--absolute-git-dir", "HEAD", "--symbolic-full-name", "HEAD")
        status, out, _ = self.attempt("rev-parse", *asked)
        if status:  # before the first commit, or no repository
            return Standing(self.git_dir(), self.head(), self.branch())
        folder, commit, ref = out.rsplit("\n", 3)[:3]
        return Standing(Path(folder), commit, ref.removeprefix("refs/heads/") if "/" in ref else "")

    def knows_user(self) -> bool:
        """Whether git knows who commits."""
        names = ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT")
        return all(self.attempt("var", name)[0] == 0 for name in names)

    def identity(self) -> None:
        """Raise ProjectError when git does not know who commits."""
        if not self.knows_user():
            raise ProjectError(
                "git does not know who you are",
                hint='Run `git config --global user.name "Your Name"` and '
                '`git config --global user.email "you@example.com"`',
            )

    def show(self, path: str, revision: str = "HEAD") -> str | None:
        """A file's text in a commit, or None when it is not there."""
        status, out, _ = self.attempt("show", f"{revision}:{path}")
        return out if status == 0 else None

    def ref(self, name: str) -> str:
        """The commit that a ref names, or an empty string."""
        status, out, _ = self.attempt("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        return out.strip() if status == 0 else ""

    def changes(self) -> tuple[str, ...]:
        """Paths that differ from HEAD: changed, added, deleted or untracked, not the ignored."""
        form = ("--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")
        status, out, errors = self.attempt("status", *form)
        if status:
            raise self.failure("status", errors)
        found = [readable(entry[3:]) for entry in raw_paths(out)]
        found += self.unreadable() if DENIED in errors else ()
        return tuple(dict.fromkeys(found))

    def files_at(self, commit: str) -> tuple[str, ...]:
        """The paths of the files that a commit holds."""
        return shown_paths(self.run("ls-tree", "-r", "--name-only", "-z", commit))

    def changed_in(self, folder: str) -> tuple[str, ...]:
        """The committed files of a folder that differ from HEAD, or are gone."""
        return shown_paths(self.run("diff", "--name-only", "-z", "HEAD", "--", folder))

    def unreadable(self) -> tuple[str, ...]:
        """Files and folders, not the ignored ones, that we may not read."""
        found = list(closed(self.root))
        out = self.attempt("check-ignore", "-z", "--", *found)[1] if found else ""
        return tuple(readable(path) for path in found if path not in raw_paths(out))

    def displaced(self) -> tuple[str, ...]:
        """Tracked files in whose place a pipe, a socket or a device stands now."""
        return tuple(map(readable, self._displaced()))

    def _displaced(self) -> list[str]:
        tracked = raw_paths(self.run("ls-files", "-z", "--cached"))
        return [path for path in tracked if is_special(self.root / path)]

    def files(self) -> tuple[str, ...]:
        """Tracked and untracked files, not the ignored ones."""
        out = self.run(
            "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"
        )
        return shown_paths(out)

    def changed_between(self, old: str, new: str) -> tuple[str, ...]:
        """Paths that differ between two trees or commits."""
        out = self.run("diff", "--name-only", "--no-renames", "-z", old, new)
        return shown_paths(out)

    def changed_lines(self, old: str, new: str) -> dict[str, frozenset[int]]:
        """The lines that `new` has and `old` has not, by path, counted from 1.

        Without `old` everything is new. Where lines are only gone, it is the line before them. A
        file that was renamed is compared with what it was; one without such lines has no entry.
        """
        base = old or self.run("hash-object", "-t", "tree", "/dev/null").strip()
        # each option stands against a setting, or a .gitattributes that would hide a file
        form = ("--unified=0", "--inter-hunk-context=0", "--text", "--find-renames", "--no-color")
        plain = ("--no-ext-diff", "--no-textconv", "--no-relative", "--submodule=short")
        prefixes = ("--src-prefix=a/", "--dst-prefix=b/")
        return added_lines(self.run("diff", *form, *plain, *prefixes, base, new, "--"))

    def commits(self, run: str) -> tuple[Commit, ...]:
        """The commits of a run, oldest first."""
        if not self.head():
            return ()
        form = f"%H%x1f%s%x1f%(trailers:key={STEP_TRAILER},valueonly,separator=%x20)%x1e"
        out = self.run("log", "--reverse", f"--grep=^{RUN_TRAILER}: {run}$", f"--format={form}")
        rows = (row.strip("\n").split("\x1f") for row in out.split("\x1e") if row.strip())
        return tuple(Commit(sha, subject, step.strip()) for sha, subject, step in rows)

    def commits_of(self, commit: str, run: str) -> tuple[str, ...]:
        """The hashes of a run's commits in the history of one, oldest first."""
        form = f"%H %(trailers:key={RUN_TRAILER},valueonly,separator=%x20)"
        asked = ("--reverse", "--topo-order", f"--grep=^{RUN_TRAILER}: {run}$", f"--format={form}")
        rows = (row.split() for row in self.run("log", *asked, commit, "--").splitlines())
        return tuple(sha for sha, *named in rows if named == [run])

    def remote_url(self, remote: str) -> str:
        """Where a remote is, without credentials; empty when there is no such remote."""
        status, out, _ = self.attempt("remote", "get-url", remote)
        return without_credentials(out.strip()) if status == 0 else ""

    def remote_head(self, remote: str, branch: str) -> str:
        """The commit that a branch has at a remote, or an empty string; also without an answer."""
        wanted = f"refs/heads/{branch}"
        command = ("ls-remote", "--heads", remote, wanted)
        status, out, _ = self.attempt(*command, seconds=ANSWER_SECONDS)
        return out.split("\t", 1)[0].strip() if status == 0 else ""

    def contains(self, commit: str, ancestor: str) -> bool:
        """Whether `ancestor` is `commit` or stands in its history."""
        return self.attempt("merge-base", "--is-ancestor", ancestor, commit)[0] == 0

    def ever_made(self, message: str, *, since: str = "") -> tuple[str, ...]:
        """Commits whose message matches, children before parents, also those that HEAD has left.

        `since` and its history are left out.
        """
        revisions = ["HEAD"] if self.head() else []
        revisions += [f"^{since}"] if since else []
        form = ("--reflog", "--topo-order", "--format=%H")
        return tuple(self.run("log", *form, f"--grep={message}", *revisions).split())

    def grep(self, pattern: str, path: str, *, regex: bool, ignore_case: bool) -> list[str]:
        """Lines `path:line:text` that match, in tracked and untracked text files.

        Raises ProjectError for a pattern that is no valid expression.
        """
        options = ["--untracked", "-n", "-I", "--no-color", "-E" if regex else "-F"]
        if ignore_case:
            options.append("-i")
        status, out, err = self.attempt("grep", *options, "-e", pattern, "--", path)
        if status > 1:
            raise ProjectError(last_line(err))
        return [line for line in out.split("\n") if line]

    def nested(self) -> tuple[str, ...]:
        """Folders of the work tree that are repositories of their own and no submodules.

        git commits such a folder as a mere link, or refuses to, and its files are lost.
        """
        return tuple(sorted(map(readable, self._nested())))

    def _nested(self) -> set[str]:
        known = raw_paths(self.run("ls-files", "--stage", "-z"))
        others = raw_paths(self.run("ls-files", "-z", "--others", "--exclude-standard"))
        found = {path.rstrip("/") for path in others if path.endswith("/")} | _links(known)
        if not found or not self.head():
            return found
        return found - _links(raw_paths(self.run("ls-tree", "-r", "-z", "HEAD")))

    def ignored(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Those of the paths that git leaves out of commits."""
        if not paths:
            return ()
        _, out, _ = self.attempt("check-ignore", "-z", "--", *paths)
        return shown_paths(out)

    def tracks(self, path: str) -> bool:
        """Whether a file is in the index."""
        if not path or "\0" in path:
            return False
        return bool(self.attempt("ls-files", "--", f":(literal){path}")[1])

    def worktrees(self) -> tuple[tuple[Path, str], ...]:
        """Every work tree of the repository with its branch."""
        found = []
        for block in self.run("worktree", "list", "--porcelain").split("\n\n"):
            fields = dict(line.partition(" ")[::2] for line in block.splitlines())
            if "worktree" in fields:
                branch = fields.get("branch", "").removeprefix("refs/heads/")
                found.append((Path(fields["worktree"]), branch))
        return tuple(found)


_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_ESCAPED = {"a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}


def added_lines(diff: str) -> dict[str, frozenset[int]]:
    """The lines that a diff without context adds, by path; of a removal the line before it."""
    found: dict[str, set[int]] = {}
    path, skip = "", 0
    for line in diff.split("\n"):
        if skip and line[:1] in ("-", "+"):  # what a file holds may look like a header
            skip -= 1
        elif line.startswith("+++ "):
            path = _named(line[4:])
        elif path and (hunk := _HUNK.match(line)):
            removed, added = (int(hunk[n]) if hunk[n] else 1 for n in (1, 3))
            skip = removed + added
            first = int(hunk[2])
            found.setdefault(path, set()).update(range(first, first + max(added, 1)))
    return {path: frozenset(lines - {0}) for path, lines in found.items() if lines - {0}}


def _named(header: str) -> str:
    """The path that a diff's header names; empty for a file that is gone."""
    if header.startswith('"'):
        header = _ESCAPE.sub(_unescaped, header[1:].rpartition('"')[0])
    return readable(header.removesuffix("\t")[2:]) if header.startswith("b/") else ""


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code, 8)) if code.isdigit() else _ESCAPED.get(code, code)


def raw_paths(out: str) -> list[str]:
    """What ends with NUL, as the file system takes it: odd bytes are surrogates."""
    return [path for path in out.split("\0") if path]


def shown_paths(out: str) -> tuple[str, ...]:
    """What ends with NUL, as it can be shown and kept."""
    return tuple(map(readable, raw_paths(out)))


def _links(entries: Sequence[str]) -> set[str]:
    """The paths among index or tree entries at which other repositories are linked."""
    return {entry.split("\t", 1)[1] for entry in entries if entry.startswith("160000")}


def readable(path: str) -> str:
    """A file name that is not UTF-8, with its odd bytes spelt out."""
    return path.encode(errors="surrogateescape").decode(errors="backslashreplace")


def without_credentials(text: str) -> str:
    """Text whose URLs can be shown and kept: without user names and passwords."""
    return re.sub(r"([a-z][a-z0-9+.-]*://)[^/@\s]*@", r"\1", text, flags=re.IGNORECASE)


def cause(errors: str) -> str:
    """The line of a failed command's errors that tells the cause: the rest is advice."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("fatal:", "error:", "remote:", "!"))]
    return without_credentials((telling or lines or ["no message"])[0])
