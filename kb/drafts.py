"""What a document is before it is stored: parsed text with its blocks, cut into chunks, ready to be saved.

Not in `kb/records.py`, because only ingest and the store need them.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Literal

from kb.frozen import dataclass

BlockKind = Literal["heading", "paragraph", "list", "code", "table", "quote"]


@dataclass(frozen=True, slots=True)
class Block:
    """One structural piece of a parsed text; blocks come in order and do not overlap.

    start, end  character offsets into `Parsed.text`, end exclusive
    level       1..6 for headings, 0 otherwise
    title       a heading's text without its markup; empty for other kinds
    page        1-based page or slide number, None where the format has none
    section     a label of the place when the format has its own (sheet, slide, notebook cell, code symbol)
    path        of code: signatures of the definitions that the block stands in, outermost first
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    title: str = ""
    page: int | None = None
    section: str | None = None
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MatterField:
    """One field of a document's front matter, as texts.

    name    lower case, `-` and blanks as `_`
    values  one per entry of a list; numbers and dates as they print, nested mappings left out
    line    1-based, in the file; None where it could not be told
    """

    name: str
    values: tuple[str, ...]
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """[start, end) of a text and what is shown in its place, with as many line breaks."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file as text with its structure: what every reader returns.

    text       what is chunked and cited, markup included; for formats with lines, the decoded file with newlines as "\\n"
    blocks     in order, non-overlapping; text outside every block is not indexed (front matter, link targets)
    title      the document's own title, None where it has none (the caller falls back to the file name)
    tags       from front matter or document properties
    language   BCP 47 primary tag the document declares, None where it declares none
    has_lines  True when line n of `text` is line n of the file
    note       what was left out or guessed, for the user; None when nothing was
    matter     every field of the front matter, the ones above included
    edits      take markup out of what is indexed and shown, in order, non-overlapping
    """

    text: str
    blocks: tuple[Block, ...]
    title: str | None = None
    tags: tuple[str, ...] = ()
    language: str | None = None
    has_lines: bool = False
    note: str | None = None
    matter: tuple[MatterField, ...] = ()
    edits: tuple[Edit, ...] = ()

    def shown(self, start: int, end: int) -> str:
        """A stretch as a reader of the document sees it; an edit that reaches over its edge is made in full.

        So is one that only puts something in at an edge: the bars of a table that stands first or last.
        """
        pieces: list[str] = []
        at = start
        first = bisect_left(self.edits, start, key=lambda edit: edit.end)
        for number in range(first, len(self.edits)):
            edit = self.edits[number]
            puts_in = edit.start == edit.end
            is_behind = edit.start == end and (not puts_in or self.text[end - 1 : end] == "\n")
            if edit.start > end or is_behind:
                break
            if edit.end == start and not puts_in:
                continue
            pieces += [self.text[at : max(edit.start, at)], edit.text]
            at = edit.end
        return "".join([*pieces, self.text[at:end]])


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """One stretch of a parsed document, not stored yet: `text == parsed.shown(start, end)`.

    position              0-based order within the document
    start, end            character offsets into the parsed text, end exclusive
    start_line, end_line  1-based, inclusive, None where the format has no lines
    heading_path          titles of the headings above, outermost first; of code, signatures of what it stands in
    token_count           length in units of kb.text_units: about one token of English, as much text in every language
    """

    position: int
    start: int
    end: int
    text: str
    heading_path: tuple[str, ...]
    token_count: int
    start_line: int | None = None
    end_line: int | None = None
    page: int | None = None
    section: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentDraft:
    """One document as ingest hands it to the store, without its chunks. Each field but `tags` is a column of `documents`.

    mtime_ns       the file's modification time in nanoseconds since 1970
    file_identity  changes with every change of the file, "" for text that is in no file
    signature      names everything besides the bytes that shaped the chunks: reader, chunker, encoder, settings
    """

    source: str
    path: str
    title: str
    type: str
    language: str
    tags: tuple[str, ...]
    size_bytes: int
    mtime_ns: int
    content_hash: str
    signature: str
    note: str | None = None
    file_identity: str = ""


@dataclass(frozen=True, slots=True)
class NameDraft:
    """One thing that a document is, has or mentions, under one of its names, for the graph.

    kind      document (a name of this document itself), heading, tag, project or entity
    key       what names are compared by (kb/graph/names.py); for form path: where the document lies
    form      how it is named: path, title, alias, stem · heading · tag · project · link, code, matter, relation, name;
              a `name` alone, a word written like a name, is an entity only when it recurs in the corpus
    count     how often, 1 or more
    line      1-based line of the first time, None where the format has no lines
    position  of the chunk of the first time, None outside every chunk
    """

    kind: str
    key: str
    label: str
    form: str
    count: int = 1
    line: int | None = None
    position: int | None = None


@dataclass(frozen=True, slots=True)
class EndDraft:
    """One end of a stated relation.

    kind     self (the document that says it), document (a place), project or entity
    is_sure  False for a bare word: it counts only where the corpus knows a thing of that name
    """

    kind: str
    key: str = ""
    label: str = ""
    is_sure: bool = True


@dataclass(frozen=True, slots=True)
class EdgeDraft:
    """One relation that a document states, with the place where it does; see NameDraft for line and position."""

    subject: EndDraft
    predicate: str
    object: EndDraft
    line: int | None = None
    position: int | None = None


@dataclass(frozen=True, slots=True)
class GraphDraft:
    """What one document contributes to the graph; each name and each relation once."""

    names: tuple[NameDraft, ...] = ()
    edges: tuple[EdgeDraft, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenItem:
    """One open task of a document.

    line  1-based in the source file, None where the format has no lines
    """

    line: int | None
    text: str


@dataclass(frozen=True, slots=True)
class DocumentNotes:
    """A document's gist and open list items, for the context nodes.

    version  of the code that made the notes
    gist     a few of its own sentences, empty for a document without any
    """

    version: int
    gist: str
    open_items: tuple[OpenItem, ...]
