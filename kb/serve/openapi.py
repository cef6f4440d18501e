"""The calls of the API → its description in OpenAPI 3.1: from the same records that check arguments and make results."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from kb import __version__
from kb.doors.arguments import schema_of
from kb.serve.calls import ASK, CALLS, Call
from kb.wire import json_schema


@cache
def openapi() -> dict[str, Any]:
    """The description of the API."""
    parts: dict[str, Any] = {}
    paths = {_plain(call.path): _path_item(call, parts) for call in (*CALLS, ASK)}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "kb",
            "version": __version__,
            "description": "A local knowledge base: the JSON of the command line over HTTP. Errors are error.v1.",
        },
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "paths": paths,
        "components": {
            "schemas": parts,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _plain(path: str) -> str:
    return re.sub(r":int\}", "}", path)


def _path_item(call: Call, parts: dict[str, Any]) -> dict[str, Any]:
    varying = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "integer"}}
        for name in re.findall(r"\{(\w+):int\}", call.path)
    ]
    return {method.lower(): _operation(call, method, varying, parts) for method in call.methods}


def _operation(call: Call, method: str, varying: list[dict[str, Any]], parts: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {"application/json": {"schema": _reference(call.schema, parts)}}
    if call is ASK:
        content["text/event-stream"] = {"schema": _reference("answer_event.v1", parts)}
    made: dict[str, Any] = {
        "operationId": f"{call.run.__name__}_{method.lower()}",
        "summary": call.summary,
        "parameters": varying,
        "responses": {
            "200": {"description": "Done", "content": content},
            "default": {
                "description": "What went wrong, and what to do about it",
                "content": {"application/json": {"schema": _reference("error.v1", parts)}},
            },
        },
    }
    takes = schema_of(call.takes)
    if method == "POST":
        made["requestBody"] = {"required": True, "content": {"application/json": {"schema": takes}}}
    else:
        required = takes.get("required", [])
        made["parameters"] = [
            *varying,
            *(
                {"name": name, "in": "query", "required": name in required, "schema": shape}
                for name, shape in takes["properties"].items()
            ),
        ]
    return made


def _reference(name: str, parts: dict[str, Any]) -> dict[str, Any]:
    """A reference to a wire object's schema, whose parts are put beside it under its name."""
    if name not in parts:
        schema = json_schema(name)
        own = {part: f"{name}.{part}" for part in schema.pop("$defs", {})}
        schema = json_schema(name)
        for part, shape in schema.pop("$defs", {}).items():
            parts[own[part]] = _renamed(shape, own)
        schema.pop("$schema")
        parts[name] = _renamed(schema, own)
    return {"$ref": f"#/components/schemas/{name}"}


def _renamed(shape: Any, own: dict[str, str]) -> Any:
    if isinstance(shape, list):
        return [_renamed(member, own) for member in shape]
    if not isinstance(shape, dict):
        return shape
    return {
        key: f"#/components/schemas/{own[member.rpartition('/')[2]]}" if key == "$ref" else _renamed(member, own)
        for key, member in shape.items()
    }
