"""The options that name what the reader already has, the same on every command that compares with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.invocation import Invocation
from kb.config import Config

if TYPE_CHECKING:
    from kb.packing.known_text import KnownText

KnownTextOption = Annotated[
    list[str] | None,
    typer.Option(
        "--seen",
        metavar="FILE",
        help="text the reader already has; each file is one block, - reads stdin",
        show_default=False,
    ),
]


def read_known_text_option(
    invocation: Invocation, config: Config, files: list[str] | None, fingerprint: str | None = None
) -> KnownText | None:
    """The text that the options name, None without any; what was left out of it is said."""
    if not files and fingerprint is None:
        return None
    # Here: who names no known text need not pay for reading one.
    from kb.context.known_text_input import read_known_text
    from kb.packing.novelty import NoveltySettings

    return read_known_text(files or [], fingerprint, NoveltySettings.of(config.novelty).shape, invocation.notify)
