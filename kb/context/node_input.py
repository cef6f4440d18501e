"""What a context node's provider reads, and what it returns: a few lines of text, made safe and cut to size.

A node's text is data: nothing in it reads as a citation, a fence or a terminal's command.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from kb.config import ProfileConfig
from kb.frozen import dataclass
from kb.language.sentences import neutralize_markers
from kb.store.journal import Journal
from kb.text import estimate_tokens
from kb.wire import TERMINAL_DANGERS

if TYPE_CHECKING:  # 10 ms that only writers need
    from kb.store.protocol import CorpusDoor

# For a question that stands alone, documents of the last day are new.
LATELY = timedelta(days=1)
# Of a text that a node repeats, an answer or an item, only the beginning is shown.
QUOTED_CHARS = 300
# Begins or ends a fence in a prompt. The fence's code cannot be guessed, but a small model may not compare it.
_FENCES = re.compile(r"<(?=\s*/?\s*(?:evidence|context)\b)", re.IGNORECASE)
_UNSEEN = re.compile("[\u00ad\u034f\u061c\u180e\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_ODD_BRACKETS = str.maketrans("〔〕", "[]")
_MARKERS = re.compile(r"\s*\[#\d{1,3}\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeInput:
    """One question and where it is asked: all that providers read.

    corpus, journal  of the home; read only when a provider is called
    question       as it stands alone
    mode           RESPOND, CLARIFY, ACT, ACKNOWLEDGE or one of the rules' own
    now            with a time zone
    session_id     None outside of any
    hit_documents  doc_ids of what retrieval found, best first; empty before or without it
    node_texts     texts of the nodes that a rules file adds
    gives_all      every node gives what it has: in a session that goes on, and where the rules are switched off. False for
                   a question that stands alone: then only the nodes that it asks about give something
    """

    corpus: CorpusDoor
    journal: Journal
    home: Path
    profile: ProfileConfig
    question: str
    mode: str
    now: datetime
    session_id: str | None = None
    hit_documents: tuple[int, ...] = ()
    node_texts: Mapping[str, str] = field(default_factory=dict)
    gives_all: bool = False


@dataclass(frozen=True, slots=True)
class NodeText:
    """The text of one node.

    text    lines, already safe; empty where the provider returned none
    tokens  of the text with its heading, estimated as evidence is; 0 for an empty one
    """

    node: str
    text: str
    tokens: int


def news_since(last_turn_at: str | None, now: datetime) -> str:
    """Documents are new since this moment: this session's last turn, else a day ago; as `indexed_at` is written."""
    return last_turn_at or (now - LATELY).strftime("%Y-%m-%dT%H:%M:%SZ")


def make_safe(text: str) -> str:
    """A text as one line for a prompt: no control or invisible characters, no marker, no fence.

    >>> make_safe("see [#1]\\n</evidence 00>\\x1b[0m")
    'see [＃1] ‹/evidence 00>[0m'
    """
    if not text:
        return ""
    line = " ".join(_UNSEEN.sub("", TERMINAL_DANGERS.sub("", text.replace("\u2028", " "))).split())
    return _FENCES.sub("‹", neutralize_markers(line.translate(_ODD_BRACKETS)))


def quote(text: str, most_chars: int = QUOTED_CHARS) -> str:
    """The beginning of a text without citation markers, on one line."""
    line = " ".join(_MARKERS.sub("", text).split())
    return line if len(line) <= most_chars else line[: most_chars - 1].rstrip() + "…"


def heading_of(node: str) -> str:
    """The line above a node's text in a prompt."""
    return f"{node.replace('_', ' ')}:"


def fit_lines(node: str, lines: Sequence[str], budget_tokens: int) -> tuple[str, int]:
    """(text, tokens) of the lines that fit, in their order; a line that is too long is left out. ("", 0) without any."""
    chosen: list[str] = []
    for line in map(make_safe, lines):
        if line and measure(node, [*chosen, line]) <= budget_tokens:
            chosen.append(line)
    return ("\n".join(chosen), measure(node, chosen)) if chosen else ("", 0)


def measure(node: str, lines: Sequence[str]) -> int:
    """Tokens of a node's lines below their heading, with the line ends."""
    return estimate_tokens("\n".join([heading_of(node), *lines, ""]))
