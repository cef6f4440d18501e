"""What an ingest publishes: events while it runs, one report at its end; counts of results are derived from the outcomes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

Result = Literal["new", "updated", "unchanged", "moved", "skipped", "failed", "pruned"]
EventName = Literal[
    "scan_started",
    "scan_completed",
    "document_started",
    "document_finished",
    "words_indexed",
    "completed",
    "aborted",
]

RESULTS: tuple[Result, ...] = ("new", "updated", "unchanged", "moved", "skipped", "failed", "pruned")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one file.

    reason      why it was not indexed, or what was left out of it; None when there is nothing to say
    moved_from  its earlier path
    """

    source: str
    path: str
    result: Result
    reason: str | None = None
    fix: str | None = None
    moved_from: str | None = None
    chunks: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestEvent:
    """One step of an ingest, as NDJSON; exactly one of completed and aborted comes, and comes last.

    total   files found by the scan; expected_chunks guesses from the sizes of those that have to be read
    done    files finished so far, at most `total`: a document that is pruned is no file
    ms      milliseconds of this document per phase
    waiting  with words_indexed: the chunks that wait for vectors. Documents finished before it can be searched by words
    """

    schema_version: Literal["ingest_event.v1"] = "ingest_event.v1"
    event: EventName
    source: str | None = None
    path: str | None = None
    result: Result | None = None
    reason: str | None = None
    chunks: int | None = None
    total: int | None = None
    expected_chunks: int | None = None
    done: int | None = None
    ms: dict[str, float] | None = None
    counts: dict[str, int] | None = None
    waiting: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestReport:
    """The whole run.

    scanned       files that were looked at: all results but `pruned`
    ignored       files that .gitignore and .kbignore keep out; not looked at, not listed
    cache_hits    chunks whose vector was known already
    phase_ms      milliseconds of the whole run per phase
    not_indexed   every file that was skipped or failed, with its reason
    notes         files that were indexed with something left out or guessed
    vector_share  the chunks that have a vector, as a share of all; None where there are no chunks
    """

    schema_version: Literal["ingest_report.v1"] = "ingest_report.v1"
    counts: dict[str, int]
    chunks_written: int
    vectors_written: int
    cache_hits: int
    ignored: int
    phase_ms: dict[str, float]
    not_indexed: tuple[Outcome, ...]
    notes: tuple[Outcome, ...] = ()
    moved: tuple[Outcome, ...] = ()
    pruned: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    interrupted: bool = False
    dry_run: bool = False
    corpus_revision: int = 0
    vector_share: float | None = None


OnEvent = Callable[[IngestEvent], None]


@dataclass(slots=True)
class Tally:
    """What a run has done so far; the only state of an ingest.

    moved_doc_ids   documents whose files were found under another path
    finished_files  outcomes so far, those of pruned documents left out
    interrupted     the run was asked to stop before all was done
    """

    on_event: OnEvent
    outcomes: list[Outcome] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    phase_ms: dict[str, float] = field(default_factory=dict)
    moved_doc_ids: set[int] = field(default_factory=set)
    finished_files: int = 0
    chunks_written: int = 0
    vectors_written: int = 0
    cache_hits: int = 0
    ignored: int = 0
    interrupted: bool = False

    def add_ms(self, phase: str, ms: float) -> None:
        """Count time towards a phase."""
        self.phase_ms[phase] = self.phase_ms.get(phase, 0.0) + ms

    @contextmanager
    def timing(self, phase: str) -> Iterator[None]:
        """Count the time of a block towards a phase."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.add_ms(phase, (time.perf_counter() - began) * 1000)

    def settle(self, outcome: Outcome, ms: Mapping[str, float] | None = None) -> None:
        """Record what became of a file, and publish it.

        ms  milliseconds of this document per phase
        """
        self.outcomes.append(outcome)
        self.finished_files += outcome.result != "pruned"
        self.on_event(
            IngestEvent(
                event="document_finished",
                source=outcome.source,
                path=outcome.path,
                result=outcome.result,
                reason=outcome.reason,
                chunks=outcome.chunks,
                done=self.finished_files,
                ms={phase: round(value, 2) for phase, value in ms.items()} if ms else None,
            )
        )


def count_results(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """How many files came to each result, and how many were looked at."""
    counts: dict[str, int] = {result: sum(1 for o in outcomes if o.result == result) for result in RESULTS}
    return {"scanned": len(outcomes) - counts["pruned"], **counts}


def make_report(tally: Tally, *, dry_run: bool, corpus_revision: int, vector_share: float | None) -> IngestReport:
    """The report of a finished or interrupted run."""
    indexed = ("new", "updated", "moved")
    return IngestReport(
        counts=count_results(tally.outcomes),
        chunks_written=tally.chunks_written,
        vectors_written=tally.vectors_written,
        cache_hits=tally.cache_hits,
        ignored=tally.ignored,
        phase_ms={phase: round(ms, 1) for phase, ms in tally.phase_ms.items()},
        not_indexed=tuple(o for o in tally.outcomes if o.result in ("skipped", "failed")),
        notes=tuple(o for o in tally.outcomes if o.result in indexed and o.reason),
        moved=tuple(o for o in tally.outcomes if o.result == "moved"),
        pruned=tuple(f"{o.source}/{o.path}" for o in tally.outcomes if o.result == "pruned"),
        warnings=tuple(tally.warnings),
        interrupted=tally.interrupted,
        dry_run=dry_run,
        corpus_revision=corpus_revision,
        vector_share=vector_share,
    )
