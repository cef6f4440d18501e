"""Every citation of every format leads to the text it stands for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kb.ask.cite import narrow_citation
from kb.config import Config
from kb.records import Chunk
from kb.runtime import open_runtime
from kb.support.overlap import Window, units_of
from tests.journey.conftest import ROOT, Call

# Their headings and tables are marked as Markdown's are.
LAID_OUT = {"restructuredtext", "text"}
WITH_LINES = {"markdown", "text", "restructuredtext", "code"}


def chunks_with_files(home: Path) -> list[tuple[str, Path, Chunk]]:
    """Every chunk as (document type, file, chunk)."""
    with open_runtime(home, Config()) as kb:
        roots = kb.corpus.source_roots()
        found = []
        for document in kb.corpus.list_documents():
            file = Path(roots[document.source] or "") / document.path
            chunks = kb.corpus.fetch_chunks(document.chunk_ids)
            assert chunks, document.path
            found += [(document.type, file, chunk) for chunk in chunks.values()]
        return found


def _words(text: str) -> str:
    """Text without tags, which are not indexed, and with single blanks; the title of a box of MkDocs leads to what it says."""
    said = re.sub(r'^!!! \w+ "([^"]*)"$', r"\1:", text, flags=re.M)
    return " ".join(re.sub(r"</?[a-z][^<>]*>", " ", said).split())


def is_in_lines(kind: str, text: str, lines: list[str]) -> bool:
    """Whether lines of a file hold a text: word for word, or, where markup was taken out, all of its words in their order."""
    if kind not in LAID_OUT:
        return _words(text) in _words("\n".join(lines))
    there = iter(re.findall(r"\w+", "\n".join(lines)))
    return all(word in there for word in re.findall(r"\w+", re.sub(r"```\w+", "", text)))


def check_citations(home: Path) -> set[str]:
    """Returns the types that were met."""
    types = set()
    for kind, file, chunk in chunks_with_files(home):
        types.add(kind)
        cited = chunk.citation
        if kind in WITH_LINES:
            assert cited.start_line is not None, file
            assert cited.end_line is not None, file
            lines = file.read_text(encoding="utf-8-sig").split("\n")
            assert 1 <= cited.start_line <= cited.end_line <= len(lines), cited.uri
            assert is_in_lines(kind, chunk.text, lines[cited.start_line - 1 : cited.end_line]), cited.uri
            check_narrowed(kind, chunk, lines)
            assert cited.uri.rpartition("#")[2] in (
                f"L{cited.start_line}",
                f"L{cited.start_line}-L{cited.end_line}",
            )
        else:
            assert (cited.start_line, cited.end_line) == (None, None)
            assert cited.page is not None or cited.section, f"{file}: chunk {chunk.position} has no place"
            assert cited.page is None or cited.uri.endswith(f"#page={cited.page}")
    return types


def check_narrowed(kind: str, chunk: Chunk, lines: list[str]) -> None:
    """Each sentence of a chunk, cited alone, is quoted from exactly the lines it stands in; a box's title, from the line above it."""
    for unit in units_of(chunk.text):
        narrowed = narrow_citation(1, chunk, [Window(unit.start, unit.end, 1.0)])
        start, end = narrowed.citation.start_line, narrowed.citation.end_line
        assert start is not None
        assert end is not None
        assert narrowed.quote == chunk.text[unit.start : unit.end]
        first = start - 2 if lines[start - 2].startswith("!!!") else start - 1
        assert is_in_lines(kind, narrowed.quote or "", lines[first:end]), narrowed.citation.uri


def test_every_citation_of_the_corpus(corpus_home: Path) -> None:
    assert check_citations(corpus_home) >= WITH_LINES | {"html", "notebook"}


@pytest.fixture
def formats_home(kb: Call, tmp_path: Path) -> Path:
    home = tmp_path / "formats"
    assert kb("ingest", ROOT / "fixtures" / "formats", "--words-only", home=home).code == 0
    return home


def test_every_citation_of_every_format(kb: Call, formats_home: Path) -> None:
    assert check_citations(formats_home) >= WITH_LINES | {"html", "notebook", "pdf", "docx", "pptx", "xlsx", "epub"}
    for document in kb("list", "--json", home=formats_home).json()["documents"]:
        shown = kb("show", f"doc:{document['doc_id']}", home=formats_home)
        assert (shown.code, bool(shown.out.strip())) == (0, True)


def test_shown_lines_are_the_lines_of_the_file(kb: Call, corpus_home: Path) -> None:
    """A document put together from its chunks has each line where the file has it."""
    for kind, file, chunk in chunks_with_files(corpus_home):
        if kind not in WITH_LINES or chunk.position > 2:
            continue
        cited = chunk.citation
        wanted = f"{cited.start_line}-{cited.end_line}"
        shown = kb("show", f"doc:{chunk.doc_id}", "--lines", wanted, "--json", home=corpus_home).json()
        lines = file.read_text(encoding="utf-8-sig").split("\n")[(cited.start_line or 1) - 1 : cited.end_line]
        told = shown["text"].split("\n")
        assert len(told) == len(lines), cited.uri
        if kind in LAID_OUT:
            assert all(is_in_lines(kind, said, [line]) for said, line in zip(told, lines, strict=True)), cited.uri
        else:
            assert told == lines, cited.uri
        assert shown["start_line"] == cited.start_line
