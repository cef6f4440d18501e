"""What a claim turns round: ways, causes, steps, what is denied, rules with exceptions; and things of which another is told."""

from __future__ import annotations

import pytest

from kb.support.check import check_support
from kb.support.faults import find_faults
from kb.support.overlap import units_of
from kb.support.relatives import denied_of_it, said_of_another, said_of_what_is_apart
from kb.support.topics import exchanged_topics
from kb.support.turned import turned_round


def sentences_of(text: str) -> list[str]:
    return [text[unit.start : unit.end] for unit in units_of(text)]


STEPS = "1. The pump signal is sent.\n2. The valve is opened.\n3. The tank is filled."
CUTLETS = "Bread the cutlets: first flour, then eggs, finally crumbs."
GATES = "The gate is opened last, after every boat has been tied up."
SPRINGS = "The upper spring has more water than the lower."
PREFIX = "The prefix does not change the address, only the name."
WARD = "어린이는 병동에 들어올 수 없다. 다만 환자의 자녀는 들어올 수 있다."
FARES = "Children under 5 travel free on all lines except F4."
POOLS = "20:10 서버를 재시작함. 20:35 연결 풀을 50에서 120으로 늘림."


@pytest.mark.parametrize(
    ("claim", "text", "turned"),
    [
        ("The pool was cut from 120 to 50.", "The pool was raised from 50 to 120.", True),
        ("The pool went from 50 to 120.", "The pool was raised from 50 to 120.", False),
        ("연결 풀을 120에서 50으로 줄였습니다.", POOLS, True),
        ("연결 풀을 50에서 120으로 늘렸습니다.", POOLS, False),
        (
            "The pool was cut from 120 to 50.",
            "It was raised from 50 to 120. Later the pool was cut from 120 to 50.",
            False,
        ),
        ("Gates close badly because gates close.", "Gates close because gates close badly.", False),
        ("The dam broke because the village was flooded.", "The village was flooded because the dam broke.", True),
        ("As the dam broke, so the village was flooded.", "The village was flooded because the dam broke.", False),
        ("지붕이 무너졌기 때문에 폭설이 쌓였다.", "폭설이 쌓였다. 그래서 지붕이 무너졌다.", True),
        ("폭설이 쌓였기 때문에 지붕이 무너졌다.", "폭설이 쌓였다. 그래서 지붕이 무너졌다.", False),
        ("The pump signal is sent after the valve is opened.", STEPS, True),
        ("The valve is opened after the pump signal is sent.", STEPS, False),
        ("Before the tank is filled, the valve is opened.", STEPS, False),
        ("Dip them in eggs, then in flour, and finally in crumbs.", CUTLETS, True),
        ("Dip them in flour, then in eggs, and finally in crumbs.", CUTLETS, False),
        ("All boats are tied up before the gate is opened.", GATES, False),
        ("The lower spring has more water than the upper.", SPRINGS, True),
        ("The lower spring has less water than the upper.", SPRINGS, False),
        ("The upper spring has more water than the lower one.", SPRINGS, False),
        (
            "이항 연산자는 단항 연산자보다 순위가 높아서 먼저 실행됩니다.",
            "단항 연산자는 이항 연산자보다 순위가 높습니다.",
            True,
        ),
        ("단항 연산자가 이항 연산자보다 순위가 높습니다.", "단항 연산자는 이항 연산자보다 순위가 높습니다.", False),
        ("Dip them in eggs, then in flour, and finally in crumbs.", f"- eggs\n- flour\n\n{CUTLETS}", True),
        ("The prefix changes the address, but not the name.", PREFIX, True),
        ("The prefix changes the name, not the address.", PREFIX, False),
        ("Children under 5 travel free on every line.", FARES, True),
        ("Children under 5 travel free on every line but F4.", FARES, False),
        ("Adults pay the full fare on all lines.", FARES, False),
        ("Wine is never paid for, under any circumstances.", "Wine is never paid for, except at dinners.", True),
        ("Wine is not paid for, except at dinners.", "Wine is never paid for, except at dinners.", False),
        ("어린이는 어떤 경우에도 병동에 들어올 수 없다.", WARD, True),
        ("어린이는 병동에 들어올 수 없으나, 환자의 자녀는 예외이다.", WARD, False),
    ],
)
def test_what_is_turned_round(claim: str, text: str, turned: bool) -> None:
    assert bool(turned_round(claim, sentences_of(text), text)) is turned


POTS = "경기도 옹기는 배가 홀쭉하다. 햇볕이 약해 입을 넓게 만들었다. 경상도 옹기는 입이 좁은데, 햇볕이 강하기 때문이다."
PAID = "카드 결제 승인이 평균 38초까지 늦어졌다. 간편결제는 영향을 받지 않았다."
BANK = "수도 요금은 임대인이 낸다. 전기 요금은 임차인이 매달 은행에서 낸다."
RATES = "수도 요금은 임대인이 낸다. 전기 요금은 임차인이 낸다. 원하는 사람은 마당도 쓴다."


@pytest.mark.parametrize(
    ("claim", "text", "exchanged"),
    [
        ("경상도 옹기는 햇볕이 약해서 입을 넓게 만들었습니다.", POTS, True),
        ("경기도 옹기는 햇볕이 약해서 입을 넓게 만들었습니다.", POTS, False),
        ("카드 결제는 영향을 받지 않았고, 간편결제 승인이 38초까지 늦어졌습니다.", PAID, True),
        ("카드 결제 승인은 38초까지 늦어졌고, 간편결제는 영향을 받지 않았습니다.", PAID, False),
        ("수도 요금은 임차인이 내고, 전기 요금은 임대인이 냅니다.", RATES, True),
        ("전기 요금은 임차인이 내고, 수도 요금은 임대인이 냅니다.", RATES, False),
        ("마당은 원하는 사람이 씁니다.", RATES, False),
        # It names the other thing itself.
        ("수도 요금은 전기 요금처럼 임차인이 매달 은행에서 내지 않습니다.", BANK, False),
    ],
)
def test_what_is_told_of_another_thing(claim: str, text: str, exchanged: bool) -> None:
    assert bool(exchanged_topics(claim, sentences_of(text))) is exchanged


def test_that_what_is_turned_round_is_contradicted() -> None:
    assert check_support("The valve is opened before the pump signal is sent.", [STEPS]).status == "contradicted"
    assert check_support("경상도 옹기는 햇볕이 약해서 입을 넓게 만들었습니다.", [POTS]).status == "contradicted"
    assert check_support("Children under 5 travel free on all lines except F4.", [FARES]).status == "verified"


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ("해외 의료기관에서 발생한 의료비도 보상합니다.", "contradicted"),
        ("해외 의료기관에서 발생한 의료비는 보상하지 않습니다.", "verified"),
        ("같은 행동을 두 번 할 수 있습니다.", "contradicted"),
        ("같은 행동을 두 번 할 수 없습니다.", "verified"),
        ("면회는 11시부터 할 수 있습니다.", "verified"),
    ],
)
def test_denials_in_korean(claim: str, status: str) -> None:
    text = (
        "4. 보상하지 않는 손해\n\n- 건강검진. 다만 추가 검사는 보상합니다.\n- 해외 의료기관에서 발생한 의료비\n- 임신과 출산\n\n"
        "같은 행동을 두 번 할 수는 없습니다.\n\n면회는 오전 11시에서 11시 20분까지 할 수 있습니다."
    )
    assert check_support(claim, [text]).status == status


def test_that_what_two_sentences_tell_side_by_side_is_not_mixed() -> None:
    text = "The kickoff is due on the second Friday. The heartbeat is due on the first Friday."
    claim = "The kickoff is due on the first Friday, and the heartbeat on the second Friday."
    assert check_support(claim, [text]).status == "contradicted"
    assert check_support(text, [text]).status == "verified"


LEAK = "The leak was at the joint behind plot 12, NOT the tank as everybody thought. Hal found it on 2 March."
GIFTS = "기증은 나온 지 5년이 안 된 책만 받습니다. 다만 향토 자료는 나온 해를 따지지 않습니다."
PEPPERS = "- 상추는 4월에 심었음\n- 고추 모종은 5월 5일 지나서 심기로 함\n- 회비는 그대로 하기로 했음"


@pytest.mark.parametrize(
    ("claim", "text", "turned"),
    [
        ("The leak was at the tank, and Hal found it.", LEAK, True),
        ("The leak was behind plot 12, and Hal found it.", LEAK, False),
        ("Everybody thought that the leak was not at the joint but at the tank.", LEAK, False),
        ("향토 자료도 마찬가지로 5년이 지나면 받지 않습니다.", GIFTS, True),
        ("향토 자료는 5년이 지나도 받습니다.", GIFTS, False),
        ("고추 모종은 5월 5일이 지난 뒤에 심기로 했습니다.", PEPPERS, False),
    ],
)
def test_what_is_said_in_the_place_of_what_is_denied(claim: str, text: str, turned: bool) -> None:
    assert bool(turned_round(claim, sentences_of(text), text)) is turned


CONFIG = (
    "It looks for the old file, then for the new file. Only the first one is read; they aren't merged. Both are text."
)
PEOPLE = "Maintainers: @pkowal (Piotr Kowal), since 2.0 also @inesdv (Ines de Vries), who looks after the macOS build."


def test_who_is_the_one_named_last() -> None:
    found = list(said_of_another("Piotr Kowal looks after the macOS build.", [PEOPLE]))
    assert found == ["'Piotr Kowal' stands for 'Ines de Vries'"]
    assert not list(said_of_another("Ines de Vries looks after the macOS build.", [PEOPLE]))
    assert not list(said_of_another("Piotr Kowal has been a maintainer for long.", [PEOPLE]))
    assert not list(said_of_another("Tom Brandt looks after the macOS build.", [PEOPLE]))  # whom nothing tells of


@pytest.mark.parametrize(
    ("claim", "denied"),
    [
        ("It looks for the old file and the new file and merges them.", True),
        ("It looks for the old file, then for the new file, and doesn't merge them.", False),
        ("It looks for the old file, then for the new file, and reads the first one.", False),
        ("Branches are merged once a week by the keeper of the gate.", False),  # something else is merged
    ],
)
def test_what_is_denied_of_it(claim: str, denied: bool) -> None:
    assert denied_of_it(claim, sentences_of(CONFIG)) is denied


def test_a_consequence_of_not_doing_it_is_no_opposite() -> None:
    text = "Choose the limit longer than your longest job. Otherwise a job is given to a second worker."
    assert not find_faults(
        "A job is given to a second worker because the limit is shorter than the job.", [text], text
    ).against
    assert find_faults("Choose the limit shorter than your longest job.", [text], text).against


WARRANTY = "Registration extends the warranty on the frame to 5 years. The battery isn't covered by it. The bell may be changed."
CLASSES = (
    "전날 저녁 8시까지 문자로 알려 주시면 한 달에 한 번 보강해 드립니다. 병아리반은 정원이 적어서 보강이 없습니다."
)
STAGE = "위층이 주거라서 21시 30분 이후 음향 리허설 금지. 공연 자체는 22시까지 가능."


@pytest.mark.parametrize(
    ("claim", "text", "against"),
    [
        ("Registration extends the warranty on the frame and the battery to 5 years.", WARRANTY, True),
        ("Registration extends the warranty on the frame to 5 years, but not that on the battery.", WARRANTY, False),
        ("Registration extends the warranty on the frame to 5 years.", WARRANTY, False),
        ("병아리반도 전날 저녁 8시까지 문자로 알리면 한 달에 한 번 보강을 받습니다.", CLASSES, True),
        ("전날 저녁 8시까지 문자로 알리면 한 달에 한 번 보강을 받습니다.", CLASSES, False),
        ("위층이 주거라서 21시 30분 이후에는 음향 리허설과 공연을 할 수 없습니다.", STAGE, True),
        ("위층이 주거라서 21시 30분 이후에는 음향 리허설을 할 수 없습니다.", STAGE, False),
    ],
)
def test_what_is_said_of_a_thing_apart(claim: str, text: str, against: bool) -> None:
    assert bool(list(said_of_what_is_apart(claim, sentences_of(text)))) is against


@pytest.mark.parametrize(
    ("claim", "turned"),
    [
        ("In that case .ignore wins over -x.", True),
        ("Here -x wins over .ignore.", False),
        ("-x takes precedence over .ignore.", False),
    ],
)
def test_what_wins_over_what(claim: str, turned: bool) -> None:
    assert bool(turned_round(claim, ["-x excludes by glob.", "-x wins over .ignore."])) is turned
