"""ONNX graphs in the cache folder: saved once so that a session opens at once, and opened.

What opening costs, CPU time: multilingual-e5-small 190 ms as it is written, 70 ms as `save_optimized` saves it, 20 ms
without buffers that are used twice; a reader in 8 bits 200 ms out of its package and 45 ms so.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kb.embed.device import count_threads

GRAPH, WEIGHTS = "model.onnx", "weights.bin"


def save_optimized(raw: Path, folder: Path) -> None:
    """Write the optimized graph, GRAPH, and its weights, WEIGHTS, which sessions map instead of reading.

    Raises the exceptions of onnxruntime for damaged files.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # ALL would add layouts for this CPU, and machines may share the cache folder.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(folder / GRAPH)
    options.add_session_config_entry("session.optimized_model_external_initializers_file_name", WEIGHTS)
    options.add_session_config_entry("session.optimized_model_external_initializers_min_size_in_bytes", "1024")
    onnxruntime.InferenceSession(str(raw), options, providers=["CPUExecutionProvider"])


def open_graph(path: Path, *, is_final: bool, is_prepacked: bool) -> Any:
    """An onnxruntime session.

    is_final      take the graph as it is, not optimized for this CPU
    is_prepacked  copy mapped weights into the layout that multiplies fastest: 20 to 120 ms, and less for each text
    Raises the exceptions of onnxruntime for damaged files.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Explicit, because the default on machines with many sockets has corrupted the heap (48 threads).
    options.intra_op_num_threads = count_threads()
    options.inter_op_num_threads = 1
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_DISABLE_ALL if is_final else levels.ORT_ENABLE_ALL
    if not is_prepacked:
        options.add_session_config_entry("session.disable_prepacking", "1")
    # Which buffer may be used again where takes 50 ms to plan; without a plan they are freed as early, and memory is the same.
    options.enable_mem_reuse = False
    # Waiting threads that spin would take the cores from FAISS and other processes.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def make_folder(folder: Path, is_made: Callable[[], bool], fill: Callable[[Path], None]) -> None:
    """Make a folder whole, or not at all, unless another process has made it meanwhile.

    is_made  whether there is one that can be used; one that cannot is replaced
    fill     writes the files into the empty folder it is given; what it raises is raised
    """
    if is_made():
        return
    from filelock import FileLock

    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_name(f"{folder.name}.lock")):
        if is_made():
            return
        # Left by a killed process, since this one holds the lock.
        for left_over in folder.parent.glob(f"{folder.name}.*.unfinished"):
            shutil.rmtree(left_over, ignore_errors=True)
        unfinished = folder.with_name(f"{folder.name}.{secrets.token_hex(4)}.unfinished")
        unfinished.mkdir()
        try:
            fill(unfinished)
            shutil.rmtree(folder, ignore_errors=True)
            unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
