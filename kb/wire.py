"""Records → the JSON that leaves the program, and the JSON Schema of each; errors too.

The schemas are generated from the records, so they cannot drift. Characters that could control a terminal are escaped.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

from kb.errors import KbError, NotFound, error_codes

# schema name → where its record is defined; imported only when asked for.
WIRE_RECORDS: dict[str, str] = {
    "search_response.v1": "kb.records:SearchResponse",
    "search_hit.v1": "kb.records:Hit",
    "citation.v1": "kb.records:Citation",
    "chunk.v1": "kb.records:Chunk",
    "document.v1": "kb.records:Document",
    "window_fingerprint.v1": "kb.packing.known_text_payload:WindowFingerprint",
    "context.v1": "kb.context.records:ContextResponse",
    "answer.v1": "kb.ask.records:Answer",
    "answer_event.v1": "kb.ask.records:AnswerEvent",
    "ingest_event.v1": "kb.ingest.report:IngestEvent",
    "ingest_report.v1": "kb.ingest.report:IngestReport",
    "watch_event.v1": "kb.ingest.watch:WatchEvent",
    "support.v1": "kb.support.check:Support",
    "demo.v1": "kb.cli.demo:Tour",
    "document_list.v1": "kb.cli.views:DocumentList",
    "document_view.v1": "kb.cli.views:DocumentView",
    "document_page.v1": "kb.reading:DocumentPage",
    "reading.v1": "kb.reading:Reading",
    "removal.v1": "kb.cli.views:Removal",
    "place.v1": "kb.cli.views:Place",
    "answer_list.v1": "kb.cli.views:AnswerList",
    "stored_answer.v1": "kb.cli.views:StoredAnswer",
    "answer_removal.v1": "kb.cli.views:AnswerRemoval",
    "answer_replay.v1": "kb.ask.replay:AnswerReplay",
    "tags.v1": "kb.tags.records:Suggestions",
    "tag_import.v1": "kb.tags.records:ImportReport",
    "tag_training.v1": "kb.tags.records:TrainReport",
    "tag_list.v1": "kb.tags.records:TagList",
    "tag_application.v1": "kb.tags.records:TagApplication",
    "tag_eval.v1": "kb.tags.records:TagEvaluation",
    "model_list.v1": "kb.cli.models:ModelList",
    "encoder_list.v1": "kb.cli.encoders:EncoderList",
    "encoder_change.v1": "kb.cli.encoders:EncoderChange",
    "status.v1": "kb.status:Status",
    "corpus_copy.v1": "kb.copying:CorpusCopy",
    "done.v1": "kb.cli.views:Finished",
    "eval_runs.v1": "kb.eval.records:EvalRuns",
    "drafted_suite.v1": "kb.cli.eval_init:DraftedSuite",
    "eval_tuning.v1": "kb.eval.tune:Tuning",
    "eval_compare.v1": "kb.eval.records:Comparison",
    "eval_report.v1": "kb.eval.report:EvalReport",
    "schema_list.v1": "kb.cli.views:SchemaList",
    "doctor.v1": "kb.doctor:Diagnosis",
    "fact.v1": "kb.store.memories:Memory",
    "fact_remembered.v1": "kb.store.memories:Remembered",
    "facts_forgotten.v1": "kb.store.memories:Forgotten",
    "fact_list.v1": "kb.store.memories:FactList",
    "relevance.v1": "kb.relevance.decide:Decision",
    "cswr.v1": "kb.stability_thresholds:Stability",
    "session_list.v1": "kb.cli.session_views:SessionList",
    "session.v1": "kb.cli.session_views:Session",
    "eval_sessions.v1": "kb.eval.sessions:SessionsReport",
    "graph.v1": "kb.graph.records:Slice",
    "token_check.v1": "kb.graph.records:TokenCheck",
}

# Characters a terminal may act on: C0 but for \t \n, DEL, C1, bidirectional overrides, zero-width and tag characters.
TERMINAL_DANGERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def harmless(text: str) -> str:
    """Text with every character that could control a terminal made visible: ESC as ␛, others as <U+202E>; tabs and newlines stay.

    >>> harmless("a\\x1b[31mb\\u202e")
    'a␛[31mb<U+202E>'
    """
    return TERMINAL_DANGERS.sub(_visible, text)


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code == 0x0D:
        return "␍"
    if code < 0x20:
        return chr(0x2400 + code)
    return f"<U+{code:04X}>"


def to_json(record: object) -> str:
    """One line of JSON: None for absent, characters that could control a terminal as \\u escapes.

    Non-ASCII text stays readable. Inside JSON such characters stand only in strings, where an escape means the same.
    """
    import msgspec

    try:
        text = msgspec.json.encode(record).decode()
    except UnicodeEncodeError:
        # A lone surrogate: only in what the user typed, since readers replace those of documents.
        import json

        text = json.dumps(msgspec.to_builtins(record), ensure_ascii=False, separators=(",", ":"))
    return TERMINAL_DANGERS.sub(lambda match: _escape(match.group()), text)


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def error_wire(error: KbError) -> dict[str, Any]:
    """error.v1 as JSON builtins."""
    return {
        "schema_version": "error.v1",
        "code": error.code,
        "message": error.problem,
        "fix": error.fix,
        "details": error.details,
    }


def error_json(error: KbError) -> str:
    """error.v1 in one line."""
    return to_json(error_wire(error))


def schema_names() -> list[str]:
    """Every schema that `kb schema` knows, sorted."""
    return sorted([*WIRE_RECORDS, "error.v1"])


def json_schema(name: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a wire object.

    raises  NotFound for an unknown name
    """
    if name == "error.v1":
        return _error_schema()
    if name not in WIRE_RECORDS:
        raise NotFound(f"no schema '{name}'", fix=f"there are: {', '.join(schema_names())}")
    import msgspec

    module, _, record = WIRE_RECORDS[name].partition(":")
    (reference,), components = msgspec.json.schema_components(
        [getattr(importlib.import_module(module), record)], ref_template="#/$defs/{name}"
    )
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": name, **reference, "$defs": components}


def _error_schema() -> dict[str, Any]:
    text = {"type": "string"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "error.v1",
        "type": "object",
        "properties": {
            "schema_version": {"const": "error.v1"},
            "code": {"enum": error_codes()},
            "message": text,
            "fix": text,
            "details": {"type": "object"},
        },
        "required": ["schema_version", "code", "message", "fix", "details"],
        "additionalProperties": False,
    }
