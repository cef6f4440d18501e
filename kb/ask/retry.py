"""An answer that cites nothing, or what is not there → one more try, with what was wrong said behind the same prompt.

The second prompt begins with the first one's bytes, so that a server's prefix cache hits. Never for a model that quotes:
it has no other answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from kb.ask.cite import find_markers, has_refusal_phrase, is_refusal
from kb.ask.generate import Generated, generate
from kb.ask.prompt import Template, render_correction
from kb.config import RagConfig
from kb.llm.protocol import GenerateRequest, LanguageModel
from kb.providers import PROVIDERS


def may_retry(config: RagConfig, provider: str) -> bool:
    """True when a model of this provider is asked again at all."""
    return config.retry == "always" or (
        config.retry == "auto" and provider in PROVIDERS and PROVIDERS[provider].can_retry
    )


def unknown_markers(text: str, packed: Collection[int]) -> tuple[int, ...]:
    """The markers that stand for nothing."""
    return tuple(n for n in find_markers(text) if n not in packed)


def needs_retry(text: str, packed: Collection[int]) -> bool:
    """True for an answer that is no refusal and whose markers are missing or unknown."""
    if not text.strip() or is_refusal(text):
        return False
    if not find_markers(text):
        return not has_refusal_phrase(text)
    return bool(unknown_markers(text, packed))


def try_again(
    model: LanguageModel, request: GenerateRequest, first: Generated, template: Template, notify: Callable[[str], None]
) -> Generated:
    """Ask once more; its pieces are not handed on, since the first answer's may be on the screen.

    returns  what came of both: the second text, tokens added up, the moment of the first piece
    """
    unknown = unknown_markers(first.text, {e.marker for e in request.evidence})
    what = f"cites {', '.join(f'[#{n}]' for n in unknown)}, which is not there" if unknown else "cites nothing"
    notify(f"the answer {what}: asking the model once more")
    again = replace(request, user=request.user + render_correction(template, first.text, unknown))
    second = generate(model, again, lambda text: None)
    return replace(
        second,
        prompt_tokens=_sum(first.prompt_tokens, second.prompt_tokens),
        completion_tokens=_sum(first.completion_tokens, second.completion_tokens),
        first_token_at=first.first_token_at,
        first_try=first.text,
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
