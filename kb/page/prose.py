"""Markdown of a document or a model → HTML that can do nothing: no HTML of its own, no foreign image, no link that runs.

Lines are the source's: each block begins with its line's id, and the words of cited lines are marked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, MutableMapping, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

from kb.page.code import code_lines
from kb.page.shown import shown

# Where words stand in a text, as [start, end).
SpansOf = Callable[[str], Sequence[tuple[int, int]]]
# A link's target as it is written → the address that it leads to, None for one that leads nowhere.
Link = Callable[[str], str | None]
_OUTSIDE = re.compile(r"(?i)(https?://|mailto:)")
_SCHEME = re.compile(r"[\s\x00-\x20]*[A-Za-z][\w+.-]*:")
# [#n] of an answer, [^n] of a footnote.
_MARKER = re.compile(r"\[#(\d{1,4})\]|\[\^([^\[\]\s]{1,40})\]:?")
_BLOCKS = frozenset("heading_open paragraph_open list_item_open blockquote_open tr_open".split())


def markdown_html(
    text: str,
    link: Link,
    cited: Collection[int] = (),
    *,
    title: str = "",
    citations: Callable[[int], str | None] = lambda marker: None,
    has_ids: bool = False,
    spans_of: SpansOf = lambda text: (),
    is_excerpt: bool = False,
) -> Markup:
    """The HTML of a text; its headings begin at h2.

    cited      1-based lines
    title      a first heading that says the same is left out: it stands above
    citations  the address that [#n] leads to, None where it stays text
    has_ids    each block gets the id of its line; once in a page
    spans_of   where words stand that are looked for: they are marked
    is_excerpt leave out headings, and what stands before the first block that has such words
    """
    parser = _parser()
    env: dict[str, Any] = {
        "cited": cited,
        "citations": citations,
        "prefix": "L" if has_ids else "",
        "spans": spans_of,
        "tables": 0,
    }
    placed: set[int] = set()
    tokens = parser.parse(shown(text), env)
    deeper, above = 1, Markup()
    if title and len(tokens) > 2 and tokens[0].tag == "h1" and tokens[1].content.strip() == title.strip():
        deeper, above = 0, Markup('<span id="L{}"></span>').format((tokens[0].map or [0])[0] + 1)
        tokens = tokens[3:]
    if is_excerpt:
        env["tables"] = None
        tokens = _excerpt(tokens, spans_of)
    for token in tokens:
        _place(token, cited, placed if has_ids else None)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(max(int(token.tag[1:]) + deeper, 2), 6)}"
        for child in token.children or ():
            _direct(child, link)
    return above + Markup(parser.renderer.render(tokens, parser.options, env))


def _excerpt(tokens: Sequence[Token], spans_of: SpansOf) -> list[Token]:
    """The blocks from the first one that has the words; all where none has them."""
    blocks: list[list[Token]] = [[]]
    for token in tokens:
        blocks[-1].append(token)
        if token.level == 0 and token.nesting <= 0:
            blocks.append([])
    told = [block for block in blocks if block and block[0].type not in ("heading_open", "hr")]
    first = next((at for at, block in enumerate(told) if any(spans_of(token.content) for token in block)), 0)
    return [token for block in told[first:] for token in block]


def leads_out(target: str) -> bool:
    """Whether an address is one of another machine."""
    return _OUTSIDE.match(target) is not None


class _Parser(MarkdownIt):
    """The usual parser, which takes a link with another scheme than these for words."""

    def validateLink(self, url: str) -> bool:  # noqa: N802 - its name there
        """Whether a target may be one."""
        return leads_out(url) or not _SCHEME.match(url)


@cache
def _parser() -> MarkdownIt:
    return _Parser("commonmark", {"html": False}, renderer_cls=_Renderer).enable(["table", "strikethrough"])


def _place(token: Token, cited: Collection[int], placed: set[int] | None) -> None:
    """Give a block its line's id, the outermost where several begin in a line, and its words their lines."""
    if token.map is None:
        return
    first, end = token.map[0] + 1, token.map[1] + 1
    if token.type in _BLOCKS:
        if placed is not None and first not in placed:
            placed.add(first)
            token.attrSet("id", f"L{first}")
        if token.type != "blockquote_open" and any(line in cited for line in range(first, end)):
            token.attrJoin("class", "holds-cited")
    for child in token.children or ():
        child.meta["line"] = first
        if child.type in ("softbreak", "hardbreak"):
            first += 1


def _direct(token: Token, link: Link) -> None:
    if token.type != "link_open":
        return
    written = str(token.attrs.get("href", ""))
    target = written if leads_out(written) else link(written)
    token.attrs = {} if target is None else {"href": target}
    if target is None:
        token.attrs = {"class": "no-link"}
    elif leads_out(target):
        token.attrs |= {"rel": "noopener noreferrer nofollow", "class": "outside"}


class _Renderer(RendererHTML):
    """The usual rendering, with marks, without images."""

    def text(self, tokens: Sequence[Token], at: int, options: object, env: MutableMapping[str, Any]) -> str:
        """Words, their citations as links."""
        out, done = Markup(), 0
        text = tokens[at].content
        for found in _MARKER.finditer(text):
            address = env["citations"](int(found[1])) if found[1] else ""
            if address is None:
                continue
            out += mark_spans(text[done : found.start()], env["spans"])
            if address:
                out += Markup('<a class="cite" data-beside href="{}">[#{}]</a>').format(address, found[1])
            else:
                out += Markup("<sup>{}</sup>").format(found[2])
            done = found.end()
        return _marked(tokens[at], out + mark_spans(text[done:], env["spans"]), env)

    def softbreak(self, tokens: Sequence[Token], at: int, options: object, env: MutableMapping[str, Any]) -> str:
        """The end of a line, marked between two lines that are."""
        line = tokens[at].meta.get("line", 0)
        return '<mark class="cited">\n</mark>' if line in env["cited"] and line + 1 in env["cited"] else "\n"

    def code_inline(self, tokens: Sequence[Token], at: int, options: object, env: MutableMapping[str, Any]) -> str:
        """Code between words."""
        return _marked(tokens[at], Markup("<code>{}</code>").format(mark_spans(tokens[at].content, env["spans"])), env)

    def image(self, tokens: Sequence[Token], at: int, options: object, env: MutableMapping[str, Any]) -> str:
        """What an image says instead of it."""
        words = tokens[at].content.strip() or "without words"
        return _marked(tokens[at], Markup('<span class="picture">Picture: {}</span>').format(words), env)

    def fence(self, tokens: Sequence[Token], at: int, options: object, env: MutableMapping[str, Any]) -> str:
        """Code as a block."""
        token = tokens[at]
        first = (token.map[0] if token.map else 0) + (2 if token.type == "fence" else 1)
        words = token.info.split()
        lines = code_lines(token.content.rstrip("\n"), words[0] if words else "", first, env["cited"], env["prefix"])
        return Markup('<pre class="code" tabindex="0">{}</pre>\n').format(lines)

    def code_block(self, tokens: Sequence[Token], at: int, options: object, env: MutableMapping[str, Any]) -> str:
        """Code that is indented."""
        return self.fence(tokens, at, options, env)

    def link_open(self, tokens: Sequence[Token], at: int, options: object, env: MutableMapping[str, Any]) -> str:
        """A link, or words where it leads nowhere."""
        attributes = Markup(" ").join(Markup('{}="{}"').format(*pair) for pair in tokens[at].attrs.items())
        return Markup("<a {}>").format(attributes)

    def table_open(self, tokens: Sequence[Token], at: int, options: object, env: MutableMapping[str, Any]) -> str:
        """A table in a box that can be scrolled; of an excerpt there is nothing to scroll."""
        if env["tables"] is None:
            return '<div class="wide"><table>\n'
        env["tables"] += 1
        return f'<div class="wide" tabindex="0" role="region" aria-label="Table {env["tables"]}"><table>\n'

    def table_close(self, tokens: Sequence[Token], at: int, options: object, env: MutableMapping[str, Any]) -> str:
        """Its end."""
        return "</table></div>\n"

    def th_open(self, tokens: Sequence[Token], at: int, options: object, env: MutableMapping[str, Any]) -> str:
        """A column's name; its alignment would be a style."""
        return '<th scope="col">'

    def td_open(self, tokens: Sequence[Token], at: int, options: object, env: MutableMapping[str, Any]) -> str:
        """A cell."""
        return "<td>"


def mark_spans(text: str, spans_of: SpansOf) -> Markup:
    """A text, escaped, with the words marked that are looked for."""
    out, at = Markup(), 0
    for start, end in spans_of(text):
        out += escape(text[at:start]) + Markup("<mark>{}</mark>").format(text[start:end])
        at = end
    return out + escape(text[at:])


def _marked(token: Token, html: Markup, env: MutableMapping[str, Any]) -> str:
    return Markup('<mark class="cited">{}</mark>').format(html) if token.meta.get("line") in env["cited"] else html
