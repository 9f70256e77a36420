"""Which environment variables a command sees: an allow-list, and never a secret.

Commands run what a model wrote. The harness's own environment holds keys, so nothing passes
by default; what passes is what a shell needs and where package managers find their registry.
"""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import PurePath

_SHELL = {"PATH", "HOME", "LANG", "LANGUAGE", "TMPDIR", "TZ", "USER", "LOGNAME", "SHELL"}
_CERTIFICATES = {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"}
_NAMES = _SHELL | _CERTIFICATES
_PREFIXES = ("LC_", "PIP_", "NPM_CONFIG_", "UV_", "SSL_CERT_")
_SUFFIXES = ("_PROXY",)
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH|ANTHROPIC")
_CREDENTIALS_IN_URL = re.compile(r"://[^/@\s]*@")

FIXED = {
    "TERM": "dumb",
    "CI": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
    "GIT_TERMINAL_PROMPT": "0",
}
"""Nothing asks, nothing pages, nothing leaves bytecode in the tree."""


def command_environment(source: Mapping[str, str], *, prefix: str = sys.prefix) -> dict[str, str]:
    """What of `source` a command may see.

    `prefix` is where the harness's own Python lives: when that is a virtual environment, its
    programs leave the PATH, so that `pip install` in a project can't change the harness.
    """
    passed = {
        name: _CREDENTIALS_IN_URL.sub("://", value)
        for name, value in source.items()
        if _allowed(name.upper())
    }
    path = passed.get("PATH") or os.defpath
    return {**passed, "PATH": _without(path, _own_programs(source, prefix)), **FIXED}


def _allowed(name: str) -> bool:
    wanted = name in _NAMES or name.startswith(_PREFIXES) or name.endswith(_SUFFIXES)
    return wanted and not _SECRET_NAME.search(name)


def _own_programs(source: Mapping[str, str], prefix: str) -> set[PurePath]:
    environments = {source.get("VIRTUAL_ENV", "")}
    if prefix != sys.base_prefix:
        environments.add(prefix)
    return {PurePath(environment, "bin") for environment in environments if environment}


def _without(path: str, unwanted: set[PurePath]) -> str:
    kept = [entry for entry in path.split(os.pathsep) if PurePath(entry) not in unwanted]
    return os.pathsep.join(kept) or os.defpath
