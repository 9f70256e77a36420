"""`foundry doctor`: each check, and the fix for what is missing."""

import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from foundry.cli.doctor import command
from foundry.config import DEFAULT_MODEL
from foundry.report import health
from foundry.report.health import ping
from tests.support.packages import installed_packages


@contextmanager
def server(status: int, body: str = "", location: str = "") -> Iterator[tuple[str, list[dict]]]:
    """A real server with one answer for everything; what it was asked."""
    asked: list[dict] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append({"path": self.path, **{k.lower(): v for k, v in self.headers.items()}})
            self.send_response(status)
            if location:
                self.send_header("location", location)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_port}", asked
        finally:
            http.shutdown()
            thread.join()


def models(*names: str) -> str:
    return json.dumps({"data": [{"id": name} for name in names]})


def test_a_machine_that_can_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with server(200, models(DEFAULT_MODEL)) as (url, _):
        result = CliRunner().invoke(command, ["--base-url", url, "--json"])
    rows = {row["name"]: row for row in json.loads(result.stdout)}
    assert result.exit_code == 0
    assert list(rows) == [
        "python", "git", "home", "identity", "disk", "sandbox", "model", "gh",
    ]  # fmt: skip
    assert rows["identity"]["what"] == "Ada <ada@example.org>"
    assert rows["model"]["what"] == f"{DEFAULT_MODEL}: {url} answers"
    assert {row["state"] for name, row in rows.items() if name not in ("sandbox", "disk")} == {"ok"}
    assert all(row["fix"] for row in rows.values() if row["state"] != "ok")


def test_no_model_is_no_failure_and_names_the_ways_to_have_one() -> None:
    result = CliRunner().invoke(command, [])
    assert result.exit_code == 0
    shown = " ".join(result.stdout.split())
    assert "● model no model to talk to" in shown
    for way in ("ANTHROPIC_API_KEY", "--base-url http://localhost:11434", "foundry demo"):
        assert way in shown


def test_git_that_does_not_know_its_user_fails(tmp_path: Path) -> None:
    (tmp_path / "person" / ".gitconfig").write_text("")
    result = CliRunner().invoke(command, ["--json"])
    row = next(row for row in json.loads(result.stdout) if row["name"] == "identity")
    assert result.exit_code == 1
    assert row["state"] == "fail"
    assert "git config --global user.name" in row["fix"]


def test_no_git_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert health.git_row().state == "fail"
    assert "Install git" in health.git_row().fix
    assert health.identity_row(tmp_path).state == "fail"


def test_a_home_that_cannot_be_written_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FOUNDRY_HOME", str(tmp_path / "file" / "home"))
    row = health.home_row()
    assert row.state == "fail"
    assert "FOUNDRY_HOME" in row.fix


def test_little_disk_is_a_warning(tmp_path: Path) -> None:
    assert health.disk_row(tmp_path, low=1).state == "ok"
    row = health.disk_row(tmp_path, low=1 << 62)
    assert (row.state, bool(row.fix)) == ("warn", True)


def test_a_level_that_confines_nothing_is_a_warning(tmp_path: Path) -> None:
    row = health.sandbox_row("process")
    assert row.state == "warn"
    assert "files and network are not confined" in row.what
    module = "class Tight:\n    confines, promise = True, 'nothing leaves the project'\n"
    parts = {"tight": {"sandbox.tight": "tight_sandbox:Tight"}}
    with installed_packages(tmp_path, parts, {"tight_sandbox": module}):
        row = health.sandbox_row("tight")
    assert (row.state, row.what) == ("ok", "tight: nothing leaves the project")
    assert health.sandbox_row("tight").state == "warn"  # nothing is known of it any more


def test_a_rehearsal_needs_no_server() -> None:
    assert health.model_row("rehearsal:todo", "").state == "ok"
    row = health.model_row("rehearsal:nothing", "")
    assert (row.state, "nothing" in row.what) == ("fail", True)


@pytest.mark.parametrize(
    ("status", "body", "state", "words"),
    [
        (200, models("m-1"), "ok", "answers"),
        (200, "not json", "ok", "answers"),
        (200, models("other"), "warn", "does not list m"),
        (404, "", "ok", "answers"),
        (401, "", "fail", "refused the key (HTTP 401)"),
        (403, "", "fail", "refused the key (HTTP 403)"),
        (503, "", "warn", "HTTP 503"),
    ],
)
def test_what_a_server_says(status: int, body: str, state: str, words: str) -> None:
    with server(status, body) as (url, _):
        row = health.model_row("m", url)
    assert row.state == state
    assert words in row.what


def test_the_key_goes_to_the_server_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    with server(200, models()) as (other, elsewhere), server(307, "", other) as (url, asked):
        answer = ping(f"{url}/")
    assert answer.status == 307
    assert [(each["path"], each["x-api-key"]) for each in asked] == [("/v1/models?limit=1000", "k")]
    assert elsewhere == []


def test_the_environment_names_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with server(401) as (url, asked):
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        assert health.model_row("m", "").state == "fail"
    assert len(asked) == 1


def test_a_server_that_is_not_there_fails() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: refused
        row = health.model_row("m", f"http://127.0.0.1:{taken.getsockname()[1]}")
    assert row.state == "fail"
    assert "no connection" in row.what


def test_a_server_that_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        answer = ping(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.2)
    assert answer.status is None
    assert "timed out" in answer.error


def test_something_that_speaks_no_http_is_no_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as odd:

        def greet() -> None:
            connection, _ = odd.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(b"220 mail ready\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        answer = ping(f"http://127.0.0.1:{odd.getsockname()[1]}")
        thread.join()
    assert answer.status is None
    assert answer.error


@pytest.mark.parametrize("url", ["localhost:11434", "file:///etc/passwd", "http://"])
def test_what_is_no_web_address_is_said_so(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FOUNDRY_LOOPBACK_ONLY")
    row = health.model_row("m", url)
    assert row.state == "fail"
    assert "is not a web address" in row.what


def test_the_kill_switch_holds_here_too() -> None:
    assert os.environ["FOUNDRY_LOOPBACK_ONLY"]
    row = health.model_row("m", "https://example.org")
    assert row.state == "fail"
    assert "FOUNDRY_LOOPBACK_ONLY" in row.what
