"""The files of the larger English readers: numbers in 4 bits, the graph of an MPNet, and its token ids; transformers' MPNet is the oracle."""

from pathlib import Path

import numpy as np
import pytest

from kb.embed.graphs import GRAPH, open_graph, save_optimized
from kb.embed.tokens import load_tokenizer
from kb.reader.mpnet import mpnet_ids
from kb.reader.mpnet_weights import (
    BLOCK,
    DOWN,
    HEADS,
    LAYERS,
    MPNET_WEIGHTS,
    PLACES,
    QUESTIONS,
    SCALE,
    UP,
    WIDTH,
    WORDS,
    from_blocks,
    load_mpnet,
    nearness_buckets,
    save_mpnet,
    to_blocks,
    write_mpnet_graph,
)
from kb.reader.packaged import packaged_folder


def test_numbers_in_4_bits_come_back_within_half_a_step() -> None:
    rng = np.random.default_rng(3)
    matrix = (rng.normal(size=(40, 4 * BLOCK)) * np.logspace(-3, 2, 40)[:, None]).astype(np.float32)
    packed, scales = to_blocks(matrix)
    assert (packed.dtype, packed.shape, scales.shape) == (np.uint8, (40, 2 * BLOCK), (40, 4))
    blocks, found = (values.reshape(40, 4, BLOCK) for values in (matrix, from_blocks(packed, scales)))
    # The best scale may cut the largest number of a block, which costs less than it gains for the others.
    coarsest = np.abs(blocks).max(axis=2) / 7
    assert (np.sqrt(np.square(found - blocks).mean(axis=2)) <= coarsest / 2).all()


def test_numbers_that_4_bits_hold_come_back_as_they_were() -> None:
    rng = np.random.default_rng(4)
    whole = rng.integers(-8, 8, size=(6, 2 * BLOCK)).astype(np.float32)
    whole[:, ::BLOCK] = -8
    whole[2] = 0
    packed, scales = to_blocks(whole * 0.25)
    assert np.array_equal(from_blocks(packed, scales), whole * 0.25)
    again = to_blocks(from_blocks(packed, scales))
    assert np.array_equal(again[0][:2], packed[:2])
    # More axes before the last: rows that are looked up.
    rows = np.array([[0, 5], [3, 3]])
    assert np.array_equal(from_blocks(packed[rows], scales[rows]), (whole * 0.25)[rows])


def test_matrices_alone_are_kept_in_4_bits(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    kept = {
        "a.weight": rng.normal(size=(8, BLOCK)).astype(np.float32),
        "a.bias": rng.normal(size=8).astype(np.float32),
        "score.weight": rng.normal(size=(1, BLOCK)).astype(np.float32),
    }
    save_mpnet(kept, tmp_path / "own.npz")
    found = load_mpnet(tmp_path / "own.npz")
    assert set(found) == {*kept, "a.weight" + SCALE}
    assert np.array_equal(found["a.bias"], kept["a.bias"])
    assert np.array_equal(found["score.weight"], kept["score.weight"])


def test_buckets_of_nearness_are_those_of_mpnet() -> None:
    torch, mpnet = pytest.importorskip("torch"), pytest.importorskip("transformers.models.mpnet.modeling_mpnet")
    length = 320
    ahead = torch.arange(length)[None, :] - torch.arange(length)[:, None]
    expected = mpnet.MPNetEncoder.relative_position_bucket(ahead, num_buckets=32).numpy()
    assert np.array_equal(nearness_buckets(length), expected)


@pytest.mark.parametrize("files", [(MPNET_WEIGHTS,), (MPNET_WEIGHTS, QUESTIONS)], ids=["claims", "questions"])
def test_the_graph_computes_what_mpnet_computes(files: tuple[Path, ...], tmp_path: Path) -> None:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    weights = {name: value for file in files for name, value in load_mpnet(file).items()}
    config = transformers.MPNetConfig(
        vocab_size=len(weights[WORDS]), num_hidden_layers=LAYERS, max_position_embeddings=514, num_labels=1
    )
    assert (config.hidden_size, config.num_attention_heads) == (WIDTH, HEADS)
    model = transformers.MPNetForSequenceClassification(config).eval()
    state = {name: torch.tensor(value) for name, value in as_mpnet(weights).items()}
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert ([name for name in missing if not name.endswith("position_ids")], unexpected) == ([], [])

    write_mpnet_graph(weights, 64, tmp_path / "raw.onnx")
    save_optimized(tmp_path / "raw.onnx", tmp_path)
    session = open_graph(tmp_path / GRAPH, is_final=True, is_prepacked=True)
    rng = np.random.default_rng(6)
    ids, mask = rng.integers(5, 30000, size=(6, 64)), np.ones((6, 64), dtype=np.int64)
    ids[:, 0], ids[2, 40:], mask[2, 40:] = 0, 1, 0
    words = from_blocks(weights[WORDS][ids], weights[WORDS + SCALE][ids]) + weights[PLACES][:64].astype(np.float32)
    (found,) = session.run(None, {"words": words, "attention_mask": mask})
    with torch.no_grad():
        expected = model(input_ids=torch.tensor(ids), attention_mask=torch.tensor(mask)).logits.numpy()
    # What is multiplied is in 8 bits there, in 32 here.
    assert np.abs(found - expected).max() < 0.1 * np.abs(expected).max()
    assert np.corrcoef(found[:, 0], expected[:, 0])[0, 1] > 0.99


def as_mpnet(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The file's arrays by the names of transformers' MPNetForSequenceClassification, in float32."""
    names = {
        "attention.self.query": "attention.attn.q",
        "attention.self.key": "attention.attn.k",
        "attention.self.value": "attention.attn.v",
        "attention.output.dense": "attention.attn.o",
        "attention.output.LayerNorm": "attention.LayerNorm",
    }
    whole = {
        name: from_blocks(value, weights[name + SCALE]) if name + SCALE in weights else value.astype(np.float32)
        for name, value in weights.items()
        if not name.endswith(SCALE)
    }
    found = {}
    for name, full in whole.items():
        if name.endswith((DOWN, UP)):
            continue
        beside = name.removesuffix(".weight")
        if name.endswith(".weight") and f"{beside}.{DOWN}" in whole:
            full = full + whole[f"{beside}.{UP}"] @ whole[f"{beside}.{DOWN}"]
        for own, other in names.items():
            name = name.replace(own, other)
        found[f"mpnet.{name}" if name.startswith(("encoder", "embeddings")) else name] = full
    before = np.zeros((2, WIDTH), dtype=np.float32)
    found["mpnet.embeddings.position_embeddings.weight"] = np.concatenate([before, found.pop(f"mpnet.{PLACES}")])
    found["mpnet.embeddings.word_embeddings.weight"] = found.pop(f"mpnet.{WORDS}")
    found["mpnet.encoder.relative_attention_bias.weight"] = found.pop("nearness")
    for own, other in (("pool", "classifier.dense"), ("score", "classifier.out_proj")):
        for part in ("weight", "bias"):
            found[f"{other}.{part}"] = found.pop(f"{own}.{part}")
    return found


def test_token_ids_of_a_pair_with_marks_in_it() -> None:
    folder = packaged_folder()
    assert folder is not None
    row = load_tokenizer(folder).encode("Is [SEP] a mark?", "So is [CLS].")
    ids = mpnet_ids(row.ids, row.type_ids)
    assert ids[0] == 0
    assert ids[-1] == 2
    assert len(ids) == len(row.ids) + 1
    second = row.type_ids.index(1)
    assert ids[second - 1 : second + 1] == [2, 2]
    assert mpnet_ids([101, 7, 102, 102], [0, 0, 0, 1]) == [0, 11, 2, 2, 2]
