"""A quote is a section, also where the search has found only a later part of it."""

from __future__ import annotations

from pathlib import Path

from kb.ask.passages import Passage, with_sections
from kb.config import Config
from kb.records import Document
from kb.runtime import open_runtime
from tests.journey.conftest import Call

OPENING = "The lamp keeps what it has read in a cache, which grows by a megabyte a day and is emptied with one command:"
# Longer than what fits in a chunk beside the rest, and shorter than what is quoted.
KEPT = (
    "It keeps a file for each lighthouse that it has heard from, another for each ship that has called it by radio, and a third "
    "one for the tides.",
    "The tides are read again at noon and at midnight, whatever the weather may be, since they change with the moon and with the "
    "wind, and no ship waits for them.",
    "A file of a ship is left alone for a year, as the harbour office asks for it, and after that a clerk comes by and carries it "
    "to the archive on the hill.",
    "What the archive keeps is bound in grey linen, and whoever wants to read it rings at the gate on a Tuesday and brings a pair "
    "of white gloves with him.",
    "Lighthouses are asked for their files in spring, when the light is long, and those that do not answer are visited by the "
    "inspector of the coast in the summer.",
    "The inspector writes with a pencil, because ink freezes on the rocks, and reads out in the evening what he has seen, so that "
    "the keepers may sign it before he rows home.",
)
ANSWER = "If the purge of an entry cannot be confirmed, the purge is tried again after ten seconds, and then given up."
PAGE = "\n\n".join(
    [
        "# Lamp manual",
        "## Installing",
        "Put the lamp on its foot and turn it until it clicks.",
        "## Emptying the cache",
        OPENING,
        "```console\n$ lamp cache empty\n```",
        *KEPT[:-1],
        ANSWER,
        KEPT[-1],
        "## Removing",
        "Lift the lamp from its foot.\n",
    ]
)


def test_a_quote_begins_with_its_section_though_a_later_part_was_found(kb: Call, tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "manual"
    folder.mkdir()
    (folder / "lamp.md").write_text(PAGE)
    kb("ingest", folder, home=home)
    question = "What happens if the purge of an entry cannot be confirmed?"
    hit = kb("search", question, "-k", "1", "--json", home=home).json()["hits"][0]
    opening = PAGE.split("\n").index(OPENING) + 1
    assert hit["citation"]["start_line"] > opening

    answer = kb("ask", question, "-k", "1", "--json", home=home).json()
    assert OPENING in answer["answer"]
    assert "lamp cache empty" in answer["answer"]
    assert "tried again after ten seconds" in answer["answer"]
    assert "Lift the lamp" not in answer["answer"]
    assert answer["retrieval"]["chunks_used"] == 1
    (cited,) = answer["citations"]
    assert cited["citation"]["start_line"] == opening
    assert PAGE.split("\n")[cited["citation"]["end_line"] - 1] == KEPT[-1]


def test_what_was_replaced_since_it_was_found_stands_alone(kb: Call, tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "manual"
    folder.mkdir()
    (folder / "lamp.md").write_text(PAGE)
    kb("ingest", folder, home=home)
    with open_runtime(home, Config()) as opened:
        (document,) = opened.corpus.list_documents()
        chunk = opened.corpus.fetch_chunks(document.chunk_ids)[document.chunk_ids[0]]
    kb("rm", "lamp.md", "--yes", home=home)
    passage = Passage(chunk, 1.0, (chunk.chunk_id,))
    with open_runtime(home, Config()) as opened:
        assert with_sections(opened, [passage]) == [passage]


def test_passages_whose_sections_meet_are_one_where_the_better_stood(kb: Call, tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "manual"
    folder.mkdir()
    long = "\n\n".join(f"{number}. {line}" for number in range(6) for line in KEPT)
    (folder / "lamp.md").write_text(f"# Lamp\n\n{long}\n")
    (folder / "other.md").write_text("# Other\n\nNothing of it.\n")
    kb("ingest", folder, home=home)
    with open_runtime(home, Config()) as opened:
        lamp, other = opened.corpus.list_documents()
        chunks = opened.corpus.fetch_chunks([*lamp.chunk_ids, *other.chunk_ids])

        def passage(document: Document, at: int) -> Passage:
            chunk_id = document.chunk_ids[at]
            return Passage(chunks[chunk_id], 1.0, (chunk_id,))

        assert len(lamp.chunk_ids) > 4
        first, last = passage(lamp, 0), passage(lamp, len(lamp.chunk_ids) - 1)
        middle = passage(lamp, len(lamp.chunk_ids) // 2)
        found = with_sections(opened, [first, passage(other, 0), last, middle])
    assert [each.chunk.doc_id for each in found] == [lamp.doc_id, other.doc_id]
    assert found[0].members == lamp.chunk_ids
    assert found[0].chunk.chunk_id == lamp.chunk_ids[0]


def test_what_dropped_text_parts_from_all_that_was_found_stays_out(kb: Call, tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "manual"
    folder.mkdir()
    comment = f"<!-- {'not for readers, ' * 200} -->"  # longer than a chunk, so that one ends there
    (folder / "lamp.md").write_text("\n\n".join(["# Lamp", *KEPT, comment, *KEPT]))
    kb("ingest", folder, home=home)
    with open_runtime(home, Config()) as opened:
        (document,) = opened.corpus.list_documents()
        chunks = opened.corpus.fetch_chunks(document.chunk_ids)
        first, last = chunks[document.chunk_ids[0]], chunks[document.chunk_ids[-1]]
        assert first.heading_path == last.heading_path
        found = with_sections(opened, [Passage(first, 1.0, (first.chunk_id,))])
        everything = with_sections(opened, [Passage(each, 1.0, (each.chunk_id,)) for each in (first, last)])
    assert len(found) == 1
    assert len(everything) == 2
