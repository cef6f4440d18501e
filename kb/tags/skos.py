"""A SKOS vocabulary, as RDF/XML, Turtle or N-Triples → its rows: concepts are tags, their other labels aliases.

The tag is the English prefLabel, or the one without a language, or the first; the other labels of every language are
aliases. A concept's related, broader and narrower concepts make an item with it. `dct:isReplacedBy` makes a concept an alias.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from kb.tags.faults import Draft, Fault, TagRow, raise_faults

SKOS = "http://www.w3.org/2004/02/skos/core#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XML = "http://www.w3.org/XML/1998/namespace"
LABELS = tuple(SKOS + name for name in ("prefLabel", "altLabel", "hiddenLabel"))
NEIGHBOURS = tuple(SKOS + name for name in ("broader", "narrower", "related"))
REPLACED_BY = ("http://purl.org/dc/terms/isReplacedBy",)
FIX = "save it as RDF/XML, Turtle or N-Triples with skos:prefLabel on every concept"


class Triple(NamedTuple):
    """One statement. literal is True where the object is a text; language "" where it has none."""

    line: int
    subject: str
    predicate: str
    object: str
    literal: bool = False
    language: str = ""


def read_skos(text: str, path: str) -> Draft:
    """See the module. raises  ParseFailed where the file cannot be read at all"""
    triples = _read_xml(text, path) if _is_xml(text) else _read_turtle(text, path)
    return _draft_of(list(triples), path)


def _is_xml(text: str) -> bool:
    """True for a text that begins as XML; an N-Triples line begins with an IRI, and no white space in it."""
    return re.match(r"\s*(?:<\?xml|<!--|<!DOCTYPE|<[A-Za-z][\w.-]*(?::[\w.-]+)?\s)", text) is not None


def _draft_of(triples: list[Triple], path: str) -> Draft:
    draft = Draft()
    labels: dict[str, list[Triple]] = {}
    links: dict[str, list[str]] = {}
    replaced: list[Triple] = []
    concepts: dict[str, int] = {}
    for triple in triples:
        if triple.predicate in LABELS and triple.literal:
            labels.setdefault(triple.subject, []).append(triple)
        elif triple.predicate in NEIGHBOURS:
            links.setdefault(triple.subject, []).append(triple.object)
        elif triple.predicate in REPLACED_BY:
            replaced.append(triple)
        elif triple.predicate == RDF + "type" and triple.object == SKOS + "Concept":
            concepts.setdefault(triple.subject, triple.line)
    if not labels:
        raise_faults(path, [Fault("1", "there is no skos:prefLabel in it")], fix=FIX)
    names: dict[str, str] = {}
    gone = {triple.subject for triple in replaced}
    schemes = {t.object for t in triples if t.predicate == SKOS + "inScheme"}
    for subject, given in labels.items():
        preferred = [t for t in given if t.predicate == LABELS[0] and t.object.strip()]
        if not preferred:
            draft.fault(str(given[0].line), f"'{given[0].object}' points nowhere: its concept has no skos:prefLabel")
            continue
        if subject in schemes and subject not in concepts:
            continue
        chosen = min(preferred, key=lambda t: (t.language.partition("-")[0] != "en", bool(t.language), t.line))
        names[subject] = chosen.object.strip()
        aliases = tuple(dict.fromkeys(t.object.strip() for t in given if t is not chosen and t.object.strip()))
        if subject not in gone:
            draft.rows.append(TagRow(str(chosen.line), names[subject], aliases=aliases))
    for subject, line in concepts.items():
        if subject not in labels:
            draft.fault(str(line), f"the concept <{subject}> has no skos:prefLabel")
    for triple in replaced:
        target = names.get(triple.object)
        for old in (t.object for t in labels.get(triple.subject, ())):
            if target is None:
                draft.fault(str(triple.line), f"the alias '{old}' points nowhere: <{triple.object}> is no concept here")
            else:
                draft.pointers.append((str(triple.line), old.strip(), target))
    for subject, linked in links.items():
        near = [names[other] for other in linked if other in names and other not in gone]
        if subject in names and subject not in gone and near:
            draft.items.append([names[subject], *near])
    return draft


def _line_of(line: object) -> int:
    return line if isinstance(line, int) else 1


def _read_xml(text: str, path: str) -> Iterator[Triple]:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    try:
        # The text is decoded already: what the declaration says of its encoding no longer holds.
        root = etree.fromstring(re.sub(r"<\?xml[^>]*\?>", "", text, count=1).encode(), parser)
    except etree.XMLSyntaxError as error:
        line = error.lineno or 1
        raise_faults(path, [Fault(str(line), f"not valid XML: {error.msg}")], fix=FIX)
    for node in root.iter(etree.Element):
        subject = node.get(f"{{{RDF}}}about") or node.get(f"{{{RDF}}}ID")
        if not subject:
            continue
        kind = etree.QName(node)
        line = _line_of(node.sourceline)
        yield Triple(line, subject, RDF + "type", f"{kind.namespace}{kind.localname}")
        for part in node.iterchildren(etree.Element):
            name = etree.QName(part)
            predicate, line = f"{name.namespace}{name.localname}", _line_of(part.sourceline)
            inner = next(iter(part.iterchildren(etree.Element)), None)
            target = part.get(f"{{{RDF}}}resource") or (None if inner is None else inner.get(f"{{{RDF}}}about"))
            if target:
                yield Triple(line, subject, predicate, target)
            elif inner is None:
                language = part.get(f"{{{XML}}}lang") or ""
                yield Triple(
                    line, subject, predicate, "".join(str(piece) for piece in part.itertext()), True, language.lower()
                )


_TURTLE = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
    | (?P<text>\"\"\"(?:[^"\\]|\\.|"(?!""))*\"\"\"|'''(?:[^'\\]|\\.|'(?!''))*'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<iri><[^<>\s]*>)
    | (?P<tag>@[A-Za-z][\w-]*)
    | (?P<type>\^\^)
    | (?P<mark>[.;,\[\]()](?![\w]))
    | (?P<word>[^\s<>"'\[\](),;]+?(?=[\s<>"'\[\](),;]|\.(?:\s|$)|$)|[\[\](),;.])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)


class _Token(NamedTuple):
    kind: str
    value: str
    line: int


def _tokens(text: str, path: str) -> Iterator[_Token]:
    at, line = 0, 1
    while at < len(text):
        match = _TURTLE.match(text, at)
        if match is None:
            what = "a quote is broken" if text[at] in "\"'" else f"unexpected {text[at]!r}"
            raise_faults(path, [Fault(str(line), what)], fix=FIX)
            return
        if match.lastgroup != "space":
            yield _Token(str(match.lastgroup), match.group(), line)
        line += match.group().count("\n")
        at = match.end()


def _unescape(literal: str) -> str:
    size = 3 if literal[:3] in ('"""', "'''") else 1
    plain = {"n": "\n", "t": "\t", "r": "\r"}

    def letter(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        return chr(min(int(code, 16), 0x10FFFF)) if code else plain.get(match[3], match[3])

    return _ESCAPE.sub(letter, literal[size:-size])


def _read_turtle(text: str, path: str) -> Iterator[Triple]:
    """Triples of a Turtle text; what stands in blank nodes and collections is passed over."""
    prefixes: dict[str, str] = {}
    tokens = list(_tokens(text, path))
    at = 0
    while at < len(tokens):
        end = _end_of_statement(tokens, at)
        statement = tokens[at:end]
        at = end + 1
        if not statement:
            continue
        head = statement[0].value.lower()
        if head in ("@prefix", "prefix", "@base", "base"):
            iris = [t.value[1:-1] for t in statement if t.kind == "iri"]
            prefixes[statement[1].value if head.endswith("prefix") and len(statement) > 1 else ""] = (iris or [""])[-1]
            continue
        yield from _statement_triples(statement, prefixes)
    if tokens and tokens[-1].value != "." and tokens[0].kind != "tag" and "PREFIX" not in text[:20].upper():
        raise_faults(path, [Fault(str(tokens[-1].line), "the last statement has no dot at its end")], fix=FIX)


def _end_of_statement(tokens: list[_Token], at: int) -> int:
    """The index of the dot that ends a statement; SPARQL's PREFIX ends with its IRI."""
    if tokens[at].value.upper() in ("PREFIX", "BASE"):
        while at < len(tokens) and tokens[at].kind != "iri":
            at += 1
        tokens.insert(at + 1, _Token("mark", ".", tokens[min(at, len(tokens) - 1)].line))
        return at + 1
    depth = 0
    for i in range(at, len(tokens)):
        value = tokens[i].value if tokens[i].kind in ("mark", "word") else ""
        depth += (value in ("[", "(")) - (value in ("]", ")"))
        if value == "." and depth <= 0:
            return i
    return len(tokens)


def _statement_triples(statement: list[_Token], prefixes: dict[str, str]) -> Iterator[Triple]:
    subject = _iri(statement[0], prefixes)
    predicate, depth = "", 0
    for i, token in enumerate(statement[1:], start=1):
        value = token.value if token.kind in ("mark", "word") else ""
        if value in ("[", "("):
            depth += 1
        elif value in ("]", ")"):
            depth -= 1
        if depth or value in ("]", ")", ",") or token.kind in ("tag", "type") or statement[i - 1].kind == "type":
            continue
        if value == ";":
            predicate = ""
        elif not predicate:
            predicate = RDF + "type" if value == "a" else _iri(token, prefixes)
        elif token.kind == "text":
            following = statement[i + 1] if i + 1 < len(statement) else None
            language = following.value[1:].lower() if following and following.kind == "tag" else ""
            yield Triple(token.line, subject, predicate, _unescape(token.value), True, language)
        else:
            yield Triple(token.line, subject, predicate, _iri(token, prefixes))


def _iri(token: _Token, prefixes: dict[str, str]) -> str:
    if token.kind == "iri":
        inner = token.value[1:-1]
        return inner if ":" in inner else prefixes.get("", "") + inner
    prefix, colon, name = token.value.partition(":")
    return prefixes.get(prefix + colon, prefix + colon) + name if colon else token.value
