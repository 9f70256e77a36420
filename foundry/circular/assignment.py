"""What a person asks for: prompt, base context and settings; read, checked and found unchanged.

The assignment is journalled with hashes, and intact() compares them before every iteration.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from foundry.circular.partitions import parts_of
from foundry.circular.schema import MESSAGE, Assignment, BaseContext, Settings, Source
from foundry.engine.workspace import check_spec
from foundry.errors import ArtifactError, InputError
from foundry.schema.base import Value
from foundry.store.project import FOLDER
from foundry.workflow.parsing import read_yaml
from foundry.workflow.problem import did_you_mean, json_path, value_text

JOURNAL = f"{FOLDER}/journal.jsonl"

SUFFIXES = (".md", ".txt", ".j2", ".prompt")
"""A PROMPT of one word that ends like this is meant to be a file."""

DEFAULTS = Settings()

MAX_PATH = 4_096
"""Bytes of the longest path that is looked for."""


@dataclass(frozen=True, slots=True)
class Given:
    """A text and the file that it came from, empty where it was typed."""

    text: str
    file: str = ""


def assigned(
    prompt: str,
    *,
    prompt_file: str = "",
    context: Given | None = None,
    confirmations: int = 1,
    commit: bool = True,
    message: str = MESSAGE,
    checked: bool = False,
    settings: Settings = DEFAULTS,
) -> Assignment:
    """The assignment; raises ArtifactError for a base context that does not fit its schema."""
    base = parse_base_context(context.text, context.file) if context else None
    return Assignment(
        prompt=prompt,
        prompt_source=Source(file=prompt_file, sha256=fingerprint(prompt)),
        base_context=base,
        context_source=Source(file=context.file, sha256=fingerprint(base)) if context and base
        else None,
        confirmations=confirmations,
        commit=commit,
        message=message,
        checked=checked,
        settings=settings,
    )  # fmt: skip


def given_prompt(words: str) -> Given:
    """PROMPT: the text of a file, where it names one, or else the words themselves.

    Raises InputError for a file that is not there or can't be read.
    """
    short = len(words.encode(errors="surrogatepass")) <= MAX_PATH
    if short and "\n" not in words and "\0" not in words:
        path = Path(words).expanduser()
        if path.is_file():
            return given_file(path, "the prompt")
        if path.suffix in SUFFIXES and len(words.split()) == 1:
            raise InputError(f"there is no file {words}", hint="Name a file, or say it in words")
    return Given(words.strip())


def given_file(path: Path, what: str) -> Given:
    """A file of the person's; raises InputError when it can't be read."""
    try:
        text = path.expanduser().read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(
            f"cannot read {what} from {path}: {error.strerror}", hint="Name a text file that exists"
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{what} in {path} is not UTF-8 text (byte {error.start})", hint="Save it as UTF-8"
        ) from error
    if not text.strip():
        raise InputError(f"{what} in {path} is empty", hint="Say what is wanted")
    return Given(text.strip(), str(path.expanduser().resolve()))


def changed_since(assignment: Assignment) -> tuple[str, ...]:
    """Which of the person's files say something else now, or say nothing any more."""
    readers = (
        (assignment.prompt_source, lambda file: given_file(file, "the prompt").text),
        (assignment.context_source, _given_context),
    )
    changed = []
    for source, reader in readers:
        if source and source.file:
            try:
                now = fingerprint(reader(Path(source.file)))
            except (InputError, ArtifactError):
                now = ""
            if now != source.sha256:
                changed.append(source.file)
    return tuple(changed)


def reread(assignment: Assignment) -> Assignment:
    """The assignment with what its files say now; raises InputError or ArtifactError."""
    prompt, context = assignment.prompt_source, assignment.context_source
    text = assignment.prompt
    if prompt.file:
        text = check_spec(given_file(Path(prompt.file), "the prompt").text)
    base, source = assignment.base_context, context
    if context and context.file:
        base = _given_context(Path(context.file))
        source = Source(file=context.file, sha256=fingerprint(base))
    return assignment.model_copy(
        update={
            "prompt": text,
            "prompt_source": Source(file=prompt.file, sha256=fingerprint(text)),
            "base_context": base,
            "context_source": source,
        }
    )


def _given_context(path: Path) -> BaseContext:
    given = given_file(path, "the base context")
    return parse_base_context(given.text, given.file)


def changes_notice(assignment: Assignment) -> str:
    """What to say of files that changed while the run goes on; nothing where none did."""
    changed = changed_since(assignment)
    if not changed:
        return ""
    return (
        f"{' and '.join(changed)} changed since the run began: it goes on with what it began "
        "with; `foundry circular resume --accept-changes` takes the new text"
    )


def tampered(field: str) -> ArtifactError:
    """The error for a text in the journal that is not the one that was written there."""
    return ArtifactError(
        JOURNAL,
        field,
        "its hash is not the one that was journalled with it: somebody changed it",
        hint=f"`git log -p -- {JOURNAL}` shows where; begin a new run with what you want",
    )


def intact(assignment: Assignment) -> Assignment:
    """The assignment; raises ArtifactError when its prompt or base context is not what it was."""
    if fingerprint(assignment.prompt) != assignment.prompt_source.sha256:
        raise tampered("circular_assignment.prompt")
    context, source = assignment.base_context, assignment.context_source
    if (context and fingerprint(context)) != (source and source.sha256):
        raise tampered("circular_assignment.base_context")
    return assignment


# -- the base context ------------------------------------------------------------------------------

_NAMES = {"migration_history": "history", "task_objective": "objective"}
"""The seed's own names of fields, and what they are here."""

_HINT = (
    "A base context has project (name), objective (primary), and may have history, constraints "
    "and parts"
)


def parse_base_context(text: str, file: str) -> BaseContext:
    """The base context in a YAML text; raises ArtifactError that names `file`, field and reason."""
    read = read_yaml(text, dates=True)
    if read.findings:
        first = read.findings[0]
        raise ArtifactError(file, _field(first.loc), first.message, hint=_HINT)
    raw = read.value
    if isinstance(raw, dict) and list(raw) == ["base_context"]:
        raw = raw["base_context"]
    if not isinstance(raw, dict):
        raise ArtifactError(file, "", f"is {value_text(raw)} and no base context", hint=_HINT)
    return _validated(_renamed(raw, file), file)


def fingerprint(value: Value | str) -> str:
    """The SHA-256 of a text or a value, to notice that it changed between iterations."""
    text = value if isinstance(value, str) else value.model_dump_json()
    return sha256(text.encode()).hexdigest()


def _renamed(raw: Mapping[str, Any], file: str) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in raw.items():
        name = _NAMES.get(key, key)
        if name in result:
            raise ArtifactError(file, key, f"is given twice: it is the same as {name!r}")
        result[name] = value
    return result


def _validated(raw: dict[str, Any], file: str) -> BaseContext:
    try:
        return BaseContext.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        loc = tuple(first["loc"])
        raise ArtifactError(file, _field(loc), _reason(first, loc), hint=_HINT) from error


def _field(loc: tuple[str | int, ...]) -> str:
    return json_path(loc).removeprefix("$").removeprefix(".")


def _reason(first: Mapping[str, Any], loc: tuple[str | int, ...]) -> str:
    match first["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            known = BaseContext.model_fields if len(loc) == 1 else ()
            return "is no field of a base context" + did_you_mean(str(loc[-1]), tuple(known))
    return f"{str(first['msg']).removeprefix('Value error, ')} (it is {value_text(first['input'])})"


def context_text(context: BaseContext | None) -> str:
    """The base context in words."""
    if context is None:
        return ""
    project, history = context.project, context.history
    lines = [": ".join(each for each in ("Project", project.name, project.description) if each)]
    if project.tech_stack:
        lines.append(f"Stack: {', '.join(project.tech_stack)}")
    if history:
        way = " → ".join(each for each in (history.origin, history.target) if each)
        about = ", ".join(each for each in (way, history.completion, history.timestamp) if each)
        lines += [f"History: {about}"] if about else []
        lines += [f"- {note}" for note in history.notes]
    lines.append(f"Objective: {context.objective.primary}")
    if context.objective.secondary:
        lines.append(f"Also: {context.objective.secondary}")
    if context.constraints:
        lines += ["Constraints:", *(f"- {each}" for each in context.constraints)]
    for part in context.parts:
        where = f" ({', '.join(part.paths)})" if part.paths else ""
        lines.append(f"Part {part.id}: {part.title}{where}. {part.details}".rstrip(" ."))
    return "\n".join(lines)


# -- settings --------------------------------------------------------------------------------------

ROLES = ("builder", "doubter")
"""Whose threads circular.yaml has."""

MAX_MODELS = 8


def models_in(text: str | None) -> tuple[str, ...]:
    """The models of `--model A,B,...`, as they were given; raises InputError for what is none."""
    if text is None:
        return ()
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise InputError(f"--model {text!r} has an empty name", hint="Like --model A,B")
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        raise InputError(f"--model names {twice} twice", hint="Name each model once")
    if len(names) > MAX_MODELS:
        raise InputError(f"--model names {len(names)} models, more than {MAX_MODELS}")
    return names


def models_in_turn(models: Sequence[str]) -> dict[str, str]:
    """Several models by the roles in which they answer: `builder:2` is the second.

    Nothing for one alone, which is the model of every thread.
    """
    if len(models) < 2:
        return {}
    return {f"{role}:{rank}": name for role in ROLES for rank, name in enumerate(models, 1)}


def check_roles(models: Sequence[str], given: Mapping[str, str]) -> None:
    """Raise InputError where one role has both a model of its own and several in turn."""
    if len(models) > 1 and (twice := next((role for role in ROLES if role in given), "")):
        raise InputError(
            f"--model names several models, and --model-for one of them for {twice}",
            hint="Leave one of the two out",
        )


def check_settings(assignment: Assignment) -> None:
    """Raise InputError for settings that could never come into effect."""
    settings = assignment.settings
    parts, source = parts_of(assignment.base_context, assignment.prompt)
    if settings.parallel > 1 and len(parts) < 2:
        raise InputError(
            f"--parallel {settings.parallel}: there are {len(parts)} parts in {source}, and nothing"
            " to work on side by side",
            hint="Name parts: in the base context, or items `- [ ] ...` or globs, one a line, in "
            "the prompt",
        )
    if settings.progressive and assignment.base_context is None:
        raise InputError(
            "--progressive shrinks the base context, and there is none",
            hint="Give one with --context FILE.yaml",
        )
