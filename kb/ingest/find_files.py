"""What a request names (folders, URLs, a list of files) → the files of each, with the source that they belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from kb.config import IngestConfig
from kb.ingest.discover import Scan, Skipped, scan
from kb.ingest.request import IngestRequest
from kb.ingest.sources import Target, place_listed, place_path, place_paths
from kb.ingest.urls import is_folder, scan_url, stat_url
from kb.places import split_url

Known = Mapping[str, str | None]


def find_files(request: IngestRequest, known: Known, config: IngestConfig, home: Path) -> list[tuple[Target, Scan]]:
    """The files of each thing that a request names.

    known   source → its root, as stored
    home    the knowledge base in use, which is not read
    raises  NotFound for a path or URL that is not there, InvalidInput, IoError, ExtraMissing
    """
    targets = place_paths(request.paths, known, request.source)
    known = _with(known, targets)
    for url in request.urls:
        scheme, path = split_url(url.rstrip("/"))
        targets.append(place_path(Path(path), known, request.source, scheme=scheme, is_folder=is_folder(url)))
        known = _with(known, targets)
    found = [(target, _scan(target, target.start, request, config, home)) for target in targets]
    places = sorted(split_url(place) for place in dict.fromkeys(request.listed))
    for scheme, group in groupby(places, key=lambda place: place[0]):
        paths = [Path(path) if scheme else Path(path).expanduser().absolute() for _, path in group]
        for target, files in place_listed(paths, known, request.source, scheme).items():
            found.append((target, _scan_listed(target, files, request, config, home)))
        known = _with(known, [target for target, _ in found])
    return found


def _with(known: Known, targets: Sequence[Target]) -> Known:
    return {**known, **{target.source: target.place for target in targets if target.source not in known}}


def _scan(target: Target, start: Path, request: IngestRequest, config: IngestConfig, home: Path) -> Scan:
    if target.scheme:
        return scan_url(target, config, request)
    return scan(
        start,
        config=config,
        root=target.root,
        home=home,
        include_secrets=request.include_secrets,
        include_generated=request.include_generated,
    )


def _scan_listed(
    target: Target, files: Sequence[Path], request: IngestRequest, config: IngestConfig, home: Path
) -> Scan:
    """One scan of files that were named one by one; those that are not there are skipped with the reason."""
    if target.scheme:
        stats = [stat_url(target, file, config, request) for file in files]
        skipped = tuple(each for each in stats if isinstance(each, Skipped))
        return Scan(tuple(each for each in stats if not isinstance(each, Skipped)), skipped, (), 0)
    scans = [_scan(target, file, request, config, home) for file in files]
    return Scan(
        tuple(file for each in scans for file in each.files),
        tuple(skip for each in scans for skip in each.skipped),
        (),
        sum(each.ignored for each in scans),
    )
