"""A refusal that names a word says truly whether the documents hold it, and shows where."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.journey.conftest import Call

ENGLISH = (
    "# Lamp\n\n## Install the lamp\n\nTo install the lamp, put it on its foot, and turn it until it clicks.\n",
    "# History\n\nThe keeper wrote his diary on a machine with Ubuntu, and kept it in the tower until he retired.\n",
)
KOREAN = (
    "# 램프\n\n## 램프 설치\n\n램프를 설치하려면 받침에 올려놓고 소리가 날 때까지 돌리세요.\n",
    "# 역사\n\n등대지기는 Ubuntu가 깔린 기계로 일기를 썼고, 은퇴할 때까지 탑에 두었습니다.\n",
)


@pytest.mark.parametrize(
    ("texts", "question", "told", "places"),
    [
        (ENGLISH, "How do I install the lamp on Ubuntu?", "close to your question mentions 'Ubuntu'; the last one below does.", 2),
        (ENGLISH, "How do I install the lamp on Fedora?", "No passage mentions 'Fedora'.", 1),
        (KOREAN, "Ubuntu에서 램프를 어떻게 설치하나요?", "'Ubuntu' 언급이 없고, 아래 마지막 글에 있습니다.", 2),
        (KOREAN, "Fedora에서 램프를 어떻게 설치하나요?", "문서 어디에도 'Fedora' 언급이 없습니다.", 1),
    ],
)  # fmt: skip
def test_a_word_that_stands_elsewhere_is_shown_there(
    kb: Call, tmp_path: Path, texts: tuple[str, str], question: str, told: str, places: int
) -> None:
    home, folder = tmp_path / "home", tmp_path / "manual"
    folder.mkdir()
    for name, text in zip(("lamp.md", "history.md"), texts, strict=True):
        (folder / name).write_text(text, encoding="utf-8")
    kb("ingest", folder, home=home)
    found = kb("ask", question, "-k", "1", "--json", home=home)
    answer = found.json()
    assert found.code == 1
    assert told in answer["answer"]
    cited = [each["citation"]["path"] for each in answer["citations"]]
    assert cited == ["lamp.md", "history.md"][:places]


def test_a_document_that_is_listed_as_a_whole_is_listed_once(kb: Call, tmp_path: Path) -> None:
    from docx import Document

    home, folder = tmp_path / "home", tmp_path / "manual"
    folder.mkdir()
    manual = Document()
    for title, text in (text.removeprefix("# ").split("\n\n", 1) for text in ENGLISH):
        manual.add_heading(title, 1)
        manual.add_paragraph(text.replace("## Install the lamp\n\n", ""))
    manual.save(str(folder / "lamp.docx"))
    kb("ingest", folder, home=home)
    answer = kb("ask", "How do I install the lamp on Ubuntu?", "-k", "1", "--json", home=home).json()
    assert answer["answer"].endswith("No passage close to your question mentions 'Ubuntu'.")
    assert [each["citation"]["path"] for each in answer["citations"]] == ["lamp.docx"]
