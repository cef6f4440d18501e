"""A question and its packed evidence → the passage that answers best, quoted as it stands, and short quotes of others.

The embedded default: it needs no server, and every word of its answers is in the evidence (kb/llm/extractive_quote.py says
which characters a quote may change). With an encoding function it compares meanings too, without one words alone.
Deterministic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from kb.arrays import Encode
from kb.config import LlmConfig
from kb.frozen import dataclass
from kb.language.registry import LANGUAGES
from kb.language.sentences import is_forged
from kb.llm.extractive_blocks import Block, find_blocks, first_number, has_terms, items_of
from kb.llm.extractive_choice import Choice, choose_quote, quotes_of
from kb.llm.extractive_inline import bare_title
from kb.llm.extractive_quote import Quote, quote_around, quote_sentence
from kb.llm.extractive_rank import (
    Asked,
    Candidate,
    coverage,
    is_held,
    leans,
    lexical_scores,
    points_elsewhere,
    shape_bonus,
)
from kb.llm.extractive_read import read_candidates
from kb.llm.extractive_sides import contrasts, quote_each, sides_beside, tell_sides
from kb.llm.protocol import Done, Evidence, GenerateRequest, Quoted, Read, Scorers, Token
from kb.records import ModelRef
from kb.text import analyze, estimate_tokens

MODEL_ID, PROVIDER = "extractive-v2", "extractive"
REFUSALS = {"ko": "근거가 부족하다."}
REFUSAL = "The evidence is insufficient to answer this."
# Most tokens of evidence, four times the default pack: encoding the sentences takes time.
CONTEXT_TOKENS = 32_768
# From this probability on that the evidence answers, the floors do not apply: they are for evidence without a score, and in
# a language that the encoder cannot read they refuse questions whose words are mostly endings.
LIKELY = 0.5
# A sentence with this share of its words in one chosen before is a repetition.
NEAR_DUPLICATE = 0.8
# Scores by words alone spread wider, and so must what the shape of the question adds.
WORDS_ALONE = 1.6
# Longer sentences are no short quotes.
LONGEST_FURTHER_CHARS = 320

# So many of the sentences that are best by words, and by a reader where there is one, are compared by meaning too: encoding
# all of them was the dearest step of an answer, and found no other sentence that holds the answer.
COMPARED_SENTENCES = 12

# A capital inside a sentence, or a thing's owner: "of Thistle", "Thistle's mirror".
_NAME = re.compile(r"(?<=[a-z,] )[A-Z]\w{2,}|[A-Z]\w+(?=['’]s\b)")

# Of a heading: server.port, onMounted(), v-once, $attrs; not "Read-only", "FAQ" or "2.".
_CODE_NAME = re.compile(
    r"^(?=.*[A-Za-z])(?:\S*(?:\w[._:/]\w|[()$<>@#{}\[\]]|__|[a-z][A-Z])\S*|-{0,2}[a-z]+(?:-[a-z]+)+)$"
)

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


@dataclass(frozen=True, slots=True)
class Weights:
    """How sentences are scored and how many are quoted; the defaults are measured by benchmarks/answers.py.

    lexical, cosine   parts of BM25 (as a share of the best score any sentence could reach) and of the cosine
    around            part of the question's words that the sentence, its paragraph and its headings hold together
    prior             added for the first passage, half of it for the second, a third for the third …
    close             share of the best score that a further quote must reach
    most              quotes at most, the first included
    read              part of what the reader says of the paragraph, between 0 and 1
    lexical_floor     below this share of the best lexical score …
    cosine_floor      … and below this cosine above chance, a sentence is not quoted. With lexical_floor 0, 58 of 100
                      questions are "answered" from unrelated passages; here 8 are (words alone 6), and 100 (words
                      alone 98) from their own
    """

    lexical: float = 0.3
    cosine: float = 0.55
    around: float = 0.25
    prior: float = 0.1
    close: float = 0.75
    most: int = 3
    read: float = 0.6
    lexical_floor: float = 0.12
    cosine_floor: float = 0.25


def open_extractive(config: LlmConfig, scorers: Scorers, notify: Callable[[str], None]) -> ExtractiveModel:
    """The provider's opener; it reads nothing of the configuration."""
    return ExtractiveModel(scorers.encode, read=scorers.read, read_again=scorers.read_again)


class ExtractiveModel:
    """Quotes one passage of the evidence and up to two sentences of others, or refuses in the question's language.

    encode      None goes by words alone; so does a question that the encoder cannot read
    read        None chooses without a reader; so does a question that the reader cannot read
    read_again  a second reader, for quotes between which the first is undecided
    """

    title = "quotes from your documents, without a language model"

    def __init__(
        self,
        encode: Encode | None = None,
        weights: Weights | None = None,
        *,
        read: Read | None = None,
        read_again: Read | None = None,
    ) -> None:
        self._encode = encode
        self._read = read
        self._read_again = read_again
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
        """The quotes one by one, best first, each with its marker, or the refusal; then Done("stop"). Reads no prompt.

        Token counts are estimates. Further quotes that would exceed max_tokens are left out.
        """
        written = 0
        for token in self._answer(request) or (Token(REFUSALS.get(request.language, REFUSAL)),):
            written += estimate_tokens(token.text)
            yield token
        read = estimate_tokens(request.question) + sum(estimate_tokens(entry.text) for entry in request.evidence)
        yield Done("stop", read, written, prompt_truncated=False)

    def _answer(self, request: GenerateRequest) -> list[Token]:
        blocks = [
            find_blocks(entry.text, entry.heading_path[-1] if entry.heading_path else "") for entry in request.evidence
        ]
        candidates = [c for n, entry in enumerate(request.evidence) for c in candidates_of(n, entry, blocks[n])]
        asked = Asked.of(request.question)
        scores = self.score(asked, candidates, (request.evidence_score or 0.0) >= LIKELY, by_meaning=request.by_meaning)
        order = sorted(
            (i for i, score in enumerate(scores) if score is not None), key=lambda i: (-(scores[i] or 0.0), i)
        )
        if not order:
            return []

        def quote_for(candidate: Candidate, asked: Asked = asked) -> Quote:
            return quote_around(request.evidence[candidate.passage].text, blocks[candidate.passage], candidate, asked)

        choices = quotes_of(candidates, scores, order, quote_for)
        chosen = choose_quote(self._read, asked, choices, candidates, self._read_again)
        is_contrast = contrasts(asked, candidates[chosen.at])
        told = [] if is_contrast else tell_sides(asked, candidates, scores, quote_for, self._read)
        shown = quote_each(asked, candidates, told, chosen) or [chosen]
        tokens = [
            shown_quote(candidates[choice.at], request.evidence[candidates[choice.at].passage], choice.quote, before)
            for choice, before in zip(shown, [None, candidates[shown[0].at]], strict=False)
        ]
        used = sum(estimate_tokens(token.text) for token in tokens)
        further = self._further(asked, candidates, scores, order, shown, told)
        shown_above = [candidates[choice.at].shown_heading() for choice in shown]
        for n, other in enumerate(further):
            entry = request.evidence[other.passage]
            name = _name_above(other, shown_above)
            token = _further_token(other, entry, name, is_first=n == 0, language=request.language)
            used += estimate_tokens(token.text)
            if used <= request.max_tokens:
                tokens.append(token)
        return tokens

    def score(
        self, asked: Asked, candidates: Sequence[Candidate], is_weighed: bool, *, by_meaning: bool = True
    ) -> list[float | None]:
        """How well each sentence answers, higher is better; None where it does not.

        is_weighed  the evidence is likely to answer: the best sentence is quoted even below the floors
        """
        if not candidates:
            return []
        weights = self._weights
        own = [with_subject(candidate) for candidate in candidates]
        means = by_meaning and self._encode is not None
        # The vectors include the headings; counting them here too lowers F1 from 0.63 to 0.60.
        above = [[] if means else analyze(candidate.heading) for candidate in candidates]
        lexical = lexical_scores(asked.terms, [o + h for o, h in zip(own, above, strict=True)])
        around = coverage(
            asked.terms, [frozenset(analyze(f"{c.subject}\n{c.heading}\n{c.around}")) for c in candidates]
        )
        # Without cosines their part falls to the words.
        share = 1.0 if means else (weights.lexical + weights.cosine) / weights.lexical
        total = [
            share * weights.lexical * lexical[i]
            + weights.around * around[i]
            + weights.prior / (1 + c.passage)
            + (1.0 if means else WORDS_ALONE) * shape_bonus(asked, c)
            for i, c in enumerate(candidates)
        ]
        told = read_candidates(self._read, asked.question, candidates, total) if self._read else None
        if told:
            total = [score + weights.read * told[i] for i, score in enumerate(total)]
        cosines = [0.0] * len(candidates)
        if means:
            order = sorted(range(len(candidates)), key=lambda i: (-total[i], i))
            compared = order[:COMPARED_SENTENCES]
            for i, cosine in zip(
                compared, self._cosines(asked.question, [candidates[i] for i in compared]), strict=True
            ):
                cosines[i] = cosine
                total[i] += weights.cosine * cosine
        best = max(range(len(candidates)), key=lambda i: total[i])
        return [
            score
            if lexical[i] >= weights.lexical_floor
            or cosines[i] >= weights.cosine_floor
            or (is_weighed and i == best and lexical[i] + cosines[i] + around[i] > 0)
            else None
            for i, score in enumerate(total)
        ]

    def _further(
        self,
        asked: Asked,
        candidates: Sequence[Candidate],
        scores: Sequence[float | None],
        order: Sequence[int],
        shown: Sequence[Choice],
        told: Sequence[Choice | None],
    ) -> list[Candidate]:
        """Sentences of other passages that answer nearly as well and say something else; before them what one of two things is, where
        the quotes lack that.

        order  indices of the candidates, best first
        told   what `tell_sides` found
        """
        texts = [choice.quote.text for choice in shown]
        chosen = sides_beside(asked, candidates, scores, told, " ".join(texts))
        texts += [candidate.text for candidate in chosen]
        best, room = candidates[shown[0].at], self._weights.most - len(shown)
        passages = {candidate.passage for candidate in (*(candidates[choice.at] for choice in shown), *chosen)}
        for i in order:
            candidate = candidates[i]
            if len(chosen) >= room or (scores[i] or 0.0) < self._weights.close * (scores[order[0]] or 0.0):
                break
            if candidate.passage in passages or candidate.kind not in ("prose", "list") or leans(candidate.text):
                continue
            if len(candidate.text) > LONGEST_FURTHER_CHARS or candidate.text.rstrip().endswith((":", "?")):
                continue
            if len(analyze(candidate.text)) < 2:  # "Type", above a list
                continue
            if points_elsewhere(candidate.text) or _is_of_another(candidate, best, asked.question):
                continue
            if any(is_held(candidate.text, text, NEAR_DUPLICATE) for text in texts):
                continue
            chosen.append(candidate)
            texts.append(candidate.text)
            passages.add(candidate.passage)
        return chosen

    def _cosines(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        """Cosine of each sentence, under its headings, to the question, above what chance gives: in [0, 1].

        Chance, the largest cosine of the question to EVERYDAY, becomes 0, identity 1. An encoder that does not know the language
        gives all sentences nearly equal cosines, and so all become 0 here.
        """
        assert self._encode is not None
        texts = [candidate.under_heading() for candidate in candidates]
        vectors = self._encode([question, *EVERYDAY, *texts])
        cosines = [float(cosine) for cosine in vectors[1:] @ vectors[0]]
        chance = max(0.0, *cosines[: len(EVERYDAY)])
        return [max(0.0, cosine - chance) / max(1.0 - chance, 0.01) for cosine in cosines[len(EVERYDAY) :]]


def _is_of_another(candidate: Candidate, best: Candidate, question: str) -> bool:
    """True for what is said of another name than the question and its answer have: below Marigold's mirror, Thistle's."""
    wanted = _names_in(question) & frozenset(analyze(best.under_heading()))
    if not wanted or wanted & frozenset(analyze(candidate.under_heading())):
        return False
    return bool(_names_in(candidate.text) - frozenset(analyze(question)))


def _names_in(text: str) -> frozenset[str]:
    return frozenset(term for name in _NAME.findall(text) for term in analyze(name)[:1])


def with_subject(candidate: Candidate) -> list[str]:
    """The terms of a sentence, and of what its document is about those that it does not say itself."""
    own = analyze(candidate.text)
    return own + [term for term in dict.fromkeys(analyze(candidate.beside(candidate.heading))) if term not in own]


def candidates_of(passage: int, entry: Evidence, blocks: Sequence[Block]) -> list[Candidate]:
    """What can be the answer in one passage, under the headings that stand above it."""
    found: list[Candidate] = []
    above = titles = [bare_title(title) for title in entry.heading_path]
    inside: list[tuple[int, str]] = []  # level and text of the passage's own headings that stand above
    is_begun = False
    for at, block in enumerate(blocks):
        if block.kind == "heading":
            title = bare_title(block.title)
            above = [*(other for other in titles if other != title), title]
            inside = [(level, other) for level, other in inside if level < block.level] + [(block.level, title)]
            is_begun = False
            continue
        table = block.table
        heading = " > ".join((above[:-1] if table and table.is_file else above)[-2:])
        path = " > ".join([*titles, *(other for _, other in inside)])
        around = entry.text[block.start : block.end]
        spelled = {row.start: row.spelled() for row in table.rows} if table else {}
        terms = items_of(entry.text, block) if has_terms(entry.text, block) else []
        before, after = (blocks[at - 1] if at else None), (blocks[at + 1] if at + 1 < len(blocks) else None)
        if block.kind in ("list", "code") and before is not None and before.kind == "prose":
            around = entry.text[before.start : before.end] + "\n" + around
        has_code = block.kind == "code" or (after is not None and after.kind == "code")
        opens = block.kind == "prose" and before is not None and before.kind == "heading"
        number = first_number(entry.text, block)
        is_begun = is_begun or number == 1
        resumes = (number or 0) > 1 and not is_begun
        for start, end in block.sentences:
            text = spelled.get(start) or " ".join(entry.text[start:end].split())
            around = text if spelled else around
            if terms:  # what one means says nothing of another
                around = next(entry.text[a:b] for a, b in terms if a <= start < b)
            if is_forged(text):
                continue
            announces = after is not None and after.kind in ("list", "code", "table") and end == block.sentences[-1][1]
            where = (passage, at, start, end, text, heading, around, block.kind)
            found.append(Candidate(*where, has_code, opens, announces, resumes, path, entry.subject))
    return found


def shown_quote(best: Candidate, entry: Evidence, quote: Quote, before: Candidate | None = None) -> Token:
    """The passage under its heading, the sentence that answers marked by its place.

    before  that of the quote above it, whose heading is not shown once more
    """
    heading = best.shown_heading()
    opening = f"{heading}\n\n" if heading and (before is None or before.shown_heading() != heading) else ""
    opening = opening if before is None else f"\n\n{opening}"
    key = (quote.key[0] + len(opening), quote.key[1] + len(opening)) if quote.key else None
    # Behind a table a blank line: else the marker is a row of it.
    behind = "\n\n" if quote.text.endswith("|") else "\n" if quote.text.endswith(("```", "~~~")) else " "
    text = f"{opening}{quote.text}{behind}[#{entry.marker}]"
    return Token(text, Quoted(entry.marker, quote.start, quote.end, key))


def _name_above(other: Candidate, shown: Sequence[str]) -> str:
    """The name in the heading of a short quote, ready to stand before it: "Specify server port." says little without `server.port`.

    shown    the headings above the quotes before
    returns  empty for a document's title, for a heading in plain words, and where the sentence has the name
    """
    path, _, title = other.shown_heading().rpartition(" › ")
    is_name = _CODE_NAME.match(title) is not None
    if not path or not is_name or other.shown_heading() in shown or is_held(title, other.text, 1.0):
        return ""
    return f"{title}: "


def _further_token(other: Candidate, entry: Evidence, name: str, *, is_first: bool, language: str) -> Token:
    opening = f"\n\n{LANGUAGES[language].replies['see_also']}\n" if is_first else "\n"
    text = f"{opening}- {name}{quote_sentence(entry.text, other)} [#{entry.marker}]"
    return Token(text, Quoted(entry.marker, other.start, other.end, None, is_further=True))
