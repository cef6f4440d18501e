"""kb verify: does a text back a claim? For the answers of any system; needs no knowledge base."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from kb.arrays import Encode
from kb.cli.invocation import Invocation, command
from kb.cli.terminal import harmless_line, say, styled
from kb.cli.wrap import wrapped
from kb.config import EmbeddingConfig
from kb.embed.registry import open_encoder
from kb.errors import ExitCode, InvalidInput, IoError
from kb.reader.claims import open_claims
from kb.support.check import Support, check_support
from kb.wire import to_json

VERDICTS = {"verified": ("backed ✓", "green"), "likely": ("backed ≈, in other words: compare the texts", "yellow")}
STATUS_COLOURS = {
    "verified": "green",
    "likely": "yellow",
    "weak": "yellow",
    "contradicted": "red",
    "unsupported": "red",
}


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
    bulk: Annotated[
        bool, typer.Option("--bulk", help='read one {"claim": …, "evidence": […]} per line from stdin')
    ] = False,
    encoder: Annotated[
        bool,
        typer.Option(
            "--encoder/--no-encoder",
            help="a reader and the encoder count too; without them words alone, a faster start",
        ),
    ] = True,
) -> None:
    """Check whether texts back a claim: its numbers, names, negations and words (exit 1 when one is not backed)."""
    config = invocation.config()
    if bulk == bool(claim and evidence):
        raise InvalidInput(
            "--bulk reads claims from standard input" if bulk else "no claim, or nothing to check it against",
            fix="kb verify --claim 'It closes at 12 m/s.' --evidence page.md, or: kb verify --bulk < pairs.ndjson",
        )
    encode = _open_encoder(invocation, config.embedding) if encoder else None
    read = open_claims(invocation.cache(), invocation.notify, wanted=encoder and config.reader.claims)
    pairs = _read_pairs(sys.stdin) if bulk else iter([(claim or "", [_read(name) for name in evidence or ()])])
    all_backed = True
    for text, texts in pairs:
        found = check_support(text, texts, encode, read)
        all_backed = all_backed and found.backed
        if bulk:
            print(to_json(found), flush=True)
        else:
            invocation.emit(found, _print_support, flush=True)
    if not all_backed:
        raise typer.Exit(ExitCode.NOTHING)


def _print_support(found: Support) -> None:
    for sentence in found.sentences:
        why = f" ({harmless_line('; '.join(sentence.reasons))})" if sentence.reasons else ""
        status = f"{sentence.status:<12}"
        line = wrapped(f"{status} {sentence.score:.2f}  {harmless_line(sentence.text)}{why}")
        say(styled(status, STATUS_COLOURS[sentence.status]) + line[len(status) :])
    verdict = styled(*VERDICTS.get(found.status, ("backed ✗", "red")))
    say(f"{verdict} · {found.score:.2f}")


def _open_encoder(invocation: Invocation, config: EmbeddingConfig) -> Encode:
    return open_encoder(config, invocation.cache(), invocation.notify).encode_sentences


def _read(name: str) -> str:
    if name == "-":
        return sys.stdin.read()
    try:
        return Path(name).read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise IoError(f"cannot read {name}: {error.strerror}", fix="check the path; - reads standard input") from error


def _read_pairs(lines: Iterator[str]) -> Iterator[tuple[str, list[str]]]:
    """(claim, texts) of each line.

    raises  InvalidInput naming the first invalid line
    """
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
                f"line {number} does not hold a claim with its evidence",
                fix='write it as {"claim": "…", "evidence": ["…"]}',
            )
        yield claim, texts
