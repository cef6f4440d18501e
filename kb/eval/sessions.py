"""The conversations of a suite, run in a copy of a home: what every turn costs and whether it is answered.

Turns are asked as a chat asks them: stored, in their session, with facts remembered and hours of silence before them. The
home itself is not changed.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kb.ask.pipeline import ask
from kb.ask.records import Answer, AskRequest
from kb.config import Config
from kb.eval.answer_metrics import contains_wanted, says
from kb.eval.judges import judge_suite
from kb.eval.pipeline import Judge
from kb.eval.records import Query, Suite
from kb.frozen import dataclass
from kb.index.protocol import LexicalIndex, VectorIndex
from kb.records import SearchRequest
from kb.runtime import Runtime
from kb.search.pipeline import search
from kb.store.documents import utc_text
from kb.store.store import Store

if TYPE_CHECKING:
    from kb.arrays import FloatMatrix, FloatVector

# Passages among which the answer's own must be.
RECALL_DEPTH = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The cost of one turn.

    prompt_tokens  as the model counted them; 0 when no model was asked
    node_tokens    tokens of the context nodes in the prompt
    statements     SQL statements that read the store
    encoder_calls  queries and batches of sentences that were encoded
    index_opens    number of times an index was opened
    """

    prompt_tokens: int
    node_tokens: int
    statements: int
    encoder_calls: int
    index_opens: int
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurnResult:
    """One turn of one conversation.

    searched       the query of the search; empty without a search
    mode           the one the relevance rules chose
    recall         share of the best-graded passages among the first RECALL_DEPTH; None without labels
    recall_typed   the same for the question as typed; recall_by_hand for the suite's `standalone`
    is_answered    neither refused nor small talk
    is_right       has the words of must_contain and none of must_not_contain; None without such words
    """

    query_id: str
    kind: str
    lang: str
    split: str
    text: str
    searched: str
    mode: str
    expect_mode: str | None
    answerable: bool
    is_followup: bool
    recall: float | None
    recall_typed: float | None
    recall_by_hand: float | None
    is_answered: bool
    is_right: bool | None
    grounded: bool
    refusal_reason: str | None
    rests_on: tuple[str, ...]
    cost: Cost


class CountingRuntime(Runtime):
    """A knowledge base that counts statements, encoder calls and opened indexes."""

    def __init__(self, home: Path, config: Config) -> None:
        super().__init__(home, config)
        self.statements = self.encoder_calls = self.index_opens = 0
        self.store.on_statement(self._count_statement)

    def _count_statement(self, _: str) -> None:
        self.statements += 1

    def encode_query(self, text: str) -> FloatVector:
        self.encoder_calls += 1
        return super().encode_query(text)

    def encode_sentences(self, texts: Sequence[str]) -> FloatMatrix:
        self.encoder_calls += 1
        return super().encode_sentences(texts)

    def lexical_index(self) -> LexicalIndex:
        self.index_opens += 1
        return super().lexical_index()

    def vector_index(self) -> VectorIndex:
        self.index_opens += 1
        return super().vector_index()


def run_sessions(
    home: Path,
    config: Config,
    suite: Suite,
    on_turn: Callable[[int, int], None] = lambda done, total: None,
    *,
    uses_relevance: bool = True,
) -> list[SessionTurnResult]:
    """Run every conversation of a suite.

    uses_relevance  False includes every context node in every turn, as the comparison for the parser
    """
    config = replace(config, relevance=replace(config.relevance, enabled=uses_relevance))
    turns = [query for query in suite.queries if query.session]
    results: list[SessionTurnResult] = []
    with _copied(home) as copy, CountingRuntime(copy, config) as kb:
        judge = judge_suite(kb, suite)
        kb.language_model()
        kb.encode_query("warm")  # loading is not part of a turn's cost
        for query in turns:
            results.append(_run_turn(kb, copy, query, judge))
            on_turn(len(results), len(turns))
    return results


@contextmanager
def _copied(home: Path) -> Iterator[Path]:
    """A writable copy of a home, deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="kb-sessions-") as folder:
        copy = Path(folder) / "home"
        copy.mkdir()
        with Store(home) as store:
            store.copy_to(copy)
        if (home / "index").is_dir():
            shutil.copytree(home / "index", copy / "index")
        yield copy


def _run_turn(kb: CountingRuntime, home: Path, query: Query, judge: Judge) -> SessionTurnResult:
    session = f"eval-{query.session}"
    with Store(home, write=True) as store:
        if query.after_hours:
            store.journal.shift_session(session, query.after_hours)
        for fact in query.facts:
            store.journal.add_memory(fact, session, utc_text())
    kb.statements = kb.encoder_calls = kb.index_opens = 0
    began = time.perf_counter()
    request = AskRequest(query.text, kb.config.search.mode, kb.config.rag.k, session_id=session)
    answer = ask(kb, request)
    milliseconds = (time.perf_counter() - began) * 1000
    cost = Cost(
        prompt_tokens=answer.usage.prompt_tokens or 0,
        node_tokens=sum(node.tokens for node in answer.relevance.nodes) if answer.relevance else 0,
        statements=kb.statements,
        encoder_calls=kb.encoder_calls,
        index_opens=kb.index_opens,
        milliseconds=milliseconds,
    )
    return _judge_turn(kb, query, answer, cost, judge)


def _judge_turn(kb: Runtime, query: Query, answer: Answer, cost: Cost, judge: Judge) -> SessionTurnResult:
    searched = (answer.standalone_question or query.text) if cost.index_opens else ""
    relevant = judge.judged.get(query.id, {})
    best = {i for i, grade in relevant.items() if grade == max(relevant.values())}

    def recall(text: str | None) -> float | None:
        if not best or not text:
            return None
        found = _search(kb, text)
        return sum(i in found for i in best) / min(len(best), RECALL_DEPTH)

    wanted, unwanted = query.must_contain, query.must_not_contain
    is_answered = answer.grounded or bool(answer.rests_on)
    is_right = None
    if wanted.all or wanted.any or unwanted.any or unwanted.all:
        is_right = (
            is_answered
            and contains_wanted(answer.answer, wanted)
            and not any(says(answer.answer, w) for w in unwanted.any)
        )
    return SessionTurnResult(
        query_id=query.id,
        kind=query.slices.get("kind", ""),
        lang=query.slices.get("lang", ""),
        split=query.slices.get("split", ""),
        text=query.text,
        searched=searched,
        mode=answer.relevance.mode if answer.relevance else "",
        expect_mode=query.expect_mode,
        answerable=query.answerable,
        is_followup=query.standalone is not None,
        recall=recall(searched or query.text),
        recall_typed=recall(query.text),
        recall_by_hand=recall(query.standalone or query.text),
        is_answered=is_answered,
        is_right=is_right,
        grounded=answer.grounded,
        refusal_reason=answer.refusal_reason,
        rests_on=answer.rests_on,
        cost=cost,
    )


def _search(kb: Runtime, text: str) -> set[str]:
    request = SearchRequest(text, kb.config.search.mode, RECALL_DEPTH, as_found=True)
    return {str(hit.chunk_id) for hit in search(kb, request).hits}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeCosts:
    """Costs of the turns of one mode, with the parser and with every node: means, and the median time."""

    mode: str
    turns: int
    with_parser: Cost
    without_parser: Cost


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFigures:
    """Means over the turns of one kind; None where no turn has the label.

    recall, recall_typed, recall_by_hand  see `SessionTurnResult`
    answered   share of the answerable turns that were answered
    right      share of right answers among the turns with must_contain or must_not_contain
    """

    name: str
    turns: int
    recall_typed: float | None
    recall: float | None
    recall_by_hand: float | None
    answered: float | None
    right: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsReport:
    """Conversations run twice, with the relevance parser and without.

    mode_matches    turns in the expected mode, of the `mode_expected` turns that name one
    right_without   share of right answers without the parser; `figures` are with it
    """

    schema_version: Literal["eval_sessions.v1"] = "eval_sessions.v1"
    suite: str
    turns: int
    sessions: int
    mode_matches: int
    mode_expected: int
    mode_faults: tuple[str, ...]
    right_with: float | None
    right_without: float | None
    false_refusals_with: float | None
    false_refusals_without: float | None
    costs: tuple[ModeCosts, ...]
    figures: tuple[TurnFigures, ...]


def report_sessions(
    suite: Suite, results: Sequence[SessionTurnResult], without: Sequence[SessionTurnResult]
) -> SessionsReport:
    """Both runs as one report; `without` has the same turns in the same order."""
    modes: dict[str, list[int]] = defaultdict(list)
    for place, result in enumerate(results):
        modes[result.mode].append(place)
    expected = [r for r in results if r.expect_mode]
    groups: dict[str, list[SessionTurnResult]] = {
        "all": list(results),
        "follow-ups": [r for r in results if r.is_followup],
    }
    for result in results:
        groups.setdefault(f"lang {result.lang}", []).append(result)
        groups.setdefault(f"kind {result.kind}", []).append(result)
        if result.split and result.is_followup:
            groups.setdefault(f"follow-ups {result.split}", []).append(result)
    return SessionsReport(
        suite=suite.name,
        turns=len(results),
        sessions=len({q.session for q in suite.queries if q.session}),
        mode_matches=sum(r.mode == r.expect_mode for r in expected),
        mode_expected=len(expected),
        mode_faults=tuple(f"{r.query_id}: {r.mode}, not {r.expect_mode}" for r in expected if r.mode != r.expect_mode),
        right_with=_mean([r.is_right for r in results]),
        right_without=_mean([r.is_right for r in without]),
        false_refusals_with=_mean([not r.is_answered for r in results if r.answerable]),
        false_refusals_without=_mean([not r.is_answered for r in without if r.answerable]),
        costs=tuple(
            ModeCosts(
                mode=mode,
                turns=len(places),
                with_parser=_mean_cost([results[i].cost for i in places]),
                without_parser=_mean_cost([without[i].cost for i in places]),
            )
            for mode, places in sorted(modes.items())
        ),
        figures=tuple(_figures(name, group) for name, group in sorted(groups.items())),
    )


def _figures(name: str, group: Sequence[SessionTurnResult]) -> TurnFigures:
    return TurnFigures(
        name=name,
        turns=len(group),
        recall_typed=_mean([r.recall_typed for r in group]),
        recall=_mean([r.recall for r in group]),
        recall_by_hand=_mean([r.recall_by_hand for r in group]),
        answered=_mean([r.is_answered for r in group if r.answerable]),
        right=_mean([r.is_right for r in group]),
    )


def _mean(values: Sequence[float | bool | None]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _mean_cost(costs: Sequence[Cost]) -> Cost:
    count = len(costs)
    return Cost(
        prompt_tokens=round(sum(c.prompt_tokens for c in costs) / count),
        node_tokens=round(sum(c.node_tokens for c in costs) / count),
        statements=round(sum(c.statements for c in costs) / count),
        encoder_calls=round(sum(c.encoder_calls for c in costs) / count),
        index_opens=round(sum(c.index_opens for c in costs) / count),
        milliseconds=round(sorted(c.milliseconds for c in costs)[count // 2], 1),
    )
