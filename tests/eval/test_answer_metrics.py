"""What an answer is worth: refusals, coverage, wanted words."""

import pytest

from kb.eval.answer_metrics import citation_coverage, contains_wanted, says, score_answer
from kb.eval.metrics import METRICS
from kb.eval.records import AnswerFigures, Query, Wanted
from kb.support.claims import find_claims
from kb.support.markers import find_markers


def make_answer(text: str, *, grounded: bool = True) -> AnswerFigures:
    reason = None if grounded else "llm_self_judge"
    return AnswerFigures(trace_id="t", answer=text, grounded=grounded, refusal_reason=reason, citations=())


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Red torches only [#1]. No phones.", [("Red torches only.", (1,)), ("No phones.", ())]),
        ("Red torches only. [#1] No phones. [#2]", [("Red torches only.", (1,)), ("No phones.", (2,))]),
        ("[#1] says red. [#2] says blue.", [("says red.", (1,)), ("says blue.", (2,))]),
        ("Red [#1]. [#2]", [("Red.", (1, 2))]),
        ("- red [#1]\n- blue\n- green [#2]", [("red", (1,)), ("blue", ()), ("green", (2,))]),
        ("해가 지면 닫는다 [#1]. 열쇠는 두 개다.", [("해가 지면 닫는다.", (1,)), ("열쇠는 두 개다.", ())]),
        ("| a | b [#1] |", [("| a | b |", (1,))]),
        ("vec![1], [1], [foo], [ #1 ], [#1a]", [("vec![1], [1], [foo], [ #1 ], [#1a]", ())]),
        ("Yes [#1].\n\n---\n\n", [("Yes.", (1,))]),
        ("", []),
    ],
)
def test_sentences_and_their_markers(text: str, sentences: list[tuple[str, tuple[int, ...]]]) -> None:
    found = find_claims(text)
    assert [(sentence.text, sentence.markers) for sentence in found] == sentences
    assert sorted(m for sentence in found for m in sentence.markers) == sorted(find_markers(text))


def test_citation_coverage() -> None:
    assert citation_coverage("A one [#1]. B two. C three [#2][#1]. D four.") == 0.5
    assert citation_coverage("---") is None


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("The Red Torch", "red torch", True),
        ("every\n  14 days", "Every 14 days", True),
        ("１４ｄａｙｓ", "14days", True),
        ("Ofﬁce", "OFFICE", True),
        ("STRASSE", "straße", True),
        ("협동조합", "협동", True),
        ("fourteen days", "14 days", False),
    ],
)
def test_what_a_text_says(text: str, words: str, found: bool) -> None:
    assert says(text, words) is found


def test_all_and_any() -> None:
    assert contains_wanted("a b", Wanted(all=("a", "b")))
    assert not contains_wanted("a", Wanted(all=("a", "b")))
    assert contains_wanted("a", Wanted(any=("a", "b")))
    assert not contains_wanted("c", Wanted(any=("a", "b")))
    assert not contains_wanted("a", Wanted(all=("c",), any=("a",)))
    assert contains_wanted("", Wanted())


def test_scores_of_a_good_answer() -> None:
    query = Query(id="q", text="?", must_contain=Wanted(all=("14 days",)), must_not_contain=Wanted(any=("21 days",)))
    scores = score_answer(query, make_answer("Every 14 days [#1]. Soon."), exact_lines=1.0, citation_support=0.5)
    assert scores == {
        "refused": 0.0,
        "false_refusal": 0.0,
        "refusal_recall": None,
        "citation_coverage": 0.5,
        "citation_support": 0.5,
        "must_contain": 1.0,
        "must_not_contain": 1.0,
        "exact_lines": 1.0,
        "prompt_tokens": None,
        "completion_tokens": None,
        "first_token_ms": None,
    }
    assert set(scores) <= set(METRICS)


def test_a_refusal_is_neither_supported_nor_unsupported() -> None:
    """A refusal does not say what an answer must say, even if its text happens to."""
    query = Query(id="q", text="?", must_contain=Wanted(all=("14 days",)), must_not_contain=Wanted(any=("21 days",)))
    refusal = make_answer("The evidence is insufficient, 14 days or not [#1].", grounded=False)
    scores = score_answer(query, refusal, exact_lines=1.0, citation_support=1.0)
    assert (scores["refused"], scores["false_refusal"], scores["refusal_recall"]) == (1.0, 1.0, None)
    assert (scores["citation_coverage"], scores["citation_support"], scores["exact_lines"]) == (None, None, None)
    assert (scores["must_contain"], scores["must_not_contain"]) == (0.0, 1.0)


def test_an_unanswerable_question() -> None:
    query = Query(id="q", text="?", answerable=False, must_not_contain=Wanted(all=("1.8 metres", "dome")))
    refused = score_answer(query, make_answer("No evidence.", grounded=False))
    assert (refused["refusal_recall"], refused["false_refusal"], refused["must_contain"]) == (1.0, None, None)
    answered = score_answer(query, make_answer("The dome has 1.8 metres [#1]."))
    assert (answered["refusal_recall"], answered["must_not_contain"], answered["refused"]) == (0.0, 0.0, 0.0)
    assert score_answer(query, make_answer("The dome [#1]."))["must_not_contain"] == 1.0
