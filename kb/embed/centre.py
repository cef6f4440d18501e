"""What the vectors of unrelated texts have in common: subtracted where sentences are compared, and in part from a query.

Encoders of the E5 family were trained at a low temperature: unrelated sentences have cosines of .7 to .85, equal ones 1. Less
their mean, the vectors of unrelated sentences stand at right angles again, and one threshold serves every encoder.

Korean questions have their form and their language in common, and passages that happen to be near to those are found for
everything that is asked. Less a part of that, a question asks for its subject (`benchmarks/centre.py`). English ones gained nothing by it.

source  Mu & Viswanath: All-but-the-Top, ICLR 2018 (the first of its two steps); Libovický, Rosa & Fraser: On the Language
        Neutrality of Pre-trained Multilingual Representations, EMNLP Findings 2020 (a mean for each language)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kb.arrays import FloatMatrix, FloatVector
from kb.embed.batches import unit_rows
from kb.embed.everyday_questions import KOREAN

FILE = "centre.npy"
# A row for each language of QUESTIONS.
QUESTIONS_FILE = "questions.npy"
QUESTIONS = {"ko": KOREAN}
# Share of the mean that a query loses: across languages .7 finds a little more, within Korean .4 to .7 are alike (`benchmarks/centre.py`).
LOST_SHARE = 0.6
# Below this length the mean of unrelated sentences means nothing: MiniLM's has .25, E5's .9.
SHORTEST_CENTRE = 0.5

# Our own sentences, each about another matter.
unrelated_sentences = (
    "The train to the coast leaves at nine.",
    "Bread rises faster in a warm kitchen.",
    "The committee approved the new budget.",
    "A server restarts after the update.",
    "How many players are in a team?",
    "The patient was given a lower dose.",
    "Copper conducts electricity well.",
    "She painted the old fence green.",
    "Where is the spare key kept?",
    "The contract ends in December.",
    "Bees dance to show the way to flowers.",
    "The function returns a list of numbers.",
    "버스는 십 분마다 옵니다.",
    "김치는 발효 식품입니다.",
    "이 함수는 오류를 반환합니다.",
    "회의는 내일로 미뤄졌습니다.",
    "별은 왜 반짝이나요?",
    "환불은 영수증이 있어야 가능합니다.",
    "강아지가 마당에서 뛰어놀고 있다.",
    "새 지붕은 비를 잘 막는다.",
    "설정 파일은 어디에 있나요?",
    "Der Zug hat eine Stunde Verspätung.",
    "El río baja lleno después de la lluvia.",
    "Le musée est fermé le lundi.",
    "この本は図書館で借りられます。",
    "这座桥建于一百年前。",
    "Погода завтра будет ясной.",
)


def write_centre(encode: Callable[[Sequence[str]], FloatMatrix], folder: Path) -> None:
    """Write the means of the unrelated sentences and of each language's questions, where they are long enough to matter.

    encode  texts → (n, d) unit rows
    """
    import numpy as np

    centre = encode(unrelated_sentences).mean(axis=0)
    if float(np.linalg.norm(centre)) >= SHORTEST_CENTRE:
        np.save(folder / FILE, centre)
        np.save(folder / QUESTIONS_FILE, np.stack([encode(texts).mean(axis=0) for texts in QUESTIONS.values()]))


def read_centre(folder: Path) -> Any:
    """The written mean, (d,) float32; None where there is none."""
    import numpy as np

    path = folder / FILE
    return np.load(path) if path.is_file() else None


def read_question_means(folder: Path) -> dict[str, FloatVector]:
    """Language code → the written mean of its questions, (d,) float32; empty where there is none."""
    import numpy as np

    path = folder / QUESTIONS_FILE
    return dict(zip(QUESTIONS, np.load(path), strict=True)) if path.is_file() else {}


def without_form(query: FloatVector, mean: FloatVector) -> FloatVector:
    """A query's vector less a part of what questions of its language have in common, (d,) float32, of unit length."""
    less: FloatVector = unit_rows((query - LOST_SHARE * mean)[None])[0]
    return less


def centred(vectors: FloatMatrix, centre: Any) -> FloatMatrix:
    """The rows less the mean, of unit length; a row of zeros, for a text without a vector, stays zeros."""
    import numpy as np

    return unit_rows(np.where(vectors.any(axis=1, keepdims=True), vectors - centre, np.float32(0)))
