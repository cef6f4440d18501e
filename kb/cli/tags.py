"""kb tags import, train, list, suggest, apply, eval: the closed-vocabulary tag retriever."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.errors import ExitCode, InvalidInput, IoError, NotFound

app = typer.Typer(help="Tags of a closed vocabulary: import, train, suggest, apply.", rich_markup_mode=None)

ThresholdOption = Annotated[
    float | None,
    typer.Option(
        "--threshold", metavar="T", help="one score for all tags instead of the calibrated ones", show_default=False
    ),
]


@app.command("import")
@command
def import_(
    invocation: Invocation,
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="tags with aliases, counts, ratings and items", show_default=False),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="F", help="csv, json, skos or topics; else told by the file", show_default=False
        ),
    ] = None,
    clear: Annotated[
        bool, typer.Option("--clear", help="forget the imported vocabulary; the documents' own tags take its place")
    ] = False,
) -> None:
    """Take in a vocabulary, in place of the one there is.

    All of it or nothing: a file with faults changes nothing, and every fault is named with its line.
    """
    from kb.cli.tags_output import print_import
    from kb.store.lock import writer_lock
    from kb.tags.formats import READERS
    from kb.tags.importing import import_vocabulary, load_vocabulary_file

    if clear == (file is not None):
        problem = "--clear takes no file" if clear else "no file given"
        raise InvalidInput(problem, fix="kb tags import FILE, or: kb tags import --clear")
    if format is not None and format not in READERS:
        raise InvalidInput(f"no format '{format}'", fix=f"use one of: {', '.join(READERS)}")
    config = invocation.config()
    # Read before the store is opened: a file with faults must not even make a new home.
    loaded = load_vocabulary_file(Path(file).expanduser(), format) if file is not None else None
    with (
        invocation.open(config, write=True) as kb,
        writer_lock(kb.home, config.ingest.lock_wait_seconds, invocation.notify),
    ):
        if file is None or loaded is None:
            kb.corpus.tags.forget_vocabulary()
            invocation.notify("the documents' own tags are the vocabulary now")
            return
        report = import_vocabulary(kb.corpus.tags, loaded[0], _file_name(file), *loaded[1:])
    print_import(report, invocation)


def _file_name(file: str) -> str:
    """A file's name as text; bytes that are no UTF-8 replaced."""
    return Path(file).name.encode("utf-8", "replace").decode()


@app.command("train")
@command
def train(invocation: Invocation) -> None:
    """Train FastText and the context on the vocabulary there is.

    The same vocabulary gives the same model. Without an import the vocabulary is the documents' own tags.
    """
    from kb.cli.tags_output import print_training
    from kb.store.lock import writer_lock
    from kb.tags.train import train as run_training

    config = invocation.config()
    with (
        invocation.open(config) as kb,
        writer_lock(kb.home, config.ingest.lock_wait_seconds, invocation.notify),
    ):
        report = run_training(kb, invocation.notify)
    print_training(report, invocation)


@app.command("list")
@command
def list_(
    invocation: Invocation,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORD…", help="only tags or aliases with these in them")
    ] = None,
    n: Annotated[
        int | None, typer.Option("-n", metavar="N", help="how many at most", min=1, show_default=False)
    ] = None,
) -> None:
    """The vocabulary: tags with their counts, aliases and documents, the most frequent first."""
    from kb.cli.tags_output import print_tags
    from kb.tags.listing import list_tags

    with invocation.open(invocation.config()) as kb:
        listed = list_tags(kb, tuple(words or ()), n)
    print_tags(listed, invocation)
    if not listed.tags:
        raise typer.Exit(ExitCode.NOTHING)


PhrasesOption = Annotated[list[str] | None, typer.Argument(metavar="PHRASE…", help="what it is about, in any words")]
TextOption = Annotated[
    str | None, typer.Option("--text", metavar="FILE|-", help="take key phrases from this text", show_default=False)
]
DocOption = Annotated[
    str | None, typer.Option("--doc", metavar="DOC", help="take key phrases from this document", show_default=False)
]
ContextTagOption = Annotated[
    list[str] | None,
    typer.Option("--context-tag", metavar="T", help="a tag it has already; repeatable", show_default=False),
]
AllowSensitiveOption = Annotated[
    bool, typer.Option("--allow-sensitive", help="suggest tags that are rated sensitive too")
]
ContextWeightOption = Annotated[
    float | None,
    typer.Option(
        "--context-weight", metavar="W", help="share of the context in the score", min=0, max=1, show_default=False
    ),
]
PerPhraseKOption = Annotated[
    int | None,
    typer.Option("--per-phrase-k", metavar="N", help="neighbours taken for each phrase", min=1, show_default=False),
]
PerPhraseFinalKOption = Annotated[
    int | None,
    typer.Option("--per-phrase-final-k", metavar="N", help="tags kept for each phrase", min=1, show_default=False),
]
GlobalKOption = Annotated[
    int | None, typer.Option("--global-k", metavar="N", help="tags kept in all", min=1, show_default=False)
]
MinCountOption = Annotated[
    int | None,
    typer.Option("--min-count", metavar="N", help="leave out tags on fewer items", min=0, show_default=False),
]


@app.command("suggest")
@command
def suggest(
    invocation: Invocation,
    phrases: PhrasesOption = None,
    text: TextOption = None,
    doc: DocOption = None,
    context_tag: ContextTagOption = None,
    allow_sensitive: AllowSensitiveOption = False,
    context_weight: ContextWeightOption = None,
    per_phrase_k: PerPhraseKOption = None,
    per_phrase_final_k: PerPhraseFinalKOption = None,
    global_k: GlobalKOption = None,
    min_count: MinCountOption = None,
) -> None:
    """Suggest tags for phrases, a text or a document; nothing but tags of the vocabulary.

    --verbose shows what each phrase found and through which token.
    """
    from dataclasses import replace

    from kb.cli.tags_output import print_suggestions
    from kb.tags.documents import phrases_of_document, phrases_of_text
    from kb.tags.retriever import default_options, open_retriever

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
    options = replace(
        default_options(config.tags), allow_sensitive=allow_sensitive, context_tags=tuple(context_tag or ())
    )
    with invocation.open(config) as kb:
        retriever = open_retriever(kb)
        asked = list(phrases or ())
        if body is not None:
            asked += phrases_of_text(kb, retriever.vocabulary, body)
        if doc is not None:
            asked += phrases_of_document(kb, retriever.vocabulary, doc)
        found = retriever.suggest(asked, options)
    shown = found if invocation.verbose else replace(found, phrases=None)
    print_suggestions(shown, invocation)
    if not found.candidates:
        raise typer.Exit(ExitCode.NOTHING)


def _read_text(name: str) -> str:
    """A text file, or standard input for `-`; what is no UTF-8 is replaced."""
    if name == "-":
        raw = sys.stdin.buffer.read()
    else:
        try:
            raw = Path(name).expanduser().read_bytes()
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
    doc: Annotated[
        list[str] | None, typer.Option("--doc", metavar="DOC", help="this document; repeatable", show_default=False)
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="every document")] = False,
    threshold: ThresholdOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="show what would be applied; change nothing")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="take back what was applied")] = False,
) -> None:
    """Tag documents from the vocabulary.

    Applied tags are kept apart from those of the documents' own front matter; --tag filters find both. Thresholds are
    learned for each tag on the documents that have tags already.
    """
    from kb.cli.tags_output import print_application
    from kb.store.lock import writer_lock
    from kb.tags.apply import apply_tags, remove_tags

    if everything == bool(doc):
        problem = "--all and --doc exclude each other" if doc else "no document named"
        raise InvalidInput(problem, fix="kb tags apply --doc DOC, or: kb tags apply --all")
    config = invocation.config()
    invocation.open(config).close()  # an error when there is nothing here yet, rather than a new empty store
    names = None if everything else doc
    with (
        invocation.open(config, write=True) as kb,
        writer_lock(kb.home, config.ingest.lock_wait_seconds, invocation.notify),
    ):
        done = remove_tags(kb, names, dry_run=dry_run) if remove else apply_tags(kb, names, threshold, dry_run=dry_run)
    print_application(done, invocation)


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
    from kb.cli.tags_output import print_evaluation
    from kb.tags.measure import evaluate as run_evaluation

    with invocation.open(invocation.config()) as kb:
        found = run_evaluation(kb, seeds, invocation.notify)
    print_evaluation(found, invocation)
