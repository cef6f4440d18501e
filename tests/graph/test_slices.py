"""Admissibility: a slice's token holds for its very rows and corpus, and comes from one place."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path as FilePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.graph.adjacent import adjacent_terms
from kb.graph.records import HIGH_SIGNAL_PREDICATES, PREDICATES, Edge, Node, Path, Slice
from kb.graph.render import render_edges, score_edges
from kb.graph.slices import corpus_stamp, is_admissible, issue_token, slice_rows
from kb.graph.walk import walk
from tests.unit.test_house import modules

nodes = st.builds(Node, st.sampled_from(["entity", "document", "tag"]), st.text(max_size=6), st.text(max_size=6))
edges = st.builds(
    Edge, nodes, st.sampled_from(PREDICATES), nodes, st.integers(1, 9), st.text(max_size=3), st.text(max_size=3),
    st.none() | st.integers(1, 9), st.none() | st.integers(0, 9),
)  # fmt: skip
some_edges = st.lists(edges, min_size=1, max_size=3)
paths = st.builds(
    lambda es, score: Path((es[0].subject, *(e.object for e in es)), tuple(es), render_edges(es), score),
    some_edges,
    st.sampled_from([0.45, 0.5, 0.6]),
)


def sliced(entities: list[Node], found: list[Path], revision: int, corpus: str) -> Slice:
    """A slice as a traversal makes it."""
    token = issue_token(slice_rows("q", None, entities, found), corpus_stamp(revision, corpus))
    return Slice(
        query="q",
        project=None,
        entities=tuple(entities),
        paths=tuple(found),
        admissibility_token=token,
        corpus_revision=revision,
        corpus=corpus,
    )


slices = st.builds(
    sliced, st.lists(nodes, max_size=3), st.lists(paths, max_size=4), st.integers(0, 99), st.text(max_size=4)
)


@given(slices)
def test_what_was_issued_verifies_in_any_order(found: Slice) -> None:
    assert is_admissible(found)
    assert is_admissible(dataclasses.replace(found, paths=found.paths[::-1]))


@given(slices, paths)
def test_a_path_more_or_less_does_not_verify(found: Slice, more: Path) -> None:
    assert not is_admissible(dataclasses.replace(found, paths=(*found.paths, more)))
    if found.paths:
        assert not is_admissible(dataclasses.replace(found, paths=found.paths[1:]))
        assert not is_admissible(dataclasses.replace(found, paths=()))


@given(slices, st.sampled_from(["text", "score", "node", "line", "doc_id", "label"]))
def test_a_changed_path_does_not_verify(found: Slice, what: str) -> None:
    if not found.paths:
        return
    first, *rest = found.paths
    edge, *others = first.edges
    renamed = dataclasses.replace(edge.subject, label=edge.subject.label + "x")
    changed = {
        "text": dataclasses.replace(first, text=first.text + "x"),
        "score": dataclasses.replace(first, base_score=first.base_score + 0.1),
        "node": dataclasses.replace(first, nodes=first.nodes[1:]),
        "line": dataclasses.replace(first, edges=(dataclasses.replace(edge, line=(edge.line or 0) + 1), *others)),
        "doc_id": dataclasses.replace(first, edges=(dataclasses.replace(edge, doc_id=edge.doc_id + 1), *others)),
        "label": dataclasses.replace(first, edges=(dataclasses.replace(edge, subject=renamed), *others)),
    }[what]
    assert not is_admissible(dataclasses.replace(found, paths=(changed, *rest)))


@given(slices, slices)
def test_another_corpus_query_or_token_does_not_verify(found: Slice, other: Slice) -> None:
    assert not is_admissible(dataclasses.replace(found, corpus_revision=found.corpus_revision + 1))
    assert not is_admissible(dataclasses.replace(found, corpus=found.corpus + "x"))
    assert not is_admissible(dataclasses.replace(found, query="q2"))
    assert not is_admissible(dataclasses.replace(found, project="p"))
    assert not is_admissible(dataclasses.replace(found, admissibility_token=""))
    if found.admissibility_token != other.admissibility_token:
        assert not is_admissible(dataclasses.replace(found, admissibility_token=other.admissibility_token))


def test_a_slice_cannot_be_changed_in_place() -> None:
    found = sliced([], [], 1, "c")
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.admissibility_token = "x"  # type: ignore[misc]


def test_tokens_are_issued_by_the_traversal_alone() -> None:
    """Governance: whoever ranks, expands or packs has no business with the token but to pass it on."""
    users: dict[str, list[str]] = {"issue_token": [], "Slice": [], "admissibility_token": []}
    for name, path in modules().items():
        for node in ast.walk(ast.parse(FilePath(path).read_text())):
            if isinstance(node, ast.Call):
                called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
                if called in ("issue_token", "Slice"):
                    users[called].append(name)
                is_slice = not name.startswith("kb.ingest.")  # an ingest's paths are files
                if (
                    called == "replace"
                    and is_slice
                    and any(k.arg in ("admissibility_token", "paths") for k in node.keywords)
                ):
                    users["admissibility_token"].append(name)
    assert users == {
        "issue_token": ["kb.context.traverse"],
        "Slice": ["kb.context.traverse"],
        "admissibility_token": [],
    }


# ---- scores, texts, walks


def entity(name: str) -> Node:
    return Node("entity", name.lower(), name)


def edge(subject: str, predicate: str, end: str, path: str = "x.md", line: int | None = 1) -> Edge:
    return Edge(entity(subject), predicate, entity(end), 1, "s", path, line, 0)


@pytest.mark.parametrize(
    ("predicates", "score"),
    [
        (["mentions"], 0.5),
        (["depends_on"], 0.6),
        (["depends_on", "extends"], 0.7),
        (["links_to", "tagged", "mentions"], 0.45),
        (["depends_on", "extends", "resolves"], 0.75),
        (["mentions", "conflicts_with", "relates_to_project"], 0.65),
    ],
)
def test_base_scores(predicates: list[str], score: float) -> None:
    assert score_edges([edge("A", p, "B") for p in predicates]) == pytest.approx(score)


def test_canonical_text() -> None:
    steps = [edge("A", "depends_on", "B"), edge("B", "extends", "C"), edge("D", "links_to", "C", "y.md", None)]
    assert render_edges(steps) == "A depends on B; B extends C (x.md:1); D links to C (y.md)"


def graph_expand(all_edges: list[Edge]):
    def expand(node: Node, relations_only: bool) -> list[Edge]:
        return [
            e
            for e in all_edges
            if node in (e.subject, e.object) and (not relations_only or e.predicate in HIGH_SIGNAL_PREDICATES)
        ]

    return expand


def test_walks_follow_relations_both_ways_and_leave_out_parts() -> None:
    steps = [edge("A", "depends_on", "B"), edge("C", "extends", "B"), edge("C", "mentions", "D")]
    found = walk([entity("A")], graph_expand(steps), 10)
    assert [p.text for p in found] == ["A depends on B; C extends B (x.md:1)"]
    assert [n.key for n in found[0].nodes] == ["a", "b", "c"]
    both = walk([entity("A"), entity("D")], graph_expand(steps), 10)
    assert [p.text for p in both] == [
        "A depends on B; C extends B (x.md:1)",
        "C mentions D (x.md:1)",
    ], "what joins both is told already, but for the mention"
    assert walk([], graph_expand(steps), 10) == []


def test_members_of_one_project_are_no_step_from_each_other() -> None:
    project = Node("project", "p", "P")
    members = [Edge(entity(name), "relates_to_project", project, 1, "s", "x.md", 1, 0) for name in "ABC"]
    assert len(walk([entity("A")], graph_expand(members), 10)) == 1
    assert len(walk([project], graph_expand(members), 10)) == 3
    assert len(walk([entity("A"), entity("B")], graph_expand(members), 10)[0].edges) == 2, "asked for both"


def test_a_relation_is_told_once_wherever_it_is_said() -> None:
    twice = [edge("A", "depends_on", "B", "x.md"), edge("A", "depends_on", "B", "y.md")]
    assert [p.text for p in walk([entity("A")], graph_expand(twice), 10)] == ["A depends on B (x.md:1)"]


def test_walks_are_bounded_and_the_same_every_time() -> None:
    hub = [edge("Hub", "depends_on", f"N{i}") for i in range(300)]
    hub += [edge(f"N{i}", "extends", f"N{(i * 7) % 300}") for i in range(300)]
    found = walk([entity("Hub")], graph_expand(hub), 12)
    assert len(found) == 12
    assert found == walk([entity("Hub")], graph_expand(hub), 12)
    assert all(1 <= len(p.edges) <= 3 for p in found)


@given(st.lists(edges, max_size=30), st.lists(nodes, max_size=3))
def test_walks_hold_together(all_edges: list[Edge], starts: list[Node]) -> None:
    for path in walk(starts, graph_expand(all_edges), 8):
        assert path.nodes[0] in starts
        assert len(path.nodes) == len(path.edges) + 1 <= 4
        assert len(set(path.nodes)) == len(path.nodes)
        for step, before, after in zip(path.edges, path.nodes, path.nodes[1:], strict=False):
            assert {before, after} <= {step.subject, step.object}
        assert path.base_score == score_edges(path.edges)


def test_adjacent_terms_put_relations_first_and_leave_out_the_query() -> None:
    steps = [edge("q", "mentions", "Zed"), edge("q", "depends_on", "Tulip"), edge("Tulip", "extends", "Rose")]
    found = sliced([entity("q")], walk([entity("q")], graph_expand(steps), 10), 1, "c")
    terms = adjacent_terms(found)
    assert [t.text for t in terms] == ["Tulip", "Rose", "Zed"]
    assert [t.predicate for t in terms] == ["depends_on", "extends", "mentions"]
    assert all(0 < t.weight <= 1 for t in terms)
    assert terms == adjacent_terms(dataclasses.replace(found, paths=found.paths[::-1]))
