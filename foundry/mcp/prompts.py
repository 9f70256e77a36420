"""The phase prompts as MCP prompts: what Foundry tells its own models, to read or to use.

What is not given stays visible as `{{ name }}`; nothing of a template is hidden for want of a
value. The templates are ours; what is filled in is only ever data, delimited as in a conversation.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import ChainableUndefined, Environment, FileSystemLoader, TemplateError, meta

from foundry.config import resources
from foundry.context.templates import CACHE_MARK, make_environment
from foundry.mcp.messages import Refusal
from foundry.schema.workflow import Step

JSON_BEGINS = ("{", "[")


@dataclass(frozen=True, slots=True)
class PhasePrompt:
    """A template by its public name, what it is for, and the names that it fills in."""

    name: str
    template: str
    description: str
    arguments: tuple[str, ...]


def prompt_name(template: str) -> str:
    """`build/scout.md.j2` is the prompt `build-scout`."""
    return template.removesuffix(".j2").removesuffix(".md").replace("/", "-")


def engine_step_text(step: Step) -> str:
    """Where the words are of a step that is made for Foundry's own engine, for other readers."""
    if step.prompt:
        return ""
    if step.template:
        return f"What is to be done says the MCP prompt {prompt_name(step.template)!r}."
    return f"Foundry itself does this when it runs the workflow: {step.title} ({step.action})."


def prompts() -> tuple[PhasePrompt, ...]:
    """All of them, by name."""
    return _all(resources("prompts"))


def render(name: str, arguments: Mapping[str, str]) -> str:
    """A prompt with what is given; raises Refusal for a name or an argument that does not exist."""
    known = {each.name: each for each in prompts()}
    if name not in known:
        hint = f"There are {', '.join(known)}"
        raise Refusal("unknown-prompt", f"there is no prompt {name!r}", hint=hint)
    wrong = sorted(set(arguments) - set(known[name].arguments))
    if wrong:
        hint = f"It takes {', '.join(known[name].arguments)}"
        raise Refusal("invalid-arguments", f"{name} does not take {', '.join(wrong)}", hint=hint)
    values = {key: _value(text) for key, text in arguments.items()}
    try:
        text = _environment(resources("prompts")).get_template(known[name].template).render(values)
    except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
        hint = "Objects and lists are given as JSON; leave out what you don't have"
        raise Refusal("invalid-arguments", f"{name}: {error}", hint=hint) from error
    lines = (line for line in text.split("\n") if line != CACHE_MARK)
    return "\n".join(lines).strip() + "\n"


class Placeholder(ChainableUndefined):
    """What was not given: shown as its own name, true where it is asked for, a list of one."""

    unsafe_callable = alters_data = False  # what the sandbox asks before it calls something

    def __str__(self) -> str:
        return "{{ " + str(self._undefined_name) + " }}"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._child(f".{name}")

    def __getitem__(self, key: Any) -> Any:
        return self._child(f"[{key}]")

    def __call__(self, *_args: Any, **_kwargs: Any) -> Any:
        """What a method of it would give."""
        return self._child("()")

    def __iter__(self) -> Iterator[Any]:
        name = str(self._undefined_name)
        if name.endswith(".items()"):
            base = name.removesuffix(".items()")
            yield Placeholder(name=f"{base}.name"), Placeholder(name=base)
        else:
            yield self._child("[…]")

    def __len__(self) -> int:
        return 1

    def __bool__(self) -> bool:
        return True

    def __gt__(self, _other: object) -> bool:  # type: ignore[override]
        return False

    def _child(self, part: str) -> "Placeholder":
        return Placeholder(name=f"{self._undefined_name}{part}")


def _value(text: str) -> Any:
    """An argument is text; an object or a list is its JSON."""
    if text.lstrip().startswith(JSON_BEGINS):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


@lru_cache(maxsize=2)
def _all(folder: Path) -> tuple[PhasePrompt, ...]:
    environment = _environment(folder)
    names = (path.relative_to(folder).as_posix() for path in sorted(folder.glob("*/*.j2")))
    return tuple(_described(environment, name) for name in names if "/_" not in name)


def _described(environment: Environment, template: str) -> PhasePrompt:
    source = _source(environment, template)
    spoken = (line for line in source.splitlines() if line.startswith("You are "))
    about = next(spoken, f"What Foundry tells its models by the template {template}.")
    return PhasePrompt(
        prompt_name(template), template, about, tuple(sorted(_names(environment, template)))
    )


def _names(environment: Environment, template: str) -> set[str]:
    """What a template fills in, its parts included."""
    tree = environment.parse(_source(environment, template))
    parts = (each for each in meta.find_referenced_templates(tree) if each)
    found: set[str] = set(meta.find_undeclared_variables(tree))
    return found.union(*(_names(environment, each) for each in parts))


def _source(environment: Environment, template: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, template)[0]


@lru_cache(maxsize=2)
def _environment(folder: Path) -> Environment:
    return make_environment(FileSystemLoader(folder), Placeholder)
