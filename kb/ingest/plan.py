"""Scans and stored documents → a plan: files that may have to be read, and documents whose files are gone. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kb.frozen import dataclass
from kb.ingest.discover import Scan, Skipped, displayable
from kb.ingest.reader_protocol import LIMITS_VERSION
from kb.ingest.readers import READERS
from kb.ingest.report import Outcome, Result
from kb.ingest.sources import Target
from kb.places import split_url
from kb.store.documents import Stamp


@dataclass(frozen=True, slots=True)
class Candidate:
    """One file that may have to be read: where it is, what the store knows of it."""

    target: Target
    path: str
    absolute: Path
    type: str
    size_bytes: int
    mtime_ns: int
    stamp: Stamp | None
    identity: str = ""

    @property
    def state(self) -> str:
        """Of the file and of what reads it: changes when another try could end otherwise."""
        reader = f"{self.type}.{READERS[self.type].version}.{LIMITS_VERSION}"
        return f"{self.size_bytes} {self.mtime_ns} {self.identity} {reader}"

    def outcome(self, result: Result) -> Outcome:
        """What is reported of it."""
        return Outcome(source=self.target.source, path=self.path, result=result)

    def failed(self, problem: str, fix: str | None) -> Outcome:
        """What is reported when it cannot be read."""
        kept = "; its earlier text stays searchable" if self.stamp else ""
        return replace(self.outcome("failed"), reason=f"{problem}{kept}", fix=fix)


def has_same_time_and_size(candidate: Candidate, signature: str) -> bool:
    """True for a file that looks as it did when it was stored, with the same settings.

    signature  names the settings of today for the candidate's type
    """
    stamp = candidate.stamp
    stored = stamp and (stamp.size_bytes, stamp.mtime_ns, stamp.identity, stamp.signature)
    return stored == (candidate.size_bytes, candidate.mtime_ns, candidate.identity, signature)


@dataclass(frozen=True, slots=True)
class Plan:
    """What an ingest has to do.

    candidates   each file once, however many of the paths lead to it
    skipped      (source, what will not be read and why)
    gone         documents to forget, unless one of the candidates turns out to be such a document under another path
    new_sources  source → root, for sources that get their first file
    ignored      files and folders left out by ignore rules
    """

    candidates: tuple[Candidate, ...]
    skipped: tuple[tuple[str, Skipped], ...]
    gone: tuple[Stamp, ...]
    new_sources: Mapping[str, str]
    warnings: tuple[str, ...]
    ignored: int


def make_plan(
    scans: Sequence[tuple[Target, Scan]],
    known: Mapping[str, str | None],
    stamps: Mapping[str, Sequence[Stamp]],
    *,
    prune: bool,
) -> Plan:
    """Compare what was found with what is stored.

    scans   one per path the user named; they may overlap
    known   source → its root, as stored
    stamps  source → its documents, as stored
    prune   look for documents whose files are gone
    """
    by_path = {source: {stamp.path: stamp for stamp in kept} for source, kept in stamps.items()}
    candidates: dict[tuple[str, str], Candidate] = {}
    skipped: dict[tuple[str, str], Skipped] = {}
    for target, found in scans:
        for file in found.files:
            key = (target.source, file.path)
            if key not in candidates and key not in skipped:
                stamp = by_path[target.source].get(file.path)
                candidates[key] = Candidate(
                    target, file.path, file.absolute, file.type, file.size_bytes, file.mtime_ns, stamp, file.identity
                )
        for skip in found.skipped:
            key = (target.source, skip.path)
            if key not in candidates:
                skipped.setdefault(key, skip)
    gone, kept_back = _find_gone(scans, stamps, candidates, skipped) if prune else ((), ())
    return Plan(
        candidates=tuple(candidates.values()),
        skipped=tuple((source, skip) for (source, _), skip in skipped.items()),
        gone=gone,
        new_sources={
            target.source: target.place for target, found in scans if found.files and target.source not in known
        },
        warnings=(*(_describe_overlap(name, target) for target, name in _overlaps(scans, known)), *kept_back),
        ignored=sum(found.ignored for _, found in scans),
    )


def _overlaps(scans: Sequence[tuple[Target, Scan]], known: Mapping[str, str | None]) -> list[tuple[Target, str]]:
    """New sources around a source that is there: its files become documents twice."""
    return [
        (target, name)
        for target, found in scans
        if found.files and target.source not in known
        for name, root in known.items()
        if root and target.start == target.root and not target.is_listed
        for scheme, path in [split_url(root)]
        if target.scheme == scheme and target.root in (Path(path), *Path(path).parents)
    ]


def _describe_overlap(name: str, target: Target) -> str:
    return (
        f"source '{name}' lies inside {target.place}, which is now source '{target.source}': its documents are here"
        f" twice (to keep one of each: kb rm --source {name})"
    )


def _find_gone(
    scans: Sequence[tuple[Target, Scan]],
    stamps: Mapping[str, Sequence[Stamp]],
    candidates: Collection[tuple[str, str]],
    skipped: Mapping[tuple[str, str], Skipped],
) -> tuple[tuple[Stamp, ...], tuple[str, ...]]:
    """Documents whose files are not there any more; none where a folder looks empty or could not be read.

    candidates, skipped  what the scans found, by (source, path)
    returns              the documents, and a warning for each place whose documents are kept
    """
    later = {key for key, skip in skipped.items() if skip.may_be_readable_later}
    warnings: list[str] = []
    gone: dict[int, Stamp] = {}
    for target, found in scans:
        missing = [
            stamp
            for stamp in stamps[target.source]
            if (stamp.source, stamp.path) not in candidates
            and target.covers(stamp.path)
            and (stamp.source, displayable(stamp.path)) not in later
        ]
        if not missing:
            continue
        if not found.files and not found.skipped:
            warnings.append(
                f"{target.start} holds no file to read; kept its {len(missing)} documents (an unmounted disk looks"
                f" like this; to forget them: kb rm --source {target.source})"
            )
            continue
        kept: dict[str, int] = {}
        for stamp in missing:
            folder = _unreadable_folder(stamp, found)
            if folder is None:
                gone[stamp.doc_id] = stamp
            else:
                kept[folder] = kept.get(folder, 0) + 1
        warnings += [
            f"kept {count} documents of {target.source}: {target.root if folder == '.' else folder} cannot be read"
            for folder, count in kept.items()
        ]
    return tuple(gone.values()), tuple(warnings)


def _unreadable_folder(stamp: Stamp, found: Scan) -> str | None:
    """The folder above a document that could not be listed, where there is one."""
    shown = displayable(stamp.path)
    for folder in found.unreadable:
        if folder == "." or shown == folder or shown.startswith(f"{folder}/"):
            return folder
    return None
