"""An answer that cites nothing, or what is not there → one more try, with what was wrong said behind the same prompt.

The second prompt begins with the first one's bytes, so that a server's prefix cache hits. Never for a model that quotes:
it has no other answer.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from kb.ask.cite import find_markers, has_refusal_phrase, is_refusal
from kb.ask.prompt import Template, render_correction
from kb.config import RagConfig
from kb.llm.protocol import GenerateRequest
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


def correct(request: GenerateRequest, answer: str, template: Template) -> tuple[GenerateRequest, str]:
    """(the prompt that asks once more, what was wrong as a few words)."""
    unknown = unknown_markers(answer, {e.marker for e in request.evidence})
    fault = f"cites {', '.join(f'[#{n}]' for n in unknown)}, which is not there" if unknown else "cites nothing"
    return replace(request, user=request.user + render_correction(template, answer, unknown)), fault
