"""Files → documents with their vectors, read and encoded on Ray: a stream with bounds, in the order of the files.

Tasks read and chunk, actors encode, and who asked for the documents saves them, one by one, through the same door as
without Ray. A process that is lost costs its calls, which are made again. A call changes nothing, and a document is saved in
one step, so that whatever is killed, this process included, a file is in the corpus once: the next run reads what is not
there with the hash that it has.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from kb.config import Config, CorpusConfig
from kb.errors import IoError
from kb.ingest.examine import Examined, Left, load
from kb.ingest.plan import Candidate
from kb.ingest.prepare import Prepared
from kb.ingest.run import Run
from kb.ray.calls import TRIES, Lost, Stopped, Waiter
from kb.ray.cluster import connect
from kb.ray.encoders import BATCH_TEXTS, QUEUE, Encoders
from kb.ray.remote import Order, examine_there

# Files that are read at a time for each core: a slow one must not leave the others without work.
_FILES_PER_CORE = 8
# Bytes of files on their way, which are in memory; one file may be larger.
_MOST_BYTES = 200_000_000
# Each process that reads loads kb, a tokenizer and its formats, which is seconds of work. The encoders book half of the cores;
# one that reads for every other two makes more text than they take.
_READING_CORES = 1.0


@contextmanager
def start_workers(address: str | None, config: Config) -> Iterator[RayWorkers | None]:
    """Workers until the end of the block, none without an address; see `kb.ray.cluster.connect` for what is raised."""
    if address is None:
        yield None
        return
    with connect(address) as ray:
        yield RayWorkers(ray, config)


@dataclass(eq=False, slots=True)
class _Batch:
    """Texts that are encoded together.

    texts    embed hash → text
    call     None until they are sent
    vectors  embed hash → float32 bytes, once they are there
    """

    texts: dict[str, str] = field(default_factory=dict)
    call: Any = None
    vectors: Mapping[str, bytes] | None = None


@dataclass(frozen=True, slots=True)
class _Reading:
    """A file on its way to being read; `call` is its result where it was settled here."""

    candidate: Candidate
    call: Any


@dataclass(frozen=True, slots=True)
class _Ready:
    """What came of a file, and the batches its vectors are in: embed hash → batch."""

    found: Examined
    batches: Mapping[str, _Batch]


class RayWorkers:
    """See `kb.ingest.workers.Workers`."""

    def __init__(self, ray: Any, config: Config) -> None:
        self._ray, self._config = ray, replace(config, corpus=CorpusConfig())
        self._wait = Waiter(ray)
        self._pool: Encoders | None = None
        self._open = _Batch()
        self._on_its_way: dict[str, _Batch] = {}
        # What was read and is not saved; files and texts in it, counted.
        self._ready: deque[_Ready] = deque()
        self._waiting = 0

    def encoder(self, digest: str) -> Encoders:
        """See Workers; encoders start when the first vectors are wanted."""
        if self._pool is None:
            self._pool = Encoders(self._wait, self._config, digest)
        return self._pool

    def read(self, run: Run, candidates: Iterator[Candidate]) -> Iterator[Examined]:
        """See Workers."""
        self._wait.should_stop = run.should_stop
        try:
            yield from self._stream(run, candidates)
        except Stopped:
            run.tally.interrupted = True
        finally:
            self._wait.should_stop = lambda: False  # a batch of vectors is finished

    def _stream(self, run: Run, candidates: Iterator[Candidate]) -> Iterator[Examined]:
        cores = float(self._ray.cluster_resources().get("CPU", 1))
        examine = self._examiner(run, min(_READING_CORES, cores / 2))
        most_files = int(_FILES_PER_CORE * cores) + 1
        reading: deque[_Reading] = deque()
        in_flight = 0
        for candidate in candidates:
            if not (run.request.words_only or run.request.dry_run):
                self.encoder(run.settings.encoder_digest)  # it loads its weights meanwhile
            reading.append(examine(candidate))
            in_flight += candidate.size_bytes
            while len(reading) >= most_files or in_flight > _MOST_BYTES:
                in_flight -= reading[0].candidate.size_bytes
                self._want_vectors(run, self._take(run, reading.popleft()))
                yield from self._finished()
        while reading and not run.tally.interrupted:
            self._want_vectors(run, self._take(run, reading.popleft()))
            yield from self._finished()
        if not run.tally.interrupted:
            yield from self._finished(is_last=True)

    # ---- reading

    def _examiner(self, run: Run, cores: float) -> Callable[[Candidate], _Reading]:
        """What sends a file to be read: this machine's with its bytes, because another one may not see the disk."""
        order = self._ray.put(Order(self._config, run.request))
        there = self._ray.remote(num_cpus=cores, max_retries=TRIES)(examine_there)

        def examine(candidate: Candidate) -> _Reading:
            file = candidate if candidate.target.scheme else load(candidate, run.kb.config.ingest, run.request)
            call = file if isinstance(file, Left) else there.remote(order, file)
            return _Reading(candidate, call)

        return examine

    def _take(self, run: Run, reading: _Reading) -> Examined:
        """What came of the file that was sent first."""
        if isinstance(reading.call, Left):
            return reading.call
        try:
            found: Examined = self._wait.get(reading.call)
        except Lost as error:
            problem = f"the process that read it was lost {TRIES + 1} times ({error})"
            return Left(reading.candidate, reading.candidate.failed(problem, "run the same command again"))
        if isinstance(found, Prepared) and found.draft.signature != run.settings.signature(found.draft.type):
            raise IoError(
                "a machine of the cluster reads files in another way: it has another version of kb, or another encoder",
                fix="install the same kb on every machine",
            )
        return found

    # ---- vectors

    def _want_vectors(self, run: Run, found: Examined) -> None:
        """Put the texts of a document into batches, those that neither the store has nor another document waits for."""
        batches: dict[str, _Batch] = {}
        if self._pool and isinstance(found, Prepared):
            known = run.kb.corpus.stored_hashes(run.settings.encoder_digest, found.texts)
            for embed_hash, text in found.texts.items():
                if embed_hash in known:
                    continue
                if embed_hash not in self._on_its_way:
                    self._on_its_way[embed_hash] = self._open
                    self._open.texts[embed_hash] = text
                batches[embed_hash] = self._on_its_way[embed_hash]
                if len(self._open.texts) >= BATCH_TEXTS:
                    self._send(self._pool)
        self._ready.append(_Ready(found, batches))
        self._waiting += 1 + len(batches)

    def _send(self, pool: Encoders) -> None:
        self._open.call = pool.send(list(self._open.texts.values()))
        self._open = _Batch()

    def _finished(self, *, is_last: bool = False) -> Iterator[Examined]:
        """The first documents, while their vectors are there; waits for them where many wait, or these are the last ones."""
        most = -1 if is_last else 2 * QUEUE * BATCH_TEXTS * (self._pool.count if self._pool else 1)
        while self._ready:
            if self._wait.should_stop():
                raise Stopped
            found, batches = self._ready[0].found, self._ready[0].batches
            if self._waiting <= most and not all(self._is_done(batch) for batch in set(batches.values())):
                return
            self._ready.popleft()
            self._waiting -= 1 + len(batches)
            if not isinstance(found, Prepared):
                yield found
                continue
            vectors = {h: self._vectors(batch)[h] for h, batch in batches.items()}
            yield replace(found, vectors=vectors)
            for embed_hash in vectors:  # saved by now
                self._on_its_way.pop(embed_hash, None)

    def _is_done(self, batch: _Batch) -> bool:
        return batch.vectors is not None or (batch.call is not None and bool(self._wait.done([batch.call])))

    def _vectors(self, batch: _Batch) -> Mapping[str, bytes]:
        if batch.vectors is None:
            if batch.call is None and self._pool:
                self._send(self._pool)
            try:
                matrix = self._wait.get(batch.call)
            except Lost as error:
                raise IoError(
                    f"an encoder was lost {TRIES + 1} times: {error}", fix="run the same command again"
                ) from error
            batch.vectors = {h: row.astype("<f4").tobytes() for h, row in zip(batch.texts, matrix, strict=True)}
        return batch.vectors
