"""The readers of claims with their own weights: what a passage says is likelier said by it than what it does not say."""

from pathlib import Path

import pytest

from kb.arrays import ReadClaims
from kb.ask.verify import has_tick, stands, verify
from kb.errors import ModelError
from kb.reader.claims import KOREAN_CHARS, LATIN_CHARS, open_claims, read_claims, windows_of
from kb.reader.registry import (
    CLAIMS_READER,
    CLAIMS_READERS,
    ENGLISH_CLAIMS_READER,
    READERS,
    open_claims_reader,
    open_reader,
)
from tests.unit.test_verdict import LIES, PASSAGES, TRUTHS

ENGLISH = (
    "The night gate is closed at ten by the warden, who keeps both keys. Visitors may wait in the hall, but they must not "
    "bring bicycles. The hall was repainted in 2019 after the roof had leaked."
)
SAID = "It is the warden who shuts the night gate."
KOREAN = (
    "야간 출입문은 관리인이 열 시에 닫으며, 열쇠 두 개는 모두 관리인이 보관한다. 방문객은 홀에서 기다릴 수 있지만 자전거를 가지고 "
    "들어올 수 없다. 홀은 지붕에서 물이 샌 뒤 2019년에 다시 칠했다."
)
KOREAN_SAID = "열쇠 둘은 관리인이 가지고 있어요."
KOREAN_UNSAID = "방문객은 홀에 자전거를 세워 둘 수 있다."
UNSAID = "The warden cleans the hall every night."


@pytest.fixture(scope="module")
def read(encoder_cache: Path) -> ReadClaims:
    found = open_claims(encoder_cache, print)
    assert found is not None
    return found


def test_no_lie_stands_with_the_reader_and_no_true_answer_is_doubted(read: ReadClaims) -> None:
    assert [text for text in LIES if stands(verify(text, PASSAGES, None, read).verification)] == []
    told = {text: verify(text, PASSAGES, None, read).verification for text in TRUTHS}
    assert [text for text, found in told.items() if not stands(found)] == []
    without_a_tick = [text for text, found in told.items() if not has_tick(found)]
    # What is said in other words is likely: a tick is for what a reader of claims is hardly ever wrong about.
    assert len(without_a_tick) <= len(TRUTHS) / 2, without_a_tick


def test_what_a_passage_says_is_likelier_than_what_it_does_not(read: ReadClaims) -> None:
    said, unsaid = read([(SAID, (ENGLISH,)), (UNSAID, (ENGLISH,))])
    korean, foreign = read([(KOREAN_SAID, (KOREAN,)), (KOREAN_SAID, ("비가 오면 경기는 다음 날로 미룬다.",))])
    assert said is not None
    assert unsaid is not None
    assert 0.0 <= unsaid < said <= 1.0
    assert korean is not None
    assert foreign is not None
    assert foreign < korean


@pytest.mark.parametrize("model", CLAIMS_READERS)
def test_each_reader_by_itself(model: str, encoder_cache: Path) -> None:
    reader = open_claims_reader(model, encoder_cache)
    assert reader.score(UNSAID, [ENGLISH])[0] < reader.score(SAID, [ENGLISH])[0]
    # Only the text is cut where both are too long.
    assert reader.score(SAID, [ENGLISH * 20]) == reader.score(SAID, [ENGLISH * 20 + " A hall."])


def test_a_claim_is_read_by_the_first_that_knows_its_language_and_that_of_its_texts(encoder_cache: Path) -> None:
    english, both = (open_claims_reader(model, encoder_cache) for model in CLAIMS_READERS)
    pairs = [(SAID, (ENGLISH,)), (KOREAN_SAID, (KOREAN,)), (SAID, (KOREAN,))]
    told: list[str] = []
    assert read_claims([english, both], pairs[1:], told.append) == read_claims([both], pairs[1:], told.append)
    assert read_claims([english, both], pairs[:1], told.append) == read_claims([english], pairs[:1], told.append)
    assert told == []
    # Only a Korean claim lacks a reader that is not installed.
    assert read_claims(
        [english], [("鏡はどのくらいの頻度で掃除しますか", ("鏡は毎日掃除します。",))], told.append, "lacking"
    ) == [None]
    assert read_claims(
        [english],
        [*pairs[:1], ("Die Halle ist kalt, schön und groß.", ("größere Wörter ÄÖÜ",))],
        told.append,
        "lacking",
    )[0]
    assert told == []
    assert read_claims([english], pairs[1:], told.append, "lacking") == [None, None]
    assert told == ["lacking"]


def test_a_claim_is_read_alone(read: ReadClaims) -> None:
    alone = read([(SAID, (ENGLISH,))])
    assert read([(UNSAID, (ENGLISH,)), (SAID, (ENGLISH, "Night gates"))])[0] == read([(UNSAID, (ENGLISH,))])[0]
    assert read([(KOREAN_SAID, (KOREAN,)), (SAID, (ENGLISH,))])[1:] == alone
    assert read([]) == []


def test_a_language_that_it_has_not_learnt_is_not_read(read: ReadClaims) -> None:
    assert read([("鏡はどのくらいの頻度で掃除しますか", (ENGLISH,))]) == [None]


def test_the_english_reader_is_another_one_than_that_of_questions(encoder_cache: Path, tmp_path: Path) -> None:
    claims = open_claims_reader(ENGLISH_CLAIMS_READER, encoder_cache)
    questions = open_reader("ms-marco-MiniLM-L-12-v2", tmp_path)
    assert claims.digest != questions.digest
    assert not questions.needs_preparing()
    # It reads on where that of questions has stopped.
    sheds = "The shed is locked and the key is gone. " * 20
    assert claims.score(SAID, [sheds + ENGLISH])[0] > claims.score(SAID, [sheds])[0] + 1


@pytest.mark.parametrize("model", CLAIMS_READERS)
def test_a_process_opens_it_once(model: str, encoder_cache: Path) -> None:
    assert open_claims_reader(model, encoder_cache) is open_claims_reader(model, encoder_cache)


def test_no_question_is_read_by_them() -> None:
    assert not set(CLAIMS_READERS) & set(READERS)


WEIGHTS_OF = {
    ENGLISH_CLAIMS_READER: "kb.reader.mpnet.MPNET_WEIGHTS",
    CLAIMS_READER: "kb.reader.trained.CLAIMS_WEIGHTS",
}


def test_without_any_weights_the_user_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in WEIGHTS_OF.values():
        monkeypatch.setattr(place, tmp_path / "claims.npz")
    told: list[str] = []
    assert open_claims(tmp_path, told.append) is None
    assert "checking answers without a reader of claims" in told[0]
    assert "is not installed" in told[0]
    assert "set reader.claims = false" in told[0]


def test_without_the_korean_reader_only_korean_answers_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    open_claims_reader(ENGLISH_CLAIMS_READER, tmp_path).score(SAID, [ENGLISH])
    monkeypatch.setattr(WEIGHTS_OF[CLAIMS_READER], tmp_path / "claims.npz")
    read = open_claims(tmp_path, told.append)
    assert read is not None
    assert read([(SAID, (ENGLISH,))])[0] is not None
    assert told == []
    assert read([(KOREAN_SAID, (KOREAN,))]) == [None]
    assert len(told) == 1
    assert "the reader kb-claims is not installed" in told[0]


@pytest.mark.parametrize("model", CLAIMS_READERS)
def test_damaged_weights_are_told_and_nothing_is_read(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "claims.npz").write_bytes(b"cut")
    monkeypatch.setattr(WEIGHTS_OF[model], tmp_path / "claims.npz")
    told: list[str] = []
    reader = open_claims_reader(model, tmp_path)
    with pytest.raises(ModelError):
        reader.score(SAID, [ENGLISH])
    assert read_claims([reader], [(SAID, (ENGLISH,))], told.append) == [None]
    assert told[0] == f"preparing the reader {model} (once per model)…"
    assert told[1].startswith("note: checking answers without a reader of claims")
    assert "set reader.claims = false" in told[1]
    # Another one reads instead.
    other = open_claims_reader(next(name for name in CLAIMS_READERS if name != model), tmp_path)
    assert read_claims([reader, other], [(SAID, (ENGLISH,))], told.append) == read_claims(
        [other], [(SAID, (ENGLISH,))], print
    )


def test_only_a_stretch_of_a_long_passage_is_read() -> None:
    long = "The shed is locked. " * 100 + ENGLISH + " The shed is locked." * 100
    assert SAID not in long
    found = windows_of(SAID, (long, "Gates"))
    assert "closed at ten by the warden" in found
    assert found.endswith("\nGates")
    assert len(found) <= LATIN_CHARS + len("\nGates")
    # Two passages share the room.
    both = windows_of(SAID, (long, long))
    assert both.count("closed at ten by the warden") == 2
    assert len(both) <= LATIN_CHARS + 1
    assert len(windows_of(KOREAN_SAID, (KOREAN * 20,))) <= KOREAN_CHARS
