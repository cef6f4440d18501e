"""An ask as it happens → the terminal: text as it streams, then the cited places, then one footer line.

A refusal looks like a refusal: the first words are held back until they cannot be one, and what a model wrote without
grounds is not printed as an answer.
"""

from __future__ import annotations

import sys

from kb.ask.backing import DOCUMENT_NODES
from kb.ask.cite import has_refusal_phrase
from kb.ask.records import Answer, AnswerEvent, EvidenceView, SentenceCheck
from kb.ask.refuse import describe_outcome, refusal_lines
from kb.ask.verify import has_tick, is_backed
from kb.cli.relevance_output import print_relevance
from kb.cli.render import print_trace
from kb.cli.terminal import harmless, harmless_line, say, styled
from kb.cli.wrap import WordWrap, terminal_columns, wrapped
from kb.evidence.records import NAMES
from kb.followup.records import shown_sentence
from kb.language.registry import LANGUAGES
from kb.support.check import WEAK
from kb.text import split_sentences
from kb.wire import to_json

# A refusal says so in its first sentence; of one that does not end, no more than this is held back to see.
HELD_BACK_CHARS = 200
# Of a sentence that does not hold, so much is repeated below the answer.
SHOWN_CHARS = 100

# Refused before any model was asked.
NOT_ASKED = ("no_chunks", "score_gate", "weak_evidence")


class AnswerPrinter:
    """Prints one ask.

    as_json  answer_event.v1 lines when it streams, then answer.v1 alone
    streams  print pieces as they come
    """

    def __init__(self, *, as_json: bool, streams: bool) -> None:
        self.as_json = as_json
        self.streams = streams
        self._held = ""
        self._printed = ""
        self._wrap = WordWrap(terminal_columns())

    def on_event(self, event: AnswerEvent) -> None:
        """See `kb.ask.pipeline.ask`."""
        if self.as_json:
            if self.streams:
                print(to_json(event), flush=True)
        elif self.streams and event.event == "token" and event.text:
            if event.highlights is not None:
                self._write(self._held)
                self._write_marked(event.text, event.highlights)
            else:
                self._stream(event.text)

    def _write_marked(self, text: str, spans: tuple[tuple[int, int], ...]) -> None:
        """A quote, its sentence that answers in bold: it is no model's, so no refusal is waited for."""
        self._printed += text
        at = 0
        for start, end in spans:
            sys.stdout.write(self._wrap.feed(harmless(text[at:start])))
            sys.stdout.write(styled(self._wrap.feed(harmless(text[start:end])) + self._wrap.finish(), "bold"))
            at = end
        sys.stdout.write(self._wrap.feed(harmless(text[at:])))
        sys.stdout.flush()

    def _stream(self, text: str) -> None:
        self._held += text
        if self._printed or (_has_first_sentence(self._held) and not has_refusal_phrase(self._held)):
            self._write(self._held)

    def _write(self, text: str) -> None:
        # Noted first: a Ctrl-C may come as soon as it is out.
        self._printed, self._held = self._printed + text, ""
        sys.stdout.write(self._wrap.feed(harmless(text)))
        sys.stdout.flush()

    def _end_stream(self) -> None:
        sys.stdout.write(self._wrap.finish())
        say()

    def finish(self, answer: Answer) -> None:
        """Print what is left: the answer when it was not streamed, the places, the footer."""
        if self.as_json:
            if self.streams:
                print(to_json(AnswerEvent(event="answer", trace_id=answer.trace_id)))
            print(to_json(answer))
            return
        if answer.is_acknowledgement():
            say(harmless(answer.answer))
            self._print_explanation(answer)
            return
        if answer.refusal_reason:
            self._print_refusal(answer)
        else:
            self._print_answer(answer)
        self._print_places(answer)
        self._print_doubts(answer)
        if completed := shown_sentence(answer.standalone_question, answer.question):
            say(styled(f"searched for: {harmless_line(completed)}", "dim"))
        say(self._footer(answer))
        if answer.usage.prompt_truncated:
            say(styled("✗ the prompt was cut: the model has not read all of the evidence", "red"))
        if answer.refusal_reason in ("llm_stream_aborted", "llm_truncated"):
            say(styled(f"what came of it: kb answers show {answer.trace_id}", "dim"))
        self._print_explanation(answer)

    def _print_refusal(self, answer: Answer) -> None:
        if self._printed:
            self._end_stream()
            if self._printed == answer.answer:  # the closest passages, under words that say that they are no answer
                return
            say(styled(f"✗ the text above is not an answer: {describe_outcome(answer.outcome, 'en')}", "red"))
        near = [cited.citation.uri for cited in answer.citations if cited.marker is None]
        text, *places = refusal_lines(answer.answer, near, answer.language())
        # Above quotes, the line that says what they are stands out; they are shown as any others.
        lead, blank, quotes = text.partition("\n\n")
        say(styled(wrapped(harmless(lead)), "yellow") + wrapped(harmless(blank + quotes)))
        for line in places:
            say(styled(harmless_line(line), "cyan" if line.startswith(" ") else "dim"))

    def _print_answer(self, answer: Answer) -> None:
        """The rest of what was streamed; all of it where another text than the streamed one is the answer."""
        streamed = self._printed + self._held
        if answer.verification and answer.verification.retried:
            if self._printed:
                self._end_stream()
                say(styled("✗ the text above was taken back; asked once more, the model said:", "red"))
            say(wrapped(harmless(answer.answer)))
        elif streamed and self.streams and (answer.grounded or _begins_with(answer.answer, streamed)):
            # Behind what was streamed stands what the answer rests on, when no document says it.
            self._write(self._held + ("" if answer.grounded else answer.answer[len(streamed) :]))
            self._end_stream()
        elif self._printed:
            self._end_stream()
            say(styled("✗ the text above is not an answer; this is one, and not from your documents:", "red"))
            say(wrapped(harmless(answer.answer)))
        else:
            say(wrapped(harmless(answer.answer)))

    def _print_doubts(self, answer: Answer) -> None:
        """One line for every sentence that does not hold: nothing is dropped in silence."""
        checks = answer.verification.sentences if answer.verification else ()
        doubts = [check for check in checks if not is_backed(check)]
        if not (answer.grounded or answer.rests_on or answer.refusal_reason == "not_backed") or not doubts:
            return
        say()
        for check in doubts:
            say(f"{styled('⚠ ' + describe_doubt(check), 'yellow')}: {harmless_line(_shortened(check.text))}")

    def _print_places(self, answer: Answer) -> None:
        marked = [cited for cited in answer.citations if cited.marker is not None]
        if marked:
            say()
        for cited in marked:
            label = f"[#{cited.marker}]"
            place = harmless_line(cited.citation.uri)
            has_place = cited.citation.start_line is not None or not cited.citation.section
            section = "" if has_place else f"  § {harmless_line(cited.citation.section or '')}"
            say(f"{styled(label, 'bold')} {styled(place, 'cyan')}{styled(section, 'dim')}")

    def _footer(self, answer: Answer) -> str:
        if answer.is_quote():
            replies = LANGUAGES[answer.language()].replies
            return styled(f"{replies['quoted']} · {answer.usage.latency_ms:.0f} ms", "dim")
        if answer.grounded:
            verdict = _grounded(answer)
        elif answer.rests_on:
            lacks = "with no citation" if DOCUMENT_NODES.issuperset(answer.rests_on) else "not on your documents"
            verdict = styled(f"grounded ✗ (rests on {_named(answer.rests_on)}, {lacks})", "yellow")
        else:
            replies = LANGUAGES[answer.language()].replies
            verdict = styled(replies["ungrounded"].format(why=_reason(answer)), "red")
            if not _was_asked(answer):
                return f"{verdict}{styled(' · ' + replies['no_model'] + f' · {answer.usage.latency_ms:.0f} ms', 'dim')}"
        if answer.grounded and answer.verification:
            found = answer.verification
            colour = "green" if has_tick(found) else "yellow"
            verdict += " · " + styled(f"verified {found.verified}/{found.total}", colour)
        used = f"{answer.retrieval.chunks_used} of {answer.retrieval.chunks_returned} chunks"
        parts = [
            harmless_line(answer.model.id) if _was_asked(answer) else "no model asked",
            answer.prompt_template_version,
            used,
            f"{answer.usage.latency_ms:.0f} ms",
        ]
        return f"{verdict}{styled(' · ' + ' · '.join(parts), 'dim')}"

    def _print_explanation(self, answer: Answer) -> None:
        if answer.relevance and answer.relevance.decision:
            say()
            print_relevance(answer.relevance)
        if answer.explanation is None:
            return
        gates = (
            f"score gate {answer.retrieval.score_gate}, top score {answer.retrieval.top_score}"
            f" · evidence gate {answer.retrieval.evidence_gate}, evidence {answer.retrieval.evidence_score}"
        )
        say(styled(f"\n{gates} · trace {answer.trace_id}", "dim"))
        if answer.explanation.evidence:
            self._print_evidence(answer.explanation.evidence)
        print_trace(answer.explanation.trace)
        for packed in answer.explanation.packed:
            say(styled(f"[#{packed.marker}] {harmless_line(packed.citation.uri)} score {packed.score:.3f}", "bold"))
            say(harmless(packed.text))

    def _print_evidence(self, evidence: EvidenceView) -> None:
        signals = [(name, getattr(evidence.signals, name)) for name in NAMES]
        shown = "  ".join(f"{name} {value:.2f}" for name, value in signals if value is not None)
        say(styled(f"evidence ({evidence.variant}): {shown}", "dim"))
        missing = ", ".join(harmless_line(word) for word in evidence.missing)
        if missing:
            say(styled(f"in no packed passage: {missing}", "dim"))


def describe_doubt(check: SentenceCheck) -> str:
    """Why a sentence does not hold, in a few words.

    >>> describe_doubt(SentenceCheck(start=0, end=1, text="x", markers=(2,), status="unsupported", score=0.1))
    'not backed by [#2]'
    """
    cited = "".join(f"[#{n}]" for n in check.markers)
    said = {
        "verified": "backed",
        "weak": f"only partly backed by {cited}",
        "unsupported": f"not backed by {cited}",
        "contradicted": f"not what {cited or 'the evidence'} says",
        "unknown_marker": f"cites {cited}, which is not all there",
        "misattributed": f"not backed by {cited} but by [#{check.misattributed_to}]",
        "forged": "its marker was copied out of a document",
        "uncited": "cites nothing" if check.score >= WEAK else "cites nothing, and nothing backs it",
    }[check.status]
    return f"{said} ({'; '.join(check.reasons)})" if check.reasons and check.status != "forged" else said


def _grounded(answer: Answer) -> str:
    """A tick for an answer of which every sentence is backed; of one that is backed in the main, what it is."""
    if answer.verification is None or has_tick(answer.verification):
        return styled("grounded ✓", "green")
    return styled("grounded in the main ⚠", "yellow")


def _begins_with(answer: str, streamed: str) -> bool:
    """True where an answer is what was streamed and more; a forged marker in it is as long as before."""
    return answer.replace("＃", "#").startswith(streamed.replace("＃", "#"))


def _named(nodes: tuple[str, ...]) -> str:
    return ", ".join(node.replace("_", " ") for node in nodes)


def _was_asked(answer: Answer) -> bool:
    """False where no model was asked: refused before, or answered by a context node."""
    return answer.verification is not None or not (answer.rests_on or answer.refusal_reason in NOT_ASKED)


def _reason(answer: Answer) -> str:
    found = answer.verification
    if answer.refusal_reason == "not_backed" and found:
        bad = [c for c in found.sentences if not is_backed(c)]
        doubt = next((c for c in bad if c.status == "contradicted"), bad[0] if bad else None)
        if doubt:
            is_said = doubt.status in ("unsupported", "contradicted", "weak", "misattributed")
            return f"a sentence is {describe_doubt(doubt)}" if is_said else describe_doubt(doubt)
    return describe_outcome(answer.outcome, answer.language())


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1].rstrip() + "…"


def _has_first_sentence(text: str) -> bool:
    """True when text follows its first sentence, or that one is too long to wait for."""
    return len(text) >= HELD_BACK_CHARS or len(split_sentences(text)) > 1
