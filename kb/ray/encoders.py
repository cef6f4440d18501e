"""Texts → vectors, by encoders in processes of their own on the machines of a cluster; each has a bounded queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kb.arrays import FloatMatrix
from kb.config import Config
from kb.embed.device import MOST_THREADS
from kb.embed.registry import SERVED
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


class Share(NamedTuple):
    """What is one encoder's.

    machine  its id; "" where there is none yet, as in a cluster that grows when something is asked of it
    cores    of which it books half: reading the files takes the rest
    gpus     0 or 1
    """

    machine: str
    cores: float
    gpus: int


class Encoders:
    """All encoders of a cluster, on the machines that `plan_encoders` says."""

    def __init__(self, waiter: Waiter, config: Config, digest: str) -> None:
        self.digest = digest
        self._ray, self._wait = waiter.ray, waiter
        make = self._ray.remote(EncoderThere)
        options = {"max_restarts": -1, "max_task_retries": TRIES}
        is_served = config.embedding.model.partition(":")[0] in SERVED
        shares = plan_encoders(self._ray.nodes(), use_gpus=not is_served)
        actors = [
            make.options(
                num_cpus=share.cores / 2, num_gpus=share.gpus, scheduling_strategy=self._near(share.machine), **options
            ).remote(config)
            for share in shares
        ]
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

    def _near(self, machine: str) -> Any:
        """Ray's wish for that machine; where it goes away, its encoder starts on another one."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return NodeAffinitySchedulingStrategy(machine, soft=True) if machine else "DEFAULT"


def plan_encoders(machines: Sequence[Mapping[str, Any]], *, use_gpus: bool) -> list[Share]:
    """One encoder for each GPU of a machine; on a machine without one, for each MOST_THREADS cores. The largest come first.

    machines  as `ray.nodes()` tells them
    use_gpus  whether the encoder can use one; on a model server it cannot

    >>> two = [{"NodeID": "a", "Alive": True, "Resources": {"CPU": 40.0}}, {"NodeID": "b", "Alive": False, "Resources": {}}]
    >>> [share.cores for share in plan_encoders(two, use_gpus=True)]
    [16, 16]
    >>> plan_encoders([{"NodeID": "a", "Alive": True, "Resources": {"CPU": 8.0, "GPU": 2.0}}], use_gpus=True)
    [Share(machine='a', cores=4.0, gpus=1), Share(machine='a', cores=4.0, gpus=1)]
    """
    shares: list[Share] = []
    for machine in machines:
        resources: Mapping[str, float] = machine["Resources"] if machine["Alive"] else {}
        cores = float(resources.get("CPU", 0))
        if not cores:
            continue
        gpus = int(resources.get("GPU", 0)) if use_gpus else 0
        count = gpus or max(1, round(cores / MOST_THREADS))
        shares += [Share(machine["NodeID"], min(cores / count, MOST_THREADS), min(gpus, 1))] * count
    return sorted(shares, key=lambda share: (-share.gpus, -share.cores)) or [Share("", 1.0, 0)]
