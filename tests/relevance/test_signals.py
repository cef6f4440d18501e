"""Signals and mode of prompts, English and Korean, with the technical terms that look like them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kb.language.manner import has_implicit_reference, is_errand, is_greeting, is_small_talk, is_urgent, tidy
from kb.relevance.read_rules import default_rules
from kb.relevance.rules import RETURNING
from kb.relevance.signals import (
    MODES_WITHOUT_RETRIEVAL,
    RETURNING_AFTER_SECONDS,
    SIGNAL_NAMES,
    Conversation,
    choose_mode,
    compute_signals,
    measure_silence,
    measure_warmth,
)

NEW = Conversation()
WARM = Conversation(turns=3, gist_count=2, fact_count=1)

GREETINGS = """Hey! | hi there | Hello, what is ownership? | good morning | What’s up? | heyyy | HOWDY | Yo | greetings, all
안녕 | 안녕하세요! | 안녕하세요, 소유권이 뭐예요? | 하이 | 헬로 | 좋은 아침이에요 | 반갑습니다 | ㅎㅇㅎㅇ | 오랜만이에요"""
NO_GREETINGS = """hi-fi amplifiers | hello world in Rust | history of Rust | youth | support matrix | heyday | hiatus | say hello in Korean
안녕이라는 말의 뜻 | 하이퍼링크 설정 | 하이브리드 검색 | 반가사유상 | 좋은 코드란 | supervisor | high availability"""

COURTESIES = """Hey! | hi there | thanks! | thank you so much | thx | ok | Okay, got it. | great, thanks | I see | makes sense | sounds good
perfect 👍 | 👍 | 🙏🙏 | bye | see you later | good night | thanks for your help | that's all | no problem | never mind | how are you? | yes | nope
hello! how are you doing today? | lol | that works now, thanks a lot | ok bye | what's up? | :) | ^^ | you're welcome | good job | that's perfect
안녕하세요! | 고마워 | 고맙습니다! | 감사합니다~ | 네, 감사합니다 | 넵 | 알겠습니다 | 알겠어요, 고마워요 | 이해했습니다 | 좋아요 | 오키 | ㅇㅋ | ㄱㅅ | ㅋㅋㅋ
Morning! | Cheers mate | Awesome, thanks a ton | Perfect, exactly what I needed | that was helpful | Yes please | Talk to you later | interesting
thanks for clarifying | have a nice evening | good luck | I agree | glad to hear that | congrats! | 완전 이해했어요 | 좋은 설명 감사합니다 | 잘자 | 축하해요
Sorry, my mistake | sounds great | I appreciate your help | 좋은 하루 되세요 | 다음에 또 봐요 | 잘했어 | 고마워요 덕분에 해결됐어요 | 대단하네요 | 굿굿
수고하세요 | 안녕히 계세요 | 잘 가 | 내일 봐요 | 잘 자 | 정말 감사합니다 | 도움이 됐어요 | 아니요 괜찮습니다 | 그렇군요 | 네네 | 완벽해요! | 반가워요 | 잘 지내셨어요?"""
NO_COURTESIES = """hi, what is ownership? | thanks, but why does it fail? | ok google | ownership | what is a great circle | how are vectors stored?
good practices | see also | right join | no such file | all reduce | cool down period | sure thing protocol | hello world | nice value of a process
good morning, open the mirror log | ? | ... | | yes but which version | the answer | again how does the borrow checker work | kb status codes
안녕하세요 질문 있어요 소유권이 뭐죠 | 네이버 | 네트워크 | 예외 처리 | is this a good idea | the answer is no such thing | very much | that one | and? | really | was it good | have a look at the mirror | 하루 | 좋은 하루를 보내는 방법
thank you letter template | good first issues | will it work right | agreed price | deal with errors | 좋은 관측 조건 | 고마운 사람들 | 완벽한 해시 | 내일 날씨
more time for help | kb | the help | good information retrieval | right answers in Python | 좋은 아침을 뜻하는 말 | 감사 로그 | 감사 보고서 | 이해관계자 | 확인 절차 | 바이트 | 하이네"""

REFERENCES = """you said it was fast | what about Windows? | and for Windows? | as we discussed | last time you mentioned Tantivy | why not? | is that safe?
do you remember the mirror? | does it work on Linux? | how about the second one | tell me more | the previous answer | so how do I clean it? | what are those?
아까 말한 거 | 지난번에 본 문서 | 그건 왜 그래? | 그럼 윈도우는? | 윈도우는요? | 방금 그 답 | 그거 어떻게 써? | 리눅스는 어때? | 말했던 함수 | 왜? | 이전 질문"""
NO_REFERENCES = """How often must the mirror be cleaned? | What is the borrow checker? | is it possible to drop a value early? | remember me cookie
how is that trait implemented for vectors? | time series database | explain ownership | the last element of a list | copying and moving
거울은 얼마나 자주 청소해야 하나요? | 소유권이란 무엇인가요? | 기억 장치의 종류 | 바그거 | 말뭉치 | 그래프 탐색 | 이것저것 살펴보는 카메라 설정 | 그림자 지도는 무엇인가요?"""

URGENT = """I need this ASAP | it's urgent | URGENT: the mirror cracked | urgent! | please help, production is down | the server is down! | this is an emergency
I urgently need the manual | I'm in a hurry, how do I clean it? | fix this right now! | this is really urgent, what is the code? | answer immediately
급해요 | 정말 급합니다 도와주세요 | 긴급: 서버 점검 | 긴급 상황입니다 | 지금 당장 필요해요 | 빨리 알려줘 | 서버가 죽었어요 | 좀 급한데요 | 시급합니다"""
NOT_URGENT = """What is the TCP urgent pointer? | immediately invoked function | critical section | emergency exits in the building | what happens when the server is down?
right now in Rust editions | urgent data flag | how do I hurry a future? | is the emergency stop documented? | the database is down in which chapter
돈을 지급해요 | 전기를 공급합니다 | 인증서를 발급하는 방법 | 긴급재난문자란? | 서버가 죽었을 때 어떻게 되나요? | 최저 시급 계산 | 빨리 정렬 알고리즘 | 등급해제"""

ERRANDS = """remember that the mirror is cleaned on Mondays | please remember my name is Kim | forget fact 3 | ingest ~/notes | reindex | kb status
can you open docs/guide.md | delete my notes about mirrors | back up the knowledge base | remind me to clean it | add milk to my shopping list
run `kb doctor` | hey kb, remember: 42 | list my facts | mark cleaning the mirror as done | export all my notes | take a note
create a backup | run a backup now. | update the index | tick off milk on my list | README.md 열어줘 | 할 일 목록에 보고서 작성 추가 | 이름은 민수야 기억해
기억해 줘: 거울은 월요일 | 내 생일은 3월이라고 기억해줘 | 사실 3번 잊어줘 | 색인을 다시 만들어줘 | 백업해 주세요 | 이 문서를 열어줘 | 할 일에 우유 사기 추가해줘"""
NO_ERRANDS = """how do I remember a password? | remember when we spoke? | open a file in Python | delete files older than a week | list the differences | backup strategies
import statement in Python | note taking apps | forget gate in LSTM | add an index to a table | index maintenance | kb is short for kilobyte
show the advantages of RRF | remove an element from a list | tag retrieval | ingest pipelines | create a backup script | update the index of an array | make the backup plan | how does kb ingest work? | list files in a folder in bash
기억 장치란? | 백업 전략은 무엇인가요? | 색인 구조 | 파일을 여는 방법 | 문서를 삭제하면 어떻게 되나요? | 파이썬에서 리스트에 원소를 추가하는 법 | 잊어버리기 곡선"""


def cases(yes: str, no: str) -> list[tuple[str, bool]]:
    return [
        (p.strip(), wanted) for text, wanted in ((yes, True), (no, False)) for p in text.replace("\n", "|").split("|")
    ]


@pytest.mark.parametrize(("prompt", "wanted"), cases(GREETINGS, NO_GREETINGS))
def test_greetings(prompt: str, wanted: bool) -> None:
    assert is_greeting(tidy(prompt)) is wanted


@pytest.mark.parametrize(("prompt", "wanted"), cases(COURTESIES, NO_COURTESIES))
def test_courtesies(prompt: str, wanted: bool) -> None:
    assert is_small_talk(tidy(prompt)) is wanted


@pytest.mark.parametrize(("prompt", "wanted"), cases(REFERENCES, NO_REFERENCES))
def test_implicit_references(prompt: str, wanted: bool) -> None:
    assert has_implicit_reference(tidy(prompt)) is wanted


@pytest.mark.parametrize(("prompt", "wanted"), cases(URGENT, NOT_URGENT))
def test_urgency(prompt: str, wanted: bool) -> None:
    assert is_urgent(tidy(prompt)) is wanted
    assert compute_signals(prompt, NEW).urgency == ("high" if wanted else "normal")


@pytest.mark.parametrize(("prompt", "wanted"), cases(ERRANDS, NO_ERRANDS))
def test_errands(prompt: str, wanted: bool) -> None:
    assert is_errand(tidy(prompt)) is wanted
    signals = compute_signals(prompt, NEW)
    assert signals.intent_needs_tools is wanted
    assert not wanted or signals.tool_relevance_score == 1.0


@pytest.mark.parametrize(
    ("prompt", "conversation", "mode"),
    [
        ("Hey!", NEW, "ACKNOWLEDGE"),
        ("Hey!", WARM, "ACKNOWLEDGE"),
        ("thanks a lot", WARM, "ACKNOWLEDGE"),
        ("고마워요!", WARM, "ACKNOWLEDGE"),
        ("👍", NEW, "ACKNOWLEDGE"),
        ("remember that the mirror is round", NEW, "ACT"),
        ("거울은 둥글다고 기억해줘", NEW, "ACT"),
        ("what about it?", NEW, "CLARIFY"),
        ("what about it?", WARM, "RESPOND"),
        ("it doesn't work", NEW, "CLARIFY"),
        ("the second one", NEW, "CLARIFY"),
        ("왜 그런가요?", NEW, "CLARIFY"),
        ("what can you do?", NEW, "RESPOND"),
        ("무엇을 할 수 있어?", NEW, "RESPOND"),
        ("why?", NEW, "CLARIFY"),
        ("???", NEW, "CLARIFY"),
        ("그건 왜?", NEW, "CLARIFY"),
        ("더 자세히 설명해줘", NEW, "CLARIFY"),
        ("더 자세히 설명해줘", WARM, "RESPOND"),
        ("ownership", NEW, "RESPOND"),
        ("소유권", NEW, "RESPOND"),
        ("hello, what is ownership?", NEW, "RESPOND"),
        ("and for Windows?", WARM, "RESPOND"),
        ("C++", NEW, "RESPOND"),
        ("How often must the mirror be cleaned?", NEW, "RESPOND"),
    ],
)
def test_the_mode_is_chosen_by_rules_and_a_hint_overrides_it(
    prompt: str, conversation: Conversation, mode: str
) -> None:
    signals = compute_signals(prompt, conversation)
    assert choose_mode(signals).mode == mode
    assert choose_mode(signals, "TRIAGE").mode == "TRIAGE"
    assert mode in default_rules().masks
    assert (mode in MODES_WITHOUT_RETRIEVAL) is (mode == "ACKNOWLEDGE")


@pytest.mark.parametrize(
    ("prompt", "tokens", "density"),
    [
        ("", 0, 0.0),
        ("Hey!", 1, 1.0),
        ("the the THE cat", 4, 0.5),
        ("거울 거울 청소", 3, 2 / 3),
        ("  a\tb\n c ", 3, 1.0),
    ],
)
def test_counts_are_the_originals(prompt: str, tokens: int, density: float) -> None:
    signals = compute_signals(prompt, NEW)
    assert (signals.prompt_token_count, signals.information_density) == (tokens, pytest.approx(density))


@pytest.mark.parametrize(
    ("conversation", "warmth"),
    [
        (Conversation(), 0.0),
        (Conversation(turns=2), 1 / 6),
        (Conversation(turns=9, gist_count=99, has_world_state=True), 1.0),
        (Conversation(turns=4, gist_count=5), 2 / 3),
        (Conversation(has_world_state=True), 1 / 3),
        (Conversation(turns=1, gist_count=1, has_world_state=True), (0.25 + 0.2 + 1) / 3),
    ],
)
def test_warmth(conversation: Conversation, warmth: float) -> None:
    assert measure_warmth(conversation) == pytest.approx(warmth)
    assert compute_signals("x", conversation).context_warmth == pytest.approx(warmth)


@pytest.mark.parametrize(
    ("silence", "returning"),
    [(None, False), (0.0, False), (RETURNING_AFTER_SECONDS - 1, False), (RETURNING_AFTER_SECONDS, True), (1e9, True)],
)
def test_returning_from_silence(silence: float | None, returning: bool) -> None:
    assert compute_signals("x", Conversation(silence_seconds=silence)).returning_from_silence is returning
    assert compute_signals("x", Conversation(silence_seconds=60), returning_after_seconds=30).returning_from_silence


@pytest.mark.parametrize(
    ("last", "seconds"),
    [
        (None, None),
        ("2026-11-21T11:00:00Z", 3600.0),
        ("2026-11-21T11:59:30.5+00:00", 29.5),
        ("2026-11-21T12:30:00+09:00", 8.5 * 3600),
        ("2026-11-21T11:00:00", 3600.0),
        ("2026-11-21T12:00:01Z", 0.0),
        ("yesterday", None),
    ],
)
def test_silence_is_measured_from_a_stored_answer(last: str | None, seconds: float | None) -> None:
    assert measure_silence(last, datetime(2026, 11, 21, 12, tzinfo=UTC)) == seconds


def test_unknown_counts_are_missing_signals_and_known_ones_are_not() -> None:
    assert compute_signals("x", NEW).values()["fact_count"] is None
    assert compute_signals("x", WARM).values()["fact_count"] == 1


def test_every_signal_that_the_default_rules_read_is_computed() -> None:
    assert default_rules().signal_names() <= {*SIGNAL_NAMES, RETURNING}


@pytest.mark.parametrize(
    "prompt", ["a" * 1_000_000, "hi " * 400_000, "!" * 300_000, "need " * 5000, "네 " * 60, "\udc80", "\x1b[31m"]
)
def test_no_prompt_takes_long_or_fails(prompt: str) -> None:
    import time

    began = time.process_time()
    compute_signals(prompt, NEW)
    assert time.process_time() - began < 2.0
