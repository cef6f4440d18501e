"""True and false answers about a lighthouse, as models write them: none of the false ones is shown with a tick."""

from __future__ import annotations

import pytest

from kb.ask.verify import has_tick, stands, verify
from tests.unit.test_pack_and_prompt import chunk

TOWER = chunk(
    1,
    "The Kestrel lighthouse stands on the northern cliff of Skarn. It is 41 metres tall and has 212 steps. Tomas Brandt built "
    "it in 1890; Ada Quill was its first keeper. The lamp burned paraffin until 1994, and since then it has burned electric "
    "current. Her grandson sold the tower to the Skarn Trust in 1997. The Trust leases the cottage to a sailing club.",
)
VISITS = chunk(
    2,
    "The tower is open from April to October, every day except Monday, from 10:00 to 17:00. A ticket costs 6 euros. Children "
    "under 12 must be accompanied by an adult. Dogs are not allowed in the tower, but visitors may bring them to the garden. "
    "Some of the rooms are closed in April. At most 15 people may climb the tower at a time. The climb takes about 20 minutes.",
)
KOREAN = chunk(
    3,
    "황조롱이 등대는 섬의 북쪽 절벽에 있다. 높이는 41미터이고 계단은 212개이다. 박도현이 1890년에 등대를 세웠고 최윤아가 첫 등대지기였다. "
    "등대지기는 해가 지면 불을 켠다. 손자가 재단에게 등대를 팔았다. 재단이 요트 클럽에게 오두막을 빌려준다. 입장료는 6유로이다. "
    "12세 미만의 아이는 어른과 함께 들어가야 한다. 개는 등대에 들어갈 수 없다.",
)
PASSAGES = {1: TOWER, 2: VISITS, 3: KOREAN}


LIES = [
    "The Kestrel lighthouse measures 212 metres in height [#1].",
    "The lighthouse has 41 steps [#1].",
    "The lamp burned electric current until 1994, since then paraffin [#1].",
    "The Trust sold the tower to her grandson in 1997 [#1].",
    "Her grandson bought the tower from the Skarn Trust in 1997 [#1].",
    "A sailing club leases the cottage to the Trust [#1].",
    "Ada Quill built the lighthouse in 1890 [#1].",
    "Tomas Brandt was its first keeper [#1].",
    "Henrik Vossberg built the lighthouse in 1890 [#1].",
    "Visitors may bring their dogs into the tower [#2].",
    "Dogs are allowed in the tower [#2].",
    "The tower is open all year round [#2].",
    "The tower is open on Mondays [#2].",
    "A ticket costs more than 6 euros [#2].",
    "A ticket costs 6 dollars [#2].",
    "Children over 12 must be accompanied by an adult [#2].",
    "Children under 12 may be accompanied by an adult [#2].",
    "All of the rooms are closed in April [#2].",
    "At least 15 people may climb the tower at a time [#2].",
    "The climb takes about 20 hours [#2].",
    "The tower is closed from April to October [#2].",
    "The lighthouse stands on the southern cliff of Skarn [#1].",
    "The Kestrel lighthouse stands on the northern cliff of Skarn, and a wealthy brewer paid for its foghorn [#1].",
    "## The lighthouse is 212 metres tall\n\nIt has 212 steps [#1].",
    "Did you know that the lighthouse is 212 metres tall? It has 212 steps [#1].",
    "The lighthouse is 212 metres tall and:\n\n- has 212 steps [#1]",
    "- The tower has 212 steps [#1]\n- A ticket costs 16 euros [#2]",
    "| | height |\n|---|---|\n| Kestrel lighthouse | 212 metres [#1] |\n",
    "It costs 16 euros.\n\n```\n[#2]\n```\n",
    "등대의 높이는 212미터이다 [#3].",
    "계단은 41개이다 [#3].",
    "등대지기는 해가 지면 불을 켜지 않는다 [#3].",
    "등대지기는 해가 지면 불을 끈다 [#3].",
    "최윤아가 1890년에 등대를 세웠다 [#3].",
    "남궁혜린이 1890년에 등대를 세웠다 [#3].",
    "재단이 손자에게 등대를 팔았다 [#3].",
    "요트 클럽이 재단에게 오두막을 빌려준다 [#3].",
    "등대는 섬의 남쪽 절벽에 있다 [#3].",
    "개는 등대에 들어갈 수 있다 [#3].",
    "12세 이상의 아이는 어른과 함께 들어가야 한다 [#3].",
]

TRUTHS = [
    "The Kestrel lighthouse is 41 metres tall and has 212 steps [#1].",
    "The lighthouse has a height of 41 m [#1].",
    "It is 41 metres (4,100 cm) high [#1].",
    "According to the documents, the lighthouse was constructed by Tomas Brandt in 1890 [#1].",
    "The lighthouse was built in 1890 by Tomas Brandt, and its first keeper was Ada Quill [#1].",
    "Since 1994 the lamp has burned electric current; before that, it burned paraffin [#1].",
    "The tower was sold to the Skarn Trust by her grandson in 1997 [#1].",
    "The Skarn Trust bought the tower from her grandson in 1997 [#1].",
    "The cottage is leased to a sailing club by the Trust [#1].",
    "The tower opens every day except Monday, between 10:00 and 17:00, from April to October [#2].",
    "A ticket costs 6 euros, and the climb takes around 20 minutes [#2].",
    "You pay 6 euros for a ticket [#2].",
    "Children under 12 have to be accompanied by an adult [#2].",
    "Dogs are prohibited in the tower, but they may be brought to the garden [#2].",
    "No more than 15 people may climb the tower at a time [#2].",
    "It appears that some of the rooms are closed in April [#2].",
    "Sure! Here is what I found:\n\n- The tower is 41 metres tall [#1]\n- A ticket costs 6 euros [#2]\n\nI hope this helps!",
    "The tower is 41 metres tall [#1], and a ticket costs 6 euros [#2].",
    "A 41-metre tower with 212 steps, open from April to October [#1][#2].",
    "## Tickets\n\nA ticket costs 6 euros [#2].",
    "| | height | steps |\n|---|---|---|\n| Kestrel lighthouse | 41 metres | 212 [#1] |\n",
    "The tower is more than 40 metres tall [#1].",
    "등대의 높이는 41미터이다 [#3].",
    "문서에 따르면 등대는 1890년에 박도현이 세웠습니다 [#3].",
    "해가 지면 등대지기가 불을 켭니다 [#3].",
    "손자가 등대를 재단에게 팔았습니다 [#3].",
    "등대는 섬의 북쪽 절벽에 있으며, 계단은 212개입니다 [#3].",
    "입장료는 6유로입니다 [#3].",
    "개는 등대에 들어갈 수 없습니다 [#3].",
    "12세 미만의 아이는 어른과 함께 들어가야 합니다 [#3].",
]


def tick(text: str) -> bool:
    found = verify(text, PASSAGES).verification
    assert stands(found) or not has_tick(found)
    return has_tick(found)


@pytest.mark.parametrize("text", LIES)
def test_a_lie_has_no_tick(text: str) -> None:
    assert not tick(text)


@pytest.mark.parametrize("text", TRUTHS)
def test_a_true_answer_is_not_doubted(text: str) -> None:
    assert tick(text)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("The lighthouse stands on the southern cliff of Skarn [#1].", "contradicted"),
        ("Bananas are yellow and sweet [#1].", "unsupported"),
        ("The tower has 212 steps [#1].", "verified"),
        (
            "The Kestrel lighthouse stands on the northern cliff of Skarn, and a wealthy brewer paid its foghorn [#1].",
            "weak",
        ),
    ],
)
def test_a_sentence_is_backed_partly_backed_contradicted_or_unsupported(text: str, status: str) -> None:
    (sentence,) = verify(text, PASSAGES).verification.sentences
    assert sentence.status == status
