"""The line editor of `kb chat`: prompt_toolkit, with the session's earlier questions as history."""

from __future__ import annotations

from collections.abc import Iterator

from kb.chat.commands import COMMANDS
from kb.chat.pipeline import Chat
from kb.cli.terminal import say, styled

# Earlier questions that the arrow keys bring back.
HISTORY_LINES = 200


def ask_for_lines(talk: Chat) -> Iterator[str]:
    """Each line that is typed, until Ctrl-D. Ctrl-C gives up the line that is being typed."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.history import InMemoryHistory

    history = InMemoryHistory()
    turns = talk.kb.journal.session_turns(talk.session_id, HISTORY_LINES)
    for turn in turns:
        history.append_string(turn.question)
    so_far = f", {len(turns)} turns so far" if turns else ""
    say(styled(f"session {talk.session_id}{so_far} · /help shows what can be typed, Ctrl-D leaves", "dim"))
    editor: PromptSession[str] = PromptSession(
        history=history,
        completer=WordCompleter([f"/{name}" for name in COMMANDS], sentence=True),
        complete_while_typing=False,
    )
    while True:
        try:
            yield editor.prompt("› ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            say(styled(f"to go on another time: kb chat --session {talk.session_id}", "dim"))
            return
