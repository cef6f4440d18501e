"""The slash commands of a chat: what was said → lines of text. They read the store and the last answer; /remember alone writes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable

from kb.ask.refuse import refusal_lines
from kb.ask.story import facts_of_answer, tell_story
from kb.chat.names import check_session_name
from kb.chat.pipeline import Chat
from kb.errors import InvalidInput
from kb.frozen import dataclass
from kb.store.documents import utc_text
from kb.store.memories import LONGEST_MEMORY_CHARS
from kb.store.store import Store
from kb.text import estimate_tokens

NOTHING_YET = "nothing was asked yet in this session"
MORE_HELP = (
    "Anything else is a question. Ctrl-C ends an answer, Ctrl-D the chat.",
    'Several lines: Alt-Enter, a \\ at the end of a line, or """ before and after. A pasted text is one question.',
)
# Of a shown passage, so many characters say which one it is.
SHOWN_CHARS = 70


@dataclass(frozen=True, slots=True)
class Said:
    """What a command answers.

    lines  to print
    ends   the chat is over
    opens  the path#L12-L34 to open, None for every other command
    saves  the file that the session is written to, None for every other command
    """

    lines: tuple[str, ...] = ()
    ends: bool = False
    opens: str | None = None
    saves: str | None = None


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """One command: how it is called, what it does in a few words, and the function that does it."""

    usage: str
    does: str
    run: Callable[[Chat, str], Said]


def run_command(chat: Chat, line: str) -> Said:
    """Run one line that begins with a slash.

    raises  InvalidInput for a command that there is not, naming the nearest
    """
    name, _, argument = line.strip().lstrip("/").partition(" ")
    command = COMMANDS.get(name.lower())
    if command is None:
        near = difflib.get_close_matches(name.lower(), COMMANDS, n=1)
        raise InvalidInput(
            f"no command /{name}", fix=f"did you mean /{near[0]}?" if near else "see what there is with /help"
        )
    return command.run(chat, argument.strip())


def _why(chat: Chat, _: str) -> Said:
    """How the last answer came about, in the order in which it did."""
    answer = chat.last
    if answer is None:
        return Said((NOTHING_YET,))
    number = chat.kb.journal.answer_numbers([answer.trace_id]).get(answer.trace_id)
    return Said(tuple(tell_story(facts_of_answer(answer), number or "last")))


def _sources(chat: Chat, _: str) -> Said:
    """The places that the last answer cites."""
    if chat.last is None:
        return Said((NOTHING_YET,))
    answer = chat.last
    if not answer.citations:
        return Said(("the last answer cites nothing",))
    if all(cited.marker is None for cited in answer.citations):
        return Said(tuple(refusal_lines(answer.answer, [place.uri for _, place in answer.places()], answer.language())))
    lines = []
    for citation in answer.citations:
        quote = f'  "{_shortened(citation.quote)}"' if citation.quote else ""
        lines.append(f"[#{citation.marker}] {citation.citation.uri}{quote}")
    return Said(tuple(lines))


def _open(chat: Chat, argument: str) -> Said:
    """Open a cited place; without a number the first."""
    if chat.last is None:
        return Said((NOTHING_YET,))
    places = chat.last.places()
    if not places:
        return Said(("the last answer cites nothing",))
    wanted = argument.strip("[#]") or str(places[0][0])
    for number, place in places:
        if str(number) == wanted:
            return Said(opens=place.uri)
    known = ", ".join(str(number) for number, _ in places)
    raise InvalidInput(f"the last answer has no place {wanted}", fix=f"use one of: {known}")


def _window(chat: Chat, _: str) -> Said:
    """What this session has shown: a follow-up prefers what is not in it."""
    shown = chat.kb.journal.shown_in_session(chat.session_id, chat.kb.corpus.fetch_chunks)
    if not shown:
        return Said(("this session has shown no passage yet",))
    tokens = sum(estimate_tokens(passage.text) for passage in shown)
    lines = [f"{len(shown)} passages, about {tokens:,} tokens, count as known:"]
    lines += [f"  {passage.uri}  {_shortened(' '.join(passage.text.split()))}" for passage in shown]
    return Said(tuple(lines))


def _new(chat: Chat, argument: str) -> Said:
    """Begin another session, or go on with the one of this name."""
    chat.begin_anew(check_session_name(argument) if argument else None)
    turns = chat.earlier_turns()
    return Said((f"session {chat.session_id}" + (f", {turns} turns so far" if turns else ", new"),))


def _save(chat: Chat, argument: str) -> Said:
    """Write the session to a file that can be read without kb."""
    if not chat.earlier_turns():
        return Said((NOTHING_YET,))
    stem = re.sub(r"[^\w.-]+", "-", chat.session_id).strip("-.")  # a session's name may hold what a file's may not
    return Said(saves=argument or f"{stem or 'chat'}.md")


def _remember(chat: Chat, argument: str) -> Said:
    """Keep a fact, for every session, as `kb remember` does."""
    if not argument:
        raise InvalidInput(
            "nothing to remember", fix="say what, for example: /remember The office wifi is called Plover"
        )
    if len(argument) > LONGEST_MEMORY_CHARS:
        raise InvalidInput(
            f"the fact has {len(argument):,} characters", fix="a text of this length is a document: kb ingest -"
        )
    with Store(chat.kb.home, write=True) as store:
        fact, is_new = store.journal.add_memory(" ".join(argument.split()), None, utc_text())
    return Said((f"fact {fact.fact_id}: {fact.text}" if is_new else f"known already, as fact {fact.fact_id}",))


def _sessions(chat: Chat, _: str) -> Said:
    """The sessions there are, the one that was used last first."""
    found = chat.kb.journal.list_sessions()
    lines = [f"{s.session_id}  {s.turns} turns, last {s.last_at}" for s in found[:20]]
    if len(found) > len(lines):
        lines.append(f"… and {len(found) - len(lines)} more: kb sessions list")
    return Said(tuple(lines) or ("no sessions yet",))


def _help(chat: Chat, _: str) -> Said:
    """What can be typed."""
    width = max(len(command.usage) for command in COMMANDS.values())
    lines = [f"{command.usage.ljust(width)}  {command.does}" for command in dict.fromkeys(COMMANDS.values())]
    return Said((*lines, *MORE_HELP))


def _quit(chat: Chat, _: str) -> Said:
    """The end of the chat; the session stays."""
    return Said(ends=True)


_QUIT = SlashCommand("/quit", "leave; the session stays and can be resumed", _quit)
COMMANDS: dict[str, SlashCommand] = {
    "why": SlashCommand("/why", "how the last answer came about", _why),
    "sources": SlashCommand("/sources", "the places the last answer cites", _sources),
    "open": SlashCommand("/open [n]", "open the place cited as [#n] in your editor", _open),
    "window": SlashCommand("/window", "what this session has shown already", _window),
    "save": SlashCommand("/save [FILE]", "write this session to a Markdown file", _save),
    "new": SlashCommand("/new [name]", "begin another session, or resume the one of that name", _new),
    "remember": SlashCommand("/remember TEXT", "keep a fact: it is told when it is asked for", _remember),
    "sessions": SlashCommand("/sessions", "the sessions there are", _sessions),
    "help": SlashCommand("/help", "this list", _help),
    "quit": _QUIT,
    "exit": _QUIT,
}


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARS else line[: SHOWN_CHARS - 1].rstrip() + "…"
