"""Files and folders → documents in the store, incrementally: scan → plan → read → prepare → save → index → embed.

Words first: documents are saved and can be searched by words as they are read; vectors follow, those of the files changed
last first. One document is one transaction, so is a batch of vectors, and none is open while the encoder works. What was
committed before a crash stays; the next run does the rest. Every step hands frozen records to the next one; the tally is
the only thing that changes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from kb.errors import InvalidInput
from kb.frozen import dataclass
from kb.ingest.embed import embed_missing
from kb.ingest.examine import Examined, Left, Same, examine, load
from kb.ingest.find_files import find_files
from kb.ingest.notes import NOTES_VERSION, make_notes
from kb.ingest.pace import Pace
from kb.ingest.plan import Candidate, Plan, has_same_time_and_size, make_plan
from kb.ingest.prepare import LoadedFile, Prepared, hash_bytes
from kb.ingest.reencode import change_encoder
from kb.ingest.report import EventName, IngestEvent, IngestReport, OnEvent, Outcome, count_results, make_report
from kb.ingest.request import IngestRequest
from kb.ingest.run import Run, begin_run
from kb.ingest.sources import STDIN_SOURCE, Target, name_text
from kb.ingest.unfinished import forget_request, note_request
from kb.ingest.workers import Workers
from kb.runtime import Runtime
from kb.store.documents import Stamp

# So many batches are in hand for each encoder elsewhere, so that none waits for the others.
BATCHES_PER_WORKER = 2
# For guessing how much there is to embed before anything is read; Markdown prose comes to about this.
BYTES_PER_CHUNK = 700


def ingest(
    kb: Runtime,
    request: IngestRequest,
    on_event: OnEvent,
    should_stop: Callable[[], bool] = lambda: False,
    on_embedded: Callable[[int], None] = lambda chunks: None,
    workers: Workers | None = None,
) -> IngestReport:
    """Bring the knowledge base up to date with files and folders.

    kb           opened for writing
    on_event     called for every step, in order; the last event is completed or aborted
    should_stop  asked between documents; True ends the run after the documents in hand
    on_embedded  told of every batch of chunks that has got its vectors
    workers      read files and make vectors in the place of this process, which alone writes
    raises       NotFound for a path that is not there, InvalidInput, Locked
    """
    if request.source and len(request.paths) + len(request.urls) + bool(request.listed) > 1:
        raise InvalidInput("--source names one folder, several paths were given", fix="run kb ingest once per folder")
    with begin_run(kb, request, on_event, should_stop, on_embedded) as run:
        plan = _plan(run)
        expected_chunks = sum(1 + c.size_bytes // BYTES_PER_CHUNK for c in plan.candidates if not _is_unread(run, c))
        _announce(run, plan, expected_chunks)
        _change_encoder(run)
        with _noted(run):
            read = workers.read if workers else _read_here
            _store(run, read(run, _to_read(run, plan.candidates)), plan.gone)
            _prune(run, plan.gone)
        _index_words(run)
        _embed(run, workers)
        return _finish(run)


@dataclass(frozen=True, slots=True)
class Text:
    """A text that comes from memory instead of a file; `path` is what it is stored as."""

    path: str
    title: str
    raw: bytes


def ingest_text(kb: Runtime, raw: bytes, title: str, request: IngestRequest, on_event: OnEvent) -> IngestReport:
    """Store one text, of standard input or of a caller, as a Markdown document named after its title; the same title replaces it.

    request  its `force` and `dry_run` hold here too; it names no paths
    raises   InvalidInput for a title without a word, Locked
    """
    text = Text(name_text(title), title, raw)
    return _ingest_texts(kb, STDIN_SOURCE, "markdown", [text], request, on_event, mtime_ns=time.time_ns())


def ingest_documents(
    kb: Runtime, source: str, documents: Iterable[tuple[str, str, bytes]], on_event: OnEvent
) -> IngestReport:
    """Store texts that are in memory as plain text, as kb eval does with a judged collection.

    documents  (path, title, bytes)
    """
    texts = [Text(*document) for document in documents]
    return _ingest_texts(kb, source, "text", texts, IngestRequest(()), on_event, mtime_ns=0)


def _ingest_texts(
    kb: Runtime,
    source: str,
    file_type: str,
    texts: Sequence[Text],
    request: IngestRequest,
    on_event: OnEvent,
    *,
    mtime_ns: int,
) -> IngestReport:
    with begin_run(kb, request, on_event) as run:
        known = {stamp.path: stamp for stamp in kb.corpus.document_stamps(source)}
        if not request.dry_run and source not in kb.corpus.source_roots():
            kb.corpus.save_source(source, None)
        on_event(IngestEvent(event="scan_completed", total=len(texts)))
        _change_encoder(run)
        target = Target(source, Path("/"), Path("/"))
        candidates = (
            Candidate(target, t.path, Path(t.path), file_type, len(t.raw), mtime_ns, known.get(t.path)) for t in texts
        )
        files = (LoadedFile(c, t.raw, hash_bytes(t.raw), t.title) for c, t in zip(candidates, texts, strict=True))
        _store(run, (examine(file, run.settings, run.reader, force=request.force) for file in files), ())
        _index_words(run)
        _embed(run)
        return _finish(run)


# ---- the steps


def _plan(run: Run) -> Plan:
    """Find the files of what the request names, and compare them with what is stored."""
    corpus, config = run.kb.corpus, run.kb.config.ingest
    known = corpus.source_roots()
    with run.tally.timing("scan"):
        scans = find_files(run.request, known, config, run.kb.home)
        stamps = {source: corpus.document_stamps(source) for source in {target.source for target, _ in scans}}
        prune = config.prune if run.request.prune is None else run.request.prune
        return make_plan(scans, known, stamps, prune=prune)


def _announce(run: Run, plan: Plan, expected_chunks: int) -> None:
    """Publish what the scan found, settle what it skipped, and save the sources that are new."""
    total = len(plan.candidates) + len(plan.skipped)
    run.tally.on_event(IngestEvent(event="scan_completed", total=total, expected_chunks=expected_chunks))
    run.tally.ignored += plan.ignored
    run.tally.warnings += plan.warnings
    for source, skip in plan.skipped:
        run.tally.settle(Outcome(source=source, path=skip.path, result="skipped", reason=skip.reason))
    if not run.request.dry_run:
        for source, root in plan.new_sources.items():
            run.kb.corpus.save_source(source, root)


@contextmanager
def _noted(run: Run) -> Iterator[None]:
    """While files are read, `kb ingest --resume` can find out what was asked for; so it can where that is stopped."""
    if run.request.dry_run:
        yield
        return
    note_request(run.kb.home, run.request)
    yield
    if not run.tally.interrupted:
        forget_request(run.kb.home, run.request)


def _change_encoder(run: Run) -> None:
    """Give stored chunks the vectors of the configured encoder first, so that new documents are embedded once, by it."""
    if run.request.dry_run:
        return
    with run.tally.timing("embed"):
        change = change_encoder(run.kb, run.settings, run.kb.notify, run.should_stop, run.on_embedded)
    run.tally.vectors_written += change.vectors
    run.tally.interrupted = not change.is_done


def _is_unread(run: Run, candidate: Candidate) -> bool:
    """True for a file that is not even opened: it has the size, time and settings of when it was stored."""
    signature = run.settings.signature(candidate.type)
    return not run.request.force and has_same_time_and_size(candidate, signature)


def _to_read(run: Run, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """The files that may have changed; the others are settled. Ends early when asked to stop."""
    for candidate in candidates:
        if run.should_stop():
            run.tally.interrupted = True
            return
        if _is_unread(run, candidate):
            run.tally.settle(candidate.outcome("unchanged"))
            continue
        if reason := _stopped_before(run, candidate):
            run.tally.settle(
                replace(candidate.outcome("skipped"), reason=reason, fix="kb ingest --retry tries it again")
            )
            continue
        run.tally.on_event(IngestEvent(event="document_started", source=candidate.target.source, path=candidate.path))
        yield candidate


def _read_here(run: Run, candidates: Iterator[Candidate]) -> Iterator[Examined]:
    """Read one file after the other in this process."""
    for candidate in candidates:
        file = load(candidate, run.kb.config.ingest, run.request)
        yield file if isinstance(file, Left) else examine(file, run.settings, run.reader, force=run.request.force)


def _stopped_before(run: Run, candidate: Candidate) -> str | None:
    """Why a file is not tried again: it is as it was when it stopped its reader."""
    state, reason = run.stopped.get((candidate.target.source, candidate.path), ("", ""))
    is_same = state == candidate.state and not (run.request.retry or run.request.force)
    return f"not tried again, because it has not changed: {reason}" if is_same else None


def _store(run: Run, files: Iterable[Examined], gone: Sequence[Stamp]) -> None:
    """Save what was read; it can be searched by words from time to time, the first after a second.

    gone  documents whose files were not found: a new file with the same bytes is one of them, renamed or moved
    """
    gone_by_content: dict[tuple[str, str], list[Stamp]] = {}
    for stamp in gone:
        gone_by_content.setdefault((stamp.source, stamp.content_hash), []).append(stamp)
    pace = Pace()
    for file in files:
        document = _settle(run, file, gone_by_content)
        if document is None:
            continue
        _stamp_encoder(run)
        _save(run, document)
        if pace.is_due():
            _index_words(run)
            pace.done()


def _settle(run: Run, file: Examined, gone_by_content: Mapping[tuple[str, str], Sequence[Stamp]]) -> Prepared | None:
    """The document that is to be saved; what is not saved, nothing in a dry run, is settled."""
    is_dry, corpus = run.request.dry_run, run.kb.corpus
    if isinstance(file, Same):
        if not is_dry:
            corpus.touch_document(file.now.doc_id, file.now)
        run.tally.settle(file.candidate.outcome("unchanged"))
        return None
    if isinstance(file, Left):
        run.tally.settle(file.outcome)
        if file.stopped and not is_dry:
            found = file.candidate
            corpus.note_stopped(found.target.source, found.path, found.state, file.stopped)
        return None
    place = (file.draft.source, file.draft.path)
    if place in run.stopped and not is_dry:
        corpus.forget_stopped(*place)
    if before := _moved_from(run, file, gone_by_content):
        file = file.moved(before)
        run.tally.moved_doc_ids.add(before.doc_id)
    for phase, ms in file.ms.items():
        run.tally.add_ms(phase, ms)
    if is_dry:
        run.tally.settle(file.outcome())
        return None
    return file


def _moved_from(
    run: Run, document: Prepared, gone_by_content: Mapping[tuple[str, str], Sequence[Stamp]]
) -> Stamp | None:
    """The document that a new file was before it was renamed or moved; each document moves once."""
    if document.replacing is not None:
        return None
    same_bytes = gone_by_content.get((document.draft.source, document.draft.content_hash), ())
    return next((stamp for stamp in same_bytes if stamp.doc_id not in run.tally.moved_doc_ids), None)


def _stamp_encoder(run: Run) -> None:
    """Say whose vectors the store holds, before the first of them is written."""
    encoder, corpus = run.kb.configured_encoder(), run.kb.corpus
    wanted = (encoder.model_id, encoder.digest, encoder.dimensions)
    prefixes = (encoder.query_prefix, encoder.document_prefix)
    if (corpus.stored_encoder(), corpus.stored_prefixes()) != (wanted, prefixes):
        corpus.stamp_encoder(wanted, prefixes)
        run.kb.forget_encoder()


def _save(run: Run, document: Prepared) -> None:
    """Write one document in a transaction of its own, with the vectors that were made already and those that the store has."""
    began = time.perf_counter()
    known = run.kb.corpus.stored_hashes(run.settings.encoder_digest, document.texts)
    saved = run.kb.corpus.save_document(
        document.draft,
        list(zip(document.chunks, document.hashes, strict=True)),
        run.settings.encoder_digest,
        document.vectors,
        document.replacing,
        document.graph,
        document.notes,
    )
    save_ms = (time.perf_counter() - began) * 1000
    run.tally.add_ms("save", save_ms)
    run.tally.chunks_written += saved.chunks_written
    run.tally.vectors_written += len(document.vectors)
    run.tally.cache_hits += sum(embed_hash in known for embed_hash in document.hashes)
    run.tally.settle(document.outcome(is_changed=saved.is_changed), {**document.ms, "save": save_ms})


def _index_words(run: Run) -> None:
    """Let what is saved be searched by words, and say so."""
    kb = run.kb
    if run.request.dry_run or not kb.corpus.has_documents():
        return
    with run.tally.timing("index"):
        kb.refresh_lexical()
    waiting = kb.corpus.count_missing_vectors(run.settings.encoder_digest)
    run.tally.on_event(IngestEvent(event="words_indexed", done=run.tally.finished_files, waiting=waiting))


def _embed(run: Run, workers: Workers | None = None) -> None:
    """Make the vectors that stored chunks lack, of this run and of earlier ones; they are searched from time to time."""
    kb, tally = run.kb, run.tally
    if run.request.dry_run or run.request.words_only or tally.interrupted or not kb.corpus.has_documents():
        return
    _stamp_encoder(run)
    pace = Pace()

    def on_saved() -> None:
        if pace.is_due():
            kb.refresh_vectors()
            pace.done()

    with tally.timing("embed"):
        is_waiting = kb.corpus.count_missing_vectors(run.settings.encoder_digest) > 0
        encoder = workers.encoder(run.settings.encoder_digest) if workers and is_waiting else None
        batch = run.request.embed_batch * BATCHES_PER_WORKER * encoder.count if encoder else run.request.embed_batch
        made = embed_missing(kb, run.settings, run.should_stop, run.on_embedded, on_saved, batch, encoder)
    tally.vectors_written += made.vectors
    tally.cache_hits += made.chunks - made.vectors
    # Asked to stop when all was done already: then nothing is left to do, and this was a whole run.
    tally.interrupted = run.should_stop() and kb.corpus.count_missing_vectors(run.settings.encoder_digest) > 0


# ---- the end


def _prune(run: Run, gone: Sequence[Stamp]) -> None:
    """Forget the documents whose files are gone and were not found elsewhere; none after a run that was stopped."""
    pruned = [stamp for stamp in gone if stamp.doc_id not in run.tally.moved_doc_ids]
    if not pruned or run.tally.interrupted:
        return
    if not run.request.dry_run:
        run.kb.corpus.remove_documents([stamp.doc_id for stamp in pruned])
    for stamp in sorted(pruned, key=lambda s: (s.source, s.path)):
        run.tally.settle(Outcome(source=stamp.source, path=stamp.path, result="pruned"))


def _finish(run: Run) -> IngestReport:
    """Complete what is derived, bring both indexes up to date, and report."""
    kb, tally = run.kb, run.tally
    if kb.corpus.has_documents() and not run.request.dry_run:
        with tally.timing("save"):
            kb.corpus.neighbours.heal_neighbours(run.settings.encoder_digest)
            kb.corpus.notes.heal_notes(NOTES_VERSION, make_notes)
        with tally.timing("index"):
            kb.refresh_indexes()
            kb.keep_reserve()
    if kb.corpus.state().revision != run.first_revision:
        if not tally.interrupted:
            kb.corpus.remove_unused_embeddings()
        # Not TRUNCATE: that would wait for every reader to finish, and keep other writers out meanwhile.
        kb.store.checkpoint()
    last: EventName = "aborted" if tally.interrupted else "completed"
    tally.on_event(IngestEvent(event=last, counts=count_results(tally.outcomes)))
    return make_report(
        tally,
        dry_run=run.request.dry_run,
        corpus_revision=kb.corpus.state().revision,
        vector_share=kb.vector_share(),
    )
