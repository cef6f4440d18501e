"""What is drafted from a document, and that the file that is written can be read again."""

from __future__ import annotations

from kb.eval.draft import Draft, choose, draft_from_document
from kb.eval.draft_text import suite_text
from kb.eval.records import Label
from kb.eval.suite import parse_suite
from kb.records import Chunk, Citation, Document

HOSTILE = 'a "b": \\ #c\x1b[31m\x7f é 거울 - true'


def page(
    *sections: tuple[str, str], title: str = "Mirrors", kind: str = "markdown", language: str = "en"
) -> list[Draft]:
    """The drafts of a document of these (heading, text)."""
    chunks = [
        Chunk(
            chunk_id=at,
            doc_id=1,
            source="notes",
            path="a.md",
            title=title,
            heading_path=(title, heading) if heading else (),
            text=text,
            citation=Citation(path="a.md", uri=f"a.md#L{at + 1}", start_line=at + 1, end_line=at + 1),
            token_count=9,
            position=at,
            start=100 * at,
            end=100 * at + len(text),
            text_hash="",
            tags=(),
            indexed_at="",
        )
        for at, (heading, text) in enumerate(sections)
    ]
    document = Document(
        doc_id=1,
        source="notes",
        path="a.md",
        title=title,
        type=kind,
        language=language,
        tags=(),
        size_bytes=1,
        content_hash="",
        chunk_ids=tuple(chunk.chunk_id for chunk in chunks),
        modified_at="",
        indexed_at="",
    )
    return draft_from_document(document, chunks, "a.md")


def test_questions_in_the_text_come_before_headings() -> None:
    drafts = page(
        ("Introduction", "Hello to everybody who reads this."),
        ("Cleaning", "How often are they cleaned? They are cleaned every 14 days. Really?"),
        ("What to do when the mirror is wet", "Wipe it with the soft cloth."),
    )
    assert [(draft.text, draft.origin) for draft in drafts] == [
        ("How often are they cleaned?", "question"),
        ("Mirrors: Cleaning", "heading"),
        ("What to do when the mirror is wet", "heading"),
    ]
    assert drafts[0].label == Label("a.md", anchor="They are cleaned every 14 days.", grade=2)
    assert drafts[2].label == Label("a.md", heading="What to do when the mirror is wet", grade=2)


def test_what_names_no_place_or_two_is_not_drafted() -> None:
    twice = page(("Cleaning", "One sentence here."), ("Wiping", "Another."), ("Cleaning", "A third one."))
    assert [draft.text for draft in twice] == ["Mirrors: Wiping"]
    assert page(("backoff()", "def backoff(): return how_often_is_it_cleaned"), kind="code") == []
    (titled,) = page(("", "The only sentence that it has."), title="boat-timetable of 2024")
    assert (titled.origin, titled.text) == ("title", "boat-timetable of 2024")


def test_korean_questions_and_headings() -> None:
    drafts = page(
        ("거울 관리", "거울은 얼마나 자주 청소합니까? 14일마다 이산화탄소 눈으로 청소합니다."),
        ("요약", "위와 같습니다."),
        title="망원경",
        language="ko",
    )
    assert [(draft.text, draft.language) for draft in drafts] == [
        ("거울은 얼마나 자주 청소합니까?", "ko"),
        ("망원경: 거울 관리", "ko"),
    ]


def test_half_may_come_from_what_was_asked_and_each_document_gets_its_turn() -> None:
    asked = [Draft(f"asked {at}", "asked", "en") for at in range(9)]
    pages = [[Draft(f"{name} {at}", "heading", "en") for at in range(3)] for name in "abc"]
    assert [draft.text for draft in choose(asked, pages, 6)] == [
        *("asked 0", "asked 1", "asked 2", "a 0", "b 0", "c 0"),
    ]
    assert len(choose(asked, pages[:1], 10)) == 10  # what the documents do not fill, questions do
    assert [
        draft.text for draft in choose([], [[Draft("Same", "heading", "en"), Draft("same", "heading", "en")]], 9)
    ] == ["Same"]


def test_any_text_survives_being_written_and_read() -> None:
    drafts = [
        Draft(
            HOSTILE,
            "heading",
            "en",
            Label(HOSTILE, heading=HOSTILE),
            passage=f"{HOSTILE}\n- id: forged",
            others=(HOSTILE,),
        ),
        Draft("true", "refused", "en"),
        Draft(HOSTILE, "asked", "ko", Label("no", anchor="null", grade=2)),
    ]
    suite = parse_suite(suite_text(drafts, "2024").encode(), "s.yaml", with_drafts=True)
    assert [query.text for query in suite.queries] == [HOSTILE, "true", HOSTILE]
    assert suite.queries[0].labels[0].heading == HOSTILE
    assert (suite.queries[1].answerable, suite.queries[2].labels[0].anchor) == (False, "null")
    assert len({query.id for query in suite.queries}) == 3
