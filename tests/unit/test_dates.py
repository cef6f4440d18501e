"""Dates as people write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kb.errors import InvalidInput
from kb.store.dates import moment_ns

NOW = datetime(2026, 11, 22, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("2026-03-31", "2026-03-31T00:00", "2026-04-01T00:00"),
        ("2026-03-31T18:00", "2026-03-31T18:00", "2026-03-31T18:00"),
        ("2026-03-31T18:00+09:00", "2026-03-31T09:00", "2026-03-31T09:00"),
        ("2026-10", "2026-10-01T00:00", "2026-11-01T00:00"),
        ("2026-12", "2026-12-01T00:00", "2027-01-01T00:00"),
        ("2026", "2026-01-01T00:00", "2027-01-01T00:00"),
        ("7d", "2026-11-15T15:30", "2026-11-15T15:30"),
        ("12H", "2026-11-22T03:30", "2026-11-22T03:30"),
        ("2w", "2026-11-08T15:30", "2026-11-08T15:30"),
        ("yesterday", "2026-11-21T00:00", "2026-11-22T00:00"),
        (" Today ", "2026-11-22T00:00", "2026-11-23T00:00"),
    ],
)
def test_a_date_is_the_span_it_names(text: str, since: str, until: str) -> None:
    def shown(moment: int) -> str:
        return datetime.fromtimestamp(moment / 1e9, UTC).strftime("%Y-%m-%dT%H:%M")

    assert shown(moment_ns(text, "--since", now=NOW)) == since
    assert shown(moment_ns(text, "--until", whole_day=True, now=NOW)) == until


@pytest.mark.parametrize("text", ["", "soon", "2026-13", "2026-02-30", "7 days ago", "0000", "99999999d ago"])
def test_what_is_no_date_says_how_to_write_one(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"--since '.*' is not a date") as caught:
        moment_ns(text, "--since", now=NOW)
    assert "yesterday" in caught.value.fix


def test_the_last_and_the_first_year_are_dates() -> None:
    for text in ("9999", "9999-12", "9999-12-31", "0001", "0001-01-01"):
        assert moment_ns(text, "--since", now=NOW) <= moment_ns(text, "--until", whole_day=True, now=NOW)
