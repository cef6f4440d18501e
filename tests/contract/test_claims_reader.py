"""The reader of claims with its own weights: what a passage says is likelier said by it than what it does not say."""

from pathlib import Path

import pytest

from kb.arrays import ReadClaims
from kb.ask.verify import has_tick, verify
from kb.errors import ModelError
from kb.reader.claims import KOREAN_CHARS, LATIN_CHARS, open_claims, read_claims, windows_of
from kb.reader.registry import READERS, open_claims_reader
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
UNSAID = "The warden cleans the hall every night."


@pytest.fixture(scope="module")
def read(encoder_cache: Path) -> ReadClaims:
    found = open_claims(encoder_cache, print)
    assert found is not None
    return found


def test_no_lie_has_a_tick_with_the_reader_and_few_true_answers_are_doubted(read: ReadClaims) -> None:
    assert [text for text in LIES if has_tick(verify(text, PASSAGES, None, read).verification)] == []
    doubted = [text for text in TRUTHS if not has_tick(verify(text, PASSAGES, None, read).verification)]
    assert len(doubted) <= len(TRUTHS) / 8, doubted


def test_what_a_passage_says_is_likelier_than_what_it_does_not(read: ReadClaims) -> None:
    said, unsaid = read([(SAID, (ENGLISH,)), (UNSAID, (ENGLISH,))])
    korean, foreign = read([(KOREAN_SAID, (KOREAN,)), (KOREAN_SAID, ("비가 오면 경기는 다음 날로 미룬다.",))])
    assert said is not None
    assert unsaid is not None
    assert 0.0 <= unsaid < said <= 1.0
    assert korean is not None
    assert foreign is not None
    assert foreign < korean


def test_a_claim_is_read_alone(read: ReadClaims) -> None:
    alone = read([(SAID, (ENGLISH,))])
    assert read([(UNSAID, (ENGLISH,)), (SAID, (ENGLISH, "Night gates"))])[0] == read([(UNSAID, (ENGLISH,))])[0]
    assert read([(KOREAN_SAID, (KOREAN,)), (SAID, (ENGLISH,))])[1:] == alone
    assert read([]) == []


def test_a_language_that_it_has_not_learnt_is_not_read(read: ReadClaims) -> None:
    assert read([("鏡はどのくらいの頻度で掃除しますか", (ENGLISH,))]) == [None]


def test_a_process_opens_it_once(encoder_cache: Path) -> None:
    assert open_claims_reader(encoder_cache) is open_claims_reader(encoder_cache)


def test_no_question_is_read_by_it() -> None:
    assert "kb-claims" not in READERS


def test_without_its_weights_the_user_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kb.reader.trained.CLAIMS_WEIGHTS", tmp_path / "claims.npz")
    told: list[str] = []
    assert open_claims(tmp_path, told.append) is None
    assert "checking answers without a reader of claims" in told[0]
    assert "kb-claims is not installed" in told[0]
    assert "set reader.claims = false" in told[0]


def test_damaged_weights_are_told_and_nothing_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "claims.npz").write_bytes(b"cut")
    monkeypatch.setattr("kb.reader.trained.CLAIMS_WEIGHTS", tmp_path / "claims.npz")
    told: list[str] = []
    reader = open_claims_reader(tmp_path)
    with pytest.raises(ModelError):
        reader.score(SAID, [ENGLISH])
    assert read_claims(reader, [(SAID, (ENGLISH,))], told.append) == [None]
    assert told[0] == "preparing the reader kb-claims (once per model)…"
    assert told[1].startswith("note: checking answers without a reader of claims")


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
