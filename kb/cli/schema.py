"""kb schema: the JSON Schemas of the wire objects. Apart from the other commands because it opens no knowledge base."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.cli.views import SchemaList
from kb.wire import json_schema, schema_names


@command
def schema(
    invocation: Invocation,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="a wire object, such as answer.v1")] = None,
) -> None:
    """Print the JSON Schema of a wire object, or list them."""
    if name is None:
        listed = SchemaList(schemas=tuple(schema_names()))
        invocation.emit(listed, lambda listed: print("\n".join(listed.schemas)))
    else:
        print(json.dumps(json_schema(name), indent=2, ensure_ascii=False))
