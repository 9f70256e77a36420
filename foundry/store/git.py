"""What Foundry does with a git repository: one class, one work tree."""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from foundry.errors import ProjectError
from foundry.store.git_command import GitCommand, last_line

RUN_TRAILER = "Foundry-Run"
STEP_TRAILER = "Foundry-Step"

PUSH_SECONDS = 600

_UNDER_WAY = (
    *("MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "AUTO_MERGE"),
    *("rebase-merge", "rebase-apply", "sequencer"),
)


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of a run. `step` is empty for those that carry no step."""

    sha: str
    subject: str
    step: str


class Repository(GitCommand):
    """One work tree."""

    # -- reading -----------------------------------------------------------------------------

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

    def changes(self) -> tuple[str, ...]:
        """Paths that differ from HEAD: changed, added, deleted or untracked, not the ignored."""
        out = self.run("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")
        return tuple(entry[3:] for entry in out.split("\0") if entry)

    def files(self) -> tuple[str, ...]:
        """Tracked and untracked files, not the ignored ones."""
        out = self.run(
            "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"
        )
        return tuple(readable(path) for path in out.split("\0") if path)

    def changed_between(self, old: str, new: str) -> tuple[str, ...]:
        """Paths that differ between two trees or commits."""
        out = self.run("diff", "--name-only", "--no-renames", "-z", old, new)
        return tuple(readable(path) for path in out.split("\0") if path)

    def commits(self, run: str) -> tuple[Commit, ...]:
        """The commits of a run, oldest first."""
        if not self.head():
            return ()
        form = f"%H%x1f%s%x1f%(trailers:key={STEP_TRAILER},valueonly,separator=%x20)%x1e"
        out = self.run("log", "--reverse", f"--grep=^{RUN_TRAILER}: {run}$", f"--format={form}")
        rows = (row.strip("\n").split("\x1f") for row in out.split("\x1e") if row.strip())
        return tuple(Commit(sha, subject, step.strip()) for sha, subject, step in rows)

    def remote_url(self, remote: str) -> str:
        """Where a remote is, without credentials; empty when there is no such remote."""
        status, out, _ = self.attempt("remote", "get-url", remote)
        return without_credentials(out.strip()) if status == 0 else ""

    def remote_head(self, remote: str, branch: str) -> str:
        """The commit that a branch has at a remote, or an empty string; also without an answer."""
        status, out, _ = self.attempt("ls-remote", "--heads", remote, f"refs/heads/{branch}")
        return out.split("\t", 1)[0].strip() if status == 0 else ""

    def push(self, remote: str, branch: str) -> str:
        """Push a branch; what went wrong, or an empty string.

        From the main work tree, because a remote's relative address starts there.
        """
        main = Repository(self.worktrees()[0][0])
        status, _, errors = main.attempt("push", "--quiet", remote, branch, seconds=PUSH_SECONDS)
        return "" if status == 0 else cause(errors)

    def contains(self, commit: str, ancestor: str) -> bool:
        """Whether `ancestor` is `commit` or stands in its history."""
        return self.attempt("merge-base", "--is-ancestor", ancestor, commit)[0] == 0

    def ever_made(self, message: str, *, since: str = "") -> tuple[str, ...]:
        """Commits whose message matches, children before parents, also those that HEAD has left.

        `since` and its history are left out.
        """
        left_out = (f"^{since}",) if since else ()
        out = self.run("log", "--reflog", "--topo-order", "--format=%H", f"--grep={message}",
                       "HEAD", *left_out)  # fmt: skip
        return tuple(out.split())

    def grep(self, pattern: str, path: str, *, regex: bool, ignore_case: bool) -> list[str]:
        """Lines `path:line:text` that match, in tracked and untracked text files."""
        options = ["--untracked", "-n", "-I", "--no-color", "-E" if regex else "-F"]
        if ignore_case:
            options.append("-i")
        status, out, err = self.attempt("grep", *options, "-e", pattern, "--", path)
        if status > 1:
            raise ProjectError(last_line(err))
        return [line for line in out.split("\n") if line]

    # -- writing -----------------------------------------------------------------------------

    def init(self) -> None:
        """Make a repository here, with the branch `main`."""
        self.run("init", "--quiet", "--initial-branch=main")

    def set_user(self, name: str, address: str) -> None:
        """Who commits in this repository."""
        self.run("config", "user.name", name)
        self.run("config", "user.email", address)

    def stage_all(self, *, always: Sequence[str] = ()) -> str:
        """Put the whole work tree into the index and return the hash of that tree.

        The pathspecs in `always` are put there even when the project ignores them.
        """
        self.run("add", "--all")
        if always:
            self.run("add", "--all", "--force", "--", *always)
        return self.run("write-tree").strip()

    def nested(self) -> tuple[str, ...]:
        """Folders of the work tree that are repositories of their own and no submodules.

        git commits such a folder as a mere link, or refuses to, and its files are lost.
        """
        known = self.run("ls-files", "--stage").splitlines()
        links = {line.split("\t", 1)[1] for line in known if line.startswith("160000")}
        others = self.run("ls-files", "-z", "--others", "--exclude-standard").split("\0")
        found = {path.rstrip("/") for path in others if path.endswith("/")} | links
        if not found:
            return ()
        committed = self.run("ls-tree", "-r", "HEAD").splitlines() if self.head() else []
        modules = {line.split("\t", 1)[1] for line in committed if line.startswith("160000")}
        return tuple(sorted(found - modules))

    def ignored(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Those of the paths that git leaves out of commits."""
        if not paths:
            return ()
        _, out, _ = self.attempt("check-ignore", "-z", "--", *paths)
        return tuple(path for path in out.split("\0") if path)

    def tracks(self, path: str) -> bool:
        """Whether a file is in the index."""
        if not path or "\0" in path:
            return False
        return bool(self.attempt("ls-files", "--", f":(literal){path}")[1])

    def stage(self, *paths: str) -> None:
        """Put these paths into the index."""
        self.run("add", "--force", "--", *paths)

    def commit(self, subject: str, trailers: Mapping[str, str], body: str = "") -> str:
        """Commit the index, even when nothing changed, and return the hash."""
        tail = "\n".join(f"{key}: {value}" for key, value in trailers.items())
        message = "\n\n".join(part for part in (subject, body, tail) if part)
        self.run("commit", "--quiet", "--allow-empty", "--no-verify", "--cleanup=verbatim",
                 "-m", message + "\n")  # fmt: skip
        return self.head()

    def tree_without(self, path: str, scratch: Path, *, always: Sequence[str] = ()) -> str:
        """The tree of the work tree with `path` as it is in HEAD; the real index is not touched."""
        env = {"GIT_INDEX_FILE": str(scratch)}
        try:
            self.run("read-tree", "HEAD", env=env)
            self.run("add", "--all", env=env)
            if always:
                self.run("add", "--all", "--force", "--", *always, env=env)
            self.run("reset", "--quiet", "HEAD", "--", path, env=env)
            return self.run("write-tree", env=env).strip()
        finally:
            scratch.unlink(missing_ok=True)

    def patch(self) -> bytes:
        """All changes against HEAD, untracked and binary files included, as a patch.

        Repositories within the work tree lose their own `.git`: only so can git take their files.
        """
        for path in self.nested():
            shutil.rmtree(self.root / path / ".git", ignore_errors=True)
        self.run("add", "--all")
        plain = (
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--src-prefix=a/",
            "--dst-prefix=b/",
        )
        out = self.run("diff", "--cached", "--binary", "--no-renames", *plain, "HEAD")
        return out.encode(errors="surrogateescape")

    def restore(self) -> None:
        """Make the work tree what HEAD holds; ignored files stay."""
        self.run("reset", "--quiet", "--hard", "HEAD")
        self.run("clean", "--quiet", "-ffd")

    def checkout(self, path: str) -> None:
        """Make a path what HEAD holds, in the index too; what HEAD does not have stays."""
        self.run("checkout", "--quiet", "HEAD", "--", path)

    def unstage(self) -> None:
        """Make the index what HEAD holds; files stay as they are."""
        self.run("reset", "--quiet")

    def restore_to(self, tree: str) -> tuple[str, ...]:
        """Make files and index what `tree`, from `stage_all`, holds; returns what had changed."""
        if self.attempt("write-tree")[1].strip() != tree:
            self.run("read-tree", "--reset", tree)
        out = self.run("diff", "--name-only", "-z")
        out += self.run("ls-files", "-z", "--others", "--exclude-standard")
        paths = tuple(path for path in out.split("\0") if path)
        if paths:
            self.run("checkout-index", "--all", "--force", "--quiet")
            self.run("clean", "--quiet", "-ffd")
        return paths

    def move_head(self, branch: str, commit: str) -> None:
        """Point HEAD at `branch` and that at `commit`; files stay as they are."""
        self.run("symbolic-ref", "HEAD", f"refs/heads/{branch}")
        self.run("update-ref", "HEAD", commit)

    def abandon(self) -> None:
        """Forget a merge, rebase or the like that is under way, and locks of a killed git.

        Nothing else may be working on this work tree.
        """
        folder = self.git_dir()
        for name in (*_UNDER_WAY, "index.lock", "HEAD.lock"):
            place = folder / name
            if place.is_dir():
                shutil.rmtree(place)
            else:
                place.unlink(missing_ok=True)

    def add_worktree(self, path: Path, branch: str) -> None:
        """Check out a new branch at HEAD in a folder of its own."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.run("worktree", "add", "--quiet", "-b", branch, str(path), "HEAD")

    def remove_worktree(self, path: Path, branch: str) -> None:
        """Take back what `add_worktree` left where it failed half-way."""
        self.attempt("worktree", "remove", "--force", str(path))
        self.attempt("worktree", "prune")
        self.attempt("branch", "--quiet", "-D", branch)

    def clone(self, target: Path) -> None:
        """A clone of HEAD that borrows this repository's objects, and none of its settings."""
        self.run("clone", "--quiet", "--shared", "--no-tags", ".", str(target))

    def export(self, target: Path) -> None:
        """Write the index's files into a folder, without any history."""
        target.mkdir(parents=True, exist_ok=True)
        self.run("checkout-index", "--all", "--force", f"--prefix={target}/")

    def worktrees(self) -> tuple[tuple[Path, str], ...]:
        """Every work tree of the repository with its branch."""
        found = []
        for block in self.run("worktree", "list", "--porcelain").split("\n\n"):
            fields = dict(line.partition(" ")[::2] for line in block.splitlines())
            if "worktree" in fields:
                branch = fields.get("branch", "").removeprefix("refs/heads/")
                found.append((Path(fields["worktree"]), branch))
        return tuple(found)


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
