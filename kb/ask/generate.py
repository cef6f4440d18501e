"""A prompt → the model's whole answer, each piece handed on as it comes. Runs on the calling thread.

An answer that cites nothing, or what is not there, is asked for once more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import replace

from kb.ask.backing import find_backing
from kb.ask.cite import has_refusal_phrase, is_refusal
from kb.ask.prompt import Template, render_correction
from kb.ask.refuse import refuse_interrupted
from kb.ask.stages import Ended, Generated, Judged, Written, WrittenQuote
from kb.ask.verify import check_answer
from kb.config import RagConfig
from kb.errors import MalformedResponse
from kb.llm.protocol import Done, GenerateRequest, LanguageModel, Token
from kb.providers import PROVIDERS
from kb.runtime import Runtime
from kb.support.markers import find_markers, normalize_markers


def open_model(judged: Judged, model: LanguageModel) -> int | Ended:
    """Load the model; returns the tokens of its window, or the end where a Ctrl-C came before: it may take minutes."""
    try:
        return model.context_tokens()
    except KeyboardInterrupt:
        return refuse_interrupted(judged.retrieved.question, judged.findings, model.reference())


def generate(model: LanguageModel, request: GenerateRequest, on_token: Callable[[Token], None]) -> Written:
    """Run the model to its end.

    raises  ModelError when nothing could be generated; a Ctrl-C in the middle gives what came so far, aborted and interrupted
    """
    pieces: list[str] = []
    quotes: list[WrittenQuote] = []
    first_token_at: float | None = None
    try:
        for event in model.generate_stream(request):
            if isinstance(event, Done):
                return Written(
                    "".join(pieces),
                    event.finish_reason,
                    event.prompt_tokens,
                    event.completion_tokens,
                    first_token_at,
                    prompt_truncated=event.prompt_truncated,
                    quotes=tuple(quotes) if len(quotes) == len(pieces) else (),
                )
            assert isinstance(event, Token)
            first_token_at = first_token_at or time.perf_counter()
            if event.quoted:
                quotes.append(WrittenQuote(sum(map(len, pieces)), event.text, event.quoted))
            pieces.append(event.text)
            on_token(event)
    except KeyboardInterrupt:
        return Written("".join(pieces), "aborted", None, None, first_token_at, is_interrupted=True)
    raise MalformedResponse("the model's stream ended without saying so", fix="try again, or another --model")


def ask_again(kb: Runtime, first: Generated, model: LanguageModel) -> Generated:
    """Ask once more where the form of the citations is wrong; a second try that is no better leaves the verdict to it.

    The pieces of the second try are not handed on, since the first answer's may be on the screen. The prompt stays the
    first one: whoever replays it gets to this point again.
    """
    packed, written = first.packed, first.written
    if written.finish_reason != "stop" or not may_retry(kb.config.rag, packed.model.provider):
        return first
    if not needs_retry(written.text, packed.markers()):
        return first
    # Asked again for markers, a model puts them behind what no passage says.
    if packed.nodes and find_backing(check_answer(kb, first).verification, packed.nodes).nodes:
        return first
    request, fault = correct(packed.prompt, written.text, packed.template)
    kb.notify(f"the answer {fault}: asking the model once more")
    second = generate(model, request, lambda token: None)
    both = replace(
        second,
        prompt_tokens=_sum(written.prompt_tokens, second.prompt_tokens),
        completion_tokens=_sum(written.completion_tokens, second.completion_tokens),
        first_token_at=written.first_token_at,
        first_try=written.text,
    )
    return Generated(packed, both)


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def may_retry(config: RagConfig, provider: str) -> bool:
    """True when a model of this provider is asked again at all."""
    return config.retry == "always" or (
        config.retry == "auto" and provider in PROVIDERS and PROVIDERS[provider].can_retry
    )


def unknown_markers(text: str, packed: Collection[int]) -> tuple[int, ...]:
    """The markers that stand for nothing."""
    return tuple(n for n in find_markers(normalize_markers(text, packed)) if n not in packed)


def needs_retry(text: str, packed: Collection[int]) -> bool:
    """True for an answer that is no refusal and cites no packed passage, in any form of a marker."""
    if not text.strip() or is_refusal(text):
        return False
    markers = find_markers(normalize_markers(text, packed))
    if not markers:
        return not has_refusal_phrase(text)
    return not set(markers) & set(packed)


def correct(request: GenerateRequest, answer: str, template: Template) -> tuple[GenerateRequest, str]:
    """(the prompt that asks once more, what was wrong as a few words)."""
    unknown = unknown_markers(answer, {e.marker for e in request.evidence})
    fault = f"cites {', '.join(f'[#{n}]' for n in unknown)}, which is not there" if unknown else "cites nothing"
    return replace(request, user=request.user + render_correction(template, answer, unknown)), fault
