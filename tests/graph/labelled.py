"""The labelled sentences of relations.txt, and what the rules read in each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kb.drafts import Block, EndDraft, Parsed
from kb.graph.extract import extract_graph

FILE = Path(__file__).with_name("relations.txt")
Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Labelled:
    """One sentence with the relations a reader would sign."""

    sentence: str
    expected: frozenset[Triple]
    is_trap: bool


def read_labelled() -> list[Labelled]:
    """Every sentence of the file, in order."""
    found = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith(("# ", "## ")):
            continue
        sentence, _, said = line.partition("=>")
        triples = [tuple(part.strip() for part in each.split("|")) for each in said.split(";;") if each.strip()]
        is_trap = "[trap]" in sentence
        found.append(Labelled(sentence.replace("[trap]", "").strip(), frozenset(triples), is_trap))  # type: ignore[arg-type]
    return found


def read_relations(sentence: str) -> frozenset[Triple]:
    """What the rules read in one sentence that stands alone in a document."""
    parsed = Parsed(sentence, (Block("paragraph", 0, len(sentence)),), has_lines=True)
    graph = extract_graph(parsed, "src", "notes/one.md", "one")
    edges = (edge for edge in graph.edges if edge.predicate != "links_to")
    return frozenset((_shown(edge.subject), edge.predicate, _shown(edge.object)) for edge in edges)


def _shown(end: EndDraft) -> str:
    return "self" if end.kind == "self" else ("" if end.is_sure else "?") + end.label
