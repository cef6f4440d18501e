"""A prompt and what is known of its conversation → the signals that the rules read, and the mode. No model is asked.

Nothing here opens a store, an index or an encoder: a greeting must be known for one before anything is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Literal

from kb.language.manner import (
    has_implicit_reference,
    is_about_kb,
    is_courtesy,
    is_errand,
    is_greeting,
    is_urgent,
    tells_of_user,
    tidy,
)
from kb.language.registry import words
from kb.relevance.rules import DEFAULT_BUDGET_TOKENS, SignalValue, Situation
from kb.text import STOP_WORDS

# The original's own threshold: three quarters of an hour without a word.
RETURNING_AFTER_SECONDS = 2700.0
# Turns and gists that make a conversation warm, as in the original's context_warmth.
WARM_TURNS, WARM_GISTS = 4, 5

_WORD = re.compile(r"\w+(?:['-]\w+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What is known before the prompt is looked at, all of it cheap to count.

    turns            earlier turns of this session
    topic_turns      of them, those that asked for something; None where that is not known: then all of them
    gist_count       stored gists; None where that is not known: no rule about gists applies then
    fact_count       remembered facts; None likewise
    has_world_state  there is news beyond the date, such as a recent ingest
    silence_seconds  since this session's last turn; None for a session that begins
    """

    turns: int = 0
    topic_turns: int | None = None
    gist_count: int | None = None
    fact_count: int | None = None
    has_world_state: bool = False
    silence_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """All signals of one prompt; rules may read each by its name.

    greeting_pattern       begins with a greeting
    acknowledgement        nothing but thanks, assent or a farewell
    only_courtesies        nothing but courtesies, greetings included
    tells_of_user          an introduction, or something "just so you know": nothing is asked
    prompt_token_count     words between white space
    content_word_count     words that could be searched for
    information_density    distinct words / words, in [0, 1]; 0 without a word
    implicit_reference     leans on something said before
    context_warmth         in [0, 1]: a third each for turns, gists and news
    topic_turns            earlier turns that asked for something
    tool_relevance_score   in [0, 1]: the share of content words about kb, 1 for an errand and for "what can you do?"
    intent_needs_tools     kb itself is to do something
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
        """Name → value, for `Situation.signals`; those that are not known are None."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    def situation(
        self,
        mode: str,
        *,
        token_budget_remaining: int = DEFAULT_BUDGET_TOKENS,
        measured_tokens: Mapping[str, int] | None = None,
    ) -> Situation:
        """What there is to decide for this prompt; see `Situation`."""
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
    """Read a prompt, English or Korean, in the light of its conversation."""
    tidied = tidy(prompt)
    typed = prompt.casefold().split()
    content = content_words(tidied)
    courtesies, greeting = is_courtesy(tidied), is_greeting(tidied)
    # A courtesy holds nothing else: its answer should not wait for 6 ms of patterns to be compiled.
    errand = not courtesies and is_errand(tidied)
    silence = conversation.silence_seconds
    return Signals(
        greeting_pattern=greeting,
        acknowledgement=courtesies and not greeting,
        only_courtesies=courtesies,
        tells_of_user=not courtesies and tells_of_user(prompt),
        prompt_token_count=len(typed),
        content_word_count=len(content),
        information_density=len(set(typed)) / len(typed) if typed else 0.0,
        implicit_reference=not courtesies and has_implicit_reference(tidied),
        context_warmth=measure_warmth(conversation),
        working_memory_turns=conversation.turns,
        topic_turns=conversation.turns if conversation.topic_turns is None else conversation.topic_turns,
        gist_count=conversation.gist_count,
        fact_count=conversation.fact_count,
        tool_relevance_score=1.0 if errand or (not courtesies and is_about_kb(tidied)) else _tool_share(content),
        intent_needs_tools=errand,
        urgency="high" if not courtesies and is_urgent(tidied) else "normal",
        returning_from_silence=silence is not None and silence >= returning_after_seconds,
    )


def measure_warmth(conversation: Conversation) -> float:
    """How much context there is to build on, in [0, 1]: (turns up to 4 + gists up to 5 + news or not) / 3, each in [0, 1]."""
    turns = min(conversation.turns / WARM_TURNS, 1.0)
    gists = min((conversation.gist_count or 0) / WARM_GISTS, 1.0)
    return (turns + gists + conversation.has_world_state) / 3


def measure_silence(last_turn_at: str | None, now: datetime) -> float | None:
    """Seconds from a stored answer's `created_at` to now; None without one or when it cannot be read, 0 for the future.

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
    """The words of a prepared text that something could be found by: no stop words, no bare asking for more."""
    light = STOP_WORDS | words("filler")
    return [word for word in _WORD.findall(tidied) if word not in light]


def _tool_share(content: list[str]) -> float:
    tools, stems = words("tool"), tuple(words("tool_stem"))
    about = sum(word in tools or word.startswith(stems) for word in content)
    return about / len(content) if content else 0.0


@dataclass(frozen=True, slots=True)
class ModeChoice:
    """The mode of a prompt, and what it was chosen by."""

    mode: str
    why: str


# The first whose test holds names the mode: (mode, why, test).
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
# Modes whose answer rests on no document: neither encoder nor index is needed. A hint for another mode searches.
MODES_WITHOUT_RETRIEVAL = frozenset({"ACKNOWLEDGE"})
# Nothing in these is what a later question could be about: thanks, errands, prompts without content.
MODES_WITHOUT_TOPIC = frozenset({"ACKNOWLEDGE", "ACT", "CLARIFY"})


def choose_mode(signals: Signals, hint: str | None = None) -> ModeChoice:
    """The mode by the first rule that fits; a hint overrides them all and is not checked here."""
    if hint:
        return ModeChoice(hint, "the mode hint")
    mode, why, _ = next(rule for rule in MODE_RULES if rule[2](signals))
    return ModeChoice(mode, why)
