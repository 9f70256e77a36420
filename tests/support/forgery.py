"""What a forger does to a run's commits, with git alone."""

import json
import os
import subprocess
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

JOURNAL, EVIDENCE = ".context-foundry/journal.jsonl", ".context-foundry/evidence.json"

Line = dict[str, Any]


def rewrite(
    folder: Path,
    line: Callable[[Line], Line] = lambda line: line,
    evidence: Callable[[Line], Line] = lambda evidence: evidence,
) -> None:
    """All commits of the branch anew, with other lines and other evidence, the chain made whole."""
    lines: list[str] = []
    new: dict[str, str] = {}
    parent = ""
    for commit in _git(folder, "rev-list", "--reverse", "HEAD").split():
        _git(folder, "read-tree", commit)
        shown = _git(folder, "show", f"{commit}:{JOURNAL}").splitlines()[-1]
        told = line(json.loads(_renamed(shown, new)))
        link = sha256(lines[-1].encode()).hexdigest() if lines else ""
        if told["kind"] == "stop":
            proof = evidence(json.loads(_git(folder, "show", f"{commit}:{EVIDENCE}")))
            text = json.dumps({**proof, "chain": link, "follows": parent}, indent=2)
            text = _renamed(text, new)
            _put(folder, EVIDENCE, text + "\n")
        if lines:
            _put(folder, JOURNAL, "".join(each + "\n" for each in lines))
            told["tree"] = _git(folder, "write-tree").strip()
        told["previous"] = link
        lines.append(json.dumps(told, separators=(",", ":"), ensure_ascii=False))
        _put(folder, JOURNAL, "".join(each + "\n" for each in lines))
        message = _git(folder, "log", "-1", "--format=%B", commit).strip()
        own = sha256(lines[-1].encode()).hexdigest()
        message = "\n".join([*message.splitlines()[:-1], f"Foundry-Chain: {own}"])
        tree, above = _git(folder, "write-tree").strip(), ("-p", parent) if parent else ()
        parent = new[commit] = _git(folder, "commit-tree", tree, *above, "-m", message).strip()
    _git(folder, "reset", "--quiet", "--hard", parent)


def without(folder: Path, dropped: str) -> None:
    """The commits of the branch as they are, but for one."""
    dropped, parent = _git(folder, "rev-parse", dropped).strip(), ""
    for commit in _git(folder, "rev-list", "--reverse", "HEAD").split():
        if commit != dropped:
            message = _git(folder, "log", "-1", "--format=%B", commit).strip()
            above = ("-p", parent) if parent else ()
            tree = f"{commit}^{{tree}}"
            parent = _git(folder, "commit-tree", tree, *above, "-m", message).strip()
    _git(folder, "reset", "--quiet", "--hard", parent)


def _renamed(text: str, commits: dict[str, str]) -> str:
    for old, new in commits.items():
        text = text.replace(old, new)
    return text


def _put(folder: Path, path: str, text: str) -> None:
    blob = _git(folder, "hash-object", "-w", "--stdin", given=text).strip()
    _git(folder, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")


def _git(folder: Path, *arguments: str, given: str = "") -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, input=given.encode(), capture_output=True, check=True,
        env=dict(os.environ),
    )  # fmt: skip
    return done.stdout.decode()
