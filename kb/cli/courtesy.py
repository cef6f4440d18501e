"""The one line that answers a courtesy, printed; imports nothing that a greeting would wait for."""

from __future__ import annotations

from kb.ask.records import Answer
from kb.cli.relevance_output import print_relevance
from kb.cli.terminal import harmless, say


def print_courtesy(answer: Answer) -> None:
    """One line, and how it came to it where that was asked for."""
    say(harmless(answer.answer))
    if answer.relevance and answer.relevance.decision:
        say()
        print_relevance(answer.relevance)
