"""Workflow documents from disk: YAML or JSON, validated; by path or by name."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from foundry import config
from foundry.errors import WorkflowError
from foundry.schema.workflow import Workflow
from foundry.workflow.parsing import MAX_BYTES, TOO_LARGE, Plain, read_text
from foundry.workflow.problem import Finding, Problem, did_you_mean
from foundry.workflow.validate import problems, sorted_problems, validated_workflow

BUILTIN = Path(__file__).parent / "builtin"
SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class Source:
    """A document that there is, and what it says of itself; `problem` where it can't be read."""

    id: str
    name: str
    description: str
    version: str
    path: Path
    origin: Literal["builtin", "user", "file"]
    problem: str = ""


def read(path: Path) -> dict[str, Any]:
    """The object in a file; raises WorkflowError when its text says it badly."""
    found = _read(path)
    if found.findings or not isinstance(found.value, dict):
        wrong = _examined(found, strict=False, names=())
        raise _invalid(str(path), tuple(each for each in wrong if each.level == "error"))
    found.value.pop("$schema", None)  # for editors
    return found.value


def parse(raw: object, where: str) -> Workflow:
    """The workflow of a document, its bodies inline; raises WorkflowError with its errors."""
    workflow, errors = validated_workflow(raw)
    if workflow is None:
        raise _invalid(where, errors)
    return workflow.resolved()


def load(path: Path) -> Workflow:
    """The workflow in a file, its bodies inline; raises WorkflowError with its errors."""
    return parse(read(path), str(path))


def examine(
    path: Path, *, strict: bool = False, names: Collection[str] = ()
) -> tuple[Problem, ...]:
    """Everything that is wrong with a file, warnings too; raises WorkflowError: unreadable."""
    return _examined(_read(path), strict=strict, names=names)


def examine_text(
    text: str, *, json: bool, strict: bool = False, names: Collection[str] = ()
) -> tuple[Problem, ...]:
    """Everything that is wrong with the text of a document, warnings too."""
    return _examined(read_text(text, json=json), strict=strict, names=names)


@lru_cache
def builtin(name: str) -> Workflow:
    """A workflow that ships with Foundry; raises WorkflowError for a name that none has."""
    known = {path.stem: path for path in _documents(BUILTIN)}
    if name not in known:
        raise WorkflowError(
            f"no workflow {name!r} ships with Foundry", hint=f"There are: {', '.join(known)}"
        )
    return load(known[name])


def find(name_or_path: str) -> Source:
    """The document of this name, or in this file; raises WorkflowError that lists what there is.

    A name is the user's own before it is a built-in one, and a name before it is a file, so that
    a folder or file called `build` does not stand in the way.
    """
    path = Path(name_or_path)
    is_path = path.suffix in SUFFIXES or len(path.parts) > 1
    sources = () if is_path and path.is_file() else library()
    for source in sources:
        if name_or_path in (source.id, source.path.stem):
            return source
    if path.is_file():
        return _source(path, "file")
    known = sorted({source.id for source in sources})
    what = f"there is no file {name_or_path!r}" if is_path else f"no workflow {name_or_path!r}"
    raise WorkflowError(
        what + did_you_mean(name_or_path, known),
        hint=f"There are: {', '.join(known)}. Your own go to {_user_folder()}, or name a file",
    )


def library() -> tuple[Source, ...]:
    """The workflows that have a name: the user's own, then the built-in ones."""
    own = [_source(path, "user") for path in _documents(_user_folder())]
    return (*own, *(_source(path, "builtin") for path in _documents(BUILTIN)))


def fingerprint(workflow: Workflow) -> str:
    """A hash of what a workflow does, to notice that it changed under a run."""
    return sha256(workflow.model_dump_json().encode()).hexdigest()[:16]


def _user_folder() -> Path:
    return config.home() / "workflows"


def _documents(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES and path.is_file())


def _source(path: Path, origin: Literal["builtin", "user", "file"]) -> Source:
    try:
        raw = read(path)
    except WorkflowError as error:
        return Source(path.stem, path.name, "", "", path, origin, problem=error.message)
    about = {key: raw[key] if isinstance(raw.get(key), str) else ""
            for key in ("id", "name", "description", "version")}  # fmt: skip
    return Source(**{**about, "id": about["id"] or path.stem}, path=path, origin=origin)


def _read(path: Path) -> Plain:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise WorkflowError(
            f"cannot read {path}: {error.strerror}", hint="Name a YAML or JSON file that exists"
        ) from error
    if len(data) > MAX_BYTES:
        return Plain(None, [TOO_LARGE])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"is not UTF-8 text (byte {error.start}): save it as UTF-8"
        return Plain(None, [Finding((), what)])
    return read_text(text, json=path.suffix == ".json")


def _examined(read: Plain, *, strict: bool, names: Collection[str]) -> tuple[Problem, ...]:
    text = sorted_problems(read.value, read.findings)
    if read.value is None and text:
        return text
    seen = {each.path for each in text}
    document = [each for each in problems(read.value, strict=strict, names=names)
                if each.path not in seen]  # fmt: skip
    errors = [each for each in document if each.level == "error"]
    return (*text, *errors, *(each for each in document if each.level != "error"))


def _invalid(where: str, errors: tuple[Problem, ...]) -> WorkflowError:
    lines = "".join(f"\n  {each}" for each in errors)
    return WorkflowError(f"{where} is not a valid workflow:{lines}")
