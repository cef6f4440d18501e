"""A sentence copied but for one word, or with two stretches in each other's place."""

from __future__ import annotations

import pytest

from kb.support.check import VERIFIED, WEAK, support_score
from kb.support.clauses import is_same, split_particle
from kb.support.faults import Found, find_faults, is_copy
from kb.support.near_copies import altered, is_joined, is_turned


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        # An opposite that stands in the sentence already.
        ("A west fork and a west fork join near the old town.", "A west fork and an east fork join near the old town."),
        ("You must declare that it is still required here.", "You can declare that it is still required here."),
        ("이는 이후 버전의 FastAPI와 동일한 동작입니다.", "이는 이전 버전의 FastAPI와 동일한 동작입니다."),
        ("같은 컴포넌트가 그 역할을 하고 같은 무언가가 담당합니다.", "같은 컴포넌트가 그 역할을 하고 다른 무언가가 담당합니다."),
        # Names of several words, and of one, in each other's place.
        ("He has an affair with Jane Adams (played by Ann Brodie).", "He has an affair with Ann Brodie (played by Jane Adams)."),
        ("In turn the sultan recognized the bishop as his heir.", "In turn the bishop recognized the sultan as his heir."),
        ("The ship sailed from Rome by night to Bari and back.", "The ship sailed from Bari by night to Rome and back."),
        # A name where the sentence only begins.
        ("Marlowe, the lamp burns nine hours a night.", "However, the lamp burns nine hours a night."),
        ("Oldenburg of adding a lamp we could change the pump.", "Instead of adding a lamp we could change the pump."),
        ("Marlowe, the lamp burns nine hours a night.", "Similarly, the lamp burns nine hours a night."),
        ("Oldenburg lamp is easier to clean than the old one.", "Your lamp is easier to clean than the old one."),
        ("Marlowe, the only lamp of the bay burns oil.", "However, the _only_ lamp of the bay burns oil."),
        # Another number where the text has both.
        ("The first lamp holds 2 and another lamp.", "The first lamp holds 1 and another lamp."),
        ("Listing 12-12 shows the new start of the pump.", "Listing 12-5 shows the new start of the pump."),
        # A denial or a bound more, or less.
        ("Having lamps on the pier is not more usual.", "Having lamps on the pier is more usual."),
        ("Having lamps on the pier is common.", "Having lamps on the pier is no longer common."),
        ("Big ships now pay a minimum of more than 15 crowns.", "Big ships now pay a minimum of 15 crowns."),
        ("The keeper need not clean the glass by night.", "The keeper must clean the glass by night."),
        # A part of a word.
        ("She is a tall, 15-year-new girl from the harbour.", "She is a tall, 15-year-old girl from the harbour."),
        ("서쪽에는 호수가, 북쪽에는 바다가 접해없다.", "서쪽에는 호수가, 북쪽에는 바다가 접해있다."),
        # A row of a table: its name and the column's stand before the sentence.
        ("one, detail Listing 12-12 shows the new start of the pump.", "Listing 12-5 shows the new start of the pump."),
        ("one, detail Ada Quill paid Tom Brandt for the lamp.", "Tom Brandt paid Ada Quill for the lamp."),
        # One of them says nothing, the other is a name.
        ("Ada lamps influenced those Quill's harbour plan.", "Those lamps influenced Ada Quill's harbour plan."),
        # The particles stay, the nouns change places.
        ("이 파일에서는 디스크로 예시를 시뮬레이션합니다.", "이 예시에서는 디스크로 파일을 시뮬레이션합니다."),
    ],
)  # fmt: skip
def test_what_was_altered_is_found(claim: str, sentence: str) -> None:
    assert altered(claim, sentence), claim
    assert find_faults(claim, [sentence], sentence).against


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The tower was erected on the northern cliff.", "The tower was built on the northern cliff."),
        ("Paris is still the capital of France.", "The capital of France is still Paris."),
        ("Ada Quill and Tom Brandt built the lamp.", "Tom Brandt and Ada Quill built the lamp."),
        ("In Rome she met him in 1990 by chance.", "In 1990 she met him in Rome by chance."),
        ("By night the ship left from Bari.", "From Bari the ship left by night."),
        ("디스크로 파일을 이 예시에서는 시뮬레이션합니다.", "파일을 디스크로 이 예시에서는 시뮬레이션합니다."),
        ("But the lamp burns nine hours a night.", "However, the lamp burns nine hours a night."),
        ("Luckily, the lamp burns nine hours a night.", "Fortunately, the lamp burns nine hours a night."),
        ("The pump of the harbour burns oil by night.", "It burns oil by night."),  # what "it" is may stand elsewhere
        ("The lamp burns over the pier by night.", "The lamp burns by night over the pier."),
        ("There are 1,000 lamps on the pier.", "There are 1000 lamps on the pier."),
        ("He cleans almost all lamps by hand.", "He cleans all lamps by hand."),  # a bound of no number
        (
            "A well-known keeper of the bay lit it.",
            "A long-lost keeper of the bay lit it.",
        ),  # another word, no part of one
        ("Ada paid Tom.", "Tom paid Ada."),  # too short to be a copy
        ("The lamp of the harbour hangs above the gate.", "A lamp hangs above the gate."),
    ],
)
def test_what_says_the_same_is_not(claim: str, sentence: str) -> None:
    assert altered(claim, sentence) == []


def test_a_part_moved_to_the_end_is_no_fault() -> None:
    sentence = "In March 1916, the infantry began to move while the cavalry stayed in the area."
    turned = "The infantry began to move while the cavalry stayed in the area in March 1916."
    assert is_turned(turned, sentence)
    assert find_faults(turned, [sentence], sentence) == find_faults(sentence, [sentence], sentence)
    assert not is_turned(turned.replace("infantry", "navy"), sentence)
    assert not is_turned("Tom paid Ada.", "Ada, Tom paid.")
    assert not is_turned(sentence.replace("infantry", "cavalry", 1), sentence)


def test_another_sentence_that_says_so_excuses() -> None:
    texts = ["The valve is open at the south end. The valve is open at the north end."]
    assert not find_faults("The valve is open at the north end.", texts, texts[0]).against


def test_korean_words_of_one_syllable_do_not_make_a_clause_said() -> None:
    text = "이는 이전을 위한 임시 기능이었습니다. 일은 이미 끝났습니다."
    claim = "이는 이전을 위한 임시 기능이었습니다, 그리고 이 일은 이웃 마을과의 긴 소송으로 이어졌다."
    assert find_faults(claim, [text], text).unsaid


def test_a_latin_word_in_the_place_of_a_korean_noun_is_another() -> None:
    text = "선택적 구성을 어디서나 할 수 있습니다. 필요한 API를 정의하기 위해 조정할 수 있습니다."
    assert find_faults("선택적 API를 어디서나 할 수 있습니다.", [text], text).against


def test_sentences_of_the_text_joined_are_no_fault() -> None:
    sentences = ["The lamp does not burn by day.", "It can be lit by hand.", "The pump is red and loud."]
    text = " ".join(sentences)
    for claim in (
        "The lamp does not burn by day, and it can be lit by hand.",
        "It can be lit by hand, but the lamp does not burn by day.",
        "The pump is red and loud, and the lamp does not burn by day, and it can be lit by hand.",
    ):
        assert is_joined(claim, sentences), claim
        assert find_faults(claim, [text], text).against == ()
    for claim in (
        "The lamp does burn by day, and it can be lit by hand.",
        "The lamp does not burn by day, and the pump is red.",
        "It is not true that it can be lit by hand.",
    ):
        assert not is_joined(claim, sentences), claim


def test_everyday_korean_words_for_the_same_are_no_fault() -> None:
    text = "등대는 약 열두 해 동안 켜져 있었고, 등과 거울 그리고 종을 두었다."
    claim = "등대는 대략 열두 해 동안 켜져 있었고, 등과 거울 또한 종을 두었다."
    found = find_faults(claim, [text], text)
    assert (found.against, found.unsaid) == ((), ())


def test_joined_sentences_are_not_held_against_each_other() -> None:
    first = "The states change in response to the calls of the users on the post, but they do not have to manage the states directly."
    second = "Also, users cannot make a mistake with the states, such as showing a post before it is read."
    text = f"{first} {second}"
    claim = f"{first[:-1]}, and {second}"
    assert find_faults(claim, [text], text).against == ()
    assert find_faults(claim.replace("cannot make", "can make"), [text], text).against


def test_a_clause_is_held_against_the_clause_that_it_copies() -> None:
    text = (
        "The path leads from Long Bay by the lamp to Old Mill, and nobody came to the harbour to look at it for a year."
    )
    claim = "The path leads from Old Mill by the lamp to Long Bay."
    assert "'Old Mill' and 'Long Bay' have changed places" in find_faults(claim, [text], text).against


def test_words_that_tell_nothing_may_change_places() -> None:
    assert altered("This pump feeds that lamp here.", "That pump feeds this lamp here.") == []


def test_a_word_alone_is_no_sentence_that_was_joined() -> None:
    assert not is_joined("No, the lamp burns by day.", ["No.", "The lamp burns by day."])


def test_korean_words_of_one_syllable_are_not_asked_for() -> None:
    text = "성(姓)은 김(金), 휘는 단(旦), 자는 군진(君晉), 호는 송헌(松軒)이다."
    assert find_faults(text.replace("이다.", "입니다."), [text], text).unsaid == ()


def test_what_stands_for_it_may_be_named_elsewhere() -> None:
    text = "The Heron pump is old. It burns nine litres of oil a night."
    assert not find_faults("Heron burns nine litres of oil a night.", [text], text).against
    assert find_faults("Marlowe burns nine litres of oil a night.", [text], text).against
    text = "British Blues are famous, which are not a breed of their own. They came in 2006, but members of the club left later."
    for claim in ("British Blues are not a breed of their own.", "In 2006 members of the club left later."):
        assert not find_faults(claim, [text], text).against, claim
    assert find_faults("In Rome members of the club left later.", [text], text).against


def test_another_sentence_excuses_only_what_it_says_in_full() -> None:
    text = (
        "So far this was only possible with a lamp of oil. So far this was only possible when lighting a lamp of oil."
    )
    assert find_faults("So far this was not only possible with a lamp of oil.", [text], text).against


def test_a_sentence_is_held_against_its_copy_behind_a_turn_of_phrase() -> None:
    claim, text = (
        "However, lamps have burnt more than 18 hours in winter.",
        "However, lamps have burnt 18 hours in winter.",
    )
    assert support_score(claim, [text]) < WEAK


def test_a_number_is_held_against_the_copy_behind_a_turn_of_phrase() -> None:
    text = "However, the first lamp holds 1 and another lamp. This lamp is another lamp that holds 2 and another lamp."
    assert find_faults("The first lamp holds 2 and another lamp.", [text], text).against


def test_a_korean_sentence_is_held_against_its_copy_behind_a_turn_of_phrase() -> None:
    text = "그리고 yield 직후에는 모델을 언로드합니다."
    assert support_score("그리고 yield 모델은 직후에를 언로드합니다.", [text]) < WEAK


def test_a_sentence_that_says_it_with_more_words_excuses() -> None:
    text = "The valve is open at the south end. Since May the valve is also open at the north end."
    assert not find_faults("The valve is open at the north end.", [text], text).against


def test_everyday_nouns_and_verbs_before_a_noun_are_not_asked_for() -> None:
    text = "새 저장소를 추가하면 이미 존재한다는 오류가 발생한다. 관련된 문서가 있으면 링크를 추가하는 것이 좋습니다."
    assert find_faults("새 저장소를 추가하면 이름이 이미 존재한다는 오류가 발생한다.", [text], text).unsaid == ()
    told = find_faults("관련된 문서가 있으면 링크를 곁들이는 것이 좋습니다.", [text], text).unsaid
    assert "'곁들이' is not there" not in told


def test_a_latin_name_in_a_copy_is_another_word_than_a_korean_noun() -> None:
    text = "이는 애플리케이션을 배포하는 방식에 따라 달라진다. 앞에 HTTPS를 두기도 한다."
    assert find_faults("이는 HTTPS를 배포하는 방식에 따라 달라진다.", [text], text).unsaid


def test_words_that_only_look_as_if_they_had_a_particle() -> None:
    assert [split_particle(word) for word in ("하지만", "그러나")] == [("하지만", ""), ("그러나", "")]
    assert is_same("했다고", "하였다고")
    assert is_copy("The lamp burns by day?", "The lamp burns by day.")


def test_marks_that_set_a_word_off_are_no_part_of_it() -> None:
    text = (
        "Words that start with a vowel have _hay_ added. 조명이 **단순**하다면 이는 아마 **문제**가 되지 않을 것입니다."
    )
    assert find_faults("Words that finish with a vowel have hay added.", [text], text).unsaid
    assert find_faults("머신이 단순하다면 이는 아마 문제가 되지 않을 것입니다.", [text], text).unsaid
    assert not find_faults("조명이 단순하다면 이는 아마 문제가 되지 않을 것입니다.", [text], text).unsaid


def test_a_word_of_the_sentence_in_the_place_of_another_is_no_moved_word() -> None:
    text = "태양의 지름은 지구의 109배이고, 질량은 지구의 33만 배로 태양계의 거의 전부이다."
    assert find_faults(text.replace("질량은", "태양풍은"), [text], text).unsaid


def test_forms_of_one_korean_word_are_the_same() -> None:
    text = "빛은 진공에서 약 300000 km/s이다. 하지만 물에서는 느리다. 관심이 생기기 시작했다고 한다."
    for claim in ("빛은 진공에서 약 300000 km/s입니다.", "그러나 물에서는 느리다.", "관심이 생기기 시작하였다고 한다."):
        assert find_faults(claim, [text], text) == Found(), claim


def test_a_unit_in_the_place_of_another_is_one_word_changed() -> None:
    text = "The keeper left on January 3, hours after the lamp had gone out."
    assert find_faults(text.replace("hours", "minutes"), [text], text).unsaid


def test_what_is_asked_as_known_is_a_copy() -> None:
    text = "The lamp does not burn by day, but it can be lit by hand at any time."
    assert support_score(f"Did you know that {text[:-1]}?", [text]) >= VERIFIED


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The ferry sails 5 km along the coast.", "The ferry sails 5 kilometres along the coast."),
        ("The lamp weighs 3 kg and burns oil.", "The lamp weighs 3 kilograms and burns oil."),
        ("관측소는 매일 5 킬로미터를 걷는 사람을 위해 연다.", "관측소는 매일 5 km를 걷는 사람을 위해 연다."),
        ("The lamp burns nine hours each night.", "The lamp burns nine hours every night."),
        ("The color of the lamp is red by night.", "The colour of the lamp is red by night."),
        ("The center of the bay is analyzed by the keeper.", "The centre of the bay is analysed by the keeper."),
        ("The lamp is lit at 10 pm each night.", "The lamp is lit at 10 p.m. each night."),
        ("You can't open the dome before dawn today.", "You cannot open the dome before dawn today."),
        ("It takes over 200 steps to reach the lamp.", "It takes more than 200 steps to reach the lamp."),
        ("It takes up to 200 steps to reach the lamp.", "It takes at most 200 steps to reach the lamp."),
    ],
)
def test_another_spelling_of_the_same_is_no_fault(claim: str, text: str) -> None:
    assert find_faults(claim, [text], text) == Found()


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The ferry sails 5 miles along the coast.", "The ferry sails 5 kilometres along the coast."),
        ("The lamp burns nine hours some nights.", "The lamp burns nine hours every night."),
        ("It takes less than 200 steps to reach the lamp.", "It takes more than 200 steps to reach the lamp."),
        ("The tour of the bay begins at the pier.", "The tower of the bay begins at the pier."),
    ],
)
def test_another_unit_bound_or_word_is_one(claim: str, text: str) -> None:
    assert find_faults(claim, [text], text) != Found()
