"""The README is short, and the site builds without a warning and without anything from elsewhere."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.docstrings import as_markdown
from docs.make_pictures import COMMANDS as COMMANDS_OF_THE_PICTURE
from kb.cli.commands import COMMANDS
from tests.docs.blocks import ROOT
from tests.docs.shell import RunKb, lines_of, run_line


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_links_of_the_readme_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)", text):
        assert target.startswith("https://") or (ROOT / target).exists(), target


def test_the_table_of_the_readme_has_every_command() -> None:
    rows = re.findall(r"^\| (`kb .*?) \|", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    named = set(re.findall(r"`kb (\w+)", " ".join(rows)))
    assert named == {name for name, entry in COMMANDS.items() if entry.renamed_to is None}


@pytest.mark.usefixtures("default_readers")
def test_picture_shows_what_kb_prints(workspace: Path, run_kb: RunKb) -> None:
    """Word for word, times left out. If it fails: python docs/make_pictures.py."""
    picture = html.unescape((ROOT / "docs" / "images" / "session.svg").read_text(encoding="utf-8"))
    shown = _bare("".join(re.findall(r"<text[^>]*>([^<]*)</text>", picture)))
    commands = re.findall(r"\$(kb(?:search|ask)\"[^\"]+\")", shown)
    assert len(commands) == len(COMMANDS_OF_THE_PICTURE)
    for command in (line.text for line in lines_of("\n".join(COMMANDS_OF_THE_PICTURE))):
        for printed in run_line(command, run_kb).out.splitlines():
            # Which passages are the second and the third nearest to nonsense hangs on digits that processors round differently.
            assert _bare(printed) in shown or re.match(r"  [23]\. \S+#L", printed), f"{command}: {printed}"


def _bare(text: str) -> str:
    return re.sub(r"\d+(ms|\.\ds)", "", re.sub(r"\s", "", text))


def test_site_builds(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for page in (tmp_path / "site").glob("*.html"):
        fetched = re.findall(r'<(?:script|img|iframe)[^>]+src="(https?:[^"]+)"', page.read_text(encoding="utf-8"))
        fetched += re.findall(
            r'<link[^>]+rel="(?:stylesheet|preconnect)"[^>]+href="(https?:[^"]+)"', page.read_text(encoding="utf-8")
        )
        assert fetched == [], page.name


def test_docstrings_become_lists() -> None:
    text = "Find passages.\n\nquery   words, or a question\nk, n    how many at most,\n        1 or more\n\nraises  KbError"
    assert as_markdown(text) == (
        "Find passages.\n\n- `query`: words, or a question\n- `k, n`: how many at most,\n  1 or more\n\n- `raises`: KbError"
    )
