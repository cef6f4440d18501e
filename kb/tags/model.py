"""What training leaves in a home's `index/`: arrays in safetensors, the vocabulary and figures in JSON; nothing pickled.

The folder is stamped with the digest of the vocabulary it was made from.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from kb.errors import IndexOutOfDate
from kb.frozen import dataclass
from kb.index.stamp import IndexStamp, read_stamp, replace_index
from kb.tags.arrays import Arrays, map_arrays
from kb.tags.vocabulary import Tag, Vocabulary

NAME = "tags"
# Bump when arrays or their meaning change: a model of another format is not used.
FORMAT = "tags-1"
ARRAYS_FILE = "arrays.safetensors"
VOCABULARY_FILE = "vocabulary.json"
FIGURES_FILE = "figures.json"
FIX = "train again: kb tags train"


@dataclass(frozen=True, slots=True)
class Figures:
    """How a model was made, and how good training says it is; None for a part that was not trained.

    origin        the imported file's name, or "documents"
    epochs        passes of FastText over the items; buckets of its n-gram table
    random_cosine, neighbour_cosine   FastText's, see `kb.tags.fasttext.Trained`
    components    dimensions of the context space
    seconds       of training
    """

    origin: str
    trained_at: str
    tags: int
    aliases: int
    items: int
    seconds: float
    epochs: int | None = None
    buckets: int | None = None
    random_cosine: float | None = None
    neighbour_cosine: float | None = None
    components: int | None = None


@dataclass(frozen=True, slots=True)
class Model:
    """A trained model as it is opened.

    vocabulary    without its items, which only training needs
    tokens        keys, in the row order of the neighbour indexes
    context_tags  tags with a row in the context space, in row order; empty without one
    """

    vocabulary: Vocabulary
    tokens: tuple[str, ...]
    context_tags: tuple[str, ...]
    arrays: Arrays
    figures: Figures


def model_stamp(home: Path) -> IndexStamp | None:
    """The stamp of the trained model; its `encoder_digest` is the vocabulary's, its `kind` the model's origin."""
    return read_stamp(home / "index", NAME)


def model_folder(home: Path, stamp: IndexStamp) -> Path:
    """The folder with the files of a stamped model."""
    return home / "index" / stamp.place


def write_model(home: Path, model: Model, revision: int, state: str) -> IndexStamp:
    """Replace the trained model, in one step."""
    from safetensors.numpy import save_file

    def build(path: Path) -> IndexStamp:
        path.mkdir(parents=True)
        save_file(model.arrays, path / ARRAYS_FILE)
        vocabulary = model.vocabulary
        (path / VOCABULARY_FILE).write_text(
            json.dumps(
                {
                    "tags": [[t.tag, t.category, t.count, t.rating] for t in vocabulary.tags],
                    "aliases": vocabulary.aliases,
                    "tokens": model.tokens,
                    "context_tags": model.context_tags,
                },
                ensure_ascii=False,
            ),
            encoding="utf-8",
        )
        (path / FIGURES_FILE).write_text(json.dumps(asdict(model.figures), ensure_ascii=False, indent=1), "utf-8")
        kind = model.figures.origin
        return IndexStamp("", revision, state, FORMAT, len(model.tokens), vocabulary.digest, kind=kind)

    return replace_index(home / "index", NAME, build)


def read_model(home: Path, stamp: IndexStamp) -> Model:
    """Open a stamped model.

    raises  IndexOutOfDate when its files are damaged or of another version
    """
    import msgspec

    folder = model_folder(home, stamp)
    try:
        content = msgspec.json.decode((folder / VOCABULARY_FILE).read_bytes())
        vocabulary = Vocabulary(
            tuple(Tag(*row) for row in content["tags"]),
            {alias: tuple(tags) for alias, tags in content["aliases"].items()},
            (),
            stamp.encoder_digest,
        )
        return Model(
            vocabulary,
            tuple(content["tokens"]),
            tuple(content["context_tags"]),
            map_arrays(folder / ARRAYS_FILE),
            Figures(**json.loads((folder / FIGURES_FILE).read_bytes())),
        )
    except (OSError, ValueError, KeyError, TypeError, msgspec.DecodeError) as error:
        raise IndexOutOfDate(f"the tag model in {folder} cannot be read: {error}", fix=FIX) from error


def read_figures(home: Path, stamp: IndexStamp) -> Figures | None:
    """How a stamped model was made; None when that cannot be read."""
    try:
        return Figures(**json.loads((model_folder(home, stamp) / FIGURES_FILE).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
