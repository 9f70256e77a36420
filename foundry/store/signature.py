"""Detached ssh signatures (`ssh-keygen -Y`) with the key that a person signs their commits with.

Which key that is, and whose others are, their own git settings say, never a project's: what a
build left in `.git/config` chooses neither a key nor a program. Nothing here asks anything.
"""

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from foundry.errors import ProjectError
from foundry.store.git.command import GitCommand, environment, last_line

NAMESPACE = "foundry"
PROGRAM = "ssh-keygen"
SECONDS = 20.0
"""How long an agent or a token may take: nobody is there at night to touch a key."""

_KEY = re.compile(r"SHA256:\S+")


@dataclass(frozen=True, slots=True)
class Signer:
    """What a person's own git settings say of ssh signatures; empty where they say nothing."""

    key: str
    program: str
    known: str
    """The file of the keys that they trust (gpg.ssh.allowedSignersFile)."""


@dataclass(frozen=True, slots=True)
class Signed:
    """What a signature shows. `key` is a fingerprint; `who` is empty where the person's settings
    name nobody for it; `whole` is whether it fits the text."""

    whole: bool
    key: str = ""
    who: str = ""
    own: bool = False
    """Made with the key that this person signs with."""
    why: str = ""
    """Why nothing can be said: no ssh-keygen, no answer."""


def signer(folder: Path) -> Signer:
    """Who signs in a folder, by the person's settings; no key where they don't sign with ssh."""
    git = GitCommand(folder)

    def told(name: str, *kind: str) -> str:
        asked = ("config", "--global", "--includes", *kind, "--get", name)
        return git.attempt(*asked)[1].strip()

    key = told("user.signingkey") if told("gpg.format") == "ssh" else ""
    if key and not _is_literal(key):
        key = told("user.signingkey", "--type=path")
    known = told("gpg.ssh.allowedSignersFile", "--type=path")
    return Signer(key, told("gpg.ssh.program", "--type=path") or PROGRAM, known)


def sign(text: str, by: Signer) -> str:
    """The signature over a text, in the form that `ssh-keygen -Y verify` takes.

    Raises ProjectError when there is none within SECONDS.
    """
    with _key_file(by.key) as key:
        status, out, errors = _asked([by.program, "-Y", "sign", "-n", NAMESPACE, "-f", key], text)
    if status or "BEGIN SSH SIGNATURE" not in out:
        raise ProjectError(f"{by.program} made no signature: {last_line(errors)}")
    return out


def examined(text: str, signature: str, by: Signer) -> Signed:
    """Whether a signature fits a text, and whose it is, as far as the person's settings know."""
    with TemporaryDirectory(prefix="foundry-") as folder:
        file = Path(folder, "signature")
        file.write_text(signature, encoding="utf-8", errors="surrogateescape")
        about = ("-n", NAMESPACE, "-s", str(file))
        status, out, errors = _asked([PROGRAM, "-Y", "check-novalidate", *about], text)
        found = _KEY.search(out)
        if status or not found:
            answered = "signature" in errors.lower()
            return Signed(False, why="" if answered else last_line(errors))
        return Signed(True, found[0], _who(text, about, by), own=_fingerprint(by) == found[0])


def _who(text: str, about: Sequence[str], by: Signer) -> str:
    """The person whom the trusted keys name for a signature."""
    if not by.known:
        return ""
    trusted = ("-f", by.known)
    status, out, _ = _asked([PROGRAM, "-Y", "find-principals", *trusted, *about[2:]], text)
    for name in out.split("\n") if status == 0 else ():
        if name and not _asked([PROGRAM, "-Y", "verify", *trusted, "-I", name, *about], text)[0]:
            return name
    return ""


def _fingerprint(by: Signer) -> str:
    """Of the key that the person signs with."""
    if not by.key:
        return ""
    with _key_file(by.key) as key:
        found = _KEY.search(_asked([PROGRAM, "-l", "-f", key], "")[1])
    return found[0] if found else ""


def _is_literal(key: str) -> bool:
    """Whether a setting holds a public key itself, which an agent has the other half of."""
    return key.startswith(("key::", "ssh-", "ecdsa-", "sk-"))


@contextmanager
def _key_file(key: str) -> Iterator[str]:
    if not _is_literal(key):
        yield key
        return
    with TemporaryDirectory(prefix="foundry-") as folder:
        file = Path(folder, "key.pub")
        file.write_text(key.removeprefix("key::") + "\n", encoding="utf-8")
        yield str(file)


def _asked(command: Sequence[str], text: str) -> tuple[int, str, str]:
    """Exit code, output and errors; without a terminal to ask on, and never longer than SECONDS."""
    seen = {**environment(), "SSH_ASKPASS_REQUIRE": "never"}
    try:
        process = subprocess.Popen(
            command,
            env=seen,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return 127, "", f"{command[0]}: {error.strerror}"
    with process:
        try:
            raw = text.encode("utf-8", "surrogateescape")
            out, errors = process.communicate(raw, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return 124, "", f"no answer within {SECONDS:g} s"
        finally:  # whatever ends this, nothing may go on behind our back
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, out.decode(errors="replace"), errors.decode(errors="replace")
