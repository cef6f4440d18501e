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

from kb.errors import InvalidInput, ParseFailed, ReaderStopped
from kb.frozen import dataclass
from kb.ingest.decode import is_machine_made
from kb.ingest.discover import Scan, scan
from kb.ingest.embed import embed_missing
from kb.ingest.generated import generated_by_content
from kb.ingest.notes import NOTES_VERSION, make_notes
from kb.ingest.pace import Pace
from kb.ingest.plan import Candidate, Plan, has_same_time_and_size, make_plan
from kb.ingest.prepare import LoadedFile, Prepared, hash_bytes, prepare
from kb.ingest.read_source import read_source
from kb.ingest.readers import READERS
from kb.ingest.reencode import change_encoder
from kb.ingest.report import EventName, IngestEvent, IngestReport, OnEvent, Outcome, count_results, make_report
from kb.ingest.request import IngestRequest
from kb.ingest.run import Run, begin_run
from kb.ingest.secrets import secret_by_content
from kb.ingest.sources import STDIN_SOURCE, Target, name_text, place_paths
from kb.ingest.unfinished import forget_request, note_request
from kb.runtime import Runtime
from kb.store.documents import Stamp

# For guessing how much there is to embed before anything is read; Markdown prose comes to about this.
BYTES_PER_CHUNK = 700


def ingest(
    kb: Runtime,
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
    with begin_run(kb, request, on_event, should_stop, on_embedded) as run:
        plan = _plan(run)
        expected_chunks = sum(1 + c.size_bytes // BYTES_PER_CHUNK for c in plan.candidates if not _is_unread(run, c))
        _announce(run, plan, expected_chunks)
        _change_encoder(run)
        with _noted(run):
            _store(run, _read(run, plan.candidates), plan.gone)
            _prune(run, plan.gone)
        _index_words(run)
        _embed(run)
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
        _store(run, files, ())
        _index_words(run)
        _embed(run)
        return _finish(run)


# ---- the steps


def _plan(run: Run) -> Plan:
    """Scan what the request names, and compare it with what is stored."""
    corpus, config = run.kb.corpus, run.kb.config.ingest
    targets = place_paths(run.request.paths, corpus.source_roots(), run.request.source)
    with run.tally.timing("scan"):
        scans = [(target, _scan(run, target)) for target in targets]
        stamps = {target.source: corpus.document_stamps(target.source) for target in targets}
        prune = config.prune if run.request.prune is None else run.request.prune
        return make_plan(scans, corpus.source_roots(), stamps, prune=prune)


def _scan(run: Run, target: Target) -> Scan:
    return scan(
        target.start,
        config=run.kb.config.ingest,
        root=target.root,
        home=run.kb.home,
        include_secrets=run.request.include_secrets,
        include_generated=run.request.include_generated,
    )


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
            run.kb.corpus.save_source(source, str(root))


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


def _read(run: Run, candidates: Iterable[Candidate]) -> Iterator[LoadedFile]:
    """Read the files that may have changed and settle the others; ends early when asked to stop."""
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
        try:
            with run.tally.timing("read"):
                raw = read_source(candidate.absolute, candidate.target.root, candidate.type, run.kb.config.ingest)
        except OSError as error:
            run.tally.settle(candidate.failed(f"cannot be read: {error.strerror}", "check its permissions"))
            continue
        except ParseFailed as error:
            run.tally.settle(candidate.failed(error.problem, error.fix))
            continue
        if reason := _unwanted(run, candidate, raw):
            run.tally.settle(replace(candidate.outcome("skipped"), reason=reason))
            continue
        yield LoadedFile(candidate, raw, hash_bytes(raw))


def _unwanted(run: Run, candidate: Candidate, raw: bytes) -> str | None:
    """Why a file is left out for what it holds."""
    if not run.request.include_secrets and (reason := secret_by_content(raw)):
        return reason
    if READERS[candidate.type].kind == "text" and is_machine_made(raw):
        return "the content is binary, though its name says text"
    return None if run.request.include_generated else generated_by_content(candidate.type, raw)


def _stopped_before(run: Run, candidate: Candidate) -> str | None:
    """Why a file is not tried again: it is as it was when it stopped its reader."""
    state, reason = run.stopped.get((candidate.target.source, candidate.path), ("", ""))
    is_same = state == candidate.state and not (run.request.retry or run.request.force)
    return f"not tried again, because it has not changed: {reason}" if is_same else None


def _store(run: Run, files: Iterable[LoadedFile], gone: Sequence[Stamp]) -> None:
    """Prepare and save; what is saved can be searched by words from time to time, the first after a second."""
    pace = Pace()
    for document in _prepare(run, files, gone):
        _stamp_encoder(run)
        _save(run, document)
        if pace.is_due():
            _index_words(run)
            pace.done()


def _prepare(run: Run, files: Iterable[LoadedFile], gone: Sequence[Stamp]) -> Iterator[Prepared]:
    """Parse and chunk what has changed. Unchanged and unreadable files are settled here; in a dry run, all are.

    gone  documents whose files were not found: a new file with the same bytes is one of them, renamed or moved
    """
    gone_by_content: dict[tuple[str, str], list[Stamp]] = {}
    for stamp in gone:
        gone_by_content.setdefault((stamp.source, stamp.content_hash), []).append(stamp)
    for file in files:
        if _keep_unchanged(run, file):
            continue
        place = (file.candidate.target.source, file.candidate.path)
        try:
            document = prepare(file, run.settings, run.reader, _moved_from(run, file, gone_by_content))
        except ParseFailed as error:
            problem = error.problem.removeprefix(f"cannot read {file.candidate.path}: ")
            run.tally.settle(file.candidate.failed(problem, error.fix))
            if isinstance(error, ReaderStopped) and not run.request.dry_run:
                run.kb.corpus.note_stopped(*place, file.candidate.state, problem)
            continue
        if place in run.stopped and not run.request.dry_run:
            run.kb.corpus.forget_stopped(*place)
        if document.moved_from:
            run.tally.moved_doc_ids.add(document.moved_from.doc_id)
        for phase, ms in document.ms.items():
            run.tally.add_ms(phase, ms)
        if run.request.dry_run:
            run.tally.settle(document.outcome())
        else:
            yield document


def _keep_unchanged(run: Run, file: LoadedFile) -> bool:
    """Settle a file with the bytes and settings it was stored with: it was touched, or saved again as it was."""
    before = file.candidate.stamp
    now = file.stamp(run.settings)
    if not before or not now or run.request.force:
        return False
    if (before.content_hash, before.signature) != (now.content_hash, now.signature):
        return False
    if not run.request.dry_run:
        run.kb.corpus.touch_document(before.doc_id, now)
    run.tally.settle(file.candidate.outcome("unchanged"))
    return True


def _moved_from(run: Run, file: LoadedFile, gone_by_content: Mapping[tuple[str, str], Sequence[Stamp]]) -> Stamp | None:
    """The document that a new file was before it was renamed or moved; each document moves once."""
    if file.candidate.stamp:
        return None
    same_bytes = gone_by_content.get((file.candidate.target.source, file.content_hash), ())
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
    """Write one document in a transaction of its own, without vectors but for those that the store has."""
    began = time.perf_counter()
    known = run.kb.corpus.stored_hashes(run.settings.encoder_digest, document.texts)
    saved = run.kb.corpus.save_document(
        document.draft,
        list(zip(document.chunks, document.hashes, strict=True)),
        run.settings.encoder_digest,
        {},
        document.replacing,
        document.graph,
        document.notes,
    )
    save_ms = (time.perf_counter() - began) * 1000
    run.tally.add_ms("save", save_ms)
    run.tally.chunks_written += saved.chunks_written
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


def _embed(run: Run) -> None:
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
        made = embed_missing(kb, run.settings, run.should_stop, run.on_embedded, on_saved, run.request.embed_batch)
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
