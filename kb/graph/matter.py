"""Front matter fields → the names and relations of the document; one table maps fields to predicates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kb.drafts import EndDraft, MatterField, NameDraft
from kb.graph.links import resolve_path
from kb.graph.names import LONGEST_NAME_CHARS, name_key, path_key
from kb.graph.tokens import Statement

_PREDICATES: dict[str, str] = {
    name: predicate
    for predicate, names in {
        "depends_on": "depends_on depends requires needs dependencies prerequisites builds_on_top_of 의존 의존성 선행",
        "conflicts_with": "conflicts_with conflicts incompatible_with conflicts_by 충돌",
        "extends": "extends based_on inherits inherits_from derived_from 확장 기반",
        "resolves": "resolves fixes closes solves 해결",
        "relates_to_project": "project projects part_of_project 프로젝트",
        "links_to": "related relates_to translated_from see_also see links up parent parents supersedes superseded_by replaces replaced_by next previous 관련 참고",
    }.items()
    for name in names.split()
}
_ALIASES = frozenset("aliases alias aka also_known_as 별칭 별명".split())
_PEOPLE = frozenset(
    "author authors owner owners maintainer maintainers reviewer assignee contact 저자 작성자 담당 담당자".split()
)
_WIKI = re.compile(r"!?\[\[([^\[\]|#\n]{1,200})(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\(([^()\s]{1,300})\)")
_PATH = re.compile(
    r"(?:\.{0,2}/)?[^\s:]+(?: [^\s:]+)*\.(?:md|markdown|mdx|html?|rst|txt|adoc|org|ipynb|py|rs|csv|pdf|docx)"
)
_VERSION = re.compile(r"\s*(?:[<>=~^!]=?.*|@\S+)$")


def matter_names(fields: Sequence[MatterField]) -> Iterator[tuple[NameDraft, int | None]]:
    """Aliases of the document, and the people it names; with their lines."""
    for field in fields:
        kind, form = ("document", "alias") if field.name in _ALIASES else ("entity", "matter")
        if field.name in _ALIASES or field.name in _PEOPLE:
            for value in field.values if len(field.values) > 1 else re.split(r"[,;]", field.values[0]):
                label = _WIKI.sub(r"\1", value).strip()
                key = name_key(label)
                if len(key) >= 2 and len(label) <= LONGEST_NAME_CHARS:
                    yield NameDraft(kind, key, label, form), field.line


def matter_edges(fields: Sequence[MatterField], source: str, path: str) -> Iterator[tuple[Statement, int | None]]:
    """The relations that the document's front matter states, with their lines."""
    for field in fields:
        predicate = _PREDICATES.get(field.name)
        if predicate:
            for value in field.values:
                for end in _ends(value, predicate, source, path):
                    yield Statement(EndDraft("self"), predicate, end), field.line


def _ends(value: str, predicate: str, source: str, path: str) -> Iterator[EndDraft]:
    links = [*_WIKI.finditer(value)]
    if links:
        for match in links:
            yield from _named(match[1].strip().removesuffix(".md"), predicate, source, path)
        return
    if link := _LINK.search(value):
        place = resolve_path(link[2], path)
        if place:
            yield EndDraft("document", f"{source}/{path_key(place)}", place)
        else:
            yield from _named(link[1], predicate, source, path)
        return
    parts = [value] if _PATH.fullmatch(value) else re.split(r"[,;]", value)
    for part in parts:
        yield from _named(_VERSION.sub("", part).strip(), predicate, source, path)


def _named(name: str, predicate: str, source: str, path: str) -> Iterator[EndDraft]:
    if _PATH.fullmatch(name):
        # A plain name is relative to the document's folder, as `./x.md` and `../x.md` are; `guide/x.md` is relative to the root of
        # the source.
        place = resolve_path(name if name.startswith(".") or "/" not in name else f"/{name}", path)
        if place:
            yield EndDraft("document", f"{source}/{path_key(place)}", place)
        return
    key = name_key(name)
    if len(key) < 2 and not name.isdigit():
        return
    if predicate == "resolves" and name.lstrip("#").isdigit():
        name = f"#{name.lstrip('#')}"
        key = name_key(name)
    if key and len(name) <= LONGEST_NAME_CHARS and not key.startswith(("http:", "https:")):
        yield EndDraft("project" if predicate == "relates_to_project" else "entity", key, name)
