"""Which folders a command may run in, as `cd` moves it."""

from foundry.permission.globs import known
from foundry.permission.resolved_path import Places

Folders = tuple[str, ...] | None
"""Absolute paths; None when it may be any folder."""


def either(one: Folders, other: Folders) -> Folders:
    """The folders of one or the other."""
    if one is None or other is None:
        return None
    return tuple(dict.fromkeys((*one, *other)))


def after_cd(words: tuple[str, ...], before: Folders, places: Places) -> Folders:
    """Where `cd` leads when it succeeds; anywhere for `pushd`, `popd` and `cd -`."""
    operands = [word for word in words[1:] if word not in ("-L", "-P", "-e", "--")]
    path = operands[0] if operands else places.home
    if words[0] != "cd" or len(operands) > 1 or path.startswith("-"):
        return None
    found = (place for folder in before or (None,) for place in places.find(folder, path))
    folders = tuple(dict.fromkeys(place.absolute for place in found))
    return folders if all(known(folder) for folder in folders) else None
