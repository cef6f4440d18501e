"""`kb tags import`: a file → the vocabulary in the store. All of it or nothing: one fault, and nothing is changed."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from kb.errors import InvalidInput, NotIndexed
from kb.store.documents import utc_text
from kb.store.parts import TagDoor
from kb.store.tags import StoredVocabulary
from kb.tags.draft import describe_faults
from kb.tags.formats import FIXES, read_draft
from kb.tags.merge import merge_draft
from kb.tags.records import ImportReport
from kb.tags.vocabulary import Tag, Vocabulary, vocabulary_of_documents

FIX = "correct these places"


def load_vocabulary_file(path: Path, format: str | None) -> tuple[Vocabulary, str, list[str]]:
    """A file's vocabulary, the format it was read as, and notes on what was merged or left out.

    raises  ParseFailed with every fault, InvalidInput for a vocabulary without a tag, NotFound, IoError
    """
    draft, format = read_draft(path, format)
    # How to write the format is a fix only for rows that could not be read, not for what merging finds.
    fix = FIXES.get(format, FIX) if draft.faults else FIX
    vocabulary, notes = merge_draft(draft)
    if draft.faults:
        raise describe_faults(str(path), draft.faults, fix=f"{fix}; nothing was imported")
    if not vocabulary.tags:
        raise InvalidInput(f"'{path}' holds no tag", fix=FIXES.get(format, "name a file that holds a vocabulary"))
    return vocabulary, format, notes


def import_vocabulary(
    tags: TagDoor, vocabulary: Vocabulary, origin: str, format: str, notes: list[str]
) -> ImportReport:
    """Replace the vocabulary in the store by a loaded one."""
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


def current_vocabulary(tags: TagDoor) -> Vocabulary:
    """The imported vocabulary, or that of the documents' own tags when none was imported."""
    imported = tags.imported_vocabulary()
    if imported is None:
        return vocabulary_of_documents(tags.document_tag_lists().values())
    rows = tags.read_vocabulary()
    aliases: defaultdict[str, tuple[str, ...]] = defaultdict(tuple)
    for alias, tag in rows.aliases:
        aliases[alias] += (tag,)
    return Vocabulary(tuple(Tag(*row) for row in rows.tags), dict(aliases), rows.items, imported.digest)


def require_vocabulary(tags: TagDoor) -> Vocabulary:
    """The current vocabulary.

    raises  NotIndexed when it has no tag
    """
    vocabulary = current_vocabulary(tags)
    if not vocabulary.tags:
        raise NotIndexed(
            "there are no tags: no document has any in its front matter, and no vocabulary was imported",
            fix="import one: kb tags import FILE",
        )
    return vocabulary
