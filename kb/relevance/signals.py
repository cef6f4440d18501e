"""A prompt and facts about its conversation → the signals that the rules read, and the mode. Needs no model.

Opens no store, no index and no encoder: a greeting must be recognized before anything is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime
from typing import Literal

from kb.frozen import dataclass
from kb.language.manner import (
    has_implicit_reference,
    is_about_kb,
    is_errand,
    is_greeting,
    is_small_talk,
    is_urgent,
    tells_of_user,
    tidy,
)
from kb.language.registry import words
from kb.relevance.rules import DEFAULT_BUDGET_TOKENS, SignalValue, Situation
from kb.text import STOP_WORDS

# Three quarters of an hour without a turn.
RETURNING_AFTER_SECONDS = 2700.0
# As many turns and gists give a conversation full warmth.
WARM_TURNS, WARM_GISTS = 4, 5

_WORD = re.compile(r"\w+(?:['-]\w+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Facts about the conversation before the prompt; all are cheap counts.

    turns            earlier turns of this session
    topic_turns      those of them that asked for something; None where that is unknown: all then count
    gist_count       stored gists; None where unknown: then no rule about gists applies
    fact_count       remembered facts; None where unknown: then no rule about facts applies
    has_world_state  something happened that a prompt may mention, such as a recent ingest
    silence_seconds  since this session's last turn; None for a new session
    """

    turns: int = 0
    topic_turns: int | None = None
    gist_count: int | None = None
    fact_count: int | None = None
    has_world_state: bool = False
    silence_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """The signals of one prompt; rules read them by name.

    greeting_pattern       the prompt begins with a greeting
    acknowledgement        only thanks, assent or a farewell
    only_courtesies        only small talk, greetings included
    tells_of_user          the user introduces themselves or states a fact about themselves, and asks nothing
    prompt_token_count     words between white space
    content_word_count     words that could be searched for
    information_density    distinct words / words, in [0, 1]; 0 without a word
    implicit_reference     refers to an earlier turn
    context_warmth         in [0, 1]: a third each for turns, gists and news
    topic_turns            earlier turns that asked for something
    tool_relevance_score   in [0, 1]: the share of content words about kb, 1 for a task for kb and for "what can you do?"
    intent_needs_tools     kb is asked to do something
    urgency                "high" or "normal"
    """

    greeting_pattern: bool
    acknowledgement: bool
    only_courtesies: bool
    tells_of_user: bool
    prompt_token_count: int
    content_word_count: int
    information_density: float
    implicit_reference: bool
    context_warmth: float
    working_memory_turns: int
    topic_turns: int
    gist_count: int | None
    fact_count: int | None
    tool_relevance_score: float
    intent_needs_tools: bool
    urgency: Literal["high", "normal"]
    returning_from_silence: bool

    def values(self) -> Mapping[str, SignalValue]:
        """Name → value, for `Situation.signals`; unknown ones are None."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    def situation(
        self,
        mode: str,
        *,
        token_budget_remaining: int = DEFAULT_BUDGET_TOKENS,
        measured_tokens: Mapping[str, int] | None = None,
    ) -> Situation:
        """The input of the decision for this prompt; see `Situation`."""
        return Situation(
            mode=mode,
            signals=self.values(),
            urgency=self.urgency,
            returning_from_silence=self.returning_from_silence,
            token_budget_remaining=token_budget_remaining,
            measured_tokens=measured_tokens or {},
        )


SIGNAL_NAMES = tuple(entry.name for entry in fields(Signals))


def compute_signals(
    prompt: str, conversation: Conversation, *, returning_after_seconds: float = RETURNING_AFTER_SECONDS
) -> Signals:
    """The signals of a prompt in English or Korean, with its conversation."""
    tidied = tidy(prompt)
    typed = prompt.casefold().split()
    content = content_words(tidied)
    small_talk, greeting = is_small_talk(tidied), is_greeting(tidied)
    # Small talk holds nothing else; skipping the other patterns saves it 6 ms of compilation.
    errand = not small_talk and is_errand(tidied)
    silence = conversation.silence_seconds
    return Signals(
        greeting_pattern=greeting,
        acknowledgement=small_talk and not greeting,
        only_courtesies=small_talk,
        tells_of_user=not small_talk and tells_of_user(prompt),
        prompt_token_count=len(typed),
        content_word_count=len(content),
        information_density=len(set(typed)) / len(typed) if typed else 0.0,
        implicit_reference=not small_talk and has_implicit_reference(tidied),
        context_warmth=measure_warmth(conversation),
        working_memory_turns=conversation.turns,
        topic_turns=conversation.turns if conversation.topic_turns is None else conversation.topic_turns,
        gist_count=conversation.gist_count,
        fact_count=conversation.fact_count,
        tool_relevance_score=1.0 if errand or (not small_talk and is_about_kb(tidied)) else _tool_share(content),
        intent_needs_tools=errand,
        urgency="high" if not small_talk and is_urgent(tidied) else "normal",
        returning_from_silence=silence is not None and silence >= returning_after_seconds,
    )


def measure_warmth(conversation: Conversation) -> float:
    """How much context the conversation has, in [0, 1]: the mean of turns / 4, gists / 5 and news, each at most 1."""
    turns = min(conversation.turns / WARM_TURNS, 1.0)
    gists = min((conversation.gist_count or 0) / WARM_GISTS, 1.0)
    return (turns + gists + conversation.has_world_state) / 3


def measure_silence(last_turn_at: str | None, now: datetime) -> float | None:
    """Seconds from a stored answer's `created_at` to now; None where it is missing or not a time, 0 for the future.

    now  with a time zone
    """
    if last_turn_at is None:
        return None
    try:
        last = datetime.fromisoformat(last_turn_at)
    except ValueError:
        return None
    last = last if last.tzinfo else last.replace(tzinfo=now.tzinfo)
    return max((now - last).total_seconds(), 0.0)


def content_words(tidied: str) -> list[str]:
    """The words of a `tidy` text that a search could use: no stop words, no words that only ask for more."""
    light = STOP_WORDS | words("filler")
    return [word for word in _WORD.findall(tidied) if word not in light]


def _tool_share(content: list[str]) -> float:
    tools, stems = words("tool"), tuple(words("tool_stem"))
    about = sum(word in tools or word.startswith(stems) for word in content)
    return about / len(content) if content else 0.0


@dataclass(frozen=True, slots=True)
class ModeChoice:
    """The mode of a prompt, and the reason for it."""

    mode: str
    why: str


# (mode, why, test); the first rule whose test holds gives the mode.
MODE_RULES: tuple[tuple[str, str, Callable[[Signals], bool]], ...] = (
    ("ACKNOWLEDGE", "nothing but courtesies", lambda s: s.only_courtesies),
    ("ACKNOWLEDGE", "the user tells of themselves and asks nothing", lambda s: s.tells_of_user),
    ("ACT", "kb itself is to do something", lambda s: s.intent_needs_tools),
    (
        "CLARIFY",
        "nothing to search for, and nothing said before to refer to",
        lambda s: s.content_word_count == 0 and s.topic_turns == 0 and s.tool_relevance_score == 0,
    ),
    ("RESPOND", "a question", lambda s: True),
)
# Modes that are answered without documents, so that neither encoder nor index is needed.
MODES_WITHOUT_RETRIEVAL = frozenset({"ACKNOWLEDGE"})
# Modes of prompts that no later question refers to: thanks, commands, prompts without content.
MODES_WITHOUT_TOPIC = frozenset({"ACKNOWLEDGE", "ACT", "CLARIFY"})


def choose_mode(signals: Signals, hint: str | None = None) -> ModeChoice:
    """The mode by the first rule that holds; a hint overrides the rules and is not checked here."""
    if hint:
        return ModeChoice(hint, "the mode hint")
    mode, why, _ = next(rule for rule in MODE_RULES if rule[2](signals))
    return ModeChoice(mode, why)
