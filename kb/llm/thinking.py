"""Pieces of a streamed answer → the same pieces without `<think>…</think>`, wherever the stream was cut.

Separates a model's answer from its reasoning; knows no server.
"""

from __future__ import annotations

OPENING, CLOSING = "<think>", "</think>"


class ThinkFilter:
    """Takes reasoning out of a stream: feed it pieces in order, then flush it once.

    hold_back  True for a model whose reasoning may come without its opening tag: text is held back until a closing tag
               or the end, so that the answer is not streamed.

    A block that is never closed is all reasoning. White space before the answer is dropped.

    >>> clean = ThinkFilter()
    >>> [clean.feed(piece) for piece in ("<th", "ink>hm</thi", "nk>\\n\\nYes", ".")], clean.flush()
    (['', '', 'Yes', '.'], '')
    """

    def __init__(self, *, hold_back: bool = False) -> None:
        self.dropped_chars = 0
        self._holds_back = hold_back
        self._is_thinking = False
        self._has_answer = False
        self._pending = ""

    def feed(self, piece: str) -> str:
        """The text that is known to be answer so far."""
        self._pending += piece
        answer = ""
        while True:
            tag = self._next_tag()
            if tag is None:
                return self._begun(answer + self._release())
            before, _, self._pending = self._pending.partition(tag)
            if self._is_thinking or self._holds_back:
                self.dropped_chars += len(before)
            else:
                answer += before
            # Behind a closing tag comes answer, behind an opening one reasoning, whatever the state was.
            self._is_thinking, self._holds_back = tag == OPENING, False

    def flush(self, *, is_complete: bool = True) -> str:
        """The rest of the answer at the end of the stream.

        is_complete  False for a stream that was cut: text still held back may be reasoning and is dropped
        """
        rest, self._pending = self._pending, ""
        if self._is_thinking or (self._holds_back and not is_complete):
            self.dropped_chars += len(rest)
            return ""
        return self._begun(rest)

    def _next_tag(self) -> str | None:
        wanted = (CLOSING,) if self._is_thinking else (OPENING, CLOSING)
        found = [(self._pending.find(tag), tag) for tag in wanted if tag in self._pending]
        return min(found)[1] if found else None

    def _release(self) -> str:
        if self._holds_back:
            return ""
        keep = _length_of_begun_tag(self._pending)
        ready = self._pending[: len(self._pending) - keep]
        self._pending = self._pending[len(ready) :]
        if self._is_thinking:
            self.dropped_chars += len(ready)
            return ""
        return ready

    def _begun(self, text: str) -> str:
        if not self._has_answer:
            text = text.lstrip()
            self._has_answer = bool(text)
        return text


def _length_of_begun_tag(text: str) -> int:
    """How many characters at the end of a text may turn out to be the beginning of a tag."""
    longest = min(len(text), len(CLOSING) - 1)
    return next((n for n in range(longest, 0, -1) if OPENING.startswith(text[-n:]) or CLOSING.startswith(text[-n:])), 0)
