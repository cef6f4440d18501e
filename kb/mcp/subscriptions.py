"""Documents that change → the clients that wait for it: those that subscribed to a document, and streams that listen.

The store is looked at while somebody waits, and only then; whoever writes it may be another process.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourcesListChanged, ResourceUpdated

from kb.doors.desk import Desk
from kb.doors.worker import tell_stderr
from kb.errors import KbError
from kb.library import KnowledgeBase
from kb.mcp.resources import document_uri

Context = ServerRequestContext[Any, Any]
# A look at a store that nobody has written takes a tenth of a millisecond.
LOOK_SECONDS = 1.0
# Of all clients together; the oldest is forgotten first, as a client does that has gone away without a word.
MOST_SUBSCRIPTIONS = 1000
SESSION_HEADER = "mcp-session-id"


class Subscriptions:
    """Who is told of what; used on the server's event loop alone."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._streams = 0
        self._sessions: dict[tuple[str, str], ServerSession] = {}
        self._watching: asyncio.Task[None] | None = None
        self._revision: object = None
        self._known: dict[str, str] = {}
        self._trouble = ""

    async def subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Tell a client of the protocol of 2025 when a document changes or goes."""
        key = (_client(ctx), str(params.uri))
        self._sessions.pop(key, None)
        self._sessions[key] = ctx.session
        while len(self._sessions) > MOST_SUBSCRIPTIONS:
            self._sessions.pop(next(iter(self._sessions)))
        await self._watch()
        return types.EmptyResult()

    async def unsubscribe(self, ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Tell it no more."""
        self._sessions.pop((_client(ctx), str(params.uri)), None)
        return types.EmptyResult()

    async def listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """A stream of changes for a client of the protocol of 2026, for as long as it reads."""
        self._streams += 1
        try:
            await self._watch()
            return await self._listen(ctx, params)
        finally:
            self._streams -= 1

    async def _watch(self) -> None:
        """Look at the store from now on, what is there now taken as known."""
        if self._watching is None or self._watching.done():
            await self._look()
            self._watching = asyncio.create_task(self._go_on())

    async def _go_on(self) -> None:
        while self._sessions or self._streams:
            await asyncio.sleep(LOOK_SECONDS)
            before = self._known
            await self._look()
            if self._known is before:
                continue
            changed = [uri for uri, state in before.items() if self._known.get(uri) != state]
            for uri in changed:
                await self._tell(uri)
            if before.keys() != self._known.keys():
                await self._bus.publish(ResourcesListChanged())

    async def _look(self) -> None:
        """Read the documents anew where the store has changed."""
        try:
            revision, found = await self._desk.read(lambda base: _states(base, self._revision))
        except KbError as error:  # no store yet, or one that is being put in place: the next look will see
            if error.problem != self._trouble:  # said once, not every second
                tell_stderr(f"cannot look for changes: {error.problem}")
            self._trouble = error.problem
            return
        if found is not None:
            self._revision, self._known = revision, found

    async def _tell(self, uri: str) -> None:
        await self._bus.publish(ResourceUpdated(uri=uri))
        for key, session in list(self._sessions.items()):
            if key[1] == uri:
                with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                    await session.send_resource_updated(uri)


def _states(base: KnowledgeBase, known: object) -> tuple[object, dict[str, str] | None]:
    """(which corpus this is, the hash of each document by its uri); None for the one that is known."""
    kb = base.runtime()
    state = kb.corpus_state()
    if state == known:
        return state, None
    return state, {document_uri(s.source, s.path): s.content_hash for s in kb.corpus.document_stamps()}


def _client(ctx: Context) -> str:
    """The client's session over HTTP; on stdio there is one client."""
    return str(ctx.request.headers.get(SESSION_HEADER, "")) if ctx.request is not None else ""
