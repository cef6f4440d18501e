"""A parsed document → its part of the graph: its own names, the names it mentions, and the relations it states.

Depends on this document alone, not on others or on their order. Whether a recurring word is a name, and which document a
link means, is decided when the graph is queried (kb/context/traverse.py).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from kb.drafts import Block, ChunkDraft, EdgeDraft, EndDraft, GraphDraft, NameDraft, Parsed
from kb.graph.english import read_english
from kb.graph.korean import read_korean
from kb.graph.links import Mark, definition_places, definitions_of, find_marks, resolve_path
from kb.graph.matter import matter_edges, matter_names
from kb.graph.names import (
    NO_CODE_NAMES,
    identifiers,
    is_common,
    korean_names,
    name_key,
    path_key,
    proper_names,
    spaced_key,
)
from kb.language.registry import has_letters

# Strongest first: a name found in several forms keeps the first of these.
_FORMS = ("path", "title", "alias", "stem", "heading", "tag", "project", "matter", "link", "code", "relation", "name")
# A page has some dozens of names; of the thousands in a table of symbols the most frequent are kept.
MOST_NAMES = 400
MOST_EDGES = 400
# A Korean word counts as a noun when the document has it with so many different particles: its letters alone do not tell.
KOREAN_PARTICLES = 2
_SENTENCE = re.compile(
    r"(?<![.!?…。])[.!?…。]++[\"'”’)\]*_]*+\s++(?=[^a-z])|\n(?=[ \t]*+(?:[-*+|>]|\d{1,3}[.)])[ \t])|\n[ \t]*+\n|(?<=:)\n"
)
_CODE_SPAN_NAME = re.compile(r"[A-Za-z_가-힣][\w.:/+#<>@-]{1,59}(?:\(\))?")


def extract_graph(parsed: Parsed, source: str, path: str, title: str, chunks: Sequence[ChunkDraft] = ()) -> GraphDraft:
    """The names and relations of one document.

    path    relative to the source's root; links are resolved against it
    chunks  of the document, in order; they give edges and names their position
    """
    reading = _Reading(parsed, source, path, chunks)
    reading.name_document(title)
    reading.read_matter()
    for block in parsed.blocks:
        reading.read_block(block)
    reading.read_definitions()
    return reading.finish()


class _Reading:
    """The names and relations found so far, each once, at the place of its first occurrence."""

    def __init__(self, parsed: Parsed, source: str, path: str, chunks: Sequence[ChunkDraft]) -> None:
        self.parsed, self.source, self.path = parsed, source, path
        self.definitions = definitions_of(parsed.text) if parsed.has_lines else {}
        self.newlines = [m.start() for m in re.finditer("\n", parsed.text)] if parsed.has_lines else []
        self.chunk_starts = [chunk.start for chunk in chunks]
        self.title_key = ""
        self.names: dict[tuple[str, str], NameDraft] = {}
        self.edges: dict[tuple[EndDraft, str, EndDraft], EdgeDraft] = {}
        self.korean: dict[str, list[tuple[str, str, int]]] = {}

    # ---- the document itself

    def name_document(self, title: str) -> None:
        stem = PurePosixPath(self.path).stem
        self.title_key = name_key(title)  # a heading that repeats the title names nothing new
        self.names["document", f"{self.source}/{path_key(self.path)}"] = NameDraft(
            "document", f"{self.source}/{path_key(self.path)}", self.path, "path"
        )
        self.add("document", title, "title", None)
        if stem.lower() not in ("index", "readme", "mod", "__init__"):
            self.add("document", stem, "stem", None)
            self.add("document", stem, "stem", None, key=spaced_key(stem))
        for tag in self.parsed.tags:
            self.add("tag", tag, "tag", None)

    def read_matter(self) -> None:
        for name, line in matter_names(self.parsed.matter):
            self.keep(NameDraft(name.kind, name.key, name.label, name.form, 1, line))
        for statement, line in matter_edges(self.parsed.matter, self.source, self.path):
            self.state(statement.subject, statement.predicate, statement.object, line, None)

    # ---- its text

    def read_block(self, block: Block) -> None:
        text = self.parsed.text[block.start : block.end]
        if block.kind == "heading":
            if name_key(block.title) != self.title_key:
                self.add("heading", block.title, "heading", block.start)
            text, marks = find_marks(text, self.definitions)
            self.read_marks(marks, block.start)
            return
        if block.kind == "code":
            for offset, word in identifiers(text):
                self.add("entity", word, "code", block.start + offset)
            return
        text, marks = find_marks(text, self.definitions)
        self.read_marks(marks, block.start)
        shift = _Shift(marks, block.start)
        for offset, word in identifiers(text):
            self.add("entity", word, "code", shift.place(offset))
        if block.kind != "table":
            for start, sentence in _sentences(text):
                self.read_sentence(sentence, marks, shift, start)

    def read_marks(self, marks: Sequence[Mark], start: int) -> None:
        for mark in marks:
            if mark.kind == "code":
                label = mark.label.removesuffix("()")
                if _CODE_SPAN_NAME.fullmatch(mark.label) and label.casefold() not in NO_CODE_NAMES:
                    self.add("entity", label, "code", start + mark.start)
            elif (end := self.linked(mark)) and mark.target and not _is_outside(mark):
                self.state(EndDraft("self"), "links_to", end, *self.place(start + mark.start))

    def read_sentence(self, sentence: str, marks: Sequence[Mark], shift: _Shift, start: int) -> None:
        flat = sentence.replace("\n", " ")
        for offset, name in proper_names(flat):
            self.add("entity", name, "name", shift.place(start + offset))
        if has_letters("ko", flat):
            for offset, noun, particle in korean_names(flat):
                self.korean.setdefault(name_key(noun), []).append((noun, particle, shift.place(start + offset)))
            statements = [*read_korean(flat, marks), *read_english(flat, marks)]
        else:
            statements = read_english(flat, marks)
        for said in statements:
            subject, end = self.settle(said.subject, marks), self.settle(said.object, marks)
            if subject and end:
                self.state(subject, said.predicate, end, *self.place(shift.place(start)))

    def read_definitions(self) -> None:
        if not self.parsed.has_lines:
            return
        for offset, label, target in definition_places(self.parsed.text):
            if (end := self.linked(Mark("link", label, target, offset))) and end.kind == "document":
                self.state(EndDraft("self"), "links_to", end, *self.place(offset))

    # ---- ends of relations

    def settle(self, end: EndDraft, marks: Sequence[Mark]) -> EndDraft | None:
        """The end itself, or the target of its link."""
        return self.linked(marks[int(end.key)]) if end.kind == "link" else end

    def linked(self, mark: Mark) -> EndDraft | None:
        """The target of a link: a document of this source, else an entity with its name."""
        return link_end(mark.kind, mark.target or "", mark.label, self.source, self.path)

    def state(self, subject: EndDraft, predicate: str, end: EndDraft, line: int | None, position: int | None) -> None:
        key = (subject, predicate, end)
        if key in self.edges or subject == end:
            return
        self.edges[key] = EdgeDraft(subject, predicate, end, line, position)
        for named in (subject, end):
            if named.kind in ("entity", "project") and named.is_sure:
                form = "project" if named.kind == "project" else "link" if predicate == "links_to" else "relation"
                self.keep(NameDraft(named.kind, named.key, named.label, form, 1, line, position))

    # ---- names and places

    def add(
        self, kind: str, label: str, form: str, offset: int | None, *, key: str | None = None, count: int = 1
    ) -> None:
        key = name_key(label) if key is None else key
        if len(key) < 2 or (kind == "entity" and is_common(key)):
            return
        known = self.names.get((kind, key))
        if known is not None and known.form == form:  # the usual case, without a new place
            line, position = known.line, known.position
        else:
            line, position = self.place(offset)
        self.keep(NameDraft(kind, key, " ".join(label.split())[:200], form, count, line, position))

    def keep(self, name: NameDraft) -> None:
        known = self.names.get((name.kind, name.key))
        if known is None:
            self.names[name.kind, name.key] = name
            return
        best = min(known, name, key=lambda n: _FORMS.index(n.form))
        line, position = (
            (known.line, known.position) if known.line or known.position is not None else (name.line, name.position)
        )
        self.names[name.kind, name.key] = NameDraft(
            best.kind, best.key, best.label, best.form, known.count + name.count, line, position
        )

    def place(self, offset: int | None) -> tuple[int | None, int | None]:
        """(line, position of the chunk) of an offset into the parsed text."""
        if offset is None:
            return None, None
        line = bisect_right(self.newlines, offset - 1) + 1 if self.parsed.has_lines else None
        position = bisect_right(self.chunk_starts, offset) - 1
        return line, position if position >= 0 else None

    def finish(self) -> GraphDraft:
        for key, said in self.korean.items():
            if len({particle for _, particle, _ in said}) >= KOREAN_PARTICLES:
                self.add("entity", said[0][0], "name", said[0][2], key=key, count=len(said))
        names = sorted(self.names.values(), key=lambda n: (_FORMS.index(n.form), -n.count, n.kind, n.key))
        edges = list(self.edges.values())
        edges.sort(key=lambda e: e.predicate == "links_to")  # a stable sort: relations before links
        return GraphDraft(tuple(names[:MOST_NAMES]), tuple(edges[:MOST_EDGES]))


class _Shift:
    """Offsets into a block whose marks are single characters → offsets into the document, exact enough for a line number.

    Offsets behind an image or a dead link are a little off, since these leave their label in the text.
    """

    def __init__(self, marks: Sequence[Mark], start: int) -> None:
        self.start = start
        self.signs: list[int] = []
        self.removed: list[int] = []
        removed = 0
        for mark in marks:
            self.signs.append(mark.start - removed)
            removed += mark.length - 1
            self.removed.append(removed)

    def place(self, offset: int) -> int:
        at = bisect_right(self.signs, offset - 1)
        return self.start + offset + (self.removed[at - 1] if at else 0)


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for match in _SENTENCE.finditer(text):
        yield start, text[start : match.end()].rstrip()
        start = match.end()
    if start < len(text):
        yield start, text[start:]


def _is_outside(mark: Mark) -> bool:
    return mark.kind == "link" and re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#", mark.target or "") is not None


def link_end(kind: str, target: str, label: str, source: str, path: str) -> EndDraft | None:
    """The node that a link of a document at `path` names; None for a link to the document itself or to nothing."""
    if kind == "wiki":
        name = target.partition("#")[0].strip().removesuffix(".md")
        if "/" in name:
            return EndDraft("document", f"{source}/{path_key(name.lstrip('/'))}", name)
        key = name_key(name)
        return EndDraft("entity", key, name) if len(key) >= 2 else None
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|//", target):
        key = name_key(label)
        return EndDraft("entity", key, label) if len(key) >= 2 and len(label.split()) <= 4 else None
    place = resolve_path(target, path)
    return EndDraft("document", f"{source}/{path_key(place)}", place) if place else None
