"""The places that an answer rests on → numbered lines: the citation, and whose it is."""

from __future__ import annotations

from collections.abc import Mapping

from kb.ask.records import Answer, AnswerCitation
from kb.cli.terminal import harmless_line, linked, say, styled
from kb.cli.wrap import columns_of, reading_columns
from kb.store.last_shown import ShownPlace


def print_source(cited: AnswerCitation, roots: Mapping[str, str | None]) -> None:
    """One cited place: its number, the citation, the document's title and section, on one line where that fits.

    roots  the folder of each source, for links
    """
    label = f"[#{cited.marker}]"
    uri = harmless_line(cited.citation.uri)
    names = [cited.title or "", *(cited.citation.section or "").split(" > ")]
    title = harmless_line(" › ".join(dict.fromkeys(name for name in names if name)))
    place = linked(styled(uri, "cyan"), roots.get(cited.source or ""), cited.citation)
    columns = reading_columns()
    line = f"{styled(label, 'bold')} {place}"
    if not title:
        say(line)
    elif not columns or columns_of(f"{label} {uri}  {title}") <= columns:
        say(f"{line}  {styled(title, 'dim')}")
    else:
        say(line)
        indent = " " * (len(label) + 1)
        while columns_of(indent + title) > columns:
            title = title[:-2].rstrip() + "…"
        say(f"{indent}{styled(title, 'dim')}")


def shown_places(answer: Answer) -> list[ShownPlace]:
    """The places as `kb open 2` finds them: by marker, or of a refusal in the order they are listed."""
    cited = [c for c in answer.citations if c.marker is not None] or list(answer.citations)
    return [
        ShownPlace(c.marker if c.marker is not None else at, c.source, c.citation.uri)
        for at, c in enumerate(cited, start=1)
    ]
