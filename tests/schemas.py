"""JSON against a schema of `kb schema`; that each of them is itself valid is shown once, in test_cli_json.py."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from kb.wire import json_schema


def check_wire(thing: Any, schema: str | dict[str, Any]) -> None:
    """Fail where the thing is not of the schema: its name, or the schema as it was printed."""
    validator = _of_name(schema) if isinstance(schema, str) else _of_text(json.dumps(schema))
    validator.validate(thing)


@cache
def _of_name(name: str) -> Draft202012Validator:
    return Draft202012Validator(json_schema(name))


@cache
def _of_text(schema: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema))
