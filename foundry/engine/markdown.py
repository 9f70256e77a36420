"""How Markdown artifacts are put together: models and people read them, nothing parses them."""

from collections.abc import Iterable, Sequence

from foundry.schema.command import CheckResult


def document(*blocks: str) -> str:
    """Blocks as a document; empty ones are left out."""
    return "\n\n".join(block.strip() for block in blocks if block.strip()) + "\n"


def section(title: str, text: str) -> str:
    """A section with its heading; nothing where there is no text."""
    return f"## {title}\n\n{text}" if text else ""


def titled(title: str, text: str) -> str:
    """A text under a line that says what it is; nothing where there is no text."""
    return f"{title}\n\n{text}" if text else ""


def bullets(lines: Iterable[str]) -> str:
    """Lines as a list."""
    return "\n".join(f"- {line}" for line in lines)


def check_table(checks: Sequence[CheckResult]) -> str:
    """The results of checks as a table; nothing where there are none."""
    if not checks:
        return ""
    rows = ["| check | command | result | tests | seconds |", "|---|---|---|---|---|"]
    for check in checks:
        counts = check.tests
        tests = f"{counts.total - counts.failed - counts.skipped}/{counts.total}" if counts else ""
        command = check.command.replace("|", "\\|").replace("\n", " ; ")
        status = f"{check.status.replace('_', ' ')} ({check.verdict})"
        rows.append(f"| {check.name} | `{command}` | {status} | {tests} | {check.seconds:.1f} |")
    return "\n".join(rows)
