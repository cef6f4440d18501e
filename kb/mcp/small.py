"""Records → the structured content of a result: the wire object with nothing in it that a reader can do without.

Every object is valid against the schema of its record: what is left out are optional fields at their defaults. A model
reads the result, so numbers are rounded, and characters that it would read and a person would not see are made visible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Any, TypeVar

from kb.ask.records import Answer
from kb.context.block import OPENING
from kb.context.records import ContextResponse
from kb.records import Hit, Retrieval, SearchResponse
from kb.text import estimate_tokens
from kb.wire import harmless, json_schema, to_json

# Significant enough to compare scores by.
DECIMALS = 3
# The first key of every result that quotes documents.
NOTICE = "notice"
# Optional fields that no result has: what only --explain or --debug shows.
NEVER_SENT = {
    "search_response.v1": ("trace", "documents"),
    "answer.v1": ("explanation", "relevance", "novelty", "highlights"),
    "context.v1": ("debug",),
}

Item = TypeVar("Item")
Record = TypeVar("Record")


def small(record: object, *, quotes: bool = True) -> dict[str, Any]:
    """A record as JSON builtins.

    quotes  it holds text of documents: it is labelled as data
    """
    label = {NOTICE: OPENING} if quotes else {}
    version = getattr(record, "schema_version", None)
    made: dict[str, Any] = {**label, **_small(record)}
    return {"schema_version": version, **made} if version else made


def output_schema(name: str, *, quotes: bool = True) -> dict[str, Any]:
    """The schema of `small` for a wire object: that of the object without what is never sent, with the label.

    Without descriptions, which `kb schema` prints: a client may hand the whole list of tools to its model.
    """
    schema = json_schema(name)
    parts: dict[str, Any] = {part: _bare(shape) for part, shape in schema["$defs"].items()}
    root = parts.pop(schema["$ref"].rpartition("/")[2])
    properties = {key: shape for key, shape in root["properties"].items() if key not in NEVER_SENT.get(name, ())}
    required = list(root.get("required", []))
    if quotes:
        properties, required = {NOTICE: {"const": OPENING}, **properties}, [NOTICE, *required]
    made = {"$schema": schema["$schema"], "title": name, "type": "object", "properties": properties}
    if required:
        made["required"] = required
    named = _named_parts(properties, parts)
    return {**made, "$defs": named} if named else made


def _bare(shape: Any) -> Any:
    """A schema without its words for people."""
    if isinstance(shape, list):
        return [_bare(member) for member in shape]
    if not isinstance(shape, dict):
        return shape
    kept = {key: member for key, member in shape.items() if not (key in ("title", "description") and "type" in shape)}
    properties = {name: _bare(member) for name, member in kept.pop("properties", {}).items()}
    return {key: _bare(member) for key, member in kept.items()} | ({"properties": properties} if properties else {})


def _named_parts(shape: Any, parts: dict[str, Any]) -> dict[str, Any]:
    """Those of the parts that a schema refers to, directly or by others."""
    found: dict[str, Any] = {}
    left = [shape]
    while left:
        member = left.pop()
        if isinstance(member, list):
            left += member
        elif isinstance(member, dict):
            name = str(member.get("$ref", "")).rpartition("/")[2]
            if name and name not in found:
                found[name] = parts[name]
                left.append(parts[name])
            left += member.values()
    return found


def _small(value: object) -> Any:
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, list | tuple):
        return [_small(member) for member in value]
    if isinstance(value, dict):
        return {harmless(str(key)): _small(member) for key, member in value.items()}
    if is_dataclass(value):
        return {
            field.name: _small(present)
            for field in fields(value)
            if not _is_default(field, present := getattr(value, field.name))
        }
    return value


def _is_default(field: Any, value: object) -> bool:
    return field.default is not MISSING and bool(value == field.default)


def small_search(response: SearchResponse, offset: int) -> SearchResponse:
    """A page of hits without what only an explanation needs.

    offset  hits to pass over
    """
    return replace(
        response,
        hits=tuple(map(_small_hit, response.hits[offset:])),
        maybe=() if offset else tuple(map(_small_hit, response.maybe)),
        documents=(),
        trace=None,
    )


def _small_hit(hit: Hit) -> Hit:
    plain = Retrieval(method=hit.retrieval.method, fusion_score=hit.retrieval.fusion_score)
    return replace(hit, retrieval=plain, highlights=())


def small_context(response: ContextResponse) -> ContextResponse:
    """A context whose passages do not repeat the text that stands in the block."""
    passages = tuple(replace(passage, text="") for passage in response.passages)
    return replace(response, passages=passages, debug=None)


def small_answer(answer: Answer) -> Answer:
    """An answer without its making; of the sentences that were checked, those that are not verified."""
    checked = answer.verification
    if checked:
        doubtful = tuple(sentence for sentence in checked.sentences if sentence.status != "verified")
        checked = replace(checked, sentences=doubtful)
    return replace(answer, verification=checked, explanation=None, relevance=None, highlights=(), novelty=None)


def fit(
    record: Record, items: Sequence[Item], max_tokens: int, put: Callable[[Record, tuple[Item, ...]], Record]
) -> tuple[Record, int]:
    """(the record with as many of its items as fit into a budget, how many those are).

    items  best first
    put    the record with some of them
    """
    low, high = 0, len(items)
    while low < high:
        middle = (low + high + 1) // 2
        fits = tokens_of(put(record, tuple(items[:middle]))) <= max_tokens
        low, high = (middle, high) if fits else (low, middle - 1)
    return put(record, tuple(items[:low])), low


def tokens_of(record: object) -> int:
    """The estimated tokens of a record as it is sent."""
    return estimate_tokens(to_json(small(record)))
