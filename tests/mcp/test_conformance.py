"""The official conformance suite, against its own fixtures behind our transport, and against us.

`MCP_CONFORMANCE` names a folder in which `npm install` has put the suite (see .ci/run); it runs
without a network.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from tests.support.mcp_clients import ROOT, TOUR, put, served

REVISIONS = {"2025-11-25": 30, "2026-07-28": 37}
"""Revisions of the protocol, and how many scenarios of a server each requires."""

STATELESS = {
    f"sep-2575-{name}"
    for name in (
        "request-meta-invalid-missing-meta",
        "request-meta-invalid-missing-protocol-version",
        "request-meta-invalid-missing-client-capabilities",
        "request-meta-client-info-optional",
        "http-server-meta-invalid-400",
        "http-server-header-mismatch-400",
        "http-server-unsupported-version-400",
        "http-server-method-not-found-404",
        "http-server-method-not-found-404-initialize",
        "http-server-method-not-found-404-ping",
        "http-server-method-not-found-404-logging-setlevel",
        "http-server-method-not-found-404-resources-subscribe",
        "http-server-method-not-found-404-resources-unsubscribe",
        "http-server-error-jsonrpc-id",
        "server-implements-discover",
        "server-identifies-in-result-meta",
        "server-declares-prompts-in-discover",
        "server-unsupported-version-error",
        "discover-capabilities-match-handlers",
    )
}
"""The checks of `server-stateless` that `foundry mcp` passes: all but the expected ones."""

EXPECTED = Path(__file__).parent / "expected-failures.yaml"
RESULTS = "results"
SUITE = Path("node_modules/@modelcontextprotocol/conformance")
_RESULT = re.compile(r"^([✓✗]) ([\w-]+): \d+ passed", re.MULTILINE)


@pytest.fixture
def suite() -> Path:
    """The folder of the installed suite."""
    place = os.environ.get("MCP_CONFORMANCE")
    if not place:
        pytest.skip("MCP_CONFORMANCE does not name a folder with the conformance suite")
    return Path(place)


def node(suite: Path) -> str:
    """Node.js 22 or newer, which the suite needs: one beside it, or that of this machine."""
    beside = next(suite.glob("node_modules/node-*/bin/node"), None)
    found = str(beside) if beside else shutil.which("node")
    assert found, "there is no node"
    return found


def conform(suite: Path, url: str, revision: str, place: Path, *options: str) -> set[str]:
    """Run what a revision requires; the scenarios that passed. A regression fails the test."""
    done = subprocess.run(
        [node(suite), suite / SUITE / "dist" / "index.js", "server", "--url", url,
         "--requirements", revision, "-o", RESULTS, *options],
        capture_output=True,
        text=True,
        check=False,
        cwd=place,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    return {name for mark, name in _RESULT.findall(done.stdout) if mark == "✓"}


def checked(place: Path, scenario: str) -> dict[str, str]:
    """The checks of a scenario that was run, and the worst result of each."""
    (file,) = (place / RESULTS).glob(f"server-{scenario}-*/checks.json")
    found: dict[str, str] = {}
    for check in json.loads(file.read_text()):
        if found.get(check["id"], "SUCCESS") == "SUCCESS":
            found[check["id"]] = check["status"]
    return found


def required(suite: Path, revision: str) -> set[str]:
    document = yaml.safe_load((suite / SUITE / "requirements" / f"{revision}.yaml").read_text())
    return set(document["server"])


@contextmanager
def fixtures() -> Iterator[str]:
    """The server with the suite's fixtures, in a process of its own."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.mcp.conformance_server"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_transport_conforms(suite: Path, revision: str, tmp_path: Path) -> None:
    wanted = required(suite, revision)
    assert len(wanted) == REVISIONS[revision]
    with fixtures() as url:
        assert wanted <= conform(suite, url, revision, tmp_path)


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_server_fails_only_where_it_has_no_fixture(
    suite: Path, revision: str, tmp_path: Path
) -> None:
    put(TOUR)
    expected = yaml.safe_load(EXPECTED.read_text())[revision]
    (tmp_path / "expected.yaml").write_text(yaml.safe_dump({"server": expected}))
    with served() as (url, _):
        passed = conform(suite, url, revision, tmp_path, "--expected-failures", "expected.yaml")
    failing = {each for each in expected if ":" not in each}
    assert required(suite, revision) - failing - {"server-stateless"} <= passed
    if "server-stateless" in required(suite, revision):
        checks = checked(tmp_path, "server-stateless")
        assert {name for name, result in checks.items() if result == "SUCCESS"} == STATELESS
        failed = {name for name, result in checks.items() if result == "FAILURE"}
        assert {f"server-stateless:{name}" for name in failed} <= set(expected)
