"""`kb tags list`: the vocabulary as rows, with how many documents carry each tag."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from kb.runtime import Runtime
from kb.tags.importing import current_vocabulary
from kb.tags.model import model_stamp
from kb.tags.records import TagList, TagView
from kb.tags.retriever import model_state
from kb.tags.vocabulary import DOCUMENTS, Vocabulary
from kb.tags.words import fold, key_of


def list_tags(kb: Runtime, words: tuple[str, ...], most: int | None) -> TagList:
    """The tags whose name or one of whose aliases contains all the words; the most frequent first, then by name."""
    with kb.snapshot():
        vocabulary = current_vocabulary(kb.corpus.tags)
        imported = kb.corpus.tags.imported_vocabulary()
        own = _carried(vocabulary, kb.corpus.tags.document_tag_lists().values())
        applied = _carried(vocabulary, kb.corpus.tags.applied_tags().values())
        state = model_state(kb, model_stamp(kb.home))
    aliases: defaultdict[str, list[str]] = defaultdict(list)
    for alias, tags in vocabulary.aliases.items():
        for tag in tags:
            aliases[tag].append(alias)
    sensitive = vocabulary.sensitive(kb.config.tags.sensitive_threshold)
    wanted = [fold(key_of(word)) for word in words]
    rows = [tag for tag in vocabulary.tags if _holds([tag.tag, *aliases[tag.tag]], wanted)]
    rows.sort(key=lambda tag: (-(tag.count or 0), -own[tag.tag], tag.tag))
    return TagList(
        origin=imported.origin if imported else DOCUMENTS,
        digest=vocabulary.digest,
        total=len(vocabulary.tags),
        aliases=len(vocabulary.aliases),
        items=len(vocabulary.items),
        model=state,
        tags=tuple(
            TagView(
                tag=tag.tag,
                category=tag.category,
                count=tag.count,
                rating=tag.rating,
                sensitive=tag.tag in sensitive,
                aliases=tuple(aliases[tag.tag]),
                documents=own[tag.tag],
                applied=applied[tag.tag],
            )
            for tag in rows[:most]
        ),
    )


def _carried(vocabulary: Vocabulary, tag_lists: Iterable[tuple[str, ...]]) -> Counter[str]:
    """How many of the lists carry each canonical tag, by any of its names."""
    return Counter(tag for tags in tag_lists for tag in {found for name in tags for found in vocabulary.project(name)})


def _holds(names: list[str], wanted: list[str]) -> bool:
    return not wanted or any(all(word in fold(key_of(name)) for word in wanted) for name in names)
