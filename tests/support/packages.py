"""Installed packages that bring parts: a distribution as pip leaves it, written by hand."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from foundry.plugins import GROUP


def install(site: Path, name: str, parts: Mapping[str, str]) -> None:
    """A package in the folder `site`: module:attribute by the name of the entry point."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    points = "\n".join(f"{part} = {target}" for part, target in parts.items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{points}\n")


def foundry(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, where what is in `site` is installed."""
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-m", "foundry", *arguments], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
