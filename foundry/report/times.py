"""Points in time as people give them: `10m` ago, `14:30`, `2026-01-02`, `2026-01-02T14:30Z`."""

import re
from datetime import datetime, time, timedelta

from foundry.errors import InputError

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
