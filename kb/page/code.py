"""Program text → HTML line by line: coloured by classes, each line with an id, the cited ones marked.

The language is one of a known set, and colouring ends after a while: a document chooses neither what runs nor for how long.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from markupsafe import Markup, escape
from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_by_name, get_lexer_for_filename
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

# What a fence or a file's name may choose.
LANGUAGES = frozenset(
    "python python3 py pycon rust rs javascript js jsx typescript ts tsx c cpp c++ csharp cs java kotlin go ruby rb php swift "
    "scala r lua perl haskell ocaml elixir erlang julia dart zig bash sh shell zsh console powershell sql html xml css scss "
    "json yaml yml toml ini cfg properties dockerfile docker make makefile cmake diff patch rst restructuredtext markdown md "
    "latex tex graphql protobuf nginx http".split()
)
# A block of a hundred thousand characters is coloured in .3 s; what a hostile text makes longer goes on without colours.
COLOUR_SECONDS = 0.7


def code_lines(code: str, language: str, first: int, cited: Collection[int] = (), prefix: str = "L") -> Markup:
    """The lines of a text, one element each, numbered from `first`; an empty prefix leaves ids and numbers out.

    language  a name of LANGUAGES or a file's name; anything else is not coloured
    """
    rows = []
    for number, html in enumerate(_coloured(code, language), start=first):
        mark = " cited" if number in cited else ""
        place = Markup(' id="{}{}" data-no="{}"').format(prefix, number, number) if prefix else ""
        rows.append(Markup('<span class="line{}"{}>{}\n</span>').format(mark, place, html))
    return Markup("").join(rows)


def _coloured(code: str, language: str) -> Iterator[Markup]:
    """The HTML of each line."""
    line: list[Markup] = []
    for css, text in _pieces(code, _find_lexer(language)):
        for at, piece in enumerate(text.split("\n")):
            if at:
                yield Markup("").join(line)
                line = []
            if piece:
                line.append(Markup('<span class="{}">{}</span>').format(css, piece) if css else escape(piece))
    yield Markup("").join(line)


def _pieces(code: str, lexer: Lexer | None) -> Iterator[tuple[str, str]]:
    """(class, text) of what has one colour; the pieces are the code."""
    if lexer is None:
        yield "", code
        return
    done, ends = 0, time.monotonic() + COLOUR_SECONDS
    for at, kind, text in lexer.get_tokens_unprocessed(code):
        if at != done or time.monotonic() > ends:
            break
        while kind not in STANDARD_TYPES and kind.parent is not None:
            kind = kind.parent
        yield STANDARD_TYPES.get(kind, ""), text
        done = at + len(text)
    if done < len(code):
        yield "", code[done:]


def _find_lexer(language: str) -> Lexer | None:
    try:
        if language.lower() in LANGUAGES:
            found = find_lexer_class_by_name(language.lower())
            return found()
        if "." in language or "/" in language:
            found = get_lexer_for_filename(PurePosixPath(language).name)
            return found if LANGUAGES.intersection(found.aliases) else None
    except ClassNotFound:
        pass
    return None
