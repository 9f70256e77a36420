"""What a person asks for beside the task: whether it makes sense, and what follows. Pure."""

from collections.abc import Mapping, Sequence

from foundry.circular.partitions import parts_of
from foundry.circular.state_schema import Assignment
from foundry.errors import InputError

ROLES = ("builder", "doubter")
"""Whose threads circular.yaml has."""

MOST_MODELS = 8


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
    if len(names) > MOST_MODELS:
        raise InputError(f"--model names {len(names)} models, more than {MOST_MODELS}")
    return names


def role_models(models: Sequence[str]) -> dict[str, str]:
    """The models of a rotation by the roles in which they answer: `builder:2` is the second."""
    return {f"{role}:{place}": name for role in ROLES for place, name in enumerate(models, 1)}


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
