"""An address → Ray, ready to be used: a cluster that is there, or one on this machine for as long as it is needed.

The one on this machine listens on 127.0.0.1 alone, asks for a token, has no dashboard, and sends nothing anywhere.
"""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from tempfile import mkdtemp
from typing import Any

from kb.errors import InvalidInput, IoError
from kb.extras import require

AUTO = "auto"
_FORM = "auto, HOST:6379 on a machine of the cluster, or ray://HOST:10001"
# A cluster that is there answers in milliseconds.
_KNOCK_SECONDS = 5.0
# What is in flight between processes; workers.py bounds it. Ray would take a third of the memory.
_SHARED_BYTES = 512_000_000
_PRIVATE = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_LOG_TO_DRIVER": "0",
    "RAY_TQDM": "0",
}
# Read when Ray is imported. The first one is what Ray offers for systems with a firewall that asks: 127.0.0.1 alone.
_ALONE = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_AUTH_MODE": "token"}


@contextmanager
def connect(address: str) -> Iterator[Any]:
    """The module `ray`, connected until the end of the block.

    address  "auto" starts Ray on this machine; otherwise where a cluster is. A program that is connected already stays so
    raises   ExtraMissing, InvalidInput for what is no address, IoError where nothing answers
    """
    require("ingest on Ray needs", "ray", extra="ray")
    if address != AUTO:
        _knock(address)
    alone = _ALONE | {"RAY_AUTH_TOKEN": secrets.token_hex(32)} if address == AUTO else {}
    with _variables(_PRIVATE | alone):
        import ray

        if ray.is_initialized():
            yield ray
            return
        # Only this user may look into it. Names of sockets have 104 characters at most, and Ray adds 66: TMPDIR may be long.
        folder = mkdtemp(prefix="kb-ray-", dir="/tmp")
        where: dict[str, Any] = {"address": address}
        if address == AUTO:
            where = {
                "address": "local",
                "num_cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
                "include_dashboard": False,
                "object_store_memory": _SHARED_BYTES,
                "_temp_dir": folder,
            }
        try:
            try:
                ray.init(**where, log_to_driver=False, logging_level=logging.ERROR, namespace="kb")
            except (ImportError, OSError, RuntimeError, ValueError, AssertionError, ray.exceptions.RayError) as error:
                said = " ".join(str(error).split())[:200]
                what = "Ray did not start here" if address == AUTO else f"Ray at {address} cannot be used"
                raise IoError(
                    f"{what}: {said}", fix=f"check the address ({_FORM}), and that both have one Ray"
                ) from error
            yield ray
        finally:
            ray.shutdown()
            shutil.rmtree(folder, ignore_errors=True)


def _knock(address: str) -> None:
    """Fail within seconds where nobody listens; Ray would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit() or "/" in host:
        raise InvalidInput(f"'{address}' is no address of Ray", fix=f"write {_FORM}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK_SECONDS).close()
    except OSError as error:
        raise IoError(
            f"Ray at {address} does not answer: {error.strerror or error}",
            fix="start it there (ray start --head), or leave the work to this machine: --ray auto",
        ) from error


@contextmanager
def _variables(values: Mapping[str, str]) -> Iterator[None]:
    """Environment variables for this process and those that it starts, until the end of the block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
