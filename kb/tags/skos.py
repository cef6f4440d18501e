"""A SKOS vocabulary, as RDF/XML, Turtle or N-Triples → its rows: concepts are tags, their other labels aliases.

The tag is the English prefLabel, or the one without a language, or the first; the other labels of every language are
aliases. A concept's related, broader and narrower concepts make an item with it. `dct:isReplacedBy` makes a concept an alias.
rdflib reads the file; it is in the extra `skos`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from kb.errors import InvalidInput
from kb.extras import DISTRIBUTION
from kb.tags.draft import Draft, TagRow, unreadable

if TYPE_CHECKING:
    from rdflib import Literal
    from rdflib.term import Node

FIX = "save it as RDF/XML, Turtle or N-Triples with skos:prefLabel on every concept"


def read_skos(text: str, path: str) -> Draft:
    """See the module; the place of a fault is its concept's IRI, or a line when the file cannot be read at all.

    raises  ParseFailed where it cannot be read; InvalidInput without rdflib
    """
    statements = _parse(text, path)
    from rdflib import RDF, SKOS, Literal, URIRef
    from rdflib.namespace import DCTERMS

    draft = Draft()
    labels: dict[str, list[tuple[bool, Literal]]] = {}
    links: dict[str, list[str]] = {}
    concepts: dict[str, None] = {}
    schemes: set[str] = set()
    gone: dict[str, str] = {}
    for subject, predicate, told in statements:
        # A blank node is not a concept.
        if not isinstance(subject, URIRef):
            continue
        concept = str(subject)
        if predicate in (SKOS.prefLabel, SKOS.altLabel, SKOS.hiddenLabel):
            if isinstance(told, Literal) and told.strip():
                labels.setdefault(concept, []).append((predicate == SKOS.prefLabel, told))
        elif predicate in (SKOS.broader, SKOS.narrower, SKOS.related):
            links.setdefault(concept, []).append(str(told))
        elif predicate == DCTERMS.isReplacedBy:
            gone[concept] = str(told)
        elif predicate == SKOS.inScheme:
            schemes.add(str(told))
        elif (predicate, told) == (RDF.type, SKOS.Concept):
            concepts[concept] = None
    if not labels:
        raise unreadable(path, 1, "there is no skos:prefLabel in it", fix=FIX)
    names: dict[str, str] = {}
    for concept, given in labels.items():
        preferred = [label for is_preferred, label in given if is_preferred]
        if not preferred:
            draft.fault(concept, f"'{given[0][1]}' points nowhere: its concept has no skos:prefLabel")
        elif concept in concepts or concept not in schemes:
            chosen = min(preferred, key=lambda t: ((t.language or "").partition("-")[0] != "en", bool(t.language)))
            names[concept] = chosen.strip()
            if concept not in gone:
                aliases = dict.fromkeys(label.strip() for _, label in given if label is not chosen)
                draft.rows.append(TagRow(concept, names[concept], aliases=tuple(aliases)))
    for concept in concepts:
        if concept not in labels:
            draft.fault(concept, f"the concept <{concept}> has no skos:prefLabel")
    for concept, target in gone.items():
        for _, old in labels.get(concept, ()):
            if target in names:
                draft.pointers.append((concept, old.strip(), names[target]))
            else:
                draft.fault(concept, f"the alias '{old}' points nowhere: <{target}> is no concept here")
    for concept, linked in links.items():
        near = [names[other] for other in linked if other in names and other not in gone]
        if concept in names and concept not in gone and near:
            draft.items.append([names[concept], *near])
    return draft


def _parse(text: str, path: str) -> Sequence[tuple[Node, Node, Node]]:
    """The statements in the order of the file, which a graph does not keep."""
    try:
        from rdflib import Graph
        from rdflib.plugins.parsers.notation3 import BadSyntax
    except ImportError as error:
        raise InvalidInput(
            f"'{path}' is SKOS, and rdflib is not installed", fix=f"pip install '{DISTRIBUTION}[skos]'"
        ) from error
    from xml.sax import SAXParseException

    class Statements(Graph):
        def add(self, triple: Any) -> Self:
            statements.append(triple)
            return self

    statements: list[tuple[Node, Node, Node]] = []
    # rdflib warns of invalid IRIs on stderr; here IRIs only tell concepts apart.
    logging.getLogger("rdflib").setLevel(logging.ERROR)
    is_xml = re.match(r"\s*(?:<\?xml|<!--|<!DOCTYPE|<[A-Za-z][\w.-]*(?::[\w.-]+)?\s)", text) is not None
    # The text is decoded already: the encoding that an XML declaration names no longer holds.
    source = re.sub(r"<\?xml[^>]*\?>", "", text, count=1) if is_xml else text
    line, syntax = 1, "RDF/XML" if is_xml else "Turtle"
    try:
        Statements().parse(data=source, format="xml" if is_xml else "turtle", publicID="file:///vocabulary")
    except BadSyntax as error:
        line, what = error.lines + 1, str(getattr(error, "_why", error))
    except SAXParseException as error:
        line, what = error.getLineNumber() or 1, error.getMessage()
    except Exception as error:  # rdflib raises many types for a broken file, an IndexError for one that is cut off
        what = "it is cut off" if isinstance(error, LookupError) else str(error)
    else:
        return statements
    raise unreadable(path, line, f"not valid {syntax}: {what.splitlines()[0]}", fix=FIX)
