"""The reader of claims with its own weights: what a passage says is likelier said by it than what it does not say."""

from pathlib import Path

import pytest

from kb.arrays import ReadClaims
from kb.errors import ModelError
from kb.reader.claims import KOREAN_CHARS, LATIN_CHARS, open_claims, read_claims, windows_of
from kb.reader.registry import READERS, open_claims_reader

ENGLISH = (
    "The night gate is closed at ten by the warden, who keeps both keys. Visitors may wait in the hall, but they must not "
    "bring bicycles. The hall was repainted in 2019 after the roof had leaked."
)
SAID = [
    "People who visit are allowed to wait in the hall.",
    "It is the warden who shuts the night gate.",
    "Bicycles aren't permitted in the hall.",
]
UNSAID = [
    "People who visit are required to wait in the hall.",
    "It is the visitors who shut the night gate.",
    "The roof leaked because the hall had been repainted.",
]
KOREAN = (
    "야간 출입문은 관리인이 열 시에 닫으며, 열쇠 두 개는 모두 관리인이 보관한다. 방문객은 홀에서 기다릴 수 있지만 자전거를 가지고 "
    "들어올 수 없다. 홀은 지붕에서 물이 샌 뒤 2019년에 다시 칠했다."
)
KOREAN_SAID = [
    "밤에 쓰는 출입문을 닫는 사람은 관리인입니다.",
    "방문객이 홀에서 기다려도 됩니다.",
    "열쇠 둘은 관리인이 가지고 있어요.",
]
KOREAN_UNSAID = [
    "밤에 쓰는 출입문을 닫는 사람은 방문객입니다.",
    "방문객은 홀에서 기다려야만 합니다.",
    "홀을 다시 칠했기 때문에 지붕에서 물이 샜습니다.",
]


@pytest.fixture(scope="module")
def read(encoder_cache: Path) -> ReadClaims:
    found = open_claims(encoder_cache, print)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "said", "unsaid"), [(ENGLISH, SAID, UNSAID), (KOREAN, KOREAN_SAID, KOREAN_UNSAID)], ids=["en", "ko"]
)
def test_what_a_passage_says_is_likelier_than_what_it_does_not(
    read: ReadClaims, text: str, said: list[str], unsaid: list[str]
) -> None:
    found = read([(claim, (text,)) for claim in (*said, *unsaid)])
    assert all(p is not None and 0.0 <= p <= 1.0 for p in found)
    likely, unlikely = [p or 0.0 for p in found[: len(said)]], [p or 0.0 for p in found[len(said) :]]
    pairs = [a > b for a in likely for b in unlikely]
    # It is wrong of one pair in ten of written answers, and of more where the sentences are as near to each other as here.
    assert sum(pairs) >= 2 / 3 * len(pairs), (likely, unlikely)


def test_a_claim_is_read_alone(read: ReadClaims) -> None:
    alone = read([(SAID[0], (ENGLISH,))])
    assert read([(UNSAID[0], (ENGLISH,)), (SAID[0], (ENGLISH, "Night gates"))])[0] == read([(UNSAID[0], (ENGLISH,))])[0]
    assert read([(KOREAN_SAID[0], (KOREAN,)), (SAID[0], (ENGLISH,))])[1:] == alone
    assert read([]) == []


def test_a_language_that_it_has_not_learnt_is_not_read(read: ReadClaims) -> None:
    assert read([("鏡はどのくらいの頻度で掃除しますか", (ENGLISH,))]) == [None]


def test_no_question_is_read_by_it() -> None:
    assert "kb-claims" not in READERS


def test_without_its_weights_the_user_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kb.reader.trained.CLAIMS_WEIGHTS", tmp_path / "claims.npz")
    told: list[str] = []
    assert open_claims(tmp_path, told.append) is None
    assert "checking answers without a reader of claims" in told[0]
    assert "kb-claims is not installed" in told[0]


def test_damaged_weights_are_told_and_nothing_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "claims.npz").write_bytes(b"cut")
    monkeypatch.setattr("kb.reader.trained.CLAIMS_WEIGHTS", tmp_path / "claims.npz")
    told: list[str] = []
    reader = open_claims_reader(tmp_path)
    with pytest.raises(ModelError):
        reader.score(SAID[0], [ENGLISH])
    assert read_claims(reader, [(SAID[0], (ENGLISH,))], told.append) == [None]
    assert told[0] == "preparing the reader kb-claims (once per model)…"
    assert told[1].startswith("note: checking answers without a reader of claims")


def test_only_a_stretch_of_a_long_passage_is_read() -> None:
    long = "The shed is locked. " * 100 + ENGLISH + " The shed is locked." * 100
    assert SAID[1] not in long
    found = windows_of(SAID[1], (long, "Gates"))
    assert "closed at ten by the warden" in found
    assert found.endswith("\nGates")
    assert len(found) <= LATIN_CHARS + len("\nGates")
    # Two passages share the room.
    both = windows_of(SAID[1], (long, long))
    assert both.count("closed at ten by the warden") == 2
    assert len(both) <= LATIN_CHARS + 1
    assert len(windows_of(KOREAN_SAID[0], (KOREAN * 20,))) <= KOREAN_CHARS
