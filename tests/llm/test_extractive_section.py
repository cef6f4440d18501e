"""How much of its section a quote takes: all of a short one, the beginning of a long one, never what is of another."""

from __future__ import annotations

import pytest

from kb.llm.extractive_blocks import CODE_LINES, KEPT_OUTPUT_LINES, OUTPUT_LINES, find_blocks
from kb.llm.extractive_quote import announces
from kb.llm.extractive_section import (
    LEAD_SECTION_CHARS,
    MOST_CHARS,
    WHOLE_CHARS,
    WITH_BELOW_CHARS,
    part_of_section,
    whole_section,
)
from kb.llm.protocol import Evidence
from tests.llm.test_extractive import ask

FILLING = "The pump runs at night, and nobody hears it. "  # 46 characters
SHORT = "# Pump\n\nIt stands below.\n\n```\npump on\n```\n\nThen it runs.\n\n# Lamp\n\nIt hangs above."


def quoted(text: str, words: str, *, is_whole: bool) -> str:
    """What is quoted of the section of the block that holds some words."""
    blocks = find_blocks(text)
    at = next(n for n, block in enumerate(blocks) if words in text[block.start : block.end])
    pieces = (whole_section if is_whole else part_of_section)(text, blocks, at)
    return text[pieces[0][1][0] : pieces[-1][1][1]] if pieces else ""


@pytest.mark.parametrize("words", ["It stands", "pump on", "Then it"])
def test_a_short_section_is_quoted_whole_and_no_other(words: str) -> None:
    whole = "It stands below.\n\n```\npump on\n```\n\nThen it runs."
    assert quoted(SHORT, words, is_whole=True).strip() == whole
    assert quoted(SHORT, words, is_whole=False).strip() == whole


def test_a_long_section_is_not_whole() -> None:
    text = "\n\n".join(FILLING * 5 for _ in range(5))
    assert len(text) > WHOLE_CHARS
    assert quoted(text, FILLING, is_whole=True) == ""


def test_of_a_long_section_its_beginning_is_quoted_where_it_is_near() -> None:
    paragraphs = [f"{n}. pump. {FILLING * 4}".strip().replace(".", "", 1) for n in range(12)]
    text = "\n\n".join(paragraphs)
    assert quoted(text, "2 pump", is_whole=False).startswith("0 pump")
    assert quoted(text, "9 pump", is_whole=False).startswith("9 pump")
    assert MOST_CHARS - 300 < len(quoted(text, "2 pump", is_whole=False)) <= MOST_CHARS


def test_far_from_the_beginning_a_list_brings_the_paragraph_before_it() -> None:
    text = "\n\n".join([*[FILLING * 4] * 6, "You need these:", "- a lamp\n- a coat"])
    assert quoted(text, "a lamp", is_whole=False).startswith("You need these:")


def test_code_without_what_it_belongs_to_is_left_out_before_the_answer() -> None:
    text = "```\nrest of another\n```\n\nThe pump stands below."
    assert quoted(text, "below", is_whole=True) == "The pump stands below."


@pytest.mark.parametrize(
    "edge",
    [
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "> ##### Note of its own\n> The pump is red.",
        "/// tip\n\nThe pump is red.\n\n///",
        "[#1] The pump is red.",
    ],
)
def test_a_table_and_notes_are_no_part_of_it(edge: str) -> None:
    text = f"The pump stands below.\n\n{edge}"
    assert quoted(text, "below", is_whole=True) in ("The pump stands below.", "")


def test_a_table_is_no_section() -> None:
    text = "The pump.\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    assert quoted(text, "| 1", is_whole=True) == quoted(text, "| 1", is_whole=False) == ""


def test_steps_go_before_a_long_section() -> None:
    story = "Long ago there was no pump. " * 12
    text = f"{story}\n\nDo this:\n\n1. Fill the pump.\n\n   ```\n   pump fill\n   ```\n\n2. Start the pump.\n\n{FILLING * 12}"
    told = ask("How do I start the pump?", [Evidence(1, text)])
    assert told.startswith("Do this:\n\n1. Fill the pump.")
    assert told.endswith("2. Start the pump. [#1]")


def test_an_announced_table_is_quoted_behind_its_section() -> None:
    text = "The pump has limits.\n\nThe limits of the pump are:\n\n| limit | bar |\n|---|---|\n| least | 2 |"
    told = ask("What are the limits of the pump?", [Evidence(1, text)])
    assert told.startswith("The pump has limits.")
    assert "| least | 2 |" in told


LACKING = [
    "This code will print it.",
    "Here the pump is off.",
    "Let's now run it.",
    "See Listing 3-1 for it.",
    "이 코드는 켠다.",
    "여기 펌프는 꺼져 있다.",
]


@pytest.mark.parametrize("spoken", LACKING)
def test_a_paragraph_on_code_that_is_not_there_is_left_out_on_either_side(spoken: str) -> None:
    text = f"It stands below.\n\n{spoken}\n\nThe pump runs at night.\n\n{spoken}\n\nNobody hears it."
    assert quoted(text, "at night", is_whole=True) == "The pump runs at night."
    assert quoted(text, spoken, is_whole=True).startswith("It stands below.")


@pytest.mark.parametrize("spoken", LACKING)
@pytest.mark.parametrize("between", ["", "It is short.\n\n"])
def test_where_the_code_is_there_it_stays(spoken: str, between: str) -> None:
    text = f"The pump runs at night.\n\n```\npump on\n```\n\n{between}{spoken}\n\nNobody hears it."
    assert quoted(text, "at night", is_whole=True) == text


def test_what_leads_to_code_stays() -> None:
    text = "The pump runs at night.\n\nHere it is turned on:\n\n```\npump on\n```"
    assert quoted(text, "at night", is_whole=True) == text


@pytest.mark.parametrize(
    ("question", "is_whole"),
    [
        ("How many minutes does the pump run?", False),
        ("What is the pump?", True),
        ("펌프란 무엇인가요?", False),
        ("펌프는 몇 분 도나요?", False),
    ],
)
def test_a_number_or_a_time_and_korean_are_told_by_the_paragraph(question: str, is_whole: bool) -> None:
    fact = "The pump is a machine that runs for 9 minutes each night, 펌프는 9분 돈다, and nobody who sleeps in the house has ever heard it, it is said, in all these many years since it came by boat."
    told = ask(question, [Evidence(1, f"{fact}\n\nIt stands below.")])
    assert ("It stands below." in told) is is_whole


HOW = "How do I start the pump?"
LEAD = "The pump can be started in two ways, by hand and from the shore."
BELOW = f"# Pump\n\n## Starting the pump\n\n{LEAD}\n\n### By hand\n\nTurn the wheel.\n\n#### In winter\n\n- Warm the wheel.\n- Turn it.\n\n## Stopping it\n\nPull the cord."


def starting(text: str, question: str = HOW) -> str:
    """The first quote, without its marker."""
    reply = ask(question, [Evidence(1, text, ("Pump", "Starting the pump"))])
    return reply.split("\n\n", 1)[1].partition(" [#1]")[0]


def test_a_section_that_leads_over_is_quoted_with_those_below_it() -> None:
    assert starting(BELOW) == f"{LEAD}\n\nBy hand\n\nTurn the wheel.\n\nIn winter\n\n- Warm the wheel.\n- Turn it."


def test_below_the_title_of_front_matter_no_heading_stands_in_the_text() -> None:
    page = f"{LEAD}\n\n## By hand\n\nTurn the wheel.\n\n# Other\n\nPull the cord."
    for title, is_page in ((("Pump",), True), (("Pump", "Starting"), False), ((), False)):
        reply = ask(HOW, [Evidence(1, page, title)])
        assert ("Turn the wheel" in reply) is is_page
        assert "Pull" not in reply


def test_headings_that_follow_one_another_stay_together() -> None:
    text = BELOW.replace("Turn the wheel.\n\n", "")
    assert starting(text) == f"{LEAD}\n\nBy hand\n\nIn winter\n\n- Warm the wheel.\n- Turn it."


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (BELOW, "What is the pump for?"),
        (BELOW.replace(LEAD, f"{LEAD} {FILLING * 11}".strip()), HOW),  # a long section
        (BELOW.replace(LEAD, f"{LEAD}\n\n```\npump on\n```"), HOW),  # it has its own steps
        (BELOW.replace("### By hand\n\n", "### By hand\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"), HOW),
        (BELOW.replace("### By hand", "## By hand"), HOW),
        (BELOW.removeprefix("# Pump\n\n## Starting the pump\n\n"), HOW),  # of what level it is, no one knows
    ],
)
def test_what_is_below_is_not_quoted(text: str, question: str) -> None:
    assert len(LEAD + FILLING * 11) > LEAD_SECTION_CHARS
    assert starting(text, question).startswith(LEAD)
    assert "Turn the wheel" not in starting(text, question)


def test_of_what_is_below_no_more_is_quoted_than_fits() -> None:
    steps = "".join(f"### Step {n}\n\n{n}. pump. {FILLING * 5}\n\n".replace(". pump", " pump") for n in range(9))
    found = starting(f"## Starting the pump\n\n{LEAD}\n\n{steps}")
    assert found.endswith(FILLING.strip())
    assert "Step 3" in found
    assert len(found) <= WITH_BELOW_CHARS + 10 * 9 + 2 * 9
    first = "\n\n".join(f"{n} pump. {FILLING * 5}" for n in range(9))
    found = starting(f"## Starting the pump\n\n{LEAD}\n\n### Step\n\n{first}\n\n### Other\n\nTurn the wheel.")
    assert "3 pump" in found
    assert "Turn the wheel" not in found


def test_between_the_two_what_speaks_of_code_that_is_not_there_is_marked_as_left_out() -> None:
    text = BELOW.replace(LEAD, f"{LEAD}\n\nThis example is shown in Listing 4-1.")
    assert starting(text).startswith(f"{LEAD}\n\n…\n\nBy hand")


def test_a_section_below_that_is_quoted_in_part_is_the_last() -> None:
    lead = f"## Starting the pump\n\n{LEAD}\n\n"
    # More than there is room for, of paragraphs that fit one by one; then of one that is too long to be quoted at all.
    for parts in ([5] * 5, [18, 16]):
        paragraphs = "\n\n".join(f"{n} pump. {FILLING * n}".strip() for n in parts)
        found = starting(f"{lead}### By hand\n\n{paragraphs}\n\n### In winter\n\nTurn the wheel.")
        assert f"{parts[0]} pump" in found
        assert "Turn the wheel" not in found


def test_a_later_section_below_is_quoted_whole_or_not() -> None:
    first, second = f"One pump. {FILLING * 12}".strip(), f"Two pump. {FILLING * 6}\n\nThree pump. {FILLING * 9}"
    found = starting(f"## Starting the pump\n\n{LEAD}\n\n### By hand\n\n{first}\n\n### In winter\n\n{second}")
    assert "One pump" in found
    assert "Two pump" not in found


@pytest.mark.parametrize(
    ("command", "printed", "kept"),
    [
        ("$ pump on", OUTPUT_LINES, OUTPUT_LINES),
        ("$ pump on", OUTPUT_LINES + 1, KEPT_OUTPUT_LINES),
        ("$ lamp on\n$ pump \\\n  on", OUTPUT_LINES + 1, KEPT_OUTPUT_LINES),
        ("pump on", OUTPUT_LINES + 1, OUTPUT_LINES + 1),
        ("price: $ 5", OUTPUT_LINES + 1, OUTPUT_LINES + 1),
        ("$ cat > pump <<EOF", OUTPUT_LINES + 1, OUTPUT_LINES + 1),
        ("$ python -c '", OUTPUT_LINES + 1, OUTPUT_LINES + 1),
        ("$ a = b $", OUTPUT_LINES + 1, OUTPUT_LINES + 1),
        ("pump on", CODE_LINES, CODE_LINES - 2),
    ],
)
def test_of_a_long_output_the_beginning_is_quoted(command: str, printed: int, kept: int) -> None:
    lines = [f"line {n}" for n in range(printed)]
    text = "\n".join(["Start the pump:", "", "```console", command, *lines, "```"])
    quote = ask("How do I start the pump?", [Evidence(1, text, ("Pump",))])
    assert command in quote
    assert [line for line in lines if line in quote.splitlines()] == lines[:kept]
    assert ("…" in quote.splitlines()) == (kept < printed)
    assert quote.count("```") == 2


def test_of_an_output_that_answers_all_is_quoted() -> None:
    lines = [f"line {n}" for n in range(OUTPUT_LINES)]
    text = "\n".join(["# Pump", "", "```console", "$ pump on", *lines, "Pressure of the valve: 42 bar", "```"])
    assert "42 bar" in ask("What is the pressure of the valve?", [Evidence(1, text, ("Pump",))])


@pytest.mark.parametrize(
    "between", ["![The pump](pump.png)", "<!-- drawn in 1901 -->", "[plan]: ./plan.md", "![The pump][plan]"]
)
def test_a_picture_parts_no_section(between: str) -> None:
    text = f"The pump stands below.\n\n{between}\n\nIt has a wheel."
    assert quoted(text, "wheel", is_whole=True) == text
    told = ask("What is the pump?", [Evidence(1, text)])
    assert told == "The pump stands below.\n\nIt has a wheel. [#1]"


OPTION = "## pump.speed\n\n- **Type:** `number`\n- **Default:** `[]`\n\nSets how fast the wheel of the pump turns, in turns a minute; it stands still without."


def test_a_list_right_below_the_heading_belongs_to_the_section() -> None:
    told = ask("How fast does the wheel of the pump turn?", [Evidence(1, OPTION, ("Pump",))])
    listed = "- Type: `number`\n- Default: `[]`"
    assert listed not in told  # a number is asked for: the paragraph
    told = ask("What does the wheel of the pump do?", [Evidence(1, OPTION, ("Pump",))])
    assert told.startswith(f"Pump › pump.speed\n\n{listed}\n\nSets how fast")


@pytest.mark.parametrize("last", ["- **Default:** `[]`", "Default:\n`[]`"])
def test_an_empty_value_announces_nothing(last: str) -> None:
    blocks = find_blocks(last)
    pieces = [(block.kind, (block.start, block.end)) for block in blocks]
    assert not any(announces(last[start:end]) for _, (start, end) in pieces)
    assert all(announces(text) for text in ("Do this:", "as follows (on Linux:)", "다음과 같습니다."))


@pytest.mark.parametrize(
    ("question", "has_default"),
    [("By default, how many turns does the wheel make?", True), ("How many turns does the wheel make?", False)],
)
def test_a_default_value_is_quoted_where_it_is_asked_for(question: str, has_default: bool) -> None:
    text = "## pump.speed\n\n**Default**: `90`\n\nSets how many turns the wheel of the pump makes in a minute, which 60 of these machines need."
    told = ask(question, [Evidence(1, text, ("Pump",))])
    assert ("Sets how many" in told, "Default: `90`" in told) == (True, has_default)


def test_what_is_not_shown_of_a_long_output_takes_no_room() -> None:
    printed = "\n".join(f"line {n} of what the pump says while it starts" for n in range(40))
    text = f"{FILLING * 10}\n\nStart the pump:\n\n```console\n$ pump start\n{printed}\n```\n\nThen it runs."
    assert len(text) > MOST_CHARS + len("Then it runs.")
    told = quoted(text, "Start the pump", is_whole=False)
    assert f"line {KEPT_OUTPUT_LINES - 1} " in told
    assert f"line {KEPT_OUTPUT_LINES} " not in told
    assert "Then it runs." not in told
