"""Figures and times as people read and give them: short, and the same everywhere."""

import re
from collections.abc import Iterable
from datetime import datetime, time, timedelta

from foundry.errors import InputError


def duration(seconds: float) -> str:
    """`0.4s`, `12s`, `3m 05s`, `2h 10m`."""
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}m {rest:02d}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02d}m" if hours < 48 else f"{hours // 24}d {hours % 24}h"


def tokens(count: int) -> str:
    """`812`, `45.3k`, `1.20M`."""
    if count < 1_000:
        return str(count)
    return f"{count / 1_000:.1f}k" if count < 999_950 else f"{count / 1_000_000:.2f}M"


def money(usd: float | None) -> str:
    """`$0.14`, `$0.0012`; a dash where no price is known."""
    if usd is None:
        return "-"
    return f"${usd:.4f}" if 0 < usd < 0.01 else f"${usd:.2f}"


def share(part: float) -> str:
    """`12%`; `<1%` where there is something that rounds to nothing."""
    return "<1%" if 0 < part < 0.005 else f"{part:.0%}"


def size(count: int) -> str:
    """Bytes: `812 B`, `45.3 kB`."""
    if count < 1_000:
        return f"{count} B"
    return f"{count / 1_000:.1f} kB" if count < 999_950 else f"{count / 1_000_000:.1f} MB"


def counted(count: int, noun: str) -> str:
    """`1 commit`, `2 commits`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def total(costs: Iterable[float | None]) -> float | None:
    """The sum, or None when one of them is not known."""
    known = list(costs)
    return None if None in known else sum(cost for cost in known if cost is not None)


def ago(seconds: float) -> str:
    """`just now`, `3m 05s ago`."""
    return "just now" if seconds < 1 else f"{duration(seconds)} ago"


_AGO = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def moment(text: str, now: datetime) -> datetime:
    """The time that is meant; without a zone it is local, a time of day is the last such one.

    Raises InputError for anything else.
    """
    text = text.strip()
    local = now.astimezone()
    try:
        if ago := _AGO.fullmatch(text.lower()):
            return local - timedelta(**{_UNITS[ago[2]]: float(ago[1])})
        if re.fullmatch(r"\d\d?:\d\d(:\d\d)?", text):
            at = datetime.combine(local.date(), time.fromisoformat(text.zfill(5)))
            today = at.astimezone()
            return today if today <= local else (at - timedelta(days=1)).astimezone()
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError) as error:
        raise InputError(
            f"{text!r} is no time", hint="Like 10m, 2h, 1d (ago), 14:30, or 2026-01-02T14:30"
        ) from error
