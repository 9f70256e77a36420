"""What an audit of a run found, line by line."""

from typing import Literal

from foundry import exitcodes
from foundry.schema.base import Value
from foundry.schema.run import Status


class Finding(Value):
    """One thing that was looked at."""

    about: str
    """What: `chain`, `evidence`, `signature`, a check's name, the ids of requirements."""
    says: Literal["agrees", "differs", "unknown"]
    """Whether it is as the run says; `unknown` where nothing here can tell."""
    text: str
    """What was found, in a sentence."""


def agrees(about: str, text: str) -> Finding:
    """It is as the run says."""
    return Finding(about=about, says="agrees", text=text)


def differs(about: str, text: str) -> Finding:
    """It is not as the run says."""
    return Finding(about=about, says="differs", text=text)


def unknown(about: str, text: str) -> Finding:
    """Nothing here can tell."""
    return Finding(about=about, says="unknown", text=text)


class Audit(Value):
    """What `foundry audit` tells."""

    version: Literal[1] = 1
    """Of this schema."""
    run: str
    """The run's id."""
    commit: str
    """The run's last commit, which was looked at."""
    status: Status | None
    """How the run says that it ended; null where that can't be read."""
    findings: tuple[Finding, ...]
    """In the order in which they were found."""

    def count(self, says: str) -> int:
        """How many findings say so."""
        return sum(1 for each in self.findings if each.says == says)

    @property
    def verdict(self) -> str:
        """All of it in a sentence."""
        if wrong := self.count("differs"):
            return f"contradicted: {wrong} of {len(self.findings)} findings differ"
        if open_ := self.count("unknown"):
            return f"not confirmed: {open_} of {len(self.findings)} findings can't be told"
        return f"agrees: {self.status}"

    @property
    def exit_code(self) -> int:
        """What the process ends with: 0 says that the run is verified, and that this agrees."""
        if self.count("differs"):
            return exitcodes.FAILED
        confirmed = self.status is Status.VERIFIED and not self.count("unknown")
        return exitcodes.VERIFIED if confirmed else exitcodes.UNVERIFIED
