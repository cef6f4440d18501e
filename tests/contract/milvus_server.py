"""Milvus Lite as a server on a port, behind an interceptor: it asks for tokens, and fails when a test tells it to."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Calls that change what is stored.
WRITES = ("Insert", "Upsert", "Delete")


class MilvusServer:
    """See the module.

    tokens  those that may do anything; empty lets everybody in
    refuse  asked with the name of each call; what it returns is the error of this call, None lets it through
    """

    def __init__(self, folder: Path) -> None:
        self.tokens: set[str] = set()
        self.refuse: Callable[[str], str | None] = lambda name: None
        self.calls: list[str] = []
        self._folder, self.port = folder, 0
        self.start()

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Serve, on the same port as before."""
        import grpc
        from milvus_lite.adapter.grpc.servicer import MilvusServicer
        from milvus_lite.db import MilvusLite
        from pymilvus.grpc_gen import milvus_pb2_grpc

        self._db = MilvusLite(str(self._folder))
        for name in self._db.list_collections():  # Milvus does so by itself, Lite does not
            self._db.get_collection(name).load()
        self._server = grpc.server(futures.ThreadPoolExecutor(4), interceptors=[_interceptor(self)])
        milvus_pb2_grpc.add_MilvusServiceServicer_to_server(MilvusServicer(self._db), self._server)
        self.port = self._server.add_insecure_port(f"127.0.0.1:{self.port}")
        self._server.start()

    def stop(self) -> None:
        """Be away."""
        self._server.stop(grace=None).wait()
        self._db.close()

    def check(self, name: str, metadata: dict[str, str]) -> tuple[Any, str] | None:
        """The gRPC status and text with which a call is refused."""
        import grpc

        self.calls.append(name)
        token = base64.b64decode(metadata.get("authorization", "")).decode()
        if self.tokens and token not in self.tokens:
            return grpc.StatusCode.UNAUTHENTICATED, "auth check failure, please check username and password are correct"
        if problem := self.refuse(name):
            return grpc.StatusCode.RESOURCE_EXHAUSTED, problem
        return None


def _interceptor(owner: MilvusServer) -> Any:
    import grpc

    class Guard(grpc.ServerInterceptor):  # type: ignore[misc]
        def intercept_service(self, continuation: Any, details: Any) -> Any:
            name = details.method.rpartition("/")[2]
            refused = owner.check(name, dict(details.invocation_metadata))
            if refused is None:
                return continuation(details)
            return grpc.unary_unary_rpc_method_handler(lambda request, context: context.abort(*refused))

    return Guard()


@contextmanager
def serve(folder: Path) -> Iterator[MilvusServer]:
    """A server until the end of the block."""
    server = MilvusServer(folder)
    try:
        yield server
    finally:
        server.stop()
