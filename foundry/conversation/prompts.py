"""Prompts from Jinja2 templates. A name that a template uses and nobody gives is an error."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foundry.config import resources
from foundry.errors import WorkflowError
from foundry.schema.messages import Block, text_block

if TYPE_CHECKING:
    from jinja2 import Environment

CACHE_MARK = "<!-- cache -->"
"""A line in a template: what stands above is the same for several conversations."""


def render(template: str, values: Mapping[str, Any]) -> tuple[Block, ...]:
    """The template's text as blocks, one per part between cache marks."""
    from jinja2 import TemplateError

    try:
        text = _environment(resources("prompts")).get_template(template).render(values)
    except TemplateError as error:
        raise WorkflowError(f"the prompt template {template} failed: {error}") from error
    parts = [part.strip() for part in text.split(f"\n{CACHE_MARK}\n")]
    *shared, last = [part for part in parts if part]
    return (*(text_block(part, cache=True) for part in shared), text_block(last))


def as_data(text: str, name: str) -> str:
    """Delimit what comes from files, commands or models, so that it reads as data.

    The closing tag can't occur inside: content that holds it is defused.
    """
    defused = text.replace("</data", "<\\/data")
    return f'<data name="{name}">\n{defused.strip()}\n</data>'


@lru_cache(maxsize=4)
def _environment(folder: Path) -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    environment.filters["data"] = as_data
    return environment
