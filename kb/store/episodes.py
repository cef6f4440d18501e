"""What was scored and packed for past answers, limited in number; and the thresholds computed from it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from kb.store.database import transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRow:
    """One answer's packing; it is removed with the answer.

    query_json   the parts the question was split into
    axes_json    a list of objects: chunk_id, the axes, csw
    packed_json  chunk_ids of each pack
    outcome      grounded, or why it was refused
    """

    trace_id: str
    domain: str
    query_json: str
    axes_json: str
    packed_json: str
    outcome: str
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdRow:
    """One domain as it was recalibrated."""

    domain: str
    samples: int
    q25: float | None
    q50: float | None
    q75: float | None
    threshold: float
    computed_at: str


def save_episode(connection: sqlite3.Connection, row: EpisodeRow, keep: int) -> None:
    """Write one episode and remove those before the newest `keep`; its answer must be stored already."""
    with transaction(connection):
        connection.execute(
            "INSERT OR REPLACE INTO episodes (trace_id, domain, query_json, axes_json, packed_json, outcome, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                row.trace_id,
                row.domain,
                row.query_json,
                row.axes_json,
                row.packed_json,
                row.outcome,
                row.created_at,
            ],
        )
        connection.execute(
            "DELETE FROM episodes WHERE episode_id <= (SELECT max(episode_id) FROM episodes) - ?", [keep]
        )


def count_episodes(connection: sqlite3.Connection) -> int:
    """How many episodes are kept."""
    return int(connection.execute("SELECT count(*) FROM episodes").fetchone()[0])


def logged_stabilities(connection: sqlite3.Connection) -> dict[str, list[float]]:
    """domain → the stabilities of the chunks that its episodes packed, oldest first."""
    found: dict[str, list[float]] = {}
    for domain, axes, packed in connection.execute(
        "SELECT domain, axes_json, packed_json FROM episodes ORDER BY episode_id"
    ):
        used = {chunk_id for pack in json.loads(packed) for chunk_id in pack}
        values = [row.get("stability") for row in json.loads(axes) if row["chunk_id"] in used]
        found.setdefault(domain, []).extend(v for v in values if v is not None)
    return found


def save_thresholds(connection: sqlite3.Connection, rows: Mapping[str, ThresholdRow]) -> None:
    """Put the thresholds of these domains in force."""
    with transaction(connection):
        connection.executemany(
            "INSERT OR REPLACE INTO stability_quantiles (domain, samples, q25, q50, q75, threshold, computed_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(r.domain, r.samples, r.q25, r.q50, r.q75, r.threshold, r.computed_at) for r in rows.values()],
        )


def forget_thresholds(connection: sqlite3.Connection) -> None:
    """Leave every domain at its configured threshold."""
    with transaction(connection):
        connection.execute("DELETE FROM stability_quantiles")


def threshold_rows(connection: sqlite3.Connection) -> list[ThresholdRow]:
    """Every domain that was recalibrated."""
    rows = connection.execute(
        "SELECT domain, samples, q25, q50, q75, threshold, computed_at FROM stability_quantiles ORDER BY domain"
    )
    return [
        ThresholdRow(domain=d, samples=n, q25=a, q50=b, q75=c, threshold=t, computed_at=at)
        for d, n, a, b, c, t, at in rows
    ]


def read_thresholds(connection: sqlite3.Connection) -> dict[str, float]:
    """domain → the threshold that was recalibrated."""
    return {row.domain: row.threshold for row in threshold_rows(connection)}
