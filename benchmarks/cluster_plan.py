"""What a Milvus cluster for 10 million to a billion passages needs, computed from measured sizes and rates; a plan, not a measurement.

    python benchmarks/cluster_plan.py [--rate PASSAGES_PER_SECOND] [--encoders N] [--memory-price USD] [--disk-price USD]

Bytes of a passage are those of kb's own rows (below, with where they come from). What indexes take is arithmetic on the
vectors; what Milvus itself says of it: sizing tool (https://zilliz.com/sizing-tool), DiskANN (https://milvus.io/docs/disk_index.md),
one shard for at most a billion vectors and at most eight shards, and six times the data in object storage, of experience
reports by Milvus' makers (https://cloud.tencent.com/developer/article/2208003). Prices are inputs: a GB of memory and of NVMe disk a month.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

SIZES = (10_000_000, 100_000_000, 1_000_000_000)
# multilingual-e5-small.
DIMENSIONS = 384
# Cranfield's passages as kb writes them: 100 words with their weights, eight bytes each; text and the other fields.
SPARSE_BYTES, ROW_BYTES = 100 * 8, 1_600
# Fields that Milvus keeps in memory to filter by: ids, version, source, type, language, tags, date, hash. Text is mapped from disk.
FILTER_BYTES = 250
# Passages a document has, and bytes of its row, those in memory included.
PASSAGES_PER_DOCUMENT, DOCUMENT_BYTES = 10, 1_000
# HNSW keeps 2 M neighbours of four bytes at its lowest layer, and about a tenth more above; kb builds with M = 24.
GRAPH_BYTES = int(2 * 24 * 4 * 1.1)
# DiskANN keeps codes of an eighth of the vector's bytes in memory, and a graph of 56 neighbours with the vectors on disk.
DISKANN_SHARE, DISKANN_GRAPH_BYTES = 1 / 8, 56 * 4
# A node's memory is not filled above this, and every segment is in one node.
FILLED = 0.7
COPIES_IN_OBJECT_STORAGE, OBJECT_PRICE = 6, 0.023
NODE_GB = 64
MOST_VECTORS_IN_A_SHARD, MOST_SHARDS, LEAST_SHARDS = 1_000_000_000, 8, 2
# By what was read of a search: vectors compared for a hit list of 100, of each segment of two million rows.
SEGMENT_ROWS, NODE_CORES = 2_000_000, 8


@dataclass(frozen=True, slots=True)
class IndexKind:
    """Bytes of a vector in memory and on the nodes' disks, and milliseconds that a search takes in one segment on one core.

    ms  of HNSW and flat: vectors compared at 20 GB/s and 5 million a second; of disks: reads of 0.1 ms, four at a time
    """

    name: str
    memory: float
    disk: float
    ms: Callable[[int], float]


KINDS = (
    IndexKind("FLAT", 4 * DIMENSIONS, 0, lambda rows: rows * 4 * DIMENSIONS / 20e9 * 1e3),
    IndexKind("HNSW", 4 * DIMENSIONS + GRAPH_BYTES, 0, lambda rows: 300 * 48 / 5e6 * 1e3),
    IndexKind("IVF_SQ8", DIMENSIONS, 0, lambda rows: rows / 64 * DIMENSIONS / 20e9 * 1e3),
    IndexKind(
        "DISKANN",
        4 * DIMENSIONS * DISKANN_SHARE,
        4 * DIMENSIONS + DISKANN_GRAPH_BYTES,
        lambda rows: 300 * 0.1 / 4,
    ),
    IndexKind(
        "binary + re-score", DIMENSIONS / 8, 4 * DIMENSIONS, lambda rows: rows / 64 * DIMENSIONS / 8 / 20e9 * 1e3 + 7.5
    ),
)


@dataclass(frozen=True, slots=True)
class Plan:
    """One row of the table; GB are 1e9 bytes."""

    passages: int
    kind: str
    shards: int
    memory_gb: float
    disk_gb: float
    nodes: int
    dollars: float
    search_ms: float
    ingest_hours: float


def plan(passages: int, kind: IndexKind, rate: float, encoders: int, memory_price: float, disk_price: float) -> Plan:
    """What this many passages need.

    rate    passages a second that one encoder takes
    prices  of a GB a month, in dollars
    """
    documents = passages / PASSAGES_PER_DOCUMENT * DOCUMENT_BYTES
    memory = (passages * (kind.memory + SPARSE_BYTES + FILTER_BYTES) + documents) / FILLED / 1e9
    disk = passages * (kind.disk + ROW_BYTES) / 1e9
    nodes = max(2, -int(-memory // NODE_GB))
    segments = max(1, passages / SEGMENT_ROWS / nodes / NODE_CORES)
    stored = passages * (4 * DIMENSIONS + SPARSE_BYTES + ROW_BYTES) / 1e9 * COPIES_IN_OBJECT_STORAGE
    shards = min(MOST_SHARDS, max(LEAST_SHARDS, -(-passages // (MOST_VECTORS_IN_A_SHARD // 8))))
    return Plan(
        passages=passages,
        kind=kind.name,
        shards=shards,
        memory_gb=memory,
        disk_gb=disk,
        nodes=nodes,
        dollars=memory * memory_price + disk * disk_price + stored * OBJECT_PRICE,
        search_ms=segments * kind.ms(min(passages, SEGMENT_ROWS)),
        ingest_hours=passages / rate / encoders / 3600,
    )


def print_table(plans: list[Plan]) -> None:
    """As Markdown, for the documentation."""
    print(
        "| passages | vector index | shards | memory | disk of nodes | query nodes of 64 GB | a month | vector search | encoding |"
    )
    print("|---:|---|---:|---:|---:|---:|---:|---:|---:|")
    for row in plans:
        print(
            f"| {row.passages // 1_000_000:,} M | {row.kind} | {row.shards} | {row.memory_gb:,.0f} GB | {row.disk_gb:,.0f} GB"
            f" | {row.nodes} | ${row.dollars:,.0f} | {row.search_ms:,.0f} ms | {row.ingest_hours:,.0f} h |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--rate",
        type=float,
        default=73.0,
        help="passages a second of one encoder of two cores, as measured by benchmarks/ingest_rate.py",
    )
    parser.add_argument("--encoders", type=int, default=64, help="encoders at work at a time")
    parser.add_argument(
        "--memory-price", type=float, default=5.0, help="dollars for a GB of memory a month, with its cores"
    )
    parser.add_argument("--disk-price", type=float, default=0.10, help="dollars for a GB of NVMe disk a month")
    given = parser.parse_args()
    prices = given.memory_price, given.disk_price
    print_table([plan(size, kind, given.rate, given.encoders, *prices) for size in SIZES for kind in KINDS])


if __name__ == "__main__":
    main()
