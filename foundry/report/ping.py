"""Whether a server with the Messages API answers: one small request that costs nothing."""

import json
import os
import urllib.error
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from foundry.errors import InputError
from foundry.model.endpoint import PLACEHOLDER, needs_placeholder

DEFAULT = "https://api.anthropic.com"
SECONDS = 5.0
MOST_BYTES = 1_000_000


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


def reach(base_url: str, timeout: float = SECONDS) -> Answer:
    """Ask for the list of models; raises InputError for what is no web address."""
    base = (base_url or DEFAULT).rstrip("/")
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
