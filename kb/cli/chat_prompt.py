"""The line editor of `kb chat`: prompt_toolkit, with the session's earlier questions as history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kb.chat.commands import COMMANDS
from kb.chat.pipeline import Chat
from kb.cli.terminal import say, styled

# Earlier questions that the arrow keys bring back.
HISTORY_LINES = 200


FENCE = '"""'


def typed_message(lines: Sequence[str]) -> str | None:
    """The message that these lines make; None while it goes on: inside three quotation marks, or behind a backslash.

    >>> typed_message(["why"]), typed_message(["why\\\\"]), typed_message(["why\\\\", "so?"])
    ('why', None, 'why\\nso?')
    >>> typed_message(['\"\"\"why', "so?"]), typed_message(['\"\"\"why', 'so?\"\"\"'])
    (None, 'why\\nso?')
    """
    text = "\n".join(lines)
    if text.lstrip().startswith(FENCE):
        inside, closed, _ = text.lstrip().removeprefix(FENCE).partition(FENCE)
        return inside.strip() if closed else None
    if text.endswith("\\"):
        return None
    return "\n".join(line.removesuffix("\\").rstrip() for line in text.split("\n"))


def ask_for_lines(talk: Chat) -> Iterator[str]:
    """Each message that is typed, until Ctrl-D; a pasted text is one. Ctrl-C gives up the message that is being typed."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.history import InMemoryHistory
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()
    # A terminal sends Alt-Enter as Escape and Enter.
    keys.add("escape", "enter")(lambda event: event.current_buffer.insert_text("\n"))
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
        key_bindings=keys,
        prompt_continuation="… ",
    )
    lines: list[str] = []
    while True:
        try:
            lines.append(editor.prompt("… " if lines else "› "))
            if (message := typed_message(lines)) is not None:
                lines = []
                yield message
        except KeyboardInterrupt:
            lines = []
        except EOFError:
            say(styled(f"to go on another time: kb chat --session {talk.session_id}", "dim"))
            return
