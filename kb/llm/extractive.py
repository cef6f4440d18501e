"""A question and its packed evidence → the sentences that answer it best, quoted with their markers.

The embedded default: it needs no server, and every word of its answers is in the evidence (kb/language/sentences.py says
which characters a quote may change). With an encoding function it compares meanings too, without one words alone.
Deterministic.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kb.arrays import Encode
from kb.config import LlmConfig
from kb.language.sentences import Sentence, sentences_of
from kb.llm.protocol import Done, GenerateRequest, Token
from kb.records import ModelRef
from kb.text import analyze, analyze_query, estimate_tokens

MODEL_ID, PROVIDER = "extractive-v1", "extractive"
REFUSALS = {"ko": "근거가 부족하다."}
REFUSAL = "The evidence is insufficient to answer this."
# Most tokens of evidence, four times the default pack: encoding the sentences takes time.
CONTEXT_TOKENS = 32_768
# From this probability on that the evidence answers, the floors do not apply: they are for evidence without a score, and in
# a language that the encoder cannot read they refuse questions whose words are mostly endings.
LIKELY = 0.5
# BM25's usual constants, as in rank-bm25.
K1, B = 1.5, 0.75
# So many sentences without any of the words are added to the counts: in a pack of two sentences a word of both is still
# rare in the language, and a word of neither must not outweigh all others.
BACKGROUND_SENTENCES = 50
# A sentence with this Jaccard similarity to one chosen before is a repetition.
NEAR_DUPLICATE = 0.7

# Sentences that answer no question to a knowledge base, in several scripts.
EVERYDAY = (
    "The train was late again this morning.",
    "She put the blue cup back on the shelf.",
    "It rained for most of the weekend.",
    "오늘 아침에도 기차가 늦게 왔다.",
    "그녀는 파란 컵을 선반에 다시 올려놓았다.",
    "주말 내내 비가 내렸다.",
    "今朝も電車が遅れていた。",
    "周末一直在下雨。",
)

_ASKS_FOR_CODE = re.compile(
    r"\b(?:code|snippet|example|syntax|command|function|script|config\w*)\b|코드|예제|예시|명령|문법|함수", re.I
)


@dataclass(frozen=True, slots=True)
class Weights:
    """How sentences are scored and how many are quoted; the defaults are measured by benchmarks/extractive.py.

    lexical, cosine   parts of BM25 (as a share of the best score any sentence could reach) and of the cosine
    prior             added for the first passage, half of it for the second, a third for the third …
    question_factor   a sentence that asks counts this much of its score
    close             share of the best score that further quotes must reach
    most              sentences quoted at most
    lexical_floor     below this share of the best lexical score …
    cosine_floor      … and below this cosine above chance, a sentence is not quoted. With lexical_floor 0, 58 of 100
                      questions are "answered" from unrelated passages; here 8 are (words alone 6), and 100 (words
                      alone 98) from their own
    """

    lexical: float = 0.35
    cosine: float = 0.65
    prior: float = 0.05
    question_factor: float = 0.5
    close: float = 0.7
    most: int = 3
    lexical_floor: float = 0.12
    cosine_floor: float = 0.25


def open_extractive(config: LlmConfig, encode: Encode | None, notify: Callable[[str], None]) -> ExtractiveModel:
    """The provider's opener; it reads nothing of the configuration."""
    return ExtractiveModel(encode)


class ExtractiveModel:
    """Quotes one to three sentences of the evidence, or refuses in the question's language.

    encode  None goes by words alone
    """

    title = "the embedded extractive model"

    def __init__(self, encode: Encode | None = None, weights: Weights | None = None) -> None:
        self._encode = encode
        self._weights = weights or Weights()

    def reference(self) -> ModelRef:
        """The version of the rules; it has no digest."""
        return ModelRef(MODEL_ID, PROVIDER)

    def describe(self) -> str:
        """Which model this is, for kb doctor."""
        return "extractive, embedded"

    def context_tokens(self) -> int:
        """The longest evidence, in tokens."""
        return CONTEXT_TOKENS

    def generate_stream(self, request: GenerateRequest) -> Iterator[Token | Done]:
        """The quotes one by one, each with its marker, or the refusal; then Done("stop"). Reads no prompt.

        Token counts are estimates. Sentences that would exceed max_tokens are left out, except the best one.
        """
        is_weighed = (request.evidence_score or 0.0) >= LIKELY
        quotes = self.choose(request.question, sentences_of(request.evidence), request.max_tokens, is_weighed)
        written = 0
        if not quotes:
            refusal = REFUSALS.get(request.language, REFUSAL)
            written = estimate_tokens(refusal)
            yield Token(refusal)
        before: Sentence | None = None
        for quote in quotes:
            between = "" if before is None else " " if quote.passage == before.passage else "\n\n"
            text = between + _with_marker(quote)
            written += estimate_tokens(text)
            yield Token(text)
            before = quote
        read = estimate_tokens(request.question) + sum(estimate_tokens(entry.text) for entry in request.evidence)
        yield Done("stop", read, written, prompt_truncated=False)

    def choose(
        self, question: str, sentences: Sequence[Sentence], most_tokens: int, is_weighed: bool = False
    ) -> list[Sentence]:
        """The sentences to quote, in evidence order; empty where nothing answers.

        most_tokens  the best sentence is taken whatever its length, others only within this
        is_weighed   the evidence is likely to answer: the best sentence is quoted even below the floors
        """
        prose = [sentence for sentence in sentences if sentence.kind == "prose"]
        chosen = self._best(question, prose, most_tokens, is_weighed)
        if not chosen and (not prose or _ASKS_FOR_CODE.search(question)):
            chosen = self._best(question, [s for s in sentences if s.kind == "code"], most_tokens, is_weighed)
        return sorted(chosen, key=lambda sentence: (sentence.passage, sentence.position))

    def _best(self, question: str, sentences: Sequence[Sentence], most_tokens: int, is_weighed: bool) -> list[Sentence]:
        if not sentences:
            return []
        weights = self._weights
        words = [analyze(sentence.text) for sentence in sentences]
        asked = analyze_query(question)
        # The vectors include the headings; counting them here too lowers F1 from 0.63 to 0.60.
        headings = [[] if self._encode else analyze(sentence.heading) for sentence in sentences]
        lexical = lexical_scores(asked, [own + above for own, above in zip(words, headings, strict=True)])
        cosines = self._cosines(question, sentences)
        scores = [
            (weights.lexical * lexical[i] + weights.cosine * cosines[i] + weights.prior / (1 + s.passage))
            * (weights.question_factor if s.is_question() else 1.0)
            for i, s in enumerate(sentences)
        ]
        answering = [
            i
            for i in range(len(sentences))
            if lexical[i] >= weights.lexical_floor
            or cosines[i] >= weights.cosine_floor
            or (is_weighed and scores[i] == max(scores) and lexical[i] + cosines[i] > 0)
        ]
        chosen: list[int] = []
        tokens = 0
        for i in sorted(answering, key=lambda i: (-scores[i], i)):
            length = estimate_tokens(sentences[i].text)
            if chosen and (scores[i] < weights.close * scores[chosen[0]] or len(chosen) == weights.most):
                break
            if chosen and (tokens + length > most_tokens or any(_is_alike(words[i], words[j]) for j in chosen)):
                continue
            chosen.append(i)
            tokens += length
        return [sentences[i] for i in chosen]

    def _cosines(self, question: str, sentences: Sequence[Sentence]) -> list[float]:
        """Cosine of each sentence, under its headings, to the question, above what chance gives: in [0, 1].

        Chance, the largest cosine of the question to EVERYDAY, becomes 0, identity 1. An encoder that does not know the language
        gives all sentences nearly equal cosines, and so all become 0 here.
        """
        if self._encode is None:
            return [0.0] * len(sentences)
        texts = [sentence.under_heading() for sentence in sentences]
        vectors = self._encode([question, *EVERYDAY, *texts])
        cosines = [float(cosine) for cosine in vectors[1:] @ vectors[0]]
        chance = max(0.0, *cosines[: len(EVERYDAY)])
        return [max(0.0, cosine - chance) / max(1.0 - chance, 0.01) for cosine in cosines[len(EVERYDAY) :]]


def lexical_scores(asked: Sequence[str], sentences: Sequence[Sequence[str]]) -> list[float]:
    """BM25 of each sentence for the question's terms, divided by the best any sentence could reach: in [0, 1].

    The inverse document frequency is Lucene's, which is never negative: with few sentences rank-bm25's own gives a term
    that most of them share a score below zero, and the evidence was retrieved because it shares terms.
    """
    from rank_bm25 import BM25Okapi

    if not asked or not any(sentences):
        return [0.0] * len(sentences)
    count = len(sentences) + BACKGROUND_SENTENCES
    holding = Counter(term for terms in sentences for term in set(terms))
    weight = {term: math.log1p((count - n + 0.5) / (n + 0.5)) for term, n in holding.items()}
    ranking = BM25Okapi(sentences, k1=K1, b=B)
    ranking.idf = weight
    unseen = math.log1p((count + 0.5) / 0.5)
    best_possible = (K1 + 1) * sum(weight.get(term, unseen) for term in asked)
    return [float(score) / best_possible for score in ranking.get_scores(asked)]


def _is_alike(words: Sequence[str], others: Sequence[str]) -> bool:
    one, other = set(words), set(others)
    return len(one & other) >= NEAR_DUPLICATE * len(one | other)


def _with_marker(quote: Sentence) -> str:
    if quote.kind == "code":
        return f"```\n{quote.text}\n``` [#{quote.marker}]"
    return f"{quote.text} [#{quote.marker}]"
