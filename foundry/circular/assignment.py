"""From what a person gave to the assignment of a run, and whether they changed it since."""

from dataclasses import dataclass
from pathlib import Path

from foundry.circular.base_context import fingerprint, parse_base_context
from foundry.circular.state_schema import MESSAGE, Assignment, Settings, Source
from foundry.engine.workspace import check_spec
from foundry.errors import ArtifactError, InputError

SUFFIXES = (".md", ".txt", ".j2", ".prompt")
"""A PROMPT of one word that ends like this is meant to be a file."""

DEFAULTS = Settings()

MOST = 4_096
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
    """PROMPT: the text of a file, where it names one, or else the words themselves."""
    short = len(words.encode(errors="surrogatepass")) <= MOST
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
    changed = []
    source = assignment.prompt_source
    if source.file and _prompt_now(source.file) != source.sha256:
        changed.append(source.file)
    base = assignment.context_source
    if base and base.file and _context_now(base.file) != base.sha256:
        changed.append(base.file)
    return tuple(changed)


def taken_anew(assignment: Assignment) -> Assignment:
    """The assignment with what its files say now; raises InputError or ArtifactError."""
    prompt, context = assignment.prompt_source, assignment.context_source
    text = assignment.prompt
    if prompt.file:
        text = check_spec(given_file(Path(prompt.file), "the prompt").text)
    base, source = assignment.base_context, context
    if context and context.file:
        given = given_file(Path(context.file), "the base context")
        base = parse_base_context(given.text, given.file)
        source = Source(file=given.file, sha256=fingerprint(base))
    return assignment.model_copy(
        update={
            "prompt": text,
            "prompt_source": Source(file=prompt.file, sha256=fingerprint(text)),
            "base_context": base,
            "context_source": source,
        }
    )


def notice(assignment: Assignment) -> str:
    """What to say of files that changed while the run goes on; nothing where none did."""
    changed = changed_since(assignment)
    if not changed:
        return ""
    return (
        f"{' and '.join(changed)} changed since the run began: it goes on with what it began "
        "with; `foundry circular resume --accept-changes` takes the new text"
    )


def _prompt_now(file: str) -> str:
    try:
        return fingerprint(given_file(Path(file), "the prompt").text)
    except InputError:
        return ""


def _context_now(file: str) -> str:
    try:
        given = given_file(Path(file), "the base context")
        return fingerprint(parse_base_context(given.text, given.file))
    except (InputError, ArtifactError):
        return ""
