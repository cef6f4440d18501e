"""Dates as people write them → moments: 2026-10-31, 2026-10, 7d, yesterday. Pure but for the clock."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from kb.errors import InvalidInput

SECONDS_PER_DAY = 86_400
UNIT_SECONDS = {"h": 3600, "d": SECONDS_PER_DAY, "w": 7 * SECONDS_PER_DAY, "y": 365 * SECONDS_PER_DAY}
# SQLite's integers reach about 292 years either side of 1970, and users may ask for the years 1 to 9999.
FARTHEST_NS = 2**63 - 1
HOW_TO_WRITE = "write it as 2026-03-31, 2026-03, 7d, yesterday or 2026-03-31T18:00"


def moment_ns(text: str, flag: str, *, whole_day: bool = False, now: datetime | None = None) -> int:
    """A date as nanoseconds since 1970, UTC where it names no zone; today and yesterday are the days of this machine.

    flag       the option it was given with, for the error
    whole_day  the end of the day, month or year that is named; of an age (7d) and of a date-time the moment itself
    raises     InvalidInput
    """
    span = _span(text.strip().lower(), now or datetime.now().astimezone())
    if span is None:
        raise InvalidInput(f"{flag} '{text}' is not a date", fix=HOW_TO_WRITE)
    seconds = span[1 if whole_day else 0]
    return max(-FARTHEST_NS, min(FARTHEST_NS, int(seconds * 1e9)))


def age_seconds(text: str) -> int | None:
    """`30d`, `12h`, `8w` or `1y` in seconds; None for anything else.

    >>> age_seconds("2w"), age_seconds("soon")
    (1209600, None)
    """
    found = re.fullmatch(r"(\d{1,6})\s*([hdwy])", text.strip().lower())
    return int(found[1]) * UNIT_SECONDS[found[2]] if found else None


def _span(text: str, now: datetime) -> tuple[float, float] | None:
    """[first second, end) of what a text names; None where it names no time."""
    age = age_seconds(text)
    if age is not None:
        moment = now.timestamp() - age
        return moment, moment
    if text in ("today", "yesterday"):
        day = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=text == "yesterday")
        return day.timestamp(), (day + timedelta(days=1)).timestamp()
    if month := re.fullmatch(r"(\d{4})(?:-(\d{1,2}))?", text):
        year, first = int(month[1]), int(month[2] or 1)
        last = first if month[2] else 12
        if not (1 <= year <= 9999 and 1 <= first <= 12):
            return None
        start = datetime(year, first, 1, tzinfo=UTC).timestamp()
        if (year, last) == (9999, 12):
            return start, datetime(9999, 12, 31, tzinfo=UTC).timestamp() + SECONDS_PER_DAY
        end = datetime(year + last // 12, last % 12 + 1, 1, tzinfo=UTC)
        return start, end.timestamp()
    try:
        moment_at = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    if moment_at.tzinfo is None:
        moment_at = moment_at.replace(tzinfo=UTC)
    start = moment_at.timestamp()
    return start, start + (SECONDS_PER_DAY if len(text) <= 10 else 0)
