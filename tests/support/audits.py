"""An audit in this process, and what it told."""

from pathlib import Path

from foundry.audit.audit import audit
from foundry.schema.audit import Audit


def audited(folder: Path, ref: str = "") -> Audit:
    return audit(folder, ref, "process", lambda _what: None)


def told(done: Audit, says: str) -> dict[str, str]:
    """What was found that says so, by what it is about."""
    return {each.about: each.text for each in done.findings if each.says == says}
