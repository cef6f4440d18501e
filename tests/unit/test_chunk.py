"""Chunks follow structure, stay within their size, and are exact stretches of the source."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.drafts import ChunkDraft, Parsed
from kb.ingest.chunk import MAX_CHARS_PER_UNIT, chunk_document, embedding_text, read_tokens
from kb.ingest.readers import READERS, read_file
from kb.text_units import unit_starts


def words(text: str) -> list[int]:
    """A tokenizer for tests: a token a word."""
    return [m.start() for m in re.finditer(r"\w+|[^\w\s]", text)]


def chunks_of(markdown: str, target: int = 20, limit: int = 30) -> list[ChunkDraft]:
    return chunk_document(parse(markdown), words, target, limit)


def parse(markdown: str) -> Parsed:
    return read_file(READERS["markdown"], markdown.encode(), "x.md")


def sentence(n: int, word: str = "word") -> str:
    return " ".join([word.capitalize()] + [word] * (n - 2)) + "."


def test_headings_are_boundaries_and_lead_their_text() -> None:
    chunks = chunks_of("# A\n\nOne.\n\n## B\n\nTwo.\n\n# C\n\nThree.\n")
    assert [c.text for c in chunks] == ["# A\n\nOne.", "## B\n\nTwo.", "# C\n\nThree."]
    assert [c.heading_path for c in chunks] == [("A",), ("A", "B"), ("C",)]
    assert [(c.start_line, c.end_line) for c in chunks] == [(1, 3), (5, 7), (9, 11)]


def test_a_heading_never_stands_alone() -> None:
    chunks = chunks_of("# A\n\n## B\n\n### C\n\nText.\n\n## D\n")
    assert [c.text for c in chunks] == ["# A\n\n## B\n\n### C\n\nText.\n\n## D"]
    assert chunks[0].heading_path == ("A", "B", "C")


def test_a_last_heading_without_text_joins_what_is_before() -> None:
    chunks = chunks_of("# A\n\nText.\n\n## Empty\n")
    assert len(chunks) == 1
    assert chunks[0].text.endswith("## Empty")


def test_only_headings_still_make_a_chunk() -> None:
    chunks = chunks_of("# A\n\n## B\n")
    assert [c.text for c in chunks] == ["# A\n\n## B"]


def test_code_and_tables_stay_whole_while_they_fit() -> None:
    code = "```\n" + "\n".join(f"line {i}" for i in range(10)) + "\n```"
    chunks = chunks_of(f"{sentence(15)}\n\n{code}\n\n{sentence(15)}", target=20, limit=40)
    assert any(c.text == code for c in chunks)


def test_code_that_does_not_fit_is_cut_at_lines() -> None:
    code = "```\n" + "\n".join(f"alpha beta {i}" for i in range(40)) + "\n```"
    chunks = chunks_of(code, target=20, limit=30)
    assert len(chunks) > 3
    assert all(line in code.split("\n") for c in chunks for line in c.text.split("\n"))


def test_paragraphs_are_cut_between_sentences() -> None:
    chunks = chunks_of(" ".join(sentence(8) for _ in range(12)), target=20, limit=30)
    assert len(chunks) > 3
    assert all(c.text.endswith(".") for c in chunks)


def test_a_small_rest_joins_the_piece_before() -> None:
    chunks = chunks_of(f"{sentence(17)}\n\n{sentence(4)}", target=20, limit=30)
    assert len(chunks) == 1


def test_a_section_a_little_over_the_target_is_not_cut() -> None:
    two = f"{sentence(12)}\n\n{sentence(12)}"
    assert len(chunks_of(two, target=20, limit=30)) == 1
    assert len(chunks_of(two, target=20, limit=23)) == 2, "the encoder would not read it in one go"
    assert len(chunks_of(f"{sentence(14)}\n\n{sentence(14)}", target=20, limit=40)) == 2


def test_pages_do_not_share_a_chunk() -> None:
    from kb.drafts import Block

    text = "One.\n\nTwo."
    parsed = Parsed(text, (Block("paragraph", 0, 4, page=1), Block("paragraph", 6, 10, page=2)))
    chunks = chunk_document(parsed, words, 20, 30)
    assert [(c.text, c.page, c.start_line) for c in chunks] == [("One.", 1, None), ("Two.", 2, None)]


def test_one_endless_word_is_cut_by_characters() -> None:
    chunks = chunks_of("a" * 5000, target=20, limit=30)
    assert max(len(c.text) for c in chunks) <= 20 * MAX_CHARS_PER_UNIT
    assert "".join(c.text for c in chunks) == "a" * 5000


ENGLISH = (
    "The pump is checked every morning. If its pressure falls below two bar, the valve behind the filter is closed. "
)
KOREAN = "펌프는 매일 아침에 점검한다. 압력이 2바 아래로 떨어지면 필터 뒤에 있는 밸브를 닫는다. "


def spell(text: str) -> list[int]:
    """A tokenizer that knows English only: two tokens for each Hangul syllable."""
    return sorted(words(text) + [m.start() for m in re.finditer("[가-힣]", text) for _ in range(2)])


def test_a_chunk_holds_as_much_korean_as_english() -> None:
    english, korean = (chunk_document(parse(t * 60), spell, 200, 256) for t in (ENGLISH, KOREAN))
    assert abs(len(english) - len(korean)) <= 1
    assert max(len(c.text) for c in korean) > 300


def test_what_the_encoder_reads_bounds_a_chunk() -> None:
    letters = chunk_document(
        parse(KOREAN * 60), lambda text: [m.start() for m in re.finditer("[가-힣]{1,2}", text)], 200, 50
    )
    assert max(len(re.findall("[가-힣]{1,2}", c.text)) for c in letters) <= 50
    whole = chunk_document(parse("x" * 5000), lambda text: list(range(len(text))), 200, 30)
    assert {len(c.text) for c in whole[:-1]} == {30}


def test_a_chunk_of_code_is_headed_by_what_it_stands_in() -> None:
    methods = "".join(f"    def m{i}(self):\n" + "        call(a, b)\n" * 12 for i in range(3))
    parsed = read_file(READERS["code"], f"import x\n\nclass A:\n{methods}".encode(), "a.py")
    chunks = chunk_document(parsed, words, 90, 100)
    assert [c.heading_path for c in chunks] == [(), *(("class A", f"def m{i}(self)") for i in range(3))]
    assert all(c.text == parsed.text[c.start : c.end] for c in chunks)
    assert chunk_document(parsed, words, 300, 400)[0].heading_path == ()


@pytest.mark.parametrize(
    ("text", "starts", "read"),
    [
        ("pump house", [0, 2, 5], [0, 2, 5]),
        ("펌프", [0, 0, 1, 1], []),
        ("a 펌프", [0, 2, 2, 3, 3], [0]),
        ("펌프 점검표", [0, 3, 5], [0, 3, 5]),
        ("насос", [0, 1, 2, 3, 4], []),
        ("水泵", [0, 1], [0, 1]),
        ("café au lait", [0, 5, 8], [0, 5, 8]),
    ],
)
def test_tokens_of_a_script_that_is_spelled_out_do_not_bound(text: str, starts: list[int], read: list[int]) -> None:
    assert read_tokens(text, starts) == read


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", []),
        ("A pump runs.", [0, 2, 7, 11]),
        ("misunderstanding", [0, 9]),
        ("f(x) == 12345", [0, 1, 2, 3, 5, 6, 8, 11]),
        ("snake_case", [0, 5, 6]),
        ("펌프는 매일", [0, 2, 5]),
        ("насос", [0]),
        ("水泵房的压力表", [0, 1, 2, 4, 5]),
        ("नमस्ते", [0]),
    ],
)
def test_units_of_length(text: str, starts: list[int]) -> None:
    assert unit_starts(text) == starts


@given(st.text(max_size=300))
def test_units_begin_in_the_text_in_order(text: str) -> None:
    starts = unit_starts(text)
    assert starts == sorted(set(starts))
    assert all(0 <= start < len(text) for start in starts)


MARKDOWN = st.lists(
    st.sampled_from(
        [
            "# One",
            "## Two",
            "### Three",
            sentence(6),
            sentence(30),
            " ".join(sentence(9) for _ in range(9)),
            "- a b c\n- d e f\n  - g h",
            "```py\nx = 1\n\ny = 2\n```",
            "```\n" + "\n".join("p q r" for _ in range(30)) + "\n```",
            "| a | b |\n|---|---|\n| 1 | 2 |",
            "> quoted words here",
            "한국어 문장이다. " * 12,
            "x" * 900,
            "\tindented code\n\tmore",
            "<!-- comment -->",
            "[ref]: http://example.com",
        ]
    ),
    max_size=14,
).map("\n\n".join)


@settings(max_examples=200, deadline=None)
@given(MARKDOWN, st.sampled_from([(10, 12), (20, 30), (50, 50)]))
def test_every_chunk_is_an_exact_stretch_within_its_size(markdown: str, sizes: tuple[int, int]) -> None:
    target, limit = sizes
    parsed = parse(markdown)
    chunks = chunk_document(parsed, words, target, limit)
    lines = parsed.text.split("\n")
    end = 0
    for position, chunk in enumerate(chunks):
        assert chunk.position == position
        assert chunk.text == parsed.shown(chunk.start, chunk.end)
        assert chunk.text.strip()
        assert chunk.start >= end
        end = chunk.end
        assert chunk.token_count <= limit
        assert chunk.start_line is not None
        assert chunk.end_line is not None
        cited = "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
        assert parsed.text[chunk.start : chunk.end] in cited
        assert chunk.text.count("\n") == chunk.end_line - chunk.start_line


@settings(max_examples=100, deadline=None)
@given(MARKDOWN)
def test_no_text_of_a_block_is_lost(markdown: str) -> None:
    parsed = parse(markdown)
    chunks = chunk_document(parsed, words, 20, 30)
    covered = [False] * len(parsed.text)
    for chunk in chunks:
        for i in range(chunk.start, chunk.end):
            covered[i] = True
    for block in parsed.blocks:
        missing = [parsed.text[i] for i in range(block.start, block.end) if not covered[i]]
        assert not "".join(missing).strip()


@pytest.mark.parametrize(
    ("title", "path", "room", "expected"),
    [
        ("Title", ("A", "B"), 100, "Title > A > B\nSome text."),
        ("A", ("A", "B"), 100, "A > B\nSome text."),
        ("Title", ("A", "B"), 5, "B\nSome text."),
        ("Title", ("A", "B"), 3, "Some text."),
        ("Some", (), 100, "Some text."),
        ("Title", ("A", "a whole page of words " * 100), 10_000, "Title > A\nSome text."),
    ],
)
def test_embedding_text(title: str, path: tuple[str, ...], room: int, expected: str) -> None:
    chunk = ChunkDraft(0, 0, 10, "Some text.", path, 3)
    assert embedding_text(title, chunk, words, room, headings=True) == expected
    assert embedding_text(title, chunk, words, room, headings=False) == "Some text."
