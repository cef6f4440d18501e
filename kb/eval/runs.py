"""Runs on disk: `<home>/eval/<run_id>.jsonl`, a header line, a line per finished query, a closing line with the figures.

Append-only, so that an interrupted run keeps its results and can be resumed. Not in the store: an evaluation never mixes
with the user's own answers.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from kb.errors import InvalidInput, NotFound
from kb.eval.records import QueryResult, Run, RunSummary

FOLDER = "eval"


def new_run_id() -> str:
    """A name that sorts by time, such as 20261121-103000-412-3fa9: several short runs may begin in one second."""
    now = time.time()
    return f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}-{int(now * 1000) % 1000:03d}-{secrets.token_hex(2)}"


def run_path(home: Path, run_id: str) -> Path:
    """Where a run of this home is kept."""
    return home / FOLDER / f"{run_id}.jsonl"


def begin_run(path: Path, run: Run) -> None:
    """Write the header of a new run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _append(path, {"run": replace(run, results=())})


def append_result(path: Path, result: QueryResult) -> None:
    """Keep one finished query."""
    _append(path, {"result": result})


def mend_run(path: Path) -> None:
    """End an unfinished last line of a killed process if it is complete JSON, else cut it off, before more is appended."""
    raw = path.read_bytes()
    whole = raw.rfind(b"\n") + 1
    if whole == len(raw):
        return
    with path.open("r+b") as file:
        try:
            json.loads(raw[whole:])
            file.seek(len(raw))
            file.write(b"\n")
        except ValueError:
            file.truncate(whole)


def finish_run(path: Path, run: Run) -> None:
    """Write the figures: the run is finished."""
    _append(path, {"run": replace(run, results=())})


def save_run(path: Path, run: Run) -> None:
    """A whole run in one file: a baseline to compare with."""
    path.unlink(missing_ok=True)
    begin_run(path, run)
    for result in run.results:
        append_result(path, result)


def short_name(run_id: str) -> str:
    """What a person calls a run: the part of its id that chance made; the whole id where it has none.

    >>> short_name("20261122-184220-552-5c12-lexical"), short_name("mine")
    ('5c12', 'mine')
    """
    parts = run_id.split("-")
    return parts[3] if len(parts) == 5 else run_id


def load_run(home: Path, name: str) -> Run:
    """A run by its short name (see `short_name`), its id, the beginning of its id, `last`, or the path of a file.

    raises  NotFound, InvalidInput for a file that is not a run
    """
    path = Path(name)
    if not path.is_file():
        known = sorted((home / FOLDER).glob("*.jsonl"))
        matches = known[-1:] if name == "last" else [p for p in known if short_name(p.stem) == name]
        matches = matches or [p for p in known if p.stem.startswith(name)]
        if len(matches) != 1:
            problem = f"no run '{name}'" if not matches else f"several runs are called '{name}'"
            raise NotFound(problem, fix="name a run of the list (kb eval list), 'last', or a file that holds a run")
        path = matches[0]
    return _read(path)


def list_runs(home: Path, on_unreadable: Callable[[str], None]) -> list[Run]:
    """The runs of a home, oldest first.

    on_unreadable  called with the problem of a file that is not a run; the others are listed
    """
    runs = []
    for path in sorted((home / FOLDER).glob("*.jsonl")):
        try:
            runs.append(_read(path))
        except InvalidInput as error:
            on_unreadable(error.problem)
    return runs


def summarize(runs: Iterable[Run]) -> tuple[RunSummary, ...]:
    """Runs as eval_runs.v1 shows them."""
    return tuple(
        RunSummary(
            run_id=run.run_id,
            suite=run.suite,
            mode=run.mode,
            metrics=run.metrics,
            latency_ms=run.latency_ms,
            kind=run.kind,
            queries=len(run.results),
            finished=run.finished,
        )
        for run in runs
    )


def _append(path: Path, row: dict[str, Any]) -> None:
    import msgspec

    with path.open("ab") as file:
        file.write(msgspec.json.encode(row) + b"\n")


def _read(path: Path) -> Run:
    import msgspec

    run: Run | None = None
    results: dict[tuple[str, int], QueryResult] = {}
    raw = path.read_bytes()
    whole_lines = raw.count(b"\n")
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if "run" in row:
                run = msgspec.convert(row["run"], Run)
            else:
                result = msgspec.convert(row["result"], QueryResult)
                results[result.query_id, result.seed] = result
        except (ValueError, KeyError, TypeError, msgspec.ValidationError) as error:
            if number == whole_lines + 1:
                break  # the line that was being written when the process was killed
            raise InvalidInput(
                f"{path}:{number} is not a line of a run: {error}", fix="name a file of kb eval"
            ) from error
    if run is None:
        raise InvalidInput(f"{path} holds no run", fix="name a file of kb eval")
    return replace(run, results=tuple(results.values()))
