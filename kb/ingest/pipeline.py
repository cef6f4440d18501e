"""Files and folders → documents in the store, incrementally: discover → parse → chunk → embed → save → index.

One document is one transaction, and none is open while the encoder works. What was committed before a crash stays; the
next run does the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from kb.errors import InvalidInput, KbError
from kb.ingest.discover import Scan, scan
from kb.ingest.embed import Window, embed_missing, embed_window
from kb.ingest.notes import NOTES_VERSION, make_notes
from kb.ingest.plan import Candidate, Plan, make_plan
from kb.ingest.prepare import Prepared, Settings, hash_bytes, prepare
from kb.ingest.report import IngestEvent, IngestReport, Outcome, Result, Tally, count_results, make_report
from kb.ingest.sources import STDIN_SOURCE, Target, name_text, place_paths
from kb.knowledge_base import KnowledgeBase
from kb.store.documents import Stamp
from kb.store.lock import writer_lock

OnEvent = Callable[[IngestEvent], None]

# Documents are gathered until so many of their chunks wait for a vector. Enough to fill batches with texts of like
# length; few enough that Ctrl-C is answered in seconds.
WINDOW_CHUNKS = 128
# For guessing how much there is to embed before anything is read; Markdown prose comes to about this.
BYTES_PER_CHUNK = 700


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """What to ingest, and how.

    prune    forget documents whose files are gone; None takes the configured default
    force    read and chunk every file again, even when it looks unchanged
    dry_run  say what would be done and change nothing
    """

    paths: tuple[Path, ...]
    source: str | None = None
    prune: bool | None = None
    force: bool = False
    dry_run: bool = False


def ingest(
    kb: KnowledgeBase,
    request: IngestRequest,
    on_event: OnEvent,
    should_stop: Callable[[], bool] = lambda: False,
    on_embedded: Callable[[int], None] = lambda chunks: None,
) -> IngestReport:
    """Bring the knowledge base up to date with files and folders.

    kb           opened for writing
    on_event     called for every step, in order; the last event is completed or aborted
    should_stop  asked between documents; True ends the run after the documents in hand
    on_embedded  told of every batch of chunks that has got its vectors
    raises       NotFound for a path that is not there, InvalidInput, Locked
    """
    if request.source and len(request.paths) > 1:
        raise InvalidInput("--source names one folder, several paths were given", fix="run kb ingest once per folder")
    with _writing(kb, request, should_stop):
        run = _Run(kb, request, on_event, should_stop, on_embedded)
        with run.told():
            targets = place_paths(request.paths, kb.corpus.source_roots(), request.source)
            with run.timing("scan"):
                scans = [(target, _scan(kb, target)) for target in targets]
                known = kb.corpus.source_roots()
                stamps = {target.source: kb.corpus.document_stamps(target.source) for target in targets}
                prune = kb.config.ingest.prune if request.prune is None else request.prune
                plan = make_plan(scans, known, stamps, prune=prune)
            run.work_through(plan)
            return run.finish()


def ingest_text(kb: KnowledgeBase, raw: bytes, title: str, request: IngestRequest, on_event: OnEvent) -> IngestReport:
    """Store one text from standard input as a Markdown document named after its title; the same title replaces it.

    request  its `force` and `dry_run` hold here too; it names no paths
    raises   InvalidInput for a title without a word, Locked
    """
    path = name_text(title)
    with _writing(kb, request, lambda: False):
        run = _Run(kb, request, on_event, lambda: False, lambda chunks: None)
        with run.told():
            target = Target(STDIN_SOURCE, Path("/"), Path("/"))
            known = {s.path: s for s in kb.corpus.document_stamps(STDIN_SOURCE)}
            now = time.time_ns()
            candidate = Candidate(target, path, Path("/dev/stdin"), "markdown", len(raw), now, known.get(path))
            if not request.dry_run and STDIN_SOURCE not in kb.corpus.source_roots():
                kb.corpus.save_source(STDIN_SOURCE, None)
            on_event(IngestEvent(event="scan_completed", total=1))
            run.take(candidate, raw, title=title)
            run.flush()
            return run.finish()


def ingest_documents(
    kb: KnowledgeBase, source: str, documents: Iterable[tuple[str, str, bytes]], on_event: OnEvent
) -> IngestReport:
    """Store texts that are in memory as plain text: a collection that is judged document by document.

    documents  (path, title, bytes)
    """
    request = IngestRequest(())
    texts = list(documents)
    with _writing(kb, request, lambda: False):
        run = _Run(kb, request, on_event, lambda: False, lambda chunks: None)
        with run.told():
            target = Target(source, Path("/"), Path("/"))
            known = {s.path: s for s in kb.corpus.document_stamps(source)}
            kb.corpus.save_source(source, None)
            on_event(IngestEvent(event="scan_completed", total=len(texts)))
            run.expected_texts = len(texts)
            for path, title, raw in texts:
                stamp = known.get(path)
                run.take(Candidate(target, path, Path("/dev/null"), "text", len(raw), 0, stamp), raw, title=title)
            run.flush()
            return run.finish()


def _writing(
    kb: KnowledgeBase, request: IngestRequest, should_stop: Callable[[], bool]
) -> AbstractContextManager[None]:
    """The writer's lock, which saying what would be done does not need."""
    if request.dry_run:
        return nullcontext()
    return writer_lock(kb.home, kb.config.ingest.lock_wait_seconds, kb.notify, should_stop)


def _scan(kb: KnowledgeBase, target: Target) -> Scan:
    return scan(target.start, config=kb.config.ingest, root=target.root, home=kb.home)


class _Run:
    """One ingest under way: its tally, and the window of documents that wait for vectors."""

    def __init__(
        self,
        kb: KnowledgeBase,
        request: IngestRequest,
        on_event: OnEvent,
        should_stop: Callable[[], bool],
        on_embedded: Callable[[int], None],
    ) -> None:
        self.kb = kb
        self.request = request
        self.on_event = on_event
        self.should_stop = should_stop
        self.on_embedded = on_embedded
        self.tally = Tally()
        self.settings = Settings.of(kb.config, kb.encoder())
        self.window: list[Prepared] = []
        self.window_texts = 0
        self.expected_texts = 0
        self.interrupted = False
        self.finished_files = 0
        self.gone: dict[str, list[Stamp]] = {}
        self.revision = kb.corpus.state().revision

    @contextmanager
    def told(self) -> Iterator[None]:
        """Whatever ends the run, its listener hears of the end."""
        self.on_event(IngestEvent(event="scan_started"))
        try:
            yield
        except BaseException:
            self.on_event(IngestEvent(event="aborted", counts=count_results(self.tally.outcomes)))
            raise

    def work_through(self, plan: Plan) -> None:
        """Settle every file of the plan, then forget what is gone; stops between documents when asked to."""
        changed = [c for c in plan.candidates if not self.is_surely_unchanged(c)]
        self.expected_texts = sum(1 + c.size_bytes // BYTES_PER_CHUNK for c in changed)
        total = len(plan.candidates) + len(plan.skipped)
        self.on_event(IngestEvent(event="scan_completed", total=total, expected_chunks=self.expected_texts))
        self.tally.ignored += plan.ignored
        self.tally.warnings += plan.warnings
        for source, skip in plan.skipped:
            self.settle(Outcome(source=source, path=skip.path, result="skipped", reason=skip.reason))
        for stamp in plan.gone:
            self.gone.setdefault(stamp.content_hash, []).append(stamp)
        if not self.request.dry_run:
            for source, root in plan.new_sources.items():
                self.kb.corpus.save_source(source, str(root))
        to_read = {id(c) for c in changed}
        for candidate in plan.candidates:
            if self.should_stop():
                self.interrupted = True
                break
            if id(candidate) in to_read:
                self.read(candidate)
            else:
                self.settle_unchanged(candidate)
        self.flush()
        if not self.interrupted:
            self.prune()

    # ---- one file

    def is_surely_unchanged(self, candidate: Candidate) -> bool:
        """Same size, time and settings as when it was stored: not even opened."""
        stamp = candidate.stamp
        return (
            stamp is not None
            and not self.request.force
            and (stamp.size_bytes, stamp.mtime_ns) == (candidate.size_bytes, candidate.mtime_ns)
            and stamp.signature == self.settings.signature(candidate.type)
        )

    def read(self, candidate: Candidate) -> None:
        self.on_event(IngestEvent(event="document_started", source=candidate.target.source, path=candidate.path))
        try:
            with self.timing("read"):
                raw = candidate.absolute.read_bytes()
        except OSError as error:
            self.settle_failed(candidate, f"cannot be read: {error.strerror}", "check its permissions")
            return
        self.take(candidate, raw)

    def take(self, candidate: Candidate, raw: bytes, title: str | None = None) -> None:
        """Bytes of one file: settle it at once when nothing changes, else put it into the window."""
        content_hash = hash_bytes(raw)
        draft_stamp = self.restamped(candidate, content_hash)
        stamp = candidate.stamp
        if stamp and draft_stamp and self.is_same_content(stamp, draft_stamp):
            if not self.request.dry_run:
                self.kb.corpus.touch_document(stamp.doc_id, draft_stamp)
            self.settle_unchanged(candidate)
            return
        moved_from = None if stamp else self.take_gone(candidate, content_hash)
        try:
            prepared = prepare(candidate, raw, content_hash, self.settings, self.tally, moved_from, title)
        except KbError as error:
            if moved_from:
                self.gone.setdefault(content_hash, []).append(moved_from)
            self.settle_failed(candidate, error.problem.removeprefix(f"cannot read {candidate.path}: "), error.fix)
            return
        if self.request.dry_run:
            self.settle(prepared.outcome())
            return
        self.window.append(prepared)
        self.window_texts += len(prepared.texts)
        if self.window_texts >= WINDOW_CHUNKS:
            self.flush()

    def is_same_content(self, stamp: Stamp, now: Stamp) -> bool:
        """The same bytes under another time, or a file touched and saved again."""
        return not self.request.force and (stamp.content_hash, stamp.signature) == (now.content_hash, now.signature)

    def restamped(self, candidate: Candidate, content_hash: str) -> Stamp | None:
        if candidate.stamp is None:
            return None
        signature = self.settings.signature(candidate.type)
        known = candidate.stamp
        return Stamp(
            known.doc_id, known.source, known.path, candidate.size_bytes, candidate.mtime_ns, content_hash, signature
        )

    def take_gone(self, candidate: Candidate, content_hash: str) -> Stamp | None:
        """A document with these bytes whose file is gone: the file was renamed or moved."""
        for stamp in self.gone.get(content_hash, []):
            if stamp.source == candidate.target.source:
                self.gone[content_hash].remove(stamp)
                return stamp
        return None

    # ---- the window

    def flush(self) -> None:
        """Embed what the window holds and save its documents, each in a transaction of its own."""
        if not self.window:
            return
        self.stamp_encoder()
        window = Window(self.window)
        with self.timing("embed"):
            vectors = embed_window(
                self.kb, window, max(self.expected_texts, self.window_texts), self.tally, self.on_embedded
            )
        for prepared in self.window:
            began = time.perf_counter()
            saved = self.kb.corpus.save_document(
                prepared.draft,
                prepared.hashed_chunks(),
                self.settings.encoder_digest,
                {h: vectors[h] for h in prepared.texts if h in vectors},
                prepared.replacing,
                prepared.graph,
                prepared.notes,
            )
            save_ms = (time.perf_counter() - began) * 1000
            self.tally.add_ms("save", save_ms)
            self.tally.chunks_written += saved.chunks_written
            if not saved.is_changed:
                prepared.result = "unchanged"
            embed_ms = window.embed_ms * len(prepared.texts) / max(1, window.text_count)
            self.settle(prepared.outcome(), {**prepared.ms, "embed": embed_ms, "save": save_ms})
        self.window, self.window_texts = [], 0

    def stamp_encoder(self) -> None:
        """Say whose vectors the store holds, before the first of them is written."""
        encoder = self.kb.encoder()
        wanted = (encoder.model_id, encoder.digest, encoder.dimensions)
        if self.kb.stored_encoder() != wanted:
            self.kb.corpus.stamp_encoder(wanted)

    # ---- the end

    def prune(self) -> None:
        gone = [stamp for stamps in self.gone.values() for stamp in stamps]
        if gone and not self.request.dry_run:
            self.kb.corpus.remove_documents([s.doc_id for s in gone])
        for stamp in sorted(gone, key=lambda s: (s.source, s.path)):
            self.settle(Outcome(source=stamp.source, path=stamp.path, result="pruned"))

    def finish(self) -> IngestReport:
        """Heal what earlier runs left, bring both indexes up to date, and report."""
        corpus = self.kb.corpus
        has_documents = corpus.has_documents()
        if has_documents and not self.request.dry_run:
            # Even where no file has changed, the vectors may be another encoder's.
            self.stamp_encoder()
            if not self.interrupted:
                with self.timing("embed"):
                    embed_missing(self.kb, self.settings, self.tally, self.should_stop, self.on_embedded)
                    # Asked to stop when all was done already: then nothing is left to do, and this was a whole run.
                    is_whole = not self.should_stop() or not corpus.count_missing_vectors(self.settings.encoder_digest)
                    self.interrupted = not is_whole
                with self.timing("save"):
                    corpus.neighbours.heal_neighbours(self.settings.encoder_digest)
                    corpus.notes.heal_notes(NOTES_VERSION, make_notes)
            with self.timing("index"):
                self.kb.refresh_indexes()
        if corpus.state().revision != self.revision:
            if not self.interrupted:
                corpus.remove_unused_embeddings()
            # Not TRUNCATE: that would wait for every reader to finish, and keep other writers out meanwhile.
            self.kb.store.checkpoint()
        counts = count_results(self.tally.outcomes)
        self.on_event(IngestEvent(event="aborted" if self.interrupted else "completed", counts=counts))
        return make_report(
            self.tally,
            interrupted=self.interrupted,
            dry_run=self.request.dry_run,
            corpus_revision=self.kb.corpus.state().revision,
        )

    # ---- bookkeeping

    def outcome(
        self, candidate: Candidate, result: Result, reason: str | None = None, fix: str | None = None
    ) -> Outcome:
        return Outcome(source=candidate.target.source, path=candidate.path, result=result, reason=reason, fix=fix)

    def settle_failed(self, candidate: Candidate, problem: str, fix: str | None) -> None:
        kept = "; its earlier text stays searchable" if candidate.stamp else ""
        self.settle(self.outcome(candidate, "failed", f"{problem}{kept}", fix))

    def settle_unchanged(self, candidate: Candidate) -> None:
        self.settle(self.outcome(candidate, "unchanged"))

    def settle(self, outcome: Outcome, ms: dict[str, float] | None = None) -> None:
        self.tally.outcomes.append(outcome)
        self.finished_files += outcome.result != "pruned"
        self.on_event(
            IngestEvent(
                event="document_finished",
                source=outcome.source,
                path=outcome.path,
                result=outcome.result,
                reason=outcome.reason,
                chunks=outcome.chunks,
                done=self.finished_files,
                ms={phase: round(value, 2) for phase, value in ms.items()} if ms else None,
            )
        )

    @contextmanager
    def timing(self, phase: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.tally.add_ms(phase, (time.perf_counter() - began) * 1000)
