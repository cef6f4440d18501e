"""Scans and what the store knows → what there is to do: files that may have to be read, documents whose files are gone. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kb.ingest.discover import Scan, Skipped, displayable
from kb.ingest.sources import Target
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


@dataclass(slots=True)
class Plan:
    """What an ingest has before it.

    candidates   each file once, however many of the paths lead to it
    skipped      (source, what will not be read and why)
    gone         documents to forget, unless one of the candidates turns out to be such a document under another path
    new_sources  source → root, for sources that get their first file
    ignored      files and folders left out by ignore rules
    """

    candidates: list[Candidate] = field(default_factory=list)
    skipped: list[tuple[str, Skipped]] = field(default_factory=list)
    gone: list[Stamp] = field(default_factory=list)
    new_sources: dict[str, Path] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    ignored: int = 0


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
    plan = Plan()
    by_path = {source: {stamp.path: stamp for stamp in kept} for source, kept in stamps.items()}
    seen: set[tuple[str, str]] = set()
    for target, found in scans:
        plan.ignored += found.ignored
        for file in found.files:
            if (target.source, file.path) not in seen:
                seen.add((target.source, file.path))
                stamp = by_path[target.source].get(file.path)
                plan.candidates.append(
                    Candidate(target, file.path, file.absolute, file.type, file.size_bytes, file.mtime_ns, stamp)
                )
        for skip in found.skipped:
            if (target.source, skip.path) not in seen:
                seen.add((target.source, skip.path))
                plan.skipped.append((target.source, skip))
        if found.files and target.source not in known:
            plan.new_sources[target.source] = target.root
    plan.warnings += [_describe_overlap(name, target) for target, name in _overlaps(scans, known)]
    if prune:
        _find_gone(plan, scans, stamps)
    return plan


def _overlaps(scans: Sequence[tuple[Target, Scan]], known: Mapping[str, str | None]) -> list[tuple[Target, str]]:
    """New sources around a source that is there: its files become documents twice."""
    return [
        (target, name)
        for target, found in scans
        if found.files and target.source not in known
        for name, root in known.items()
        if root and target.start == target.root and target.root in (Path(root), *Path(root).parents)
    ]


def _describe_overlap(name: str, target: Target) -> str:
    return (
        f"source '{name}' lies inside {target.root}, which is now source '{target.source}': its documents are here"
        f" twice (to keep one of each: kb rm --source {name})"
    )


def _find_gone(plan: Plan, scans: Sequence[tuple[Target, Scan]], stamps: Mapping[str, Sequence[Stamp]]) -> None:
    """Documents whose files are not there any more; none where a folder looks empty or could not be read."""
    here = {(candidate.target.source, candidate.path) for candidate in plan.candidates}
    later = {(source, skip.path) for source, skip in plan.skipped if skip.may_be_readable_later}
    gone: dict[int, Stamp] = {}
    for target, found in scans:
        missing = [
            stamp
            for stamp in stamps[target.source]
            if (stamp.source, stamp.path) not in here
            and target.covers(stamp.path)
            and (stamp.source, displayable(stamp.path)) not in later
        ]
        if not missing:
            continue
        if not found.files and not found.skipped:
            plan.warnings.append(
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
        plan.warnings += [
            f"kept {count} documents of {target.source}: {target.root if folder == '.' else folder} cannot be read"
            for folder, count in kept.items()
        ]
    plan.gone = list(gone.values())


def _unreadable_folder(stamp: Stamp, found: Scan) -> str | None:
    """The folder above a document that could not be listed, where there is one."""
    shown = displayable(stamp.path)
    for folder in found.unreadable:
        if folder == "." or shown == folder or shown.startswith(f"{folder}/"):
            return folder
    return None
