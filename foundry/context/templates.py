"""Prompts from Jinja2 templates. A name that a template uses and nobody gives is an error.

A workflow's own templates stand beside its document and come first; the shipped ones follow. They
are rendered in Jinja's sandbox: a template reads its values, and can do nothing else.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from foundry.config import resources
from foundry.errors import WorkflowError
from foundry.schema.messages import Block, text_block

if TYPE_CHECKING:
    from jinja2 import BaseLoader, Environment, Undefined

CACHE_MARK = "<!-- cache -->"
"""A line in a template: what stands above is the same for several conversations."""

_CLOSING = re.compile(r"<\s*/\s*data", re.IGNORECASE)

MOST_MARKS = 2
"""The API takes four cache breakpoints: one is the system prompt's, one the last message's."""


def render(
    template: str, values: Mapping[str, Any], folder: Path | None = None
) -> tuple[Block, ...]:
    """The template's text as blocks, one per part between cache marks.

    `folder` is where the workflow's own templates are. Models among the values become plain data:
    a template gets no methods to call. Raises WorkflowError when the template is missing, is no
    template, or fails on these values.
    """
    from jinja2 import TemplateError

    data = {name: v.model_dump() if isinstance(v, BaseModel) else v for name, v in values.items()}
    try:
        text = _environment(folder).get_template(template).render(data)
    except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise WorkflowError(
            f"the prompt template {template} failed: {_message(error)}",
            hint="Mend the template; then `foundry resume`" if folder else "",
        ) from error
    parts = [part.strip() for part in text.split(f"\n{CACHE_MARK}\n", MOST_MARKS)]
    *shared, last = [part for part in parts if part] or ["(nothing)"]
    return (*(text_block(part, cache=True) for part in shared), text_block(last))


def template_problems(template: str, folder: Path | None = None) -> Iterator[str]:
    """Why a template can't be used: it or one that it includes is missing, or is no template."""
    from jinja2 import TemplateSyntaxError, meta

    environment, waiting, seen = _environment(folder), [template], set[str]()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        try:
            path = _locate(name, folder)
            if path is None:
                yield _missing(name, folder)
                continue
            tree = environment.parse(_read(path))
        except WorkflowError as error:
            yield str(error)
        except TemplateSyntaxError as error:
            yield f"{name} is no Jinja2 template: line {error.lineno}: {error.message}"
        else:
            named = (each for each in meta.find_referenced_templates(tree) if each)
            waiting += [each for each in named if each not in seen]


def as_data(text: object, name: object) -> str:
    """Delimit what comes from files, commands or models, so that it reads as data.

    The closing tag can't occur inside: content that holds it, in whatever case and spacing, is
    defused. A name (of a file, perhaps) stays within its quotes and on its line. Whatever delimits
    data for a prompt does it by this function.
    """
    defused = _CLOSING.sub(r"<\\/data", str(text))
    return f'<data name="{_named(str(name))}">\n{defused.strip()}\n</data>'


def _named(name: str) -> str:
    plain = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in name)
    return plain.replace('"', "'").replace("<", "(").replace(">", ")")


def _locate(template: str, folder: Path | None) -> Path | None:
    """The template's file; raises WorkflowError for one outside of both folders."""
    wanted = PurePosixPath(template)
    outside = wanted.is_absolute() or ".." in wanted.parts or "\\" in template or "\0" in template
    for root in () if outside else (folder, resources("prompts")):
        path = root / wanted if root else None
        if root and path and path.is_file():
            outside = not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))
            if not outside:
                return path
            break
    if outside:
        raise WorkflowError(
            f"the template {template!r} is outside of the workflow's folder",
            hint="Name a file below the folder of the workflow",
        )
    return None


def _missing(template: str, folder: Path | None) -> str:
    where = f"in {folder} nor " if folder else ""
    return f"there is no template {template!r} {where}among the shipped ones"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise WorkflowError(f"cannot read the template {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise WorkflowError(f"the template {path} is not UTF-8 text") from error


def make_environment(loader: "BaseLoader", undefined: "type[Undefined]") -> "Environment":
    """How every template is rendered: in Jinja's sandbox, with the filter `data`."""
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    made = ImmutableSandboxedEnvironment(
        loader=loader,
        undefined=undefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    made.filters["data"] = as_data
    return made


@lru_cache(maxsize=4)
def _environment(folder: Path | None) -> "Environment":
    from jinja2 import FunctionLoader, StrictUndefined, TemplateNotFound

    def load(template: str) -> tuple[str, str, Callable[[], bool]]:
        path = _locate(template, folder)
        if path is None:
            raise TemplateNotFound(template, _missing(template, folder))
        written = _written(path)
        return _read(path), str(path), lambda: _written(path) == written

    return make_environment(FunctionLoader(load), StrictUndefined)


def _written(path: Path) -> int:
    return path.stat().st_mtime_ns if path.is_file() else 0


def _message(error: Exception) -> str:
    return str(error).rstrip(".") or type(error).__name__
