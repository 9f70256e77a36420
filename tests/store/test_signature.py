"""Signatures with the person's own ssh key: of a run's evidence, and nobody else's choice."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from foundry.errors import ProjectError
from foundry.schema.events import Note
from foundry.schema.run import Status
from foundry.store import signature
from foundry.store.signature import Signer, examined, sign, signer
from tests.support.audits import audited, told
from tests.support.builds import Built, git
from tests.support.crash import alive
from tests.support.forgery import rewrite
from tests.support.rehearsals import SmallBuild

LEAN = ("docs", "feedback")

pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="there is no ssh-keygen")


def new_key(folder: Path, name: str = "key") -> Path:
    folder.mkdir(exist_ok=True)
    key = folder / name
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", key]
    subprocess.run(words, check=True)
    return key


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A key, and a person whose git signs with it."""
    key = new_key(tmp_path / "keys")
    configured("user.signingkey", f"{key}.pub")
    configured("gpg.format", "ssh")
    return key


def configured(name: str, value: str) -> None:
    git(Path(), "config", "--global", name, value)


def forged(built: Built) -> None:
    rewrite(built.folder, evidence=lambda said: {**said, "documentation": []})


def test_the_ending_is_signed_and_its_change_is_noticed(
    build: Any, key: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    built: Built = build(SmallBuild(), skip=LEAN)
    assert built.ended.status is Status.VERIFIED
    found = told(audited(built.folder), "agrees")
    assert found["signature"].startswith("of your own key, SHA256:")

    trusted = tmp_path / "trusted"
    trusted.write_text(f"ada@example.org {Path(f'{key}.pub').read_text()}")
    configured("gpg.ssh.allowedSignersFile", str(trusted))
    found = told(audited(built.folder), "agrees")
    assert found["signature"].startswith("of ada@example.org, SHA256:")

    monkeypatch.setenv("FOUNDRY_HOME", str(tmp_path / "another"))
    assert audited(built.folder).exit_code == 0  # the signature alone speaks for it
    forged(built)
    done = audited(built.folder)
    assert told(done, "differs") == {"signature": "does not fit evidence.json"}
    assert done.exit_code == 1


def test_who_signs_anew_is_not_who_is_known(
    build: Any, key: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    built: Built = build(SmallBuild(), skip=LEAN)
    monkeypatch.setenv("FOUNDRY_HOME", str(tmp_path / "another"))
    configured("user.signingkey", f"{new_key(tmp_path / 'keys', 'other')}.pub")
    done = audited(built.folder)
    assert "whole, by a key that your git settings don't know" in told(done, "unknown")["signature"]
    assert done.exit_code == 3


def test_what_pauses_is_not_signed(build: Any, key: Path) -> None:
    built: Built = build(SmallBuild(), skip=LEAN, pause_after=("architect",))
    file = built.project.artifact("evidence.sig")
    assert not file.exists()
    assert built.resume().status is Status.VERIFIED
    assert file.read_text().startswith("-----BEGIN SSH SIGNATURE-----")


def test_the_projects_settings_choose_no_key(tmp_path: Path) -> None:
    key = new_key(tmp_path / "keys")
    git(tmp_path, "init", "--quiet", "project")
    for name, value in {
        "user.signingkey": str(key),
        "gpg.format": "ssh",
        "gpg.ssh.program": "/bin/false",
        "gpg.ssh.allowedSignersFile": str(key),
    }.items():
        git(tmp_path / "project", "config", name, value)
    assert signer(tmp_path / "project") == Signer("", "ssh-keygen", "")


def test_a_key_that_fails_is_told_once_and_ends_nothing(build: Any, key: Path) -> None:
    key.unlink()
    built: Built = build(SmallBuild(), skip=LEAN)
    assert built.ended.status is Status.VERIFIED
    notes = [each.text for each in built.events if isinstance(each, Note)]
    assert len([text for text in notes if "the evidence is not signed" in text]) == 1
    assert not built.project.artifact("evidence.sig").exists()


def test_a_key_with_a_passphrase_is_not_waited_for(tmp_path: Path) -> None:
    key = new_key(tmp_path / "keys")
    subprocess.run(["ssh-keygen", "-q", "-p", "-N", "secret", "-f", key], check=True)
    with pytest.raises(ProjectError, match="made no signature"):
        sign("text", Signer(str(key), "ssh-keygen", ""))


def test_an_agent_that_does_not_answer_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signature, "SECONDS", 0.5)
    pids, program = tmp_path / "pids", tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho $$ >{pids}\ncat <{tmp_path}/never\n")
    program.chmod(0o755)
    os.mkfifo(tmp_path / "never")
    with pytest.raises(ProjectError, match="no answer within"):
        sign("text", Signer(str(tmp_path / "key"), str(program), ""))
    assert not alive(int(pids.read_text()))


def test_no_ssh_keygen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = new_key(tmp_path / "keys")
    by = Signer(str(key), "ssh-keygen", "")
    made = sign("text", by)
    assert examined("text", made, by).own
    assert not examined("another", made, by).whole
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "ssh-keygen" in examined("text", made, by).why
