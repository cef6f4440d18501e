"""How should vectors be kept and searched as they grow? kb's mapped files beside FAISS, in one run.

    python benchmarks/vector_scale.py [--rows 1000 10000 100000 110000] [--cells-above 100000]

Vectors are mixtures around 2,000 directions. For each way: CPU microseconds a row to build, CPU seconds of one row more and
one less, CPU milliseconds and largest memory of a fresh process that opens and searches once, the median of searches in one process,
recall@10 against the exact search, bytes a row. One thread throughout.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

QUERIES = 50
DIMENSIONS = 384
FRESH = """
import json, os, sys, time
sys.path.insert(0, sys.argv[1])
from benchmarks.vector_scale import opened
import numpy as np
before = time.process_time()
search = opened(sys.argv[2], sys.argv[3])
search(np.load(sys.argv[4])[0])
after = time.process_time()
most = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([1000 * (after - before), int(most.split()[1]) / 1000]))
"""


def main() -> None:
    """A table."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        if os.environ.get(name) != "1":
            os.environ[name] = "1"
            os.execv(sys.executable, [sys.executable, *sys.argv])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 100_000, 110_000])
    parser.add_argument("--cells-above", type=int, default=100_000)
    given = parser.parse_args()
    print("rows       way               build µs/row  change s  fresh ms   MB  warm ms  recall@10  bytes/row")
    for rows in given.rows:
        measure(rows, given.cells_above)


def make(rows: int) -> tuple[Any, Any]:
    """Vectors, and queries that are not among them."""
    import numpy as np

    generator, dimensions = np.random.default_rng(2), DIMENSIONS
    centres = generator.normal(size=(2000, dimensions)).astype(np.float32)
    made = np.empty((rows + QUERIES, dimensions), np.float32)
    for at in range(0, len(made), 50_000):
        part = made[at : at + 50_000]
        weights = generator.dirichlet([1.0, 0.6, 0.3], len(part)).astype(np.float32)
        chosen = generator.integers(0, len(centres), (len(part), 3))
        for near in range(3):
            part += weights[:, near, None] * centres[chosen[:, near]]
        part += 0.15 * generator.normal(size=part.shape).astype(np.float32)
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return made[:rows], made[rows:]


def measure(rows: int, exact_up_to: int) -> None:
    """The rows of the table for one size."""
    import numpy as np

    vectors, queries = make(rows)
    exact = [set(np.argpartition(-(vectors @ query), 10)[:10].tolist()) for query in queries]
    with TemporaryDirectory() as place:
        np.save(f"{place}/queries.npy", queries)
        for way, (build, change) in WAYS.items():
            if way == "faiss ivf" and rows <= exact_up_to:
                continue
            path = f"{place}/{way.replace(' ', '-')}"
            began = time.process_time()
            build(path, vectors, exact_up_to)
            built = 1e6 * (time.process_time() - began) / rows
            began = time.process_time()
            change(path, vectors[:1], rows)
            changed = time.process_time() - began
            command = [sys.executable, "-c", FRESH, str(Path(__file__).parents[1]), way, path, f"{place}/queries.npy"]
            costs = [json.loads(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(3)]
            fresh, memory = (statistics.median(cost[i] for cost in costs) for i in (0, 1))
            search = opened(way, path)
            found, seconds = 0, []
            for query, best in zip(queries, exact, strict=True):
                began = time.perf_counter()
                hits = search(query)
                seconds.append(time.perf_counter() - began)
                found += len(best & set(hits[:11]) - {rows})
            warm, recall = 1000 * statistics.median(seconds), found / (10 * len(queries))
            size = sum(f.stat().st_size for f in Path(place).rglob("*") if f.is_file() and path in str(f)) / rows
            print(
                f"{rows:<10,} {way:18} {built:11.1f} {changed:9.2f} {fresh:9.0f} {memory:4.0f} {warm:8.2f} "
                f"{min(recall, 1.0):10.3f} {size:10.0f}"
            )


# ---- kb's own


def kb_build(path: str, vectors: Any, exact_up_to: int) -> None:
    """All rows."""
    _kb_write(path, exact_up_to, lambda writer: writer.upsert((i, v.tobytes()) for i, v in enumerate(vectors)))


def kb_change(path: str, vectors: Any, rows: int) -> None:
    """One row more, one less."""
    from kb.index.stamp import read_stamp

    def change(writer: Any) -> None:
        writer.delete([rows // 2])
        writer.upsert([(rows, vectors[0].tobytes())])

    _kb_write(path, 100_000, change, read_stamp(Path(path), "vector"))


def _kb_write(path: str, exact_up_to: int, change: Callable[[Any], object], base: Any = None) -> None:
    from kb.config import SearchConfig
    from kb.index.keeper import write_index
    from kb.index.stamp import Origin
    from kb.index.vector_index import VECTORS

    settings, origin = SearchConfig(exact_up_to_chunks=exact_up_to), Origin(1, "state", "digest", DIMENSIONS)
    write_index(Path(path), VECTORS, origin, settings, change, base)


# ---- FAISS


def faiss_build(kind: str) -> Callable[[str, Any, int], None]:
    """The writer of one kind of index."""

    def build(path: str, vectors: Any, exact_up_to: int) -> None:
        import faiss
        import numpy as np

        rows, dimensions = vectors.shape
        metric = faiss.METRIC_INNER_PRODUCT
        if kind == "ivf":
            cells = int(4 * rows**0.5)
            index = faiss.IndexIVFFlat(faiss.IndexFlatIP(dimensions), dimensions, cells, metric)
            index.train(vectors[np.random.default_rng(0).permutation(rows)[: 64 * cells]])
            index.nprobe = 32
        elif kind == "8 bit":
            index = faiss.IndexScalarQuantizer(dimensions, faiss.ScalarQuantizer.QT_8bit, metric)
            index.train(vectors)
        else:
            index = faiss.IndexFlatIP(dimensions)
        index.add(vectors)
        faiss.write_index(index, path)

    return build


def faiss_change(path: str, vectors: Any, rows: int) -> None:
    """One row more, one less."""
    import faiss
    import numpy as np

    index = faiss.read_index(path)
    index.remove_ids(np.array([rows // 2]))
    index.add(vectors)
    faiss.write_index(index, f"{path}.changed")
    os.remove(f"{path}.changed")


WAYS: dict[str, tuple[Callable[[str, Any, int], None], Callable[[str, Any, int], None]]] = {
    "kb": (kb_build, kb_change),
    "faiss flat": (faiss_build("flat"), faiss_change),
    "faiss ivf": (faiss_build("ivf"), faiss_change),
    "faiss 8 bit mmap": (faiss_build("8 bit"), faiss_change),
}


def opened(way: str, path: str) -> Callable[[Any], list[int]]:
    """An index as a function from a query to the ids that were found."""
    if way == "kb":
        from kb.config import SearchConfig
        from kb.index.stamp import read_stamp
        from kb.index.vector_index import MappedVectors

        stamp = read_stamp(Path(path), "vector")
        if stamp is None:
            raise SystemExit(f"no index at {path}")
        index = MappedVectors(Path(path) / stamp.place, stamp, SearchConfig())
        return lambda query: [i for i, _ in index.search(query, 11)]
    import faiss

    faiss.omp_set_num_threads(1)
    flags = faiss.IO_FLAG_MMAP_IFC if "mmap" in way else 0
    read = faiss.read_index(path, flags)
    if "ivf" in way:
        faiss.extract_index_ivf(read).nprobe = 32
    return lambda query: read.search(query[None], 11)[1][0].tolist()


if __name__ == "__main__":
    main()
