"""Can the checks fail? They are run over code that does nothing, and at least one has to notice.

Two runs: every function that was made or changed raises, then every one returns nothing. Where no
file has a function that can be hollowed, one run in which the changed files of code are empty.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from foundry.engine.evidence.edits import Hollowed, Lines, Mode, readable_sources, replaced
from foundry.engine.evidence.hollow import hollow
from foundry.engine.evidence.test_files import is_test_file
from foundry.schema.evidence import SHOWN_NAMES, HollowMode, HollowResult, HollowRun

MODES: tuple[Mode, ...] = ("raises", "returns")

NoticedBy = Callable[[], tuple[str, ...]]
"""Runs the checks in the tree and names those that no longer hold; it may stop at the first.

Hollow code can wait for ever: a check that had to be stopped noticed.
"""

_CODE = frozenset(
    """py pyw js mjs cjs jsx ts mts cts tsx vue svelte go rs java kt kts scala groovy clj cljs cs fs
    fsx vb c cc cpp cxx h hh hpp hxx m mm swift dart rb rake php pl pm lua r jl ex exs erl hs ml mli
    elm zig nim d pas f90 f95 v sv vhd sol cu wat asm s sh bash zsh ksh fish ps1 bat cmd awk tcl sql
    coffee cr""".split()  # noqa: SIM905
)


def can_fail(
    tree: Path,
    changed: Mapping[str, Lines],
    noticed_by: NoticedBy,
    commands: Iterable[str] = (),
) -> HollowResult:
    """Whether the checks notice that the changed code does nothing.

    `tree` is a disposable copy in which all checks have just held; `changed` are the lines of its
    files that the build made, `commands` those of the checks that test. Every file is put back
    byte for byte, also when `noticed_by` raises. Raises ProjectError when a file can't be written.
    """
    asked = tuple(commands)
    own = sorted(path for path in changed if not is_test_file(path, asked))
    own = own or sorted(path for path in changed if not is_test_file(path))
    sources = readable_sources(tree, own)
    runs = []
    for mode in MODES:
        hollowed = _hollowed(sources, changed, mode)
        contents = {path: each.text.encode() for path, each in hollowed.items()}
        names = [f"{path}:{name}" for path, each in hollowed.items() for name in each.names]
        runs += _run(tree, sources, contents, mode, names, noticed_by)
    if not runs:
        emptied = {path: b"" for path, data in sources.items() if is_code(path, data)}
        runs += _run(tree, sources, emptied, "emptied", tuple(emptied), noticed_by)
    if not runs:
        return HollowResult(state="nothing")
    noticed = all(run.noticed_by for run in runs)
    return HollowResult(state="noticed" if noticed else "unnoticed", runs=tuple(runs))


def is_code(path: str, data: bytes) -> bool:
    """Whether a file is run: by its suffix, or by its first line. Data, prose and markup are not.

    What is empty says nothing by being emptied.
    """
    suffix = PurePosixPath(path).suffix.lower().removeprefix(".")
    return bool(data.strip()) and (suffix in _CODE or data.startswith(b"#!"))


def _hollowed(
    sources: Mapping[str, bytes], changed: Mapping[str, Lines], mode: Mode
) -> dict[str, Hollowed]:
    found = {}
    for path, data in sources.items():
        try:
            text = data.decode()
        except UnicodeDecodeError:
            continue
        if each := hollow(path, text, changed[path], mode):
            found[path] = each
    return found


def _run(
    tree: Path,
    originals: Mapping[str, bytes],
    contents: Mapping[str, bytes],
    mode: HollowMode,
    names: Sequence[str],
    noticed_by: NoticedBy,
) -> list[HollowRun]:
    """One run of the checks; none where there is nothing to replace."""
    if not contents:
        return []
    with replaced(tree, originals, contents):
        noticed = noticed_by()
    shown = tuple(names[:SHOWN_NAMES])
    return [HollowRun(mode=mode, noticed_by=noticed, names=shown, count=len(names))]
