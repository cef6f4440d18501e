"""A question and its packed chunks → the signals of the evidence gate: carries index, store and encoder to the pure part.

Costs one batch of a few sentences through the encoder; the rest is words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from kb.ask.records import AskRequest, EvidenceView
from kb.evidence.cases import ruled_by
from kb.evidence.gate import Score, score_signals
from kb.evidence.measure import (
    UNREAD,
    Field,
    Logits,
    Passage,
    Window,
    best_windows,
    idf_weights,
    weigh,
    with_second_reader,
)
from kb.evidence.missing import gaps, held_elsewhere, lacking, told_often
from kb.evidence.question import Unit, units_of
from kb.evidence.records import Signals, across_languages
from kb.evidence.subjects import NO_SUBJECTS, Subjects
from kb.frozen import dataclass
from kb.language.registry import question_language
from kb.language.sentences import sentences_of
from kb.llm.protocol import Evidence
from kb.records import Chunk, SearchResponse, SearchTrace
from kb.runtime import Runtime
from kb.search.bounds import alikeness, background
from kb.search.feedback import cosines_to, stacked
from kb.search.rerank import read_passages, stretch_of
from kb.search.retrieve import can_read
from kb.text import analyze, analyze_query

# Windows that coverage is taken from, and how many of them have their first sentence encoded: eight told no more than
# three, and each costs 5 ms.
WINDOWS = 12
ENCODED_SENTENCES = 3
# Packed chunks and windows that the reader reads; the chunks were read for their order already.
READ_CHUNKS, READ_WINDOWS = 6, 3
# Of these chunks a second reader reads so many, and the same windows; but no more than the best of each where the gate is so sure by then,
# since what is read besides can only make it surer. Six texts cost kb-reader-english .7 s of CPU, and 2 s without VNNI.
READ_AGAIN, READ_FIRST, SETTLED = 3, 1, 0.9
# Of the first sentence of a Korean window's passage, which the reader is given too.
OPENING_CHARS = 160
# Longer sentences together cost more than a user should wait for: 30 ms.
ENCODED_CHARS = 450
# A passage in the question's language may be so much nearer to it than one that says the same in another. Of 40 questions that people
# ask, of FastAPI's Korean and English pages, the middle one was .02 nearer in its own language, half of them -.01 to .07.
OWN_LANGUAGE = 0.05

_NAME_INSIDE = re.compile(r"(?<=[a-z,] )[A-Z]\w{2,}")


@dataclass(frozen=True, slots=True)
class Weighed:
    """The signals, and what a refusal needs to say which words are missing.

    missing  what is asked about and stands in no packed passage, the weightiest first
    apart    the two weightiest units that stand in passages, but in no passage together; empty otherwise
    lacking  of what is missing, in any form, what no answer can do without: names, numbers, and the rarest word
    lacking_share  by weight, of all that is asked about and stands in no passage in any form, in [0, 1]
    is_spoken  the passages are a speech or a letter: who speaks is named by the question alone
    common   what is asked about and stands in more than FEW chunks, and one of a hundred: it tells little of which one is meant
    everywhere  the same, in a quarter of the chunks: what the corpus is about, as Rust in a book on Rust
    elsewhere  of what is missing or lacking, what chunks hold that were not packed
    """

    signals: Signals = Signals()
    missing: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    lacking_share: float = 0.0
    is_spoken: bool = False
    common: tuple[str, ...] = ()
    everywhere: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the evidence gate makes of an ask."""

    weighed: Weighed
    score: Score

    def view(self) -> EvidenceView:
        """As --explain shows it."""
        return EvidenceView(
            score=round(self.score.probability, 4),
            variant=self.score.variant,
            weakest=self.score.weakest,
            missing=self.weighed.missing,
            signals=self.weighed.signals,
        )


def weigh_evidence(
    kb: Runtime,
    request: AskRequest,
    response: SearchResponse,
    packed: Sequence[Chunk],
    subjects: Subjects = NO_SUBJECTS,
) -> Verdict:
    """The gate's verdict on the packed chunks of a search that was traced.

    Vectors take no part in lexical mode, nor where the encoder cannot read the question or none of the chunks has one yet; the user is told of an encoder
    that the gate has no weights for.
    """
    assert response.trace is not None
    with kb.snapshot():
        digest = None if request.mode == "lexical" or not can_read(kb, request.query) else kb.stored_encoder()[1]
        cosines = {} if digest is None else question_cosines(kb, request.query, [chunk.chunk_id for chunk in packed])
        if packed and not cosines:  # ingested by words alone, up to now: nothing can be said of meaning
            digest = None
        chunks = [(chunk, cosines.get(chunk.chunk_id)) for chunk in packed]
        readers = [reader.digest for reader in kb.readers_for(request.query)]
        language = question_language(request.query)
        score_of = partial(score_signals, encoder_digest=digest, reader_digests=readers, language=language)

        # A gate that is set higher is held against all of it.
        settled = max(SETTLED, kb.config.rag.evidence_gate, halfway_to_certain(kb.config.rag.sure_gate))

        def is_settled(signals: Signals) -> bool:
            return score_of(signals).probability >= settled

        weighed = weigh_chunks(
            kb,
            request.query,
            chunks,
            response.trace,
            with_vectors=digest is not None,
            is_settled=is_settled,
            subjects=subjects,
        )
    score = score_of(weighed.signals)
    if score.variant == "unfitted" and kb.config.rag.evidence_gate:
        kb.notify_once(
            f"note: the evidence gate was not fitted to {kb.stored_encoder()[0]}: it refuses only what is weak both by "
            "words and by nearness (rag.evidence_gate)"
        )
    return Verdict(weighed, score)


def halfway_to_certain(gate: float) -> float:
    """What documents of one subject are held against (kb/ask/quotes.py).

    >>> halfway_to_certain(0.6)
    0.8
    """
    return (1 + gate) / 2


def question_cosines(kb: Runtime, question: str, chunk_ids: Sequence[int]) -> dict[int, float]:
    """chunk_id → cosine to the question as it was asked, which a search may rank by another vector than; of those with a vector."""
    return cosines_to(kb.encode_query(question), stacked(kb.stored_vectors(chunk_ids)))


def weigh_chunks(
    kb: Runtime,
    question: str,
    chunks: Sequence[tuple[Chunk, float | None]],
    trace: SearchTrace,
    *,
    with_vectors: bool,
    with_reader: bool = True,
    is_settled: Callable[[Signals], bool] = lambda _: False,
    subjects: Subjects = NO_SUBJECTS,
) -> Weighed:
    """Weigh the packed chunks.

    chunks        packed, best first, each with its cosine to the question, None where it has none
    trace         of the search that found them
    with_vectors  False goes by words, and by the reader where there is one
    with_reader   False asks no reader
    is_settled    whether a second reader need not read more than the best chunk and the best window
    subjects      what their documents are about
    """
    units = _ruled_units(question, [chunk.text for chunk, _ in chunks])
    statistics = kb.lexical_index().statistics([term for unit in units for term in unit.terms])
    frequencies = statistics.frequencies()
    weights = idf_weights(units, frequencies, statistics.rows)
    passages = [
        _passage(chunk, number, cosine if with_vectors else None, subjects.of(chunk.doc_id))
        for number, (chunk, cosine) in enumerate(chunks)
    ]
    windows = best_windows(units, weights, passages, WINDOWS)
    cosines, field = _compare(kb, question, windows) if with_vectors else ([], None)
    language = question_language(question)
    is_own = [question_language(chunk.text) == language for chunk, _ in chunks]
    own = [chunk.chunk_id for (chunk, _), mine in zip(chunks, is_own, strict=True) if mine]
    others = [chunk.chunk_id for (chunk, _), mine in zip(chunks, is_own, strict=True) if not mine]
    same_language = len(own) > len(others) or is_own[:1] == [True]
    # Passages in another language are judged by their subject: beside them, those in the question's own are read all the same.
    readable = is_own if with_vectors and same_language else [True] * len(chunks)
    own_windows = [window for window in windows if readable[window.passage]]
    to_read = _ToRead(
        question,
        [chunk for (chunk, _), can_read in zip(chunks, readable, strict=True) if can_read][:READ_CHUNKS],
        [_in_context(window, passages[window.passage], language) for window in own_windows[:READ_WINDOWS]],
    )
    read = _read(kb, to_read) if with_reader else UNREAD
    signals = weigh(
        question,
        units,
        weights,
        passages,
        windows,
        known=frozenset(term for term, holding in frequencies.items() if holding),
        sentence_cosines=cosines,
        field=field,
        lexical_order=[row.chunk_id for row in trace.lexical],
        vector_order=[row.chunk_id for row in trace.vector] if with_vectors else [],
        read=read,
    )
    for again in _read_again(kb, to_read, read):
        signals = with_second_reader(signals, again)
        if is_settled(signals):
            break
    if with_vectors and not same_language:
        return Weighed(across_languages(signals, subject_of(kb, question, [*own, *others])), (), ())
    subject = _subject_across(kb, question, own, others) if with_vectors else None
    lacks: tuple[tuple[str, ...], float, bool] = ((), 0.0, False)
    if same_language and subject is None:
        texts = [
            "\n".join((subjects.of(chunk.doc_id), chunk.title, *chunk.heading_path, chunk.text)) for chunk, _ in chunks
        ]
        lacks = lacking(units, weights, texts, passages, frequencies, is_korean=language == "ko")
    missing, apart = gaps(units, weights, passages)
    common, everywhere = told_often(units, weights, frequencies, statistics.rows)
    elsewhere = held_elsewhere(units, {*missing, *lacks[0]}, frequencies)
    return Weighed(replace(signals, subject=subject), missing, apart, *lacks, common, everywhere, elsewhere)


def _ruled_units(question: str, texts: Sequence[str]) -> list[Unit]:
    """The units of a question; of a case of a rule the rule's own terms: no rule on trips for more than €5,000 says 7,000."""
    units = []
    for unit in units_of(question):
        rule = ruled_by(unit.text, question, texts)
        if rule is None:
            units.append(unit)
        elif terms := sorted(analyze_query(rule), key=lambda term: not term[0].isdecimal()):
            units.append(replace(unit, terms=(terms[0],), kind="word" if "." in unit.text else unit.kind))
    return units or units_of(question)


def _compare(kb: Runtime, question: str, windows: Sequence[Window]) -> tuple[list[float], Field]:
    """Cosines of the first sentences of windows to the question, and what cosines of this corpus are held against."""
    sentences = _within([window.first.under_heading() for window in windows[:ENCODED_SENTENCES]])
    # The question as a sentence, too: encoders may put another prefix before a query, or centre their sentences.
    vectors = kb.encode_sentences([question, *sentences])
    corpus = kb.vector_index().statistics()
    field = Field(background(corpus, kb.encode_query(question)), alikeness(corpus))
    return [float(cosine) for cosine in vectors[1:] @ vectors[0]], field


def _subject_across(kb: Runtime, question: str, own: Sequence[int], others: Sequence[int]) -> float | None:
    """What `subject_of` tells of passages in another language; None where those in the question's own are nearer.

    own, others  ids of packed chunks in the question's language, and in others
    """
    across = subject_of(kb, question, others) if others else 0.0
    return across if others and across > subject_of(kb, question, own) - OWN_LANGUAGE else None


def subject_of(kb: Runtime, question: str, chunk_ids: Sequence[int]) -> float:
    """By how much the nearest of the chunks is nearer to what is asked than the corpus at large, in [0, 1]."""
    vector = kb.search_vector(question)
    by_chance = background(kb.vector_index().statistics(), vector)
    nearest = max(cosines_to(vector, stacked(kb.stored_vectors(chunk_ids))).values(), default=by_chance)
    return min(1.0, max(0.0, (nearest - by_chance) / max(1e-6, 1 - by_chance)))


@dataclass(frozen=True, slots=True)
class _ToRead:
    """The first packed chunks, and windows behind their headings, the best first."""

    question: str
    chunks: Sequence[Chunk]
    windows: Sequence[str]


def _read(kb: Runtime, texts: _ToRead) -> Logits:
    """What the first reader makes of the chunks, most of which it read to order them, and of the windows.

    Nothing where one of the passages cannot be read: the answer may stand there.
    """
    logits = read_passages(kb, texts.question, texts.chunks) or {}
    known = [logit for logit in logits.values() if logit is not None]
    if not known or len(known) < len(logits):
        return UNREAD
    return Logits(known, kb.read(texts.question, texts.windows) or ())


def _read_again(kb: Runtime, texts: _ToRead, read: Logits) -> Iterator[Logits]:
    """What a second reader makes of the chunk and the window that are best; then of READ_AGAIN of each. Nothing where the first read nothing.

    read  by the first reader: the best chunks are those that it likes best
    """
    terms = frozenset(analyze_query(texts.question))
    liked = sorted(range(len(read.passages)), key=lambda i: (-read.passages[i], i))
    stretches = [stretch_of(texts.chunks[i], terms) for i in liked[:READ_AGAIN]]
    windows = texts.windows if read is not UNREAD else ()
    passage_logits: list[float] = []
    window_logits: list[float] = []
    for part in (slice(READ_FIRST), slice(READ_FIRST, None)):
        logits = kb.read(texts.question, [*stretches[part], *windows[part]], again=True)
        if not logits:
            return
        count = len(stretches[part])
        passage_logits += logits[:count]
        window_logits += logits[count:]
        yield Logits(tuple(passage_logits), tuple(window_logits))


def _in_context(window: Window, passage: Passage, language: str) -> str:
    """The window behind its heading.

    A Korean sentence leaves out whom it is about once that is said: there the passage's first sentence stands before it.
    """
    opening = passage.sentences[0].text[:OPENING_CHARS]
    is_open = language != "ko" or window.text.startswith(opening)
    text = window.text if is_open else f"{opening} {window.text}"
    return f"{window.first.heading}: {text}" if window.first.heading else text


def _within(sentences: list[str]) -> list[str]:
    """The first sentences that are no longer together than ENCODED_CHARS, at least one."""
    total = 0
    for number, sentence in enumerate(sentences):
        total += len(sentence)
        if total > ENCODED_CHARS and number:
            return sentences[:number]
    return sentences


def _passage(chunk: Chunk, number: int, cosine: float | None, subject: str) -> Passage:
    """subject  words of the question that the chunk's document is about: they count as a heading of it"""
    evidence = Evidence(number + 1, chunk.text, chunk.heading_path, cosine)
    title_terms = frozenset(analyze(" \n ".join((subject, chunk.title, *chunk.heading_path))))
    return Passage(
        terms=frozenset(analyze(chunk.text)) | title_terms,
        title_terms=title_terms,
        sentences=tuple(sentences_of([evidence])),
        cosine=cosine,
        names=frozenset(term for name in _NAME_INSIDE.findall(chunk.text) for term in analyze(name)[:1]),
    )
