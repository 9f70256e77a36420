"""The index between calls: files in the user's cache folder, replaced whole, checked when read.

The format is marshal, because it loads two to six times as fast as JSON; a digest in front makes
sure that only what was written here is ever loaded. Whatever is damaged or of another version is
as good as missing.
"""

import hashlib
import marshal
import os
import re
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

VERSION = 1
"""Of everything that is stored; raise it when the meaning of any of it changes."""
_MAGIC = f"foundry retrieval {VERSION} {sys.implementation.cache_tag} {sys.byteorder}\n".encode()
_DIGEST = 16
_UNUSED_DAYS = 30
_OURS = re.compile(r"[0-9a-f]{24}\.(index|facts)")


def folder() -> Path:
    """Where indexes are kept."""
    if named := os.environ.get("RETRIEVAL_CACHE_DIR"):
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "foundry" / "retrieval"


def file_for(root: Path, part: str) -> Path:
    """The file that keeps one part of what is known of a project."""
    name = hashlib.blake2b(os.fsencode(os.path.realpath(root)), digest_size=12).hexdigest()
    return folder() / f"{name}.{part}"


def load(path: Path) -> Any:
    """What was saved; None when there is nothing, or nothing that can be trusted."""
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    begin = len(_MAGIC) + _DIGEST
    body = memoryview(raw)[begin:]
    if raw[: len(_MAGIC)] != _MAGIC or raw[len(_MAGIC) : begin] != _digest(body):
        return None
    return marshal.loads(body)


def save(path: Path, value: Any) -> None:
    """Keep plain values; a full or read-only disk only means that nothing is kept."""
    body = marshal.dumps(value)
    new = path.with_name(f"{path.name}.{os.getpid()}.{time.monotonic_ns()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new.write_bytes(_MAGIC + _digest(body) + body)
        new.replace(path)
    except OSError:
        with suppress(OSError):
            new.unlink(missing_ok=True)


def tidy() -> None:
    """Remove what no call has renewed for long, half-written files among it."""
    oldest = time.time() - _UNUSED_DAYS * 86400
    try:
        for each in folder().iterdir():
            if _OURS.match(each.name) and each.stat().st_mtime < oldest:
                each.unlink(missing_ok=True)
    except OSError:
        return  # somebody else is tidying


def _digest(body: bytes | memoryview) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST).digest()
