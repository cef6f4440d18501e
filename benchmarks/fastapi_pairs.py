"""FastAPI's documentation in English and Korean → judged queries: a heading as the query, its page as the answer.

Known-item search: the heading stays in the page it was taken from, so words alone find most pages of the same language.
That makes figures high and comparable between languages, not good. Across languages nothing but meaning, code and
loan words can match. Knows no knowledge base.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import yaml

from kb.eval.collections import Collection
from kb.eval.records import Query
from kb.ingest.readers.markdown import read_markdown
from kb.records import Filters

QUESTIONS = Path(__file__).parent / "korean_questions.yaml"
ENGLISH, KOREAN = "en/docs", "ko/docs"
HANGUL, LATIN = re.compile("[\uac00-\ud7a3]"), re.compile("[A-Za-z]")
# Headings that many pages share ("Recap", "요약") name no page.
MOST_PAGES_PER_HEADING = 1


@dataclass(frozen=True, slots=True)
class PairedSet:
    """One set of judged queries over the pages, and which pages are searched."""

    collection: Collection
    filters: Filters


def load_fastapi_pairs(folder: Path) -> list[PairedSet]:
    """The sets over docs/, whose pages are documents by their paths in it ("ko/docs/tutorial/body.md").

    Only pages that both languages have are asked for; all pages are searched, of both languages unless the set says one.
    Titles and second-level headings within a language, titles across languages: a slice, "kind", tells them apart.
    """
    pages = sorted(folder.rglob("*.md"))
    content = sha256(
        b"\0".join(part for p in pages for part in (_name(folder, p).encode(), p.read_bytes()))
    ).hexdigest()
    in_korean, in_english = (
        {p.relative_to(folder / f).as_posix() for p in pages if p.is_relative_to(folder / f)} for f in (KOREAN, ENGLISH)
    )
    paired = sorted(in_korean & in_english)
    english, korean = ({path: _headings(folder / language / path) for path in paired} for language in (ENGLISH, KOREAN))
    across = tuple(_titles_across(korean, ENGLISH))
    sets = {
        "fastapi-ko": (_queries(korean, KOREAN, "ko"), (f"{KOREAN}/**",)),
        "fastapi-en": (_queries(english, ENGLISH, "en"), (f"{ENGLISH}/**",)),
        "fastapi-ko-en": (across, (f"{ENGLISH}/**",)),
        "fastapi-ko-en-all": (across, ()),
        "fastapi-en-ko": (tuple(_titles_across(english, KOREAN)), (f"{KOREAN}/**",)),
        "fastapi-ko-questions": (_natural_questions(), (f"{KOREAN}/**",)),
    }
    return [
        PairedSet(Collection(name, (), queries, content, content), Filters(paths=paths))
        for name, (queries, paths) in sets.items()
    ]


def _name(folder: Path, page: Path) -> str:
    return page.relative_to(folder).as_posix()


def _headings(page: Path) -> list[tuple[str, str]]:
    """("title" or "section", text) of the first- and second-level headings as the Markdown reader has them, in order."""
    kinds = {1: "title", 2: "section"}
    blocks = read_markdown(page.read_bytes(), page.name).blocks
    return [(kinds[b.level], b.title) for b in blocks if b.kind == "heading" and b.level in kinds]


def _titles_across(pages: dict[str, list[tuple[str, str]]], asked: str) -> Iterator[Query]:
    """Titles, each asking for the page of the same path in the other language; Korean ones without Hangul ask nothing.

    The slice "script" tells titles in Hangul alone from those with Latin letters, which words can match across languages.
    """
    for path, headings in pages.items():
        title = next((text for kind, text in headings if kind == "title"), "")
        if title and (asked == KOREAN or HANGUL.search(title)):
            script = "latin" if not HANGUL.search(title) else "mixed" if LATIN.search(title) else "hangul"
            yield Query(f"title-{path}", title, relevant={f"{asked}/{path}": 1}, slices={"script": script})


def _natural_questions() -> tuple[Query, ...]:
    """korean_questions.yaml: questions in a user's words, with the Korean pages that answer them."""
    questions = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))["questions"]
    return tuple(
        Query(f"question-{number}", text, relevant={f"{KOREAN}/{page}": 1 for page in _as_list(pages)})
        for number, (text, pages) in enumerate(questions.items(), start=1)
    )


def _as_list(pages: str | list[str]) -> list[str]:
    return [pages] if isinstance(pages, str) else pages


def _queries(headings: dict[str, list[tuple[str, str]]], folder: str, language: str) -> tuple[Query, ...]:
    """One query per heading that names one page; a heading that is its page's title as well is asked once."""
    found: dict[str, dict[str, str]] = {}
    for path, of_page in headings.items():
        for kind, text in of_page:
            found.setdefault(text.casefold(), {}).setdefault(path, f"{kind}\0{text}")
    queries = []
    for pages in found.values():
        if len(pages) <= MOST_PAGES_PER_HEADING:
            kind, text = next(iter(pages.values())).split("\0")
            relevant = {f"{folder}/{path}": 1 for path in pages}
            queries.append(
                Query(f"{language}-{len(queries)}", text, relevant=relevant, slices={"lang": language, "kind": kind})
            )
    return tuple(queries)
