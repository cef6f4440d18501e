"""The readers, one per format, by name. A new format: one module, one entry here, one fixture."""

from __future__ import annotations

import os

from kb.ingest.readers.code import FILE_NAMES, LAYOUTS, read_code
from kb.ingest.readers.docx import read_docx
from kb.ingest.readers.epub import read_epub
from kb.ingest.readers.html import read_html
from kb.ingest.readers.mail import read_mail
from kb.ingest.readers.markdown import read_markdown
from kb.ingest.readers.notebook import read_notebook
from kb.ingest.readers.pdf import read_pdf
from kb.ingest.readers.pptx import read_pptx
from kb.ingest.readers.reader import Reader, read_file
from kb.ingest.readers.rst import read_rst
from kb.ingest.readers.text import read_text
from kb.ingest.readers.xlsx import read_xlsx

__all__ = ["READERS", "Reader", "read_file", "reader_for"]

_CODE_NAMES = tuple(key if key in FILE_NAMES else f".{key}" for key in LAYOUTS)
_TEXT_NAMES = tuple(
    ".txt .text .log .adoc .asciidoc .tex .org .wiki .csv .tsv .json .jsonl .ndjson .geojson .yaml .yml .toml .xml .ini "
    ".cfg .conf .env .properties .rss .atom .xsd .plist .vtt .srt .po .bib .diff .patch .nfo license notice "
    "authors copying changelog readme todo news contributors maintainers codeowners".split()
)

READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader("markdown", 8, (".md", ".markdown", ".mdx", ".mkd"), "text", read_markdown, has_lines=True),
        Reader("text", 2, _TEXT_NAMES, "text", read_text, has_lines=True),
        Reader("restructuredtext", 2, (".rst", ".rest"), "text", read_rst, has_lines=True),
        Reader("html", 2, (".html", ".htm", ".xhtml"), "text", read_html, has_lines=False),
        Reader("mail", 1, (".eml",), "text", read_mail, has_lines=False),
        Reader("pdf", 1, (".pdf",), "binary", read_pdf, has_lines=False),
        Reader("docx", 1, (".docx", ".docm"), "binary", read_docx, has_lines=False),
        Reader("pptx", 1, (".pptx",), "binary", read_pptx, has_lines=False),
        Reader("xlsx", 1, (".xlsx", ".xlsm"), "binary", read_xlsx, has_lines=False),
        Reader("epub", 2, (".epub",), "binary", read_epub, has_lines=False),
        Reader("notebook", 3, (".ipynb",), "text", read_notebook, has_lines=False),
        Reader("code", 2, _CODE_NAMES, "text", read_code, has_lines=True),
    )
}
_BY_NAME = {name: reader for reader in READERS.values() for name in reader.extensions}


def reader_for(path: str) -> Reader | None:
    """The reader for a path by its name; None where only the content can tell, or there is no reader for it."""
    name = os.path.basename(path).lower()
    return _BY_NAME.get(name) or _BY_NAME.get(os.path.splitext(name)[1])
