"""`kb tags import`: a file → the vocabulary in the store. All of it or nothing: one fault, and nothing is changed."""

from __future__ import annotations

from pathlib import Path

from kb.errors import InvalidInput
from kb.store.corpus import TagRows
from kb.store.documents import utc_text
from kb.store.tags import (
    StoredVocabulary,
)
from kb.tags.adopt import adopt
from kb.tags.faults import raise_faults
from kb.tags.formats import FIXES, read_draft
from kb.tags.records import ImportReport
from kb.tags.vocabulary import Tag, Vocabulary, vocabulary_of_documents

FIX = "correct these places; nothing was imported"


def load_vocabulary_file(path: Path, format: str | None) -> tuple[Vocabulary, str, list[str]]:
    """A file's vocabulary, the format it was read as, and notes on what was merged or left out.

    raises  ParseFailed with every fault, InvalidInput for a vocabulary without a tag, NotFound, IoError
    """
    draft, format = read_draft(path, format)
    fix = f"{FIXES[format]}; nothing was imported" if draft.faults and format in FIXES else FIX
    vocabulary, notes = adopt(draft)
    raise_faults(str(path), draft.faults, fix=fix)
    if not vocabulary.tags:
        raise InvalidInput(f"'{path}' holds no tag", fix=FIXES.get(format, "name a file that holds a vocabulary"))
    return vocabulary, format, notes


def import_vocabulary(
    tags: TagRows, vocabulary: Vocabulary, origin: str, format: str, notes: list[str]
) -> ImportReport:
    """Put a loaded vocabulary in the place of the one in the store."""
    before = tags.imported_vocabulary()
    rows = StoredVocabulary(
        tuple((t.tag, t.category, t.count, t.rating) for t in vocabulary.tags),
        tuple((alias, tag) for alias, tags in vocabulary.aliases.items() for tag in tags),
        vocabulary.items,
    )
    tags.save_vocabulary(rows, vocabulary.digest, origin, utc_text())
    return ImportReport(
        origin=origin,
        format=format,
        tags=len(vocabulary.tags),
        aliases=len(vocabulary.aliases),
        ambiguous_aliases=sum(1 for tags in vocabulary.aliases.values() if len(tags) > 1),
        items=len(vocabulary.items),
        rated=sum(1 for tag in vocabulary.tags if tag.rating is not None),
        digest=vocabulary.digest,
        changed=before is None or before.digest != vocabulary.digest,
        notes=tuple(notes),
    )


def current_vocabulary(tags: TagRows) -> Vocabulary:
    """The imported vocabulary, or that of the documents' own tags when none was imported."""
    imported = tags.imported_vocabulary()
    if imported is None:
        return vocabulary_of_documents(tags.document_tag_lists().values())
    rows = tags.read_vocabulary()
    aliases: dict[str, list[str]] = {}
    for alias, tag in rows.aliases:
        aliases.setdefault(alias, []).append(tag)
    pointing = {alias: tuple(tags) for alias, tags in aliases.items()}
    return Vocabulary(tuple(Tag(*row) for row in rows.tags), pointing, rows.items, imported.digest)
