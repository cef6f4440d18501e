"""The log of packings → each domain's stability threshold: the present one, and one recalibrated from the log."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Literal

from kb.frozen import dataclass
from kb.packing.stability import stability_quantiles
from kb.runtime import Runtime
from kb.search.stability import configured_thresholds
from kb.store.documents import utc_text
from kb.store.episodes import ThresholdRow

# The quartiles of fewer packed passages say nothing about a domain.
LEAST_SAMPLES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainThreshold:
    """One domain's threshold.

    configured     by [cswr]
    threshold      in force: the recalibrated one where there is one
    samples        packed passages it was recalibrated from; None where it never was
    q25, q50, q75  quartiles of their stability; None below LEAST_SAMPLES
    """

    domain: str
    configured: float
    threshold: float
    samples: int | None
    q25: float | None
    q50: float | None
    q75: float | None
    computed_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """How context stability is set.

    episodes  packings in the log, of `keep_episodes` at most
    weights   of the axes
    """

    schema_version: Literal["cswr.v1"] = "cswr.v1"
    weights: dict[str, float]
    domains: tuple[DomainThreshold, ...]
    episodes: int
    keep_episodes: int


def read_stability(kb: Runtime) -> Stability:
    """The present settings."""
    known = {row.domain: row for row in kb.journal.threshold_rows()}
    return Stability(
        weights={f.name: getattr(kb.config.cswr_weights, f.name) for f in fields(kb.config.cswr_weights)},
        domains=tuple(
            _domain(domain, value, known.get(domain)) for domain, value in configured_thresholds(kb.config.cswr).items()
        ),
        episodes=kb.journal.count_episodes(),
        keep_episodes=kb.config.cswr.keep_episodes,
    )


def _domain(domain: str, configured: float, row: ThresholdRow | None) -> DomainThreshold:
    return DomainThreshold(
        domain=domain,
        configured=configured,
        threshold=row.threshold if row else configured,
        samples=row.samples if row else None,
        q25=row.q25 if row else None,
        q50=row.q50 if row else None,
        q75=row.q75 if row else None,
        computed_at=row.computed_at if row else None,
    )


def recalibrate(kb: Runtime) -> Stability:
    """Set each domain's threshold to the lower quartile of the packed passages; with too few samples it stays as it is.

    kb  opened for writing
    """
    samples = kb.journal.logged_stabilities()
    now = utc_text()
    rows: list[ThresholdRow] = []
    for present in read_stability(kb).domains:
        found = stability_quantiles(samples.get(present.domain, []), present.threshold, LEAST_SAMPLES)
        if found.q25 is not None:
            rows.append(ThresholdRow(domain=present.domain, **asdict(found), computed_at=now))
    kb.journal.save_thresholds(rows)
    return read_stability(kb)


def reset(kb: Runtime) -> Stability:
    """Return to the configured thresholds."""
    kb.journal.forget_thresholds()
    return read_stability(kb)
