"""What `foundry doctor` looks at: what a build needs of this machine, each with the fix."""

import json
import os
import platform
import shutil
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from foundry.config import home
from foundry.errors import FoundryError, InputError, ProjectError
from foundry.model.endpoint import PLACEHOLDER, has_model, needs_placeholder, require_loopback
from foundry.model.pool import DEFAULT, split, usable
from foundry.report import units
from foundry.report.run_lines import confinement
from foundry.sandbox.base import promise
from foundry.schema.base import Value
from foundry.schema.run import RunOptions
from foundry.store.git.command import version
from foundry.store.git.repository import Repository

ANTHROPIC = "https://api.anthropic.com"
SECONDS = 5.0
MOST_BYTES = 1_000_000
OLDEST_PYTHON = (3, 11)
OLDEST_GIT = (2, 30)
LOW_DISK = 1_000_000_000

NO_MODEL = (
    "set ANTHROPIC_API_KEY, or name your own server (--base-url http://localhost:11434 --model "
    "NAME), or try `foundry demo`, which needs no model"
)
KEY_FIX = "check ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN): https://platform.claude.com"


class Row(Value):
    """What was found: `fix` says what to do, empty where nothing is to be done."""

    name: str
    state: Literal["ok", "warn", "fail"]
    what: str
    fix: str = ""


def check_up(model: str, base_url: str, folder: Path) -> Iterator[Row]:
    """Every row, as its result comes in."""
    yield python_row()
    yield git_row()
    yield home_row()
    yield identity_row(folder)
    yield disk_row(folder)
    yield sandbox_row(RunOptions().sandbox)
    yield model_row(model, base_url)
    yield gh_row()


def python_row() -> Row:
    """The interpreter."""
    what = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info < OLDEST_PYTHON:
        return Row(name="python", state="fail", what=what, fix="install Python 3.11 or newer")
    return Row(name="python", state="ok", what=what)


def git_row() -> Row:
    """Git itself."""
    try:
        found = version()
    except ProjectError as error:
        return Row(name="git", state="fail", what=error.message, fix=error.hint)
    numbers = tuple(int(part) for part in found.split(" ")[0].split(".")[:2] if part.isdigit())
    if numbers < OLDEST_GIT:
        return Row(name="git", state="fail", what=found, fix="install git 2.30 or newer")
    return Row(name="git", state="ok", what=found)


def identity_row(folder: Path) -> Row:
    """Who commits."""
    try:
        repository = Repository(folder)
        repository.identity()
        author = repository.run("var", "GIT_AUTHOR_IDENT").rsplit(">", 1)[0] + ">"
    except ProjectError as error:
        return Row(name="identity", state="fail", what=error.message, fix=error.hint)
    return Row(name="identity", state="ok", what=author)


def home_row() -> Row:
    """The person's own folder, where options, spending and patterns are kept."""
    path = home()
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return Row(name="home", state="ok", what=f"{path} is writable")
    except OSError as error:
        what = f"cannot write in {path}: {error.strerror}"
        fix = "mend its permissions, or set FOUNDRY_HOME to a folder of yours"
        return Row(name="home", state="fail", what=what, fix=fix)


def disk_row(folder: Path, low: int = LOW_DISK) -> Row:
    """Room for the build. `low` in bytes."""
    free = shutil.disk_usage(folder).free
    what = f"{free / 1e9:.1f} GB free in {folder.resolve()}"
    if free < low:
        fix = f"free some space: a build wants {units.size(low)}"
        return Row(name="disk", state="warn", what=what, fix=fix)
    return Row(name="disk", state="ok", what=what)


def sandbox_row(level: str) -> Row:
    """How far the commands of a build are confined."""
    what = confinement(level)
    if not promise(level)[1]:
        fix = "build what you don't trust in a container or a virtual machine"
        return Row(name="sandbox", state="warn", what=what, fix=fix)
    return Row(name="sandbox", state="ok", what=what)


def model_row(model: str, base_url: str) -> Row:
    """Whether the model answers. Costs nothing: the server is asked which models it has."""
    provider = split(model)[0]
    if provider != DEFAULT:
        try:
            usable(model, base_url)
        except FoundryError as error:
            return Row(name="model", state="fail", what=error.message, fix=error.hint)
        how = "scripted, in this process" if provider == "rehearsal" else f"left to {provider}"
        return Row(name="model", state="ok", what=f"{model}: {how}")
    if not has_model(base_url):
        return Row(name="model", state="warn", what="no model to talk to", fix=NO_MODEL)
    try:
        require_loopback(base_url)
        answer = ping(base_url or os.environ.get("ANTHROPIC_BASE_URL", ""))
    except InputError as error:
        return Row(name="model", state="fail", what=error.message, fix=error.hint)
    return _judge(model, answer)


def gh_row() -> Row:
    """GitHub's command line: only Deploy wants it, and only without a remote."""
    found = shutil.which("gh")
    if found is None:
        what = "not installed; only --deploy to a new GitHub repository wants it"
        return Row(name="gh", state="ok", what=what)
    return Row(name="gh", state="ok", what=f"{found} (for --deploy to a new GitHub repository)")


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. `status` is None when nothing did; `models` as far as the server says."""

    url: str
    status: int | None
    error: str = ""
    models: tuple[str, ...] = ()


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer; following it could carry the key elsewhere."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None


def ping(base_url: str, timeout: float = SECONDS) -> Answer:
    """Ask for the list of models; raises InputError for what is no web address."""
    base = (base_url or ANTHROPIC).rstrip("/")
    if urlsplit(base).scheme not in ("http", "https") or not urlsplit(base).hostname:
        raise InputError(
            f"{base!r} is not a web address", hint="For example http://localhost:11434"
        )
    request = urllib.request.Request(f"{base}/v1/models?limit=1000", headers=_headers(base))
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(request, timeout=timeout) as response:
            return Answer(base, response.status, models=_models(response.read(MOST_BYTES)))
    except urllib.error.HTTPError as error:
        error.close()
        return Answer(base, error.code)
    except urllib.error.URLError as error:
        return Answer(base, None, f"no connection ({error.reason})")
    except (OSError, HTTPException) as error:
        return Answer(base, None, f"no answer ({error or type(error).__name__})")


def _headers(url: str) -> dict[str, str]:
    headers = {"anthropic-version": "2023-06-01", "user-agent": "foundry-doctor"}
    if key := os.environ.get("ANTHROPIC_API_KEY"):
        headers["x-api-key"] = key
    if needs_placeholder(url):
        headers["x-api-key"] = PLACEHOLDER
    if token := os.environ.get("ANTHROPIC_AUTH_TOKEN"):
        headers["authorization"] = f"Bearer {token}"
    return headers


def _models(body: bytes) -> tuple[str, ...]:
    try:
        return tuple(str(each["id"]) for each in json.loads(body)["data"])
    except (ValueError, KeyError, TypeError):
        return ()


def _judge(model: str, answer: Answer) -> Row:
    where = answer.url
    if answer.status is None:
        fix = "start the server, or check the address, the network and the proxy"
        return Row(name="model", state="fail", what=f"{where}: {answer.error}", fix=fix)
    if answer.status in (401, 403):
        what = f"{where} refused the key (HTTP {answer.status})"
        return Row(name="model", state="fail", what=what, fix=KEY_FIX)
    if answer.status >= 500:
        what = f"{where} answers with HTTP {answer.status}"
        return Row(name="model", state="warn", what=what, fix="try again later")
    if answer.models and not any(each.startswith(model) for each in answer.models):
        fix = f"--model NAME, for example {', '.join(answer.models[:3])}"
        what = f"{where} answers, and does not list {model}"
        return Row(name="model", state="warn", what=what, fix=fix)
    return Row(name="model", state="ok", what=f"{model}: {where} answers")
