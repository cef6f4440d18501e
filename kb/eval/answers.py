"""An answer → its figures and scores for a run, with a check of its cited lines against the files."""

from __future__ import annotations

from pathlib import Path

from kb.ask.records import Answer, AnswerCitation
from kb.errors import ParseFailed
from kb.eval.answer_metrics import score_answer
from kb.eval.records import AnswerFigures, Query, Scores
from kb.ingest.decode import decode
from kb.ingest.readers import read_file, reader_for
from kb.runtime import Runtime


def answer_figures(answer: Answer) -> AnswerFigures:
    """What a run keeps of an answer."""
    return AnswerFigures(
        trace_id=answer.trace_id,
        answer=answer.answer,
        grounded=answer.grounded,
        refusal_reason=answer.refusal_reason,
        citations=tuple(cited.citation.uri for cited in answer.citations if cited.marker is not None),
        is_quote=answer.is_quote(),
        prompt_tokens=answer.usage.prompt_tokens,
        completion_tokens=answer.usage.completion_tokens,
        first_token_ms=answer.usage.first_token_ms,
    )


def answer_scores(kb: Runtime, query: Query, answer: Answer) -> Scores:
    """Every per-query score of an answer."""
    usage = answer.usage
    scores = score_answer(
        query, answer_figures(answer), exact_lines=check_lines(kb, answer), citation_support=share_verified(answer)
    )
    writing_ms = usage.latency_ms - (usage.first_token_ms or usage.latency_ms)
    return scores | {
        "gate_score": answer.retrieval.evidence_score,
        "tokens_per_second": usage.completion_tokens / writing_ms * 1000
        if usage.completion_tokens and writing_ms
        else None,
    }


def share_verified(answer: Answer) -> float | None:
    """Share of an answer's cited sentences that the cited text supports; None without a cited sentence."""
    cited = [check for check in answer.verification.sentences if check.markers] if answer.verification else []
    return sum(check.status == "verified" for check in cited) / len(cited) if cited else None


def check_lines(kb: Runtime, answer: Answer) -> float | None:
    """1.0 when every cited place, read again from its file, contains the cited text; None when no place has lines."""
    checks = [
        _holds(kb, cited) for cited in answer.citations if answer.grounded and cited.citation.start_line is not None
    ]
    known = [check for check in checks if check is not None]
    return float(all(known)) if known else None


def _holds(kb: Runtime, cited: AnswerCitation) -> bool | None:
    """Whether a file contains what is cited: the quote, else the chunks in the cited lines. None without the file."""
    place = cited.citation
    first = place.start_line or 1
    rows = kb.corpus.chunks_at_lines(place.path, first, place.end_line or first)
    for root in dict.fromkeys(root for root, _, _ in rows if root):
        texts = [text for its_root, is_inside, text in rows if its_root == root and is_inside]
        wanted = [cited.quote] if cited.quote else texts
        lines = _read_lines(Path(root) / place.path)
        if wanted and lines is not None:
            read = "\n".join(lines[(place.start_line or 1) - 1 : place.end_line])
            return all(text in read for text in wanted)
    return None


def _read_lines(file: Path) -> list[str] | None:
    """The lines of a file as they are indexed, line n of it as line n: its reader takes markup out of some."""
    reader = reader_for(file.name)
    try:
        raw = file.read_bytes()
        parsed = read_file(reader, raw, file.name) if reader and reader.has_lines else None
    except (OSError, ParseFailed):
        return None
    text = parsed.shown(0, len(parsed.text)) if parsed else decode(raw).text
    return text.split("\n")
