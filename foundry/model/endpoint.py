"""Where a model is: on this machine or beyond it, and whether there is a key for it."""

import os
from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from foundry.errors import InputError

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
PLACEHOLDER = "no-key"
"""Local servers want no key, but clients want one to send."""


def is_loopback(url: str) -> bool:
    """Whether a URL leads to this machine; False for what is no URL."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def needs_placeholder(url: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a server on this machine is asked without any key to send."""
    return is_loopback(url) and not any(environment.get(key) for key in KEYS)


def has_model(base_url: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether there is anything to talk to: a key, or a server of the person's own."""
    keys = (*KEYS, "ANTHROPIC_BASE_URL")
    return bool(base_url or any(environment.get(key) for key in keys))


def require_loopback(base_url: str) -> None:
    """The kill switch of the tests: with FOUNDRY_LOOPBACK_ONLY no request leaves this machine.

    Raises InputError where one would.
    """
    if not os.environ.get("FOUNDRY_LOOPBACK_ONLY"):
        return
    url = base_url or os.environ.get("ANTHROPIC_BASE_URL", "")
    if not is_loopback(url):
        raise InputError(
            f"FOUNDRY_LOOPBACK_ONLY is set and {url or 'the Anthropic API'} is not this machine",
            hint="Unset it to allow real requests",
        )
