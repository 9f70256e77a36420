import os
from pathlib import Path

import pytest

from foundry.sandbox.environment import FIXED, command_environment
from foundry.sandbox.process import ProcessSandbox
from foundry.schema.command import CommandLimits

SECRETS = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "AWS_SECRET_ACCESS_KEY",
    "GITHUB_TOKEN",
    "DATABASE_URL",
    "UV_PUBLISH_TOKEN",
    "UV_INDEX_MINE_PASSWORD",
    "NPM_CONFIG__AUTH",
    "npm_config_//registry.npmjs.org/:_authToken",
    "PIP_API_KEY",
    "LC_SECRET",
]
NEEDED = [
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "USER",
    "SHELL",
    "PIP_INDEX_URL",
    "UV_CACHE_DIR",
    "npm_config_registry",
    "https_proxy",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
]


def test_secrets_do_not_reach_the_command(tmp_path: Path):
    environment = {"PATH": os.environ["PATH"]} | dict.fromkeys(SECRETS, "sesame")
    sandbox = ProcessSandbox(environment=environment)
    output = sandbox.run("env", cwd=tmp_path, limits=CommandLimits()).output
    assert "CI=1\n" in output
    assert "sesame" not in output


@pytest.mark.parametrize("name", NEEDED)
def test_what_shells_and_package_managers_need_passes(name: str):
    assert command_environment({name: "value"})[name] == "value"


@pytest.mark.parametrize("name", ["VIRTUAL_ENV", "PYTHONPATH", "LD_PRELOAD", "GIT_DIR", "EDITOR"])
def test_nothing_else_passes(name: str):
    assert name not in command_environment({name: "value"})


def test_credentials_in_addresses_are_cut_out():
    source = {
        "HTTPS_PROXY": "http://me:sesame@proxy:3128",
        "PIP_EXTRA_INDEX_URL": "https://sesame@a.example/x https://u:sesame@b.example/y",
    }
    passed = command_environment(source)
    assert passed["HTTPS_PROXY"] == "http://proxy:3128"
    assert passed["PIP_EXTRA_INDEX_URL"] == "https://a.example/x https://b.example/y"


def test_fixed_values_win():
    passed = command_environment({"TERM": "xterm", "CI": "0"})
    assert passed.items() >= FIXED.items()


def test_the_harness_own_programs_are_not_on_the_path():
    source = {"PATH": "/own/bin:/usr/bin:/venv/bin/:/bin", "VIRTUAL_ENV": "/venv"}
    assert command_environment(source, prefix="/own")["PATH"] == "/usr/bin:/bin"


@pytest.mark.parametrize("source", [{}, {"PATH": ""}, {"PATH": "/own/bin"}])
def test_there_is_always_a_path(source: dict[str, str]):
    assert command_environment(source, prefix="/own")["PATH"] == os.defpath
