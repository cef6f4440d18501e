"""kb tags import, train, list, suggest, apply, eval: the commands of the closed-vocabulary tag retriever."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kb.cli.invocation import Invocation, command
from kb.cli.listing import Sortings, arranged, sort_option
from kb.cli.tags_output import print_report
from kb.config import Config
from kb.errors import ExitCode, InvalidInput, IoError, NotFound
from kb.store.lock import writer_lock
from kb.tags import documents, formats, importing, retriever
from kb.tags.apply import apply_tags, remove_tags
from kb.tags.listing import list_tags
from kb.tags.measure import evaluate as measure_tags
from kb.tags.records import TagView
from kb.tags.train import train as train_tags

if TYPE_CHECKING:
    from kb.runtime import Runtime

app = typer.Typer(help="Tags of a closed vocabulary: import, train, suggest, apply.", rich_markup_mode=None)

SORTINGS: Sortings[TagView] = {
    "name": (lambda tag: tag.tag.casefold(), False),
    "count": (lambda tag: tag.count or 0, True),
    "documents": (lambda tag: tag.documents, True),
}


@contextmanager
def _locked(invocation: Invocation, config: Config, *, write: bool) -> Iterator[Runtime]:
    """The knowledge base, with no other writer beside it. Training only reads the store, but writes into the folder."""
    with (
        invocation.open(config, write=write) as kb,
        writer_lock(kb.home, config.ingest.lock_wait_seconds, invocation.notify),
    ):
        yield kb


def _option(name: str, help: str, metavar: str, *, min: float | None = None, max: float | None = None) -> Any:
    """An option with a value and without a default of its own."""
    return typer.Option(name, metavar=metavar, help=help, show_default=False, min=min, max=max)


@app.command("import")
@command
def import_(
    invocation: Invocation,
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="tags with aliases, counts, ratings and items", show_default=False),
    ] = None,
    format: Annotated[str | None, _option("--format", "csv, json, skos or topics; else told by the file", "F")] = None,
    clear: Annotated[
        bool, typer.Option("--clear", help="forget the imported vocabulary; the documents' own tags take its place")
    ] = False,
) -> None:
    """Import a vocabulary, in place of the current one.

    All of it or nothing: a file with faults changes nothing, and every fault is named with its line.
    """
    if clear == (file is not None):
        problem = "--clear takes no file" if clear else "no file given"
        raise InvalidInput(problem, fix="kb tags import FILE, or: kb tags import --clear")
    if format is not None and format not in formats.READERS:
        raise InvalidInput(f"no format '{format}'", fix=f"use one of: {', '.join(formats.READERS)}")
    config = invocation.config()
    # Read before the store is opened: a file with faults must not even create a data folder.
    loaded = importing.load_vocabulary_file(Path(file).expanduser(), format) if file is not None else None
    with _locked(invocation, config, write=True) as kb:
        if file is None or loaded is None:
            kb.corpus.tags.forget_vocabulary()
            invocation.notify("the documents' own tags are the vocabulary now")
            return
        # bytes of the name that are not UTF-8 are replaced
        name = Path(file).name.encode("utf-8", "replace").decode()
        report = importing.import_vocabulary(kb.corpus.tags, loaded[0], name, *loaded[1:])
    print_report(report, invocation)


@app.command("train")
@command
def train(invocation: Invocation) -> None:
    """Train FastText and the context on the current vocabulary.

    The same vocabulary gives the same model. Without an import the vocabulary is the documents' own tags.
    """
    with _locked(invocation, invocation.config(), write=False) as kb:
        report = train_tags(kb, invocation.notify)
    print_report(report, invocation)


@app.command("list")
@command
def list_(
    invocation: Invocation,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORD…", help="only tags or aliases with these in them")
    ] = None,
    n: Annotated[
        int | None, typer.Option("-k", "-n", "--limit", metavar="N", help="how many at most", min=1, show_default=False)
    ] = None,
    sort: Annotated[str | None, sort_option(SORTINGS)] = None,
) -> None:
    """The vocabulary: tags with their counts, aliases and documents, the most frequent first."""
    with invocation.open(invocation.config()) as kb:
        every = list_tags(kb, tuple(words or ()), None)
    listed = replace(every, tags=arranged(every.tags, SORTINGS, sort, n))
    print_report(listed, invocation)
    if not listed.tags:
        raise typer.Exit(ExitCode.NOTHING)


@app.command("suggest")
@command
def suggest(
    invocation: Invocation,
    phrases: Annotated[
        list[str] | None, typer.Argument(metavar="PHRASE…", help="what it is about, in any words")
    ] = None,
    text: Annotated[str | None, _option("--text", "take key phrases from this text", "FILE|-")] = None,
    doc: Annotated[str | None, _option("--doc", "take key phrases from this document", "DOC")] = None,
    context_tag: Annotated[list[str] | None, _option("--context-tag", "a tag it has already; repeatable", "T")] = None,
    allow_sensitive: Annotated[
        bool, typer.Option("--allow-sensitive", help="suggest tags that are rated sensitive too")
    ] = False,
    context_weight: Annotated[
        float | None, _option("--context-weight", "share of the context in the score", "W", min=0, max=1)
    ] = None,
    per_phrase_k: Annotated[
        int | None, _option("--per-phrase-k", "neighbours taken for each phrase", "N", min=1)
    ] = None,
    per_phrase_final_k: Annotated[
        int | None, _option("--per-phrase-final-k", "tags kept for each phrase", "N", min=1)
    ] = None,
    global_k: Annotated[int | None, _option("--global-k", "tags kept in all", "N", min=1)] = None,
    min_count: Annotated[int | None, _option("--min-count", "leave out tags on fewer items", "N", min=0)] = None,
) -> None:
    """Suggest tags for phrases, a text or a document; only tags of the vocabulary.

    --verbose shows what each phrase found and through which token.
    """
    config = invocation.config(
        tags__context_weight=context_weight,
        tags__per_phrase_k=per_phrase_k,
        tags__per_phrase_final_k=per_phrase_final_k,
        tags__global_k=global_k,
        tags__min_count=min_count,
    )
    if not phrases and text is None and doc is None:
        raise InvalidInput("no phrase given", fix="kb tags suggest 'borrow checker', or --text FILE, or --doc DOC")
    body = _read_text(text) if text is not None else None
    defaults = retriever.default_options(config.tags)
    options = replace(defaults, allow_sensitive=allow_sensitive, context_tags=tuple(context_tag or ()))
    with invocation.open(config) as kb:
        opened = retriever.open_retriever(kb)
        asked = list(phrases or ())
        if body is not None:
            asked += documents.phrases_of_text(kb, opened.vocabulary, body)
        if doc is not None:
            asked += documents.phrases_of_document(kb, opened.vocabulary, doc)
        found = opened.suggest(asked, options)
    print_report(found if invocation.verbose else replace(found, phrases=None), invocation)
    if not found.candidates:
        raise typer.Exit(ExitCode.NOTHING)


def _read_text(name: str) -> str:
    """A text file, or standard input for `-`; bytes that are not UTF-8 are replaced."""
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).expanduser().read_bytes()
    except FileNotFoundError as error:
        raise NotFound(f"no file '{name}'", fix="name a text file, or - for standard input") from error
    except OSError as error:
        raise IoError(f"cannot read '{name}': {error.strerror}", fix="name a readable text file") from error
    body = raw.decode("utf-8-sig", "replace")
    if not body.strip():
        raise InvalidInput(f"'{name}' holds no text", fix="give a text with words in it")
    return body


@app.command("apply")
@command
def apply(
    invocation: Invocation,
    doc: Annotated[list[str] | None, _option("--doc", "this document; repeatable", "DOC")] = None,
    everything: Annotated[bool, typer.Option("--all", help="every document")] = False,
    threshold: Annotated[
        float | None, _option("--threshold", "one score for all tags instead of the calibrated ones", "T")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="show what would be applied; change nothing")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="take back what was applied")] = False,
) -> None:
    """Tag documents from the vocabulary.

    Applied tags are kept apart from those of the documents' own front matter; --tag filters find both. Thresholds are
    learned for each tag on the documents that have tags already.
    """
    if everything == bool(doc):
        problem = "--all and --doc exclude each other" if doc else "no document named"
        raise InvalidInput(problem, fix="kb tags apply --doc DOC, or: kb tags apply --all")
    config = invocation.config()
    invocation.open(config).close()  # an error when there is no store yet, rather than a new empty one
    names = None if everything else doc
    with _locked(invocation, config, write=True) as kb:
        done = remove_tags(kb, names, dry_run=dry_run) if remove else apply_tags(kb, names, threshold, dry_run=dry_run)
    print_report(done, invocation)


@app.command("eval")
@command
def evaluate(
    invocation: Invocation,
    seeds: Annotated[
        int, typer.Option("--seeds", metavar="N", help="how often aliases are held out; 0 leaves that out", min=0)
    ] = 5,
) -> None:
    """Measure: held-out aliases that find their tags, documents that get the tags they have.

    Every seed trains a model of its own.
    """
    with invocation.open(invocation.config()) as kb:
        found = measure_tags(kb, seeds, invocation.notify)
    print_report(found, invocation)
