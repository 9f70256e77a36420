"""What a project's manifests say of it: name, purpose, dependencies, commands, tools. Pure."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

_REQUIREMENT = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*")
_TARGET = re.compile(r"^([A-Za-z0-9][\w.-]*):(?!=)", re.M)
_GO_MODULE = re.compile(r"^module\s+(\S+)", re.M)
_GO_REQUIRE = re.compile(
    r"^\s*(?:require\s+)?([\w.-]+\.[\w./-]+)\s+v\S+(?!.*// indirect)\s*$", re.M
)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What one manifest says. `commands` are what a person runs, with what they stand for."""

    name: str = ""
    description: str = ""
    dependencies: tuple[str, ...] = ()
    commands: tuple[tuple[str, str], ...] = ()
    entries: tuple[tuple[str, str], ...] = ()
    """Programs that an installation provides, with where they begin."""
    tools: tuple[str, ...] = ()
    """Linters, type checkers, test runners that are configured here."""


def manifest(name: str, text: str) -> Manifest | None:
    """What the manifest of this file name says; None for no manifest, or one that is damaged."""
    reader = _READERS.get(name)
    if reader is None:
        return None
    try:
        return reader(text)
    except (ValueError, TypeError, AttributeError, KeyError, yaml.YAMLError):
        return None  # half-written manifests are ordinary; the rest of the project still tells


def _pyproject(text: str) -> Manifest:
    data = tomllib.loads(text)
    project, poetry = data.get("project", {}), data.get("tool", {}).get("poetry", {})
    needed = [str(each) for each in project.get("dependencies", ())]
    needed += [name for name in poetry.get("dependencies", {}) if name != "python"]
    scripts = {**project.get("scripts", {}), **poetry.get("scripts", {})}
    return Manifest(
        name=str(project.get("name") or poetry.get("name") or ""),
        description=str(project.get("description") or poetry.get("description") or ""),
        dependencies=_requirements(needed),
        entries=tuple((str(name), str(where)) for name, where in scripts.items()),
        tools=tuple(name for name in data.get("tool", {}) if name not in ("poetry", "hatch", "uv")),
    )


def _package_json(text: str) -> Manifest:
    data = json.loads(text)
    programs = data.get("bin", {})
    programs = {data.get("name", ""): programs} if isinstance(programs, str) else programs
    developing = data.get("devDependencies", {})
    known = ("eslint", "prettier", "typescript", "vitest", "jest", "mocha", "playwright", "vite")
    return Manifest(
        name=str(data.get("name", "")),
        description=str(data.get("description", "")),
        dependencies=tuple(data.get("dependencies", {})),
        commands=tuple((f"npm run {k}", str(v)) for k, v in data.get("scripts", {}).items()),
        entries=tuple((str(name), str(where)) for name, where in programs.items()),
        tools=tuple(name for name in developing if name.split("/")[-1] in known),
    )


def _cargo(text: str) -> Manifest:
    data = tomllib.loads(text)
    package: Mapping[str, Any] = data.get("package", {})
    workspace = data.get("workspace", {}).get("dependencies", {})
    return Manifest(
        name=str(package.get("name", "")),
        description=str(package.get("description", "")),
        dependencies=tuple({**workspace, **data.get("dependencies", {})}),
        commands=(("cargo build", ""), ("cargo test", "")),
        entries=tuple((str(b["name"]), str(b.get("path", ""))) for b in data.get("bin", ())),
    )


def _go_mod(text: str) -> Manifest:
    module = _GO_MODULE.search(text)
    return Manifest(
        name=module[1] if module else "",
        dependencies=tuple(_GO_REQUIRE.findall(text)),
        commands=(("go build ./...", ""), ("go test ./...", "")),
    )


def _requirements_txt(text: str) -> Manifest:
    return Manifest(dependencies=_requirements(text.splitlines()))


def _makefile(text: str) -> Manifest:
    targets = [each for each in _TARGET.findall(text) if not each.startswith(".")]
    return Manifest(commands=tuple((f"make {each}", "") for each in dict.fromkeys(targets)))


def _compose(text: str) -> Manifest:
    services = (yaml.safe_load(text) or {}).get("services", {})
    return Manifest(commands=(("docker compose up", ", ".join(map(str, services))),))


def _requirements(lines: Any) -> tuple[str, ...]:
    found = (_REQUIREMENT.match(str(line).strip()) for line in lines)
    return tuple(match[0] for match in found if match)


_READERS: dict[str, Callable[[str], Manifest]] = {
    "pyproject.toml": _pyproject,
    "package.json": _package_json,
    "Cargo.toml": _cargo,
    "go.mod": _go_mod,
    "requirements.txt": _requirements_txt,
    "Makefile": _makefile,
    "docker-compose.yml": _compose,
    "compose.yaml": _compose,
}

NAMES = tuple(_READERS)
"""The file names that are read as manifests."""
