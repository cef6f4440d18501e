"""What was scored and packed for past answers, limited in number; and the thresholds computed from it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict, fields

from kb.frozen import dataclass
from kb.store.chunks import marks
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
        _insert(connection, "episodes", row)
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


def _insert(connection: sqlite3.Connection, table: str, row: EpisodeRow | ThresholdRow) -> None:
    values = asdict(row)
    connection.execute(
        f"INSERT OR REPLACE INTO {table} ({', '.join(values)}) VALUES {marks(values)}", list(values.values())
    )


def save_thresholds(connection: sqlite3.Connection, rows: Iterable[ThresholdRow]) -> None:
    """Put the thresholds of these domains in force."""
    with transaction(connection):
        for row in rows:
            _insert(connection, "stability_quantiles", row)


def forget_thresholds(connection: sqlite3.Connection) -> None:
    """Leave every domain at its configured threshold."""
    with transaction(connection):
        connection.execute("DELETE FROM stability_quantiles")


def threshold_rows(connection: sqlite3.Connection) -> list[ThresholdRow]:
    """Every domain that was recalibrated."""
    columns = [field.name for field in fields(ThresholdRow)]
    rows = connection.execute(f"SELECT {', '.join(columns)} FROM stability_quantiles ORDER BY domain")
    return [ThresholdRow(**dict(zip(columns, row, strict=True))) for row in rows]


def read_thresholds(connection: sqlite3.Connection) -> dict[str, float]:
    """domain → the threshold that was recalibrated."""
    return {row.domain: row.threshold for row in threshold_rows(connection)}
