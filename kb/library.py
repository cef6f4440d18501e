"""The Python API: one object per knowledge base. kb search, ask, context and ingest call the same methods.

A command without a method here (kb answers, chat, tags, eval, status …) takes `runtime()` and calls its job.

Nothing is opened and nothing heavy is imported before a method needs it; a job's modules are imported by the method that
runs it, because `kb search` must not pay for the parsers of `kb ingest`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Self

from kb.config import Config, find_config, find_home, load_config
from kb.errors import NotIndexed
from kb.ingest.remove import remove_documents
from kb.ingest.request import IngestRequest
from kb.ingest.unfinished import to_resume, unfinished
from kb.places import is_url
from kb.records import Chunk, Document, Filters, SearchMode, SearchRequest, SearchResponse
from kb.runtime import Notify, Runtime, ignore
from kb.store.chunks import document_text
from kb.store.documents import utc_text

if TYPE_CHECKING:  # records of jobs: annotations alone, this module stands above all of them
    from kb.ask.records import Answer, AnswerEvent
    from kb.context.records import ContextResponse
    from kb.graph.records import Slice
    from kb.ingest.report import IngestEvent, IngestReport
    from kb.packing.known_text import KnownText
    from kb.stability_thresholds import Stability
    from kb.store.memories import Forgotten, Memory, Remembered


def open(
    home: str | os.PathLike[str] | None = None,
    config: Config | str | os.PathLike[str] | None = None,
    *,
    notify: Notify = ignore,
    log: Notify = ignore,
) -> KnowledgeBase:
    """The knowledge base of a home, found as the command finds it.

    home     its folder; None takes KB_HOME, else $XDG_DATA_HOME/kb. It need not exist: the first ingest creates it.
    config   a `Config`, or the path of a config.toml; None takes KB_CONFIG, else config.toml in the home, else the user's
    notify   gets one line of text for what a user should know: a rebuild, a fallback
    log      gets one line for each decision that is of interest when something looks wrong
    raises   ConfigNotFound, ConfigInvalid
    """
    folder = find_home(home)
    checked = (
        config if isinstance(config, Config) else load_config(find_config(config), folder, os.environ, notify=notify)
    )
    return KnowledgeBase(folder, checked, notify=notify, log=log)


class KnowledgeBase:
    """One knowledge base: search it, ask it, compose context from it, ingest into it.

    Opened with `kb.open()`; use it as a context manager, or call `close()`. Not for use by several threads at once.
    Methods that read raise NotIndexed while the home holds nothing; every error is a `KbError` with a `problem` and a `fix`.
    """

    def __init__(self, home: Path, config: Config, *, notify: Notify = ignore, log: Notify = ignore) -> None:
        self.home = home
        self.config = config
        self._notify = notify
        self._log = log
        self._runtime: Runtime | None = None
        self._is_writable = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store; the next call opens it again."""
        if self._runtime is not None:
            self._runtime.close()
            self._runtime = None
            self._is_writable = False

    def runtime(self, *, write: bool = False, create: bool = True) -> Runtime:
        """What the jobs run on: store, indexes, encoder and model, opened on first use.

        write    open for writing, migrating the store when needed; a reading one is opened again
        create   with `write`: create a missing data folder; False raises NotIndexed
        raises   NotIndexed, CorruptStore, IoError
        """
        if write and not create and not self._is_writable:
            self.runtime()
        if self._runtime is not None and write and not self._is_writable:
            self.close()
        if self._runtime is None:
            self._runtime = Runtime(self.home, self.config, write=write, notify=self._notify, log=self._log)
            self._is_writable = write
        return self._runtime

    # ---- the jobs

    def search(
        self,
        query: str,
        *,
        k: int | None = None,
        mode: SearchMode | None = None,
        filters: Filters | None = None,
        min_score: float | None = None,
        seen: str | Sequence[str] | KnownText | None = None,
        explain: bool = False,
        trace: bool = False,
        rerank: bool = False,
    ) -> SearchResponse:
        """Ranked passages with their places.

        k, mode    hits at most; lexical, vector or hybrid; None takes `search.k`, `search.mode`
        min_score  leave out hits less probable than this; with 0 there is no floor; `rerank` has the reader order them
        seen       text the user already has: passages that repeat it come later, those it holds whole are left out
        explain    fill the response's trace, context stability included; `trace` fills it without
        raises     InvalidInput, NotIndexed
        """
        from kb.search.pipeline import search

        request = SearchRequest(
            query=query,
            mode=self.config.search.mode if mode is None else mode,
            k=self.config.search.k if k is None else k,
            filters=filters or Filters(),
            min_score=min_score,
            explain=explain,
            trace=trace,
            rerank=rerank,
        )
        return search(self.runtime(), request, self.known_text(seen))

    def ask(
        self,
        question: str,
        *,
        k: int | None = None,
        mode: SearchMode | None = None,
        filters: Filters | None = None,
        session: str | None = None,
        seen: str | Sequence[str] | KnownText | None = None,
        temperature: float | None = None,
        seed: int | None = None,
        intent: str | None = None,
        explain: bool = False,
        on_event: Callable[[AnswerEvent], None] | None = None,
    ) -> Answer:
        """A cited answer, or a refusal; stored either way.

        k         passages retrieved at most; None takes `rag.k`
        session   the conversation it belongs to: follow-ups are understood, and what its answers showed is known
        intent    the mode of the relevance rules that is meant; None leaves it to them
        explain   keep the packed texts with the answer, and its trace
        on_event  told of the retrieval and of each piece of text as it comes
        raises    InvalidInput, NotIndexed, ModelError; AnswerInterrupted after a Ctrl-C while the model wrote
        """
        from kb.ask.pipeline import AskRequest, ask

        request = AskRequest(
            question=question,
            mode=self.config.search.mode if mode is None else mode,
            k=self.config.rag.k if k is None else k,
            filters=filters or Filters(),
            temperature=temperature,
            seed=seed,
            explain=explain,
            session_id=session,
            known_text=self.known_text(seen),
            intent=intent,
        )
        return ask(self.runtime(), request, on_event or (lambda event: None))

    def context(
        self,
        query: str,
        *,
        k: int | None = None,
        mode: SearchMode | None = None,
        filters: Filters | None = None,
        max_tokens: int | None = None,
        seen: str | Sequence[str] | KnownText | None = None,
        session: str | None = None,
        project: str | None = None,
        graph: bool = True,
        novelty: bool = True,
        debug: bool = False,
    ) -> ContextResponse:
        """A block for another model's prompt: passages and relations, within a budget, without what `seen` holds.

        k           passages at most; None takes `context.k`
        max_tokens  of the whole block; None takes `context.max_tokens`
        session     what its answers cited counts as seen
        project     whose relations come first
        graph       False leaves relations out
        novelty     False composes as if nothing had been seen
        raises      InvalidInput, NotIndexed
        """
        from kb.context.pipeline import compose
        from kb.context.records import ContextRequest

        settings = self.config.context
        request = ContextRequest(
            query=query,
            mode=self.config.search.mode if mode is None else mode,
            k=settings.k if k is None else k,
            filters=filters or Filters(),
            max_tokens=settings.max_tokens if max_tokens is None else max_tokens,
            project=project,
            session_id=session,
            include_graph=graph,
            known_text=self.known_text(seen) if novelty else None,
            use_novelty=novelty,
            debug=debug,
        )
        return compose(self.runtime(), request)

    def ingest(
        self,
        *paths: str | os.PathLike[str],
        source: str | None = None,
        prune: bool | None = None,
        force: bool = False,
        dry_run: bool = False,
        include_secrets: bool = False,
        include_generated: bool = False,
        retry: bool = False,
        words_only: bool = False,
        resume: bool = False,
        listed: Iterable[str] = (),
        ray: str | None = None,
        on_event: Callable[[IngestEvent], None] | None = None,
        on_embedded: Callable[[int], None] | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> IngestReport:
        """Bring files and folders in, URLs as s3://bucket/folder too, incrementally; creates a missing data folder.

        source       a name for where one folder comes from
        prune        forget documents whose files are gone; None takes `ingest.prune`; dry_run changes nothing
        force        read every file again, changed or not; retry only those that stopped their reader before
        include_secrets  read files that look like keys, too; include_generated: minified code, lock files, dumps
        words_only   leave the vectors to the next ingest; resume: go on with what was interrupted, then with the vectors
        listed       files named one by one, besides the paths; those that the list leaves out are not forgotten
        ray          read and encode on Ray: "auto" starts it on this machine, else the address of a cluster
        on_event     told of every step; on_embedded of each batch of chunks that has got its vectors
        should_stop  asked between documents; True ends the run after the documents in hand
        raises       NotFound for a path that is not there, InvalidInput, Locked; ExtraMissing and IoError without Ray
        """
        from kb.ingest.pipeline import ingest
        from kb.ray.workers import start_workers

        urls = tuple(name for path in paths if is_url(name := os.fspath(path)))
        files = tuple(Path(path).expanduser() for path in paths if os.fspath(path) not in urls)
        flags = (source, prune, force, dry_run, include_secrets, include_generated, retry, words_only)
        request = IngestRequest(files, *flags, urls=urls, listed=tuple(listed))
        with start_workers(ray, self.config) as workers, self._runtime_for_ingest(dry_run) as runtime:
            return ingest(
                runtime,
                to_resume(unfinished(self.home)) if resume else request,
                on_event or (lambda event: None),
                should_stop,
                on_embedded or (lambda chunks: None),
                workers,
            )

    def ingest_text(
        self,
        text: str | bytes,
        title: str,
        *,
        force: bool = False,
        dry_run: bool = False,
        on_event: Callable[[IngestEvent], None] | None = None,
    ) -> IngestReport:
        """Store one text as a Markdown document named after its title; the same title replaces it.

        text    bytes are decoded as a file's would be
        raises  InvalidInput for a title without a word, Locked
        """
        from kb.ingest.pipeline import ingest_text

        request = IngestRequest((), force=force, dry_run=dry_run)
        raw = text.encode() if isinstance(text, str) else text
        with self._runtime_for_ingest(dry_run) as runtime:
            return ingest_text(runtime, raw, title, request, on_event or (lambda event: None))

    @contextmanager
    def _runtime_for_ingest(self, dry_run: bool) -> Iterator[Runtime]:
        """Open for writing; for a dry run read-only, or an empty temporary one where there is no data folder yet."""
        if not dry_run:
            yield self.runtime(write=True)
            return
        try:
            runtime = self.runtime()
        except NotIndexed:
            with TemporaryDirectory() as folder, Runtime(Path(folder), self.config, write=True) as empty:
                yield empty
            return
        yield runtime

    def graph(self, query: str, *, project: str | None = None, max_paths: int | None = None) -> Slice:
        """What the documents say of the things a query names, as paths of relations with their places.

        raises  NotIndexed
        """
        from kb.context.traverse import MAX_PATHS, traverse

        runtime = self.runtime()
        runtime.require_part("graph", "kb graph")
        runtime.require_documents()
        return traverse(runtime, query, project, MAX_PATHS if max_paths is None else max_paths)

    # ---- documents

    def documents(self, filters: Filters | None = None) -> list[Document]:
        """Every document that passes the filters, by source and path."""
        corpus = self.runtime().corpus
        return corpus.list_documents(corpus.allowed_documents(filters or Filters()))

    def document(self, name: str) -> Document:
        """The document that is meant by `doc:12`, a path, the unique end of a path, or its file's path on this machine.

        raises  NotFound
        """
        return self.runtime().corpus.find_document(name)

    def text(self, document: Document) -> tuple[int | None, str]:
        """(the line it begins at, a document's text); the line is 1, or None for a format without lines.

        The text is put together from the stored chunks; lines between them (front matter, blank ones) are empty.
        """
        return document_text(self.runtime().corpus.chunks_of_document(document.doc_id))

    def root(self, source: str) -> Path | None:
        """The folder on this machine that a source was ingested from; None for text without a file there."""
        root = self.runtime().corpus.source_roots()[source]
        return None if root is None or is_url(root) else Path(root)

    def chunks(self, chunk_ids: Iterable[int]) -> dict[int, Chunk]:
        """Chunks by id; an id that is gone is left out."""
        return self.runtime().corpus.fetch_chunks(chunk_ids)

    def remove(self, *names: str, sources: Sequence[str] = ()) -> list[Document]:
        """Remove documents from the knowledge base, all that are named or none; their files are not touched.

        names    as `document` takes them, or globs
        sources  narrows the globs; without names, every document of these sources
        returns  the removed documents
        raises   NotFound, NotIndexed, Locked
        """
        return remove_documents(self.runtime(write=True, create=False), names, sources)

    # ---- facts the user tells kb

    def remember(self, text: str, *, session: str | None = None) -> Remembered:
        """Keep one fact for later questions; it is never cited. A known fact is returned as it was first told.

        session  the conversation it holds in; None for all of them
        raises   InvalidInput for an empty text, or for one that is longer than a fact
        """
        from kb.store.memories import Remembered, clean_memory_text  # checked before a data folder is created

        cleaned = clean_memory_text(text)
        fact, is_new = self.runtime(write=True).journal.add_memory(cleaned, session, utc_text())
        return Remembered(fact=fact, is_new=is_new)

    def memories(self) -> list[Memory]:
        """The facts that were remembered, oldest first."""
        return self.runtime().journal.list_memories()

    def forget(self, *fact_ids: int) -> Forgotten:
        """Forget these facts, all of them or none; stored answers keep what they said.

        raises  NotFound, NotIndexed
        """
        return self.runtime(write=True, create=False).journal.forget(fact_ids)

    # ---- context stability

    def stability(self) -> Stability:
        """The weights of context stability and each domain's threshold."""
        from kb.stability_thresholds import read_stability

        return read_stability(self.runtime())

    def recalibrate(self, *, reset: bool = False) -> Stability:
        """Set each domain's threshold to the lower quartile of what past answers packed.

        reset   go back to the configured thresholds instead
        raises  NotIndexed
        """
        from kb import stability_thresholds

        runtime = self.runtime(write=True, create=False)
        return stability_thresholds.reset(runtime) if reset else stability_thresholds.recalibrate(runtime)

    # ---- text the reader already has

    def known_text(self, seen: str | Sequence[str] | KnownText | None) -> KnownText | None:
        """Text the reader already has, in the form that passages are compared with; None where there is none.

        Prepare it once and pass it as `seen` when several calls share it.
        """
        if seen is None:
            return None
        from kb.packing.known_text import KnownText, known_text_from_blocks
        from kb.packing.novelty import NoveltySettings

        if isinstance(seen, KnownText):
            return seen
        texts = [seen] if isinstance(seen, str) else list(seen)
        return known_text_from_blocks(texts, NoveltySettings.of(self.config.novelty).shape) if any(texts) else None
