"""Texts → vectors, by encoders in processes of their own on the machines of a cluster; each has a bounded queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kb.arrays import FloatMatrix
from kb.config import Config
from kb.embed.batches import MOST_THREADS
from kb.errors import EmbeddingMismatch
from kb.ray.calls import TRIES, Waiter
from kb.ray.remote import EncoderThere

# Texts that are encoded in one call: enough of like length to fill the encoder's own batches, as kb.ingest.embed has it.
BATCH_TEXTS = 128
# Batches that an encoder has at a time: the one it works on, and the next.
QUEUE = 2


@dataclass(eq=False, slots=True)
class Worker:
    """One encoder, and the calls that it has not answered."""

    actor: Any
    calls: list[Any] = field(default_factory=list)


class Encoders:
    """All encoders of a cluster, one for each MOST_THREADS cores; an encoder works with that many threads.

    An encoder books half of its cores: reading the files takes the rest, and little of it.
    """

    def __init__(self, waiter: Waiter, config: Config, digest: str) -> None:
        self.digest = digest
        self._ray, self._wait = waiter.ray, waiter
        make = self._ray.remote(EncoderThere)
        options = {"max_restarts": -1, "max_task_retries": TRIES}
        # The largest first: they fit where the others would, too.
        actors = [make.options(num_cpus=cores / 2, **options).remote(config) for cores in self._shares()]
        self._starting = {actor.digest.remote(): Worker(actor) for actor in actors}
        self._ready: list[Worker] = []
        self.count = len(actors)

    def send(self, texts: Sequence[str]) -> Any:
        """Have texts encoded, by the encoder with the shortest queue, as soon as there is room in it.

        returns  what `Waiter.get` makes a matrix of
        raises   EmbeddingMismatch where another encoder is on a machine; IoError; Stopped
        """
        while True:
            self._look(0.0)
            free = [worker for worker in self._ready if len(worker.calls) < QUEUE]
            if free:
                worker = min(free, key=lambda worker: len(worker.calls))
                call = worker.actor.encode.remote(list(texts))
                worker.calls.append(call)
                return call
            self._wait.some([*self._starting, *(call for worker in self._ready for call in worker.calls)])

    def encode_documents(
        self,
        texts: Sequence[str],
        on_batch: Callable[[int], None] | None = None,
        expected_texts: int | None = None,
    ) -> FloatMatrix:
        """See `kb.embed.protocol.Encoder`."""
        import numpy as np

        calls = [self.send(texts[start : start + BATCH_TEXTS]) for start in range(0, len(texts), BATCH_TEXTS)]
        found: list[FloatMatrix] = []
        done = 0
        for call in calls:
            found.append(self._wait.get(call))
            done += len(found[-1])
            if on_batch:
                on_batch(done)
        return np.concatenate(found)

    def _look(self, seconds: float) -> None:
        """See which encoders have started, and which calls are answered."""
        for call in self._wait.done(list(self._starting)):
            digest = self._wait.get(call)
            if digest != self.digest:
                raise EmbeddingMismatch(
                    "a machine of the cluster has another encoder of this name: its vectors would not be comparable",
                    fix="install the same kb on every machine, with the same model",
                )
            self._ready.append(self._starting.pop(call))
        for worker in self._ready:
            done = set(self._wait.done(worker.calls))
            worker.calls = [call for call in worker.calls if call not in done]

    def _shares(self) -> list[float]:
        """The cores of each encoder."""
        shares: list[float] = []
        for node in self._ray.nodes():
            cores = float(node["Resources"].get("CPU", 0)) if node["Alive"] else 0.0
            count = max(1, round(cores / MOST_THREADS)) if cores else 0
            shares += [min(cores / count, MOST_THREADS)] * count
        return sorted(shares, reverse=True) or [1.0]
