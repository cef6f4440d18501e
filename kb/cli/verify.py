"""kb verify: does a text back a claim? For the answers of any system; needs no knowledge base."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.errors import ExitCode, InvalidInput, IoError

if TYPE_CHECKING:
    from kb.arrays import Encode
    from kb.support.check import Support


@command
def verify(
    invocation: Invocation,
    claim: Annotated[
        str | None, typer.Option("--claim", metavar="TEXT", help="one sentence or a whole answer", show_default=False)
    ] = None,
    evidence: Annotated[
        list[str] | None,
        typer.Option("--evidence", metavar="FILE", help="a text it cites; - for stdin; repeatable", show_default=False),
    ] = None,
    bulk: Annotated[bool, typer.Option("--bulk", help='stdin holds one {"claim": …, "evidence": […]} a line')] = False,
    encoder: Annotated[
        bool, typer.Option("--encoder/--no-encoder", help="meaning counts beside words; loads the encoder")
    ] = True,
) -> None:
    """Check whether texts back a claim: its numbers, names, negations and words (exit 1 when one is not backed)."""
    from kb.support.check import check_support

    config = invocation.config()
    if bulk == bool(claim and evidence):
        raise InvalidInput(
            "--bulk reads claims from standard input" if bulk else "no claim, or nothing to check it against",
            fix="kb verify --claim 'It closes at 12 m/s.' --evidence page.md, or: kb verify --bulk < pairs.ndjson",
        )
    encode = _open_encoder(invocation, config.embedding) if encoder else None
    pairs = _read_pairs(sys.stdin) if bulk else iter([(claim or "", [_read(name) for name in evidence or ()])])
    all_backed = True
    for text, texts in pairs:
        found = check_support(text, texts, encode)
        all_backed = all_backed and found.backed
        _print(found, as_json=invocation.json or bulk)
    if not all_backed:
        raise typer.Exit(ExitCode.NOTHING)


def _print(found: Support, *, as_json: bool) -> None:
    if as_json:
        from kb.wire import to_json

        print(to_json(found), flush=True)
        return
    from kb.cli.terminal import harmless_line, say, styled

    for sentence in found.sentences:
        colour = {"verified": "green", "weak": "yellow", "unsupported": "red"}[sentence.status]
        why = f" ({harmless_line('; '.join(sentence.reasons))})" if sentence.reasons else ""
        say(f"{styled(f'{sentence.status:<11}', colour)} {sentence.score:.2f}  {harmless_line(sentence.text)}{why}")
    say(
        styled("backed ✓" if found.backed else "backed ✗", "green" if found.backed else "red") + f" · {found.score:.2f}"
    )


def _open_encoder(invocation: Invocation, config: object) -> Encode:
    import os

    from kb.config import EmbeddingConfig, cache_folder
    from kb.embed.registry import open_encoder

    assert isinstance(config, EmbeddingConfig)
    return open_encoder(config, cache_folder(os.environ), invocation.notify).encode_sentences


def _read(name: str) -> str:
    if name == "-":
        return sys.stdin.read()
    try:
        return Path(name).read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise IoError(f"cannot read {name}: {error.strerror}", fix="check the path; - reads standard input") from error


def _read_pairs(lines: Iterator[str]) -> Iterator[tuple[str, list[str]]]:
    """(claim, texts) of each line.

    raises  InvalidInput naming the line that is none
    """
    import json

    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        texts = row.get("evidence") if isinstance(row, dict) else None
        texts = [texts] if isinstance(texts, str) else texts
        claim = row.get("claim") if isinstance(row, dict) else None
        if not isinstance(claim, str) or not isinstance(texts, list) or not all(isinstance(t, str) for t in texts):
            raise InvalidInput(
                f"line {number} is no claim with its evidence", fix='write it as {"claim": "…", "evidence": ["…"]}'
            )
        yield claim, texts
