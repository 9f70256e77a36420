"""What Foundry does with a git repository: one class, one work tree."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from foundry.errors import UnreadableFiles
from foundry.store.git.command import DENIED
from foundry.store.git.query import Query, cause, raw_paths, shown_paths
from foundry.store.git.trees import open_up, remove_tree

REMOTE = "origin"
PUSH_SECONDS = 600
AT_ONCE = 200
"""Paths on one command line of git."""

_UNDER_WAY = (
    *("MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "AUTO_MERGE"),
    *("rebase-merge", "rebase-apply", "sequencer"),
)


def run_ref(run: str) -> str:
    """The ref of ours that holds a run's last commit; every work tree has its own."""
    return f"refs/worktree/foundry/{run}"


class Repository(Query):
    """One work tree. Every method raises ProjectError when git can't do what it asks."""

    def init(self) -> None:
        """Make a repository here, with the branch `main`."""
        self.run("init", "--quiet", "--initial-branch=main")

    def name_branch(self, branch: str) -> None:
        """Call the branch of a repository without a commit `branch`."""
        self.run("symbolic-ref", "HEAD", f"refs/heads/{branch}")

    def commit_of(self, tree: str, message: str) -> str:
        """A commit of a tree on top of HEAD that no branch leads to."""
        return self.run("commit-tree", tree, "-p", "HEAD", "-m", message).strip()

    def pin(self, name: str, commit: str) -> None:
        """Hold a commit in a ref below refs/foundry/: git keeps what nothing else leads to."""
        self.run("update-ref", f"refs/foundry/{name}", commit)

    def unpin(self, name: str) -> None:
        """Let go of what `pin` held."""
        self.run("update-ref", "-d", f"refs/foundry/{name}")

    def set_user(self, name: str, address: str) -> None:
        """Who commits in this repository."""
        self.run("config", "user.name", name)
        self.run("config", "user.email", address)

    def stage_all(self, *, always: Sequence[str] = ()) -> str:
        """Put the whole work tree into the index and return the hash of that tree.

        The pathspecs in `always` are put there even when the project ignores them. Raises
        UnreadableFiles when a part of it is closed to us.
        """
        self._add_all(always)
        return self.run("write-tree").strip()

    def _add_all(self, always: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        for more in ((), ("--force", "--", *always)) if always else ((),):
            status, _, errors = self.attempt("add", "--all", *more, env=env)
            closed = self.unreadable() if DENIED in errors else ()
            closed += self.displaced() if status else ()
            if closed:
                raise UnreadableFiles(closed)
            if status:
                raise self.failure("add", errors)

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
            self._add_all(always, env)
            self.run("reset", "--quiet", "HEAD", "--", path, env=env)
            return self.run("write-tree", env=env).strip()
        finally:
            scratch.unlink(missing_ok=True)

    def overlaid(self, base: str, tree: str, paths: Sequence[str], scratch: Path) -> str:
        """The tree `base` with `paths` as `tree` has them; what is not there goes away."""
        env = {"GIT_INDEX_FILE": str(scratch)}
        try:
            self.run("read-tree", base, env=env)
            for start in range(0, len(paths), AT_ONCE):
                few = paths[start : start + AT_ONCE]
                entries = raw_paths(self.run("ls-tree", "-r", "-z", tree, "--", *few))
                there = [each.partition("\t") for each in entries]
                info = [f"{about.split()[0]},{about.split()[2]},{path}" for about, _, path in there]
                cached = [word for each in info for word in ("--cacheinfo", each)]
                gone = sorted({*few} - {path for _, _, path in there})
                self.run(
                    "update-index",
                    "--add",
                    "--replace",
                    *cached,
                    "--force-remove",
                    "--",
                    *gone,
                    env=env,
                )
            return self.run("write-tree", env=env).strip()
        finally:
            scratch.unlink(missing_ok=True)

    def remove_displaced(self) -> None:
        """Remove pipes and the like that stand in a tracked file's place: git can't take them."""
        for path in self._displaced():
            remove_tree(self.root / path)

    def adopt_nested(self) -> None:
        """Take the `.git` from repositories within the work tree: only so can git take their files.

        Submodules keep theirs.
        """
        for path in self._nested():
            remove_tree(self.root / path / ".git")

    def diff_of_index(self) -> bytes:
        """How the index differs from HEAD, binary files included, as a patch."""
        plain = ("--no-ext-diff", "--no-textconv", "--no-color")
        prefixes = ("--src-prefix=a/", "--dst-prefix=b/")
        out = self.run("diff", "--cached", "--binary", "--no-renames", *plain, *prefixes, "HEAD")
        return out.encode(errors="surrogateescape")

    def restore(self) -> None:
        """Make the work tree what HEAD holds; ignored files stay."""
        self._opening("reset", "--quiet", "--hard", "HEAD")
        self._opening("clean", "--quiet", "-ffd")

    def checkout(self, path: str) -> None:
        """Make a path what HEAD holds, in the index too; what HEAD does not have stays."""
        self._opening("checkout", "--quiet", "HEAD", "--", path)

    def reclaim(self, folder: str, keep: str) -> None:
        """Make a folder what HEAD holds, ignored files included; only `keep` within it stays."""
        self.checkout(folder)
        self._opening("clean", "--quiet", "-ffdx", "-e", f"/{folder}/{keep}/", "--", folder)

    def unstage(self) -> None:
        """Make the index what HEAD holds; files stay as they are."""
        self.run("reset", "--quiet")

    def restore_to(self, tree: str) -> tuple[str, ...]:
        """Make files and index what `tree`, from `stage_all`, holds; returns what had changed."""
        differs = self.attempt("write-tree")[1].strip() != tree
        if differs and self.attempt("read-tree", "--reset", tree)[0]:
            self.run("read-tree", tree)  # the index skips some files, and git won't keep that
        out = self._opening("diff", "--name-only", "-z")
        out += self._opening("ls-files", "-z", "--others", "--exclude-standard")
        if raw_paths(out):
            self._opening("checkout-index", "--all", "--force", "--quiet")
            self._opening("clean", "--quiet", "-ffd")
        return shown_paths(out)

    def _opening(self, *arguments: str) -> str:
        """Run git; where files or folders are closed to us, open them and run it again."""
        status, out, errors = self.attempt(*arguments)
        if DENIED in errors:
            open_up(self.root)
            status, out, errors = self.attempt(*arguments)
        if status:
            raise self.failure(arguments[0], errors)
        return out

    def move_head(self, branch: str, commit: str) -> None:
        """Point HEAD at `branch` and that at `commit`; files stay as they are."""
        self.run("symbolic-ref", "HEAD", f"refs/heads/{branch}")
        self.run("update-ref", "HEAD", commit)

    def keep(self, run: str, commit: str) -> None:
        """Hold a run's last commit in a ref of ours: HEAD and its branch are anybody's to move."""
        self.run("update-ref", run_ref(run), commit)

    def abandon(self, folder: Path) -> None:
        """Forget a merge, rebase or the like that is under way, and locks of a killed git.

        `folder` is the `git_dir`. Nothing else may be working on this work tree.
        """
        for name in (*_UNDER_WAY, "index.lock", "HEAD.lock"):
            remove_tree(folder / name)

    def push(self, remote: str, branch: str) -> str:
        """Push a branch; what went wrong, or an empty string.

        From the main work tree, because a remote's relative address starts there.
        """
        main = str(self.worktrees()[0][0])
        command = ("-C", main, "push", "--quiet", remote, branch)
        status, _, errors = self.attempt(*command, seconds=PUSH_SECONDS)
        return "" if status == 0 else cause(errors)

    def add_worktree(self, path: Path, branch: str) -> None:
        """Check out a new branch at HEAD in a folder of its own."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.run("worktree", "add", "--quiet", "-b", branch, str(path), "HEAD")

    def remove_worktree(self, path: Path, branch: str) -> None:
        """Take back what `add_worktree` left where it failed half-way."""
        self.attempt("worktree", "remove", "--force", str(path))
        self.attempt("worktree", "prune")
        self.attempt("branch", "--quiet", "-D", branch)

    def beside(self, root: Path, before: Callable[[], None]) -> "Repository":
        """Another work tree; what keeps the ground of this one in order does it for both."""

        def both() -> None:
            self._before()
            before()

        return Repository(root, both)

    def take(self, commit: str) -> tuple[str, ...]:
        """Add what a commit changed to index and files, all of it or nothing.

        Returns the paths that are in its way, of which one may be "" where git names none.
        """
        tree = self.stage_all()
        if self.attempt("cherry-pick", "--no-commit", commit)[0] == 0:
            return ()
        paths = shown_paths(self.run("diff", "--name-only", "--diff-filter=U", "-z"))
        self.abandon(self.git_dir())
        self.restore_to(tree)
        return paths or ("",)

    def clone(self, target: Path) -> None:
        """A clone of HEAD with nothing of this repository's settings, other branches or tags."""
        self.run("clone", "--quiet", "--single-branch", "--no-tags", ".", str(target))

    def copy_of(self, commit: str, target: Path) -> "Repository":
        """A clone with a commit checked out, which shares nothing with this one and names it not.

        Hard links to the objects apart, which nobody changes.
        """
        self.run("clone", "--quiet", "--no-checkout", "--no-tags", ".", str(target))
        clone = Repository(target)
        clone.run("remote", "remove", "origin")
        clone.run("checkout", "--quiet", "--detach", commit)
        return clone

    def export(self, target: Path) -> None:
        """Write the index's files into a folder, without any history."""
        target.mkdir(parents=True, exist_ok=True)
        self.run("checkout-index", "--all", "--force", f"--prefix={target}/")
