"""Installed packages that bring parts: distributions as pip leaves them, written by hand."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from foundry.plugins import GROUP, installed


@contextmanager
def installed_packages(
    site: Path, packages: Mapping[str, Mapping[str, str]], modules: Mapping[str, str]
) -> Iterator[None]:
    """In this process, as long as the context lasts: version 1.0 of `packages`.

    Each name has its entry points, module:attribute by SORT.NAME. `modules` are Python texts by
    name. All of it is written to the folder `site`.
    """
    for name, parts in packages.items():
        info = site / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        points = "\n".join(f"{part} = {target}" for part, target in parts.items())
        (info / "entry_points.txt").write_text(f"[{GROUP}]\n{points}\n")
    for name, text in modules.items():
        (site / f"{name}.py").write_text(text)
    sys.path.insert(0, str(site))
    installed.cache_clear()
    try:
        yield
    finally:
        sys.path.remove(str(site))
        installed.cache_clear()
        for name in modules:
            sys.modules.pop(name, None)
