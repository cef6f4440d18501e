"""An ask as it happens → the terminal: text as it streams, then the cited places, then one footer line.

A refusal looks like a refusal: the first words are held back until they cannot be one, and what a model wrote without
grounds is not printed as an answer.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from kb.ask.cite import has_refusal_phrase
from kb.ask.doubt_marks import is_certain
from kb.ask.records import Answer, AnswerEvent, EvidenceView
from kb.ask.refuse import describe_outcome, refusal_lines
from kb.cli.answer_footer import doubt_line, doubts_of, footer, mark_doubts
from kb.cli.explain import print_trace
from kb.cli.markdown_stream import MarkdownStream, print_markdown
from kb.cli.notes import in_language
from kb.cli.relevance_output import print_relevance
from kb.cli.sources import print_source
from kb.cli.spinner import Spinner
from kb.cli.terminal import harmless, harmless_line, say, styled
from kb.cli.wrap import WordWrap, terminal_columns, wrapped
from kb.evidence.records import NAMES
from kb.followup.records import shown_sentence
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
    renders  show a model's Markdown as it is meant, on a terminal; False prints it as it is written
    spinner  says what is going on until there is something to read
    """

    def __init__(self, *, as_json: bool, streams: bool, renders: bool = False, spinner: Spinner | None = None) -> None:
        self.as_json = as_json
        self.streams = streams
        self.renders = renders and not as_json
        self._spinner = spinner
        self._markdown: MarkdownStream | None = None
        self._held = ""
        self._printed = ""
        self._has_marked = False
        self._is_quote = False
        self._wrap = WordWrap(terminal_columns())
        # The folder of each source, for links; filled by whoever has the store open.
        self.roots: Mapping[str, str | None] = {}

    def on_event(self, event: AnswerEvent) -> None:
        """See `kb.ask.pipeline.ask`."""
        if event.event == "retrieval" and self._spinner:
            self._spinner.say(f"reading {len(event.hits or ())} passages")
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
        self._stop_spinner()
        self._printed += text
        self._is_quote = True  # and so is all that follows it
        at = 0
        for start, end in spans:
            sys.stdout.write(self._wrap.feed(harmless(text[at:start])))
            sys.stdout.write(styled(self._wrap.feed(harmless(text[start:end])) + self._wrap.finish(), "bold"))
            at = end
        sys.stdout.write(self._wrap.feed(harmless(text[at:])))
        sys.stdout.flush()

    def _stop_spinner(self) -> None:
        if self._spinner:
            self._spinner.stop()

    def _stream(self, text: str) -> None:
        if self._spinner and not self._held and not self._printed:
            self._spinner.say("the model is writing")
        self._held += text
        if self._printed or (_has_first_sentence(self._held) and not has_refusal_phrase(self._held)):
            self._write(self._held)

    def _write(self, text: str) -> None:
        if not text:
            return
        # Noted first: a Ctrl-C may come as soon as it is out.
        self._printed, self._held = self._printed + text, ""
        self._stop_spinner()
        if self.renders and not self._is_quote:
            self._markdown = self._markdown or MarkdownStream()
            self._markdown.feed(text)
        else:
            sys.stdout.write(self._wrap.feed(harmless(text)))
            sys.stdout.flush()

    def _end_stream(self, in_place: str | None = None) -> None:
        """The end of what was streamed.

        in_place  the text with its doubtful sentences marked, to stand there instead if it still can
        """
        if self._markdown:
            self._has_marked = in_place is not None and self._markdown.is_whole
            self._markdown.finish(in_place if self._has_marked else None)
            self._markdown = None
            return
        sys.stdout.write(self._wrap.finish())
        say()

    def _say_whole(self, answer: Answer) -> None:
        """An answer that was not streamed."""
        if self.renders and not answer.is_quote():
            print_markdown(mark_doubts(answer))
            self._has_marked = True
        else:
            say(wrapped(harmless(answer.answer)))

    def close(self) -> None:
        """Leave the terminal as it was, where an error has ended the answer: what was drawn of it stays."""
        self._stop_spinner()
        if self._markdown:
            self._end_stream()

    def finish(self, answer: Answer) -> None:
        """Print what is left: the answer when it was not streamed, the places, the footer."""
        self._stop_spinner()
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
            say(styled(in_language(f"searched for: {harmless_line(completed)}", answer.language()), "dim"))
        say(footer(answer))
        if answer.usage.prompt_truncated:
            self._say_wrong("✗ the prompt was cut: the model has not read all of the evidence", answer)
        if answer.refusal_reason in ("llm_stream_aborted", "llm_truncated"):
            say(styled(in_language("what came of it: kb answers show last", answer.language()), "dim"))
        self._print_explanation(answer)

    def _print_refusal(self, answer: Answer) -> None:
        if self._printed:
            lead, _, marked = answer.answer.partition("\n\n")
            self._end_stream(f"**{lead}**\n\n{marked}" if answer.refusal_reason == "not_backed" else None)
            # Marked in its place, or the closest passages under words that say that they are no answer.
            if self._has_marked or self._printed == answer.answer:
                return
            outcome = describe_outcome(answer.outcome, answer.language())
            self._say_wrong(f"✗ the text above is not an answer: {outcome}", answer)
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
                self._say_wrong("✗ the text above was taken back; asked once more, the model said:", answer)
            self._say_whole(answer)
        elif streamed and self.streams and (answer.grounded or _begins_with(answer.answer, streamed)):
            # Behind what was streamed stands what the answer rests on, when no document says it.
            self._write(self._held + ("" if answer.grounded else answer.answer[len(streamed) :]))
            self._end_stream(mark_doubts(answer))
        elif self._printed:
            self._end_stream()
            self._say_wrong("✗ the text above is not an answer; this is one, and not from your documents:", answer)
            self._say_whole(answer)
        else:
            self._say_whole(answer)

    def _say_wrong(self, message: str, answer: Answer) -> None:
        """Say what is wrong with the text above, in the language of the question."""
        say(styled(in_language(message, answer.language()), "red"))

    def _print_doubts(self, answer: Answer) -> None:
        """One line for every sentence that does not hold and is not marked in its place: nothing is dropped in silence."""
        is_refused = answer.refusal_reason == "not_backed"
        if self._has_marked and not is_refused:
            return
        doubts = doubts_of(answer)
        if is_refused:  # the marks in its text tell all but why
            doubts = tuple(check for check in doubts if is_certain(check) or check.status == "misattributed")
        if not (answer.grounded or answer.rests_on or is_refused) or not doubts:
            return
        say()
        for check in doubts:
            say(f"{styled(doubt_line(check, answer.language()), 'yellow')}: {harmless_line(_shortened(check.text))}")

    def _print_places(self, answer: Answer) -> None:
        marked = [cited for cited in answer.citations if cited.marker is not None]
        if marked:
            say()
        for cited in marked:
            print_source(cited, self.roots)

    def _print_explanation(self, answer: Answer) -> None:
        if answer.relevance and answer.relevance.decision:
            say()
            print_relevance(answer.relevance)
        if answer.explanation is None:
            return
        gates = (
            f"score gate {answer.retrieval.score_gate}, top score {answer.retrieval.top_score}"
            f" · evidence gate {answer.retrieval.evidence_gate}, evidence {answer.retrieval.evidence_score}"
            f" · {answer.retrieval.chunks_used} of {answer.retrieval.chunks_returned} passages in the prompt"
            f" · prompt {answer.prompt_template_version}"
        )
        say(styled(f"\n{gates}", "dim"))
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


def _begins_with(answer: str, streamed: str) -> bool:
    """True where an answer is what was streamed and more; a forged marker in it is as long as before."""
    return answer.replace("＃", "#").startswith(streamed.replace("＃", "#"))


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1].rstrip() + "…"


def _has_first_sentence(text: str) -> bool:
    """True when text follows its first sentence, or that one is too long to wait for."""
    return len(text) >= HELD_BACK_CHARS or len(split_sentences(text)) > 1
