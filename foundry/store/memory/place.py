"""Where a project's memory lies: one for all runs of the project, never committed."""

from pathlib import Path

from foundry.store.project import FOLDER

NAME = "memory.db"
_BESIDE = ".foundry"
"""Ends the name of the folder beside a repository that its runs' work trees are in."""


def memory_path(root: Path) -> Path:
    """The memory of the project that a folder or a run's work tree belongs to.

    It is in `.context-foundry/local/`. A repository that was never built in has no such folder and
    keeps its files as they are: there it is beside it, with the work trees of the runs.
    """
    linked = root.parent.name.endswith(_BESIDE) and (root / ".git").is_file()
    main = root.parent.with_name(root.parent.name.removesuffix(_BESIDE)) if linked else root
    within = main / FOLDER / "local" / NAME
    beside = main.parent / (main.name + _BESIDE) / NAME
    for path in (within, beside):
        if path.exists():
            return path
    return beside if linked and not (main / FOLDER).is_dir() else within


def nearest(folder: Path) -> Path:
    """The memory of the project that a folder is in; where none has one, its own place for it."""
    for each in (folder, *folder.parents):
        path = memory_path(each)
        if path.exists():
            return path
    return memory_path(folder)
