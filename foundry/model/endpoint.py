"""Where a model is: on this machine or beyond it, and what to send it as a key."""

import os
from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

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
    keys = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    return is_loopback(url) and not any(environment.get(key) for key in keys)
