"""kb init: a home, its config.toml, its encoder; and kb encoders: which encoders there are."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from kb.cli.invocation import Invocation, command
from kb.cli.listing import LimitOption, Sortings, arranged, sort_option
from kb.cli.models import model_size
from kb.cli.stopping import stop_on_ctrl_c
from kb.cli.tables import Table, draw
from kb.cli.terminal import harmless, has_colour, say, styled
from kb.cli.views import Finished
from kb.config import Config, commented_toml, set_keys, user_config_path
from kb.embed.catalogue import CATALOGUE, OLLAMA, EncoderKind, KnownEncoder, kind_of
from kb.embed.families import find_prefixes
from kb.embed.model_files import is_present
from kb.embed.registry import open_encoder
from kb.errors import ExitCode, InvalidInput, ModelError, NotIndexed
from kb.frozen import dataclass
from kb.ingest.reencode import Change, use_configured_encoder
from kb.llm.model_info import PulledModel, find_by_name
from kb.llm.server import OllamaServer, is_listening
from kb.milvus.address import read_address
from kb.private import open_private
from kb.runtime import Runtime
from kb.store.store import Store

# A server on this machine answers at once; a list does not wait for one that is far away.
LONGEST_PROBE_SECONDS = 0.5
VARIABLE = "KB_EMBEDDING__MODEL"
HUB_OFFLINE = "HF_HUB_OFFLINE"


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderRow:
    """One encoder, as `kb.embed.catalogue.KnownEncoder` describes it; sizes are 0 and texts "" where unknown.

    is_here        it can be used at once: installed, downloaded or pulled
    is_used        its vectors are the ones that this home searches
    is_configured  the one that embedding.model names
    """

    name: str
    kind: EncoderKind
    size_bytes: int
    dimensions: int
    languages: str
    licence: str
    ndcg_en: float | None
    ndcg_ko: float | None
    is_here: bool
    is_used: bool
    is_configured: bool


SORTINGS: Sortings[EncoderRow] = {
    "name": (lambda row: row.name, False),
    "size": (lambda row: row.size_bytes, True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderList:
    """kb encoders

    used  whose vectors this home searches, None where nothing is embedded yet
    """

    schema_version: Literal["encoder_list.v1"] = "encoder_list.v1"
    used: str | None
    configured: str
    encoders: tuple[EncoderRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderChange:
    """kb init --encoder

    path     the config.toml that names it now
    chunks   how many were given the vector of the new encoder by this call
    vectors  how many vectors had to be made for that
    is_done  False where it was stopped: the old vectors are searched, and the same call goes on
    """

    schema_version: Literal["encoder_change.v1"] = "encoder_change.v1"
    encoder: str
    path: str
    chunks: int
    vectors: int
    is_done: bool


@command
def init(
    invocation: Invocation,
    force: Annotated[bool, typer.Option("--force", help="replace an existing config.toml")] = False,
    encoder: Annotated[
        str | None, typer.Option("--encoder", metavar="NAME", help="the encoder to use; see kb encoders")
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option("--corpus", metavar="ADDRESS", help="keep documents in Milvus: milvus://HOST:19530/DATABASE"),
    ] = None,
) -> None:
    """Create the data folder and a commented config.toml; with --encoder, choose the encoder.

    Stored documents stay. They are encoded anew by another encoder, while searches use the old vectors; Ctrl-C stops, and
    the same call goes on.
    """
    path = invocation.config_path or invocation.home / "config.toml"
    if corpus is not None:
        if encoder is not None:
            raise InvalidInput(
                "--corpus and --encoder were given",
                fix="leave out --encoder: a corpus in Milvus keeps the encoder of its first ingest",
            )
        _use_corpus(invocation, path, corpus, force)
        return
    if encoder is not None:
        _use_encoder(invocation, path, encoder, force)
        return
    path = invocation.home / "config.toml"
    if path.exists() and not force:
        raise InvalidInput(f"{path} exists already", fix="edit it, or replace it with: kb init --force")
    Store(invocation.home, write=True).close()
    _write_config(path, commented_toml(live=False))
    done = Finished(done="created a knowledge base; its settings, with their defaults, are in", path=str(path))
    if invocation.json or not invocation.quiet:
        invocation.emit(done, lambda finished: say(harmless(f"{finished.done} {finished.path}")))


def _use_corpus(invocation: Invocation, path: Path, address: str, force: bool) -> None:
    """Name a corpus in the config file, once it could be opened."""
    keys = read_address(address)
    config = invocation.config()
    changed: dict[str, Any] = {key.partition(".")[2]: value for key, value in keys.items()}
    documents = _documents_here(invocation) if config.corpus.engine == "local" else 0
    with Runtime(invocation.home, replace(config, corpus=replace(config.corpus, **changed)), write=True) as kb:
        held = kb.corpus.count_documents()
    _write_config(path, set_keys(_config_text(path, force), keys))
    if documents:
        moving = f"kb corpus copy local {address}"
        invocation.notify(f"{documents:,} documents of kb.sqlite are not searched now; to take them along: {moving}")
    done = Finished(done=f"documents are kept at {address} now, where there are {held:,}; set in", path=str(path))
    if invocation.json or not invocation.quiet:
        invocation.emit(done, lambda finished: say(harmless(f"{finished.done} {finished.path}")))


def _documents_here(invocation: Invocation) -> int:
    """How many documents kb.sqlite has, none where there is no such file."""
    try:
        with Store(invocation.home) as store:
            return store.corpus.count_documents()
    except NotIndexed:
        return 0


def _use_encoder(invocation: Invocation, path: Path, name: str, force: bool) -> None:
    if kind_of(name) != "ollama" and (folder := Path(name).expanduser()).is_dir():
        name = str(folder.resolve())
    if os.environ.get(VARIABLE, name) != name:
        raise InvalidInput(f"{VARIABLE} names another encoder: {os.environ[VARIABLE]}", fix=f"unset {VARIABLE} first")
    config, keys = _settings_for(invocation, name)
    _allow_download(invocation, name)
    # A wrong name, and a model that cannot be loaded here, change nothing.
    open_encoder(config.embedding, invocation.cache(), invocation.notify, config.llm)
    with invocation.base(config) as base:
        runtime = base.runtime(write=True)
        runtime.configured_encoder().encode_query(".")
        _write_config(path, set_keys(_config_text(path, force), keys))
        with (
            stop_on_ctrl_c(invocation.quiet, "batch of chunks") as stopped,
            _progress(invocation) as on_embedded,
        ):
            change = use_configured_encoder(runtime, invocation.notify, lambda: bool(stopped), on_embedded)
    _report(invocation, name, path, change)


def _settings_for(invocation: Invocation, name: str) -> tuple[Config, dict[str, str]]:
    """(the configuration with this encoder, the keys to set for it): prefixes that were set are those of another one."""
    config = invocation.config()
    before = config.embedding
    keys = {"embedding.model": name}
    if name != before.model:
        for key in ("query_prefix", "document_prefix"):
            if getattr(before, key):
                keys[f"embedding.{key}"] = ""
                invocation.notify(f"embedding.{key} was {getattr(before, key)!r}, for {before.model}; it is empty now")
    changed: dict[str, Any] = {key.partition(".")[2]: value for key, value in keys.items()}
    return replace(config, embedding=replace(before, **changed)), keys


def _config_text(path: Path, force: bool) -> str:
    """The config file as it is; for a home without one the user's, which it will hide, else the commented defaults."""
    if path.is_file() and not force:
        return path.read_text(encoding="utf-8-sig")
    user = user_config_path(os.environ)
    return user.read_text(encoding="utf-8-sig") if user.is_file() and not force else commented_toml(live=False)


def _write_config(path: Path, text: str) -> None:
    with open(path, "w", encoding="utf-8", opener=open_private) as file:
        file.write(text)


def _allow_download(invocation: Invocation, name: str) -> None:
    """Let a model be downloaded that is named like one of the hub, unless the user keeps the hub away."""
    is_kept_away = HUB_OFFLINE in os.environ  # asked before `is_present`, which sets it
    if kind_of(name) == "hub" and "/" in name and not is_present(name) and not is_kept_away:
        os.environ[HUB_OFFLINE] = os.environ["TRANSFORMERS_OFFLINE"] = "0"
        invocation.notify(f"downloading {name} from the Hugging Face hub …")


def _report(invocation: Invocation, name: str, path: Path, change: Change) -> None:
    done = EncoderChange(
        encoder=name, path=str(path), chunks=change.chunks, vectors=change.vectors, is_done=change.is_done
    )
    if invocation.json or (change.is_done and not invocation.quiet):
        invocation.emit(done, lambda record: say(harmless(f"embedding.model is {record.encoder} in {record.path}")))
    if not change.is_done:
        raise typer.Exit(ExitCode.INTERRUPTED)


@contextmanager
def _progress(invocation: Invocation) -> Iterator[Callable[[int], None]]:
    """A count of encoded chunks on a terminal, nothing elsewhere."""
    if invocation.quiet or invocation.json or not sys.stderr.isatty():
        yield lambda chunks: None
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, no_color=not has_colour(sys.stderr))
    columns = (TextColumn("encoded {task.completed:,} chunks"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=None)
        yield lambda chunks: progress.advance(task, chunks)


# ---- kb encoders


@command
def encoders(
    invocation: Invocation, limit: LimitOption = None, sort: Annotated[str | None, sort_option(SORTINGS)] = None
) -> None:
    """List the encoders: what is here, what can be fetched, and which one this home uses.

    Any other sentence-transformers model, model folder or Ollama embedding model works too.
    """
    config = invocation.config()
    used = _used_encoder(invocation, config)
    every = list_encoders(used, config.embedding.model, _pulled(config))
    found = replace(every, encoders=arranged(every.encoders, SORTINGS, sort, limit))
    invocation.emit(found, _print_list)


def _used_encoder(invocation: Invocation, config: Config) -> str | None:
    try:
        with invocation.open(config) as kb:
            return kb.stored_encoder()[0] or None
    except NotIndexed:
        return None


def _pulled(config: Config) -> tuple[PulledModel, ...]:
    """The models of the Ollama server, none where no server answers."""
    try:
        server = OllamaServer(config.llm)
        return server.list_models() if is_listening(server.endpoint, LONGEST_PROBE_SECONDS) else ()
    except ModelError:
        return ()


def list_encoders(used: str | None, configured: str, pulled: tuple[PulledModel, ...]) -> EncoderList:
    """The known encoders, those in use or configured, and what looks like an encoder on the server."""
    known = {encoder.name: encoder for encoder in CATALOGUE}
    names = dict.fromkeys(known)
    on_server = {model.name: model for model in pulled}
    listed = {name.removeprefix(OLLAMA) for name in known}
    for model in pulled:
        looks_right = "embed" in model.name or any(find_prefixes(model.name))
        if looks_right and not any(find_by_name({model.name: True}, name) for name in listed):
            names[f"{OLLAMA}{model.name}"] = None
    names |= dict.fromkeys(name for name in (used, configured) if name)
    rows = []
    for name in names:
        here = find_by_name(on_server, name.removeprefix(OLLAMA)) if kind_of(name) == "ollama" else None
        facts = known.get(name) or KnownEncoder(name, kind_of(name), here.size_bytes if here else 0, 0, "", "")
        is_here = here is not None if facts.kind == "ollama" else is_present(name)
        rows.append(
            EncoderRow(**asdict(facts), is_here=is_here, is_used=name == used, is_configured=name == configured)
        )
    return EncoderList(used=used, configured=configured, encoders=tuple(rows))


def _print_list(found: EncoderList) -> None:
    heads = ("encoder", "kind", "size", "languages", "licence", "en", "ko")
    tables = []
    for title, is_here in (("here", True), ("to be fetched", False)):
        rows = [
            (
                row.name,
                row.kind,
                model_size(row.size_bytes) if row.size_bytes else "",
                row.languages,
                row.licence,
                _share(row.ndcg_en),
                _share(row.ndcg_ko),
            )
            for row in found.encoders
            if row.is_here == is_here
        ]
        if rows:
            tables.append(Table(heads, rows, title))
    say(draw(tables, colour=has_colour(sys.stdout)))
    say()
    say(harmless(f"this home {f'uses {found.used}' if found.used else 'holds no vectors yet'}"))
    if found.used != found.configured:
        say(harmless(f"the configuration names {found.configured}; to change to it:"))
        say(harmless(f"  kb init --encoder {found.configured}"))
    notes = (
        "en, ko: nDCG@10 of hybrid search on kb's own test questions, where measured",
        "take one: kb init --encoder NAME; it downloads from the hub",
        "(for Ollama first: kb models pull NAME)",
    )
    for note in notes:
        say(styled(note, "dim"))


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}".removeprefix("0")
