"""What a text lays out in rows, and claims that give one row, or one column, what belongs to another."""

from __future__ import annotations

import pytest

from kb.support.check import VERIFIED, check_support
from kb.support.rows import misread_rows, tables_of

TICKETS = """Tickets

| ticket | price |
|---|---|
| Adult | £9.50 |
| Child, 6 to 16 | £4.50 |
| Family (two adults, up to three children) | £24 |
| Only the grounds | free |
"""
FARES = """Line | Adult | Child (5 to 15) | Senior (from 65)
F1 Marrow – Innis | £8.40 | £4.20 | £6.30
F2 Marrow – Skell | £13.60 | £6.80 | £10.20
F3 Skell – Norrey | £5.00 | free | £5.00

Vehicle | F1 | F2
Bicycle | free | £2.50
Motorcycle | £14.00 | £19.00
"""
TASKS = """| # | action | owner | due |
|---|---|---|---|
| 1 | Lower the alarm for failed payments | Lukas Weber | 27 February |
| 2 | Rewrite the certificate runbook | Priya Raman | 15 March |
"""
PRESENT = "**Present:** Joan Pettifer (chair), Malik Osei (treasurer), Ruth Adeyemi (secretary)\n**Apologies:** Peter Lind\n**Absent without notice:** Colin Ware\n"
LEVELS = "* Junior (L1)\n* Senior (L3)\n* Lead (L4)\n"
SETTINGS = ".. py:data:: COOKIE_HTTPONLY\n\n    Hidden from scripts.\n\n    Default: ``True``\n\n.. py:data:: COOKIE_SECURE\n\n    Default: ``False``\n"
FLAGS = "Type: boolean\nDefault: false\nSince: version 3.2"
WARDS = "Ward | Hours | Visitors\nIntensive care | 11:00–12:00 | 1\nGeneral | 14:00–20:00 | 2\n"
FERRIES = "Line | Departure | Arrival\nF1 | 06:45 | 08:10\nF2 | 07:20 | 09:50\n"
CODES = ":Code 0: all tests were collected and passed\n:Code 4: the command line could not be read\n:Code 5: no tests were collected\n"
BUSES = "노선,방향,평일 막차,주말 막차\n솔3,시청→수목원,20:30,19:30\n솔3,수목원→시청,21:15,20:15\n솔7,시청→공원,21:40,21:00\n"
LEVELS_OF_PAY = "| Level | You pay | We pay | Together |\n|---|---|---|---|\n| Basic | 3 % | 6 % | 9 % |\n| Plus | 7 % | 11 % | 18 % |\n"
WASHES = "  ECO 40-60       7 kg       40 °C      1400 rpm\n  DARK            4 kg       30 °C      800 rpm\n  SPORT           3 kg       30 °C      1000 rpm\n"
BEES = "| Margin | Foragers | Nests |\n|---|---|---|\n| Flower | 19.2 (1.6) | 1.4 |\n| Grass (control) | 8.0 (0.9) | 1.2 |\n"
OPTIONS = (
    "| Option | Short | What |\n|---|---|---|\n| `--exclude GLOB` | `-x` | leave out |\n| `--move` | `-m` | move |\n"
)
MODES = "| Mode | Sets |\n|---|---|\n| AUTO | all |\n| P | speed and aperture |\n| M | none |\n"
POOL = "구분 | 1회권 | 월 강습\n어른(19세 이상) | 5,500원 | 92,000원\n청소년(13~18세) | 4,000원 | 74,000원\n"


@pytest.mark.parametrize(
    ("claim", "text", "owner"),
    [
        ("A family ticket costs £9.50.", TICKETS, "Adult"),
        ("Children from 6 to 16 get in free.", TICKETS, "Only the grounds"),
        ("A senior pays £6.80 from Marrow to Skell.", FARES, "Child (5 to 15)"),
        ("A motorcycle costs £2.50 on F2.", FARES, "Bicycle"),
        ("Seniors pay £6.30 on F2.", FARES, "F1 Marrow – Innis"),
        ("Lukas Weber rewrites the certificate runbook.", TASKS, "Lower the alarm for failed payments"),
        ("The certificate runbook is to be rewritten by 27 February.", TASKS, "Lower the alarm for failed payments"),
        ("Ruth Adeyemi is the treasurer.", PRESENT, "Malik Osei"),
        ("Peter Lind was absent without notice.", PRESENT, "Apologies"),
        ("The levels are Junior (L1), Lead (L3) and Senior (L4).", LEVELS, "Senior"),
        ("Lead is level L3 and Senior level L4.", LEVELS, "Senior"),
        ("COOKIE_SECURE is True by default.", SETTINGS, "COOKIE_HTTPONLY"),
        ("솔3번 버스로 수목원에서 시청으로 가는 주말 막차는 19시 30분입니다.", BUSES, "솔3 시청→수목원"),
        ("솔7의 평일 막차는 21시이고 주말 막차는 21시 40분입니다.", BUSES, "주말 막차"),
        ("청소년의 월 강습은 92,000원입니다.", POOL, "어른(19세 이상)"),
        ("어른 1회권은 92,000원입니다.", POOL, "월 강습"),
        ("Code 4 means that no tests were collected.", CODES, "Code 5"),
        ("F1 has its departure at 08:10.", FERRIES, "Arrival"),
        ("DARK spins at 1000 rpm.", WASHES, "SPORT"),
        ("Basic gets 18 % together.", LEVELS_OF_PAY, "Plus"),
        ("With --move the short option is -x.", OPTIONS, "--exclude GLOB"),
        ("Along grass there were 19.2 foragers.", BEES, "Flower"),
        # What the rows do say, of one or of several, and what another table says.
        ("A family ticket costs £24, an adult £9.50.", TICKETS, None),
        ("Adults pay £9.50 and children from 6 to 16 pay £4.50.", TICKETS, None),
        ("A senior pays £10.20 from Marrow to Skell.", FARES, None),
        ("A motorcycle costs £14.00 on F1 and £19.00 on F2.", FARES, None),
        ("Bicycles travel free on F1 but cost £2.50 on F2.", FARES, None),
        ("Priya Raman has to rewrite the certificate runbook by 15 March.", TASKS, None),
        ("Malik Osei is the treasurer and Ruth Adeyemi the secretary.", PRESENT, None),
        ("The levels are Junior (L1), Senior (L3) and Lead (L4).", LEVELS, None),
        ("COOKIE_SECURE is False by default, COOKIE_HTTPONLY is True.", SETTINGS, None),
        ("An adult ticket and a family ticket cost £9.50 and £24 respectively.", TICKETS, None),
        ("This boolean, false by default, came with version 3.2.", FLAGS, None),
        ("Intensive care patients may be seen by one visitor from 11:00 to 12:00.", WARDS, None),
        ("F1 has its departure at 06:45, 08:10 is when it gets there.", FERRIES, None),
        ("Code 5 means that no tests were collected.", CODES, None),
        ("솔3번 버스로 수목원에서 시청으로 가는 주말 막차는 20시 15분입니다.", BUSES, None),
        ("솔7의 평일 막차는 21시 40분이고 주말 막차는 21시입니다.", BUSES, None),
        ("어른(19세 이상)의 월 강습은 92,000원입니다.", POOL, None),
        ("DARK spins at 800 rpm and takes up to 4 kg.", WASHES, None),
        ("On the Plus level you pay 7 %, which makes 18 % of your basic salary together.", LEVELS_OF_PAY, None),
        ("The files were moved in 1.x, now --move does it.", OPTIONS, None),
        ("There were 19.2 foragers, as against 8.0 along grass.", BEES, None),
        ("P sets speed and aperture, and all pictures are kept.", MODES, None),
    ],
)
def test_rows(claim: str, text: str, owner: str | None) -> None:
    found = misread_rows(claim, [text])
    assert (f"belongs to '{owner}'" in found[0]) if owner else not found, found


def test_that_prose_may_give_a_row_the_value_of_another() -> None:
    assert misread_rows("A family ticket costs £9.50.", [TICKETS])
    assert not misread_rows("A family ticket costs £9.50.", [TICKETS, "On Sundays a family ticket costs £9.50 too."])


def test_that_a_misread_row_is_said_against_a_claim() -> None:
    found = check_support("A family ticket costs £9.50.", [TICKETS])
    assert found.status == "contradicted"
    assert found.score < VERIFIED
    assert check_support("A family ticket costs £24.", [TICKETS]).status == "verified"


@pytest.mark.parametrize(
    "text",
    [
        "One line: with a colon.",
        "call(value) and other(value), then third(value)",
        "A sentence, with commas, and more.\nAnother, of the same, kind.\n",
        "",
    ],
)
def test_that_prose_and_code_are_no_tables(text: str) -> None:
    assert tables_of(text) == ()
