"""A view → HTML by the templates: every text is escaped, characters that would mislead are written out, an unknown name fails."""

from __future__ import annotations

import hashlib
import re
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from kb import __version__
from kb.doors.arguments import Filtered
from kb.page.addresses import document_address, place_address, session_address
from kb.page.document import DocumentView
from kb.page.parts import Part, document_parts, excerpt_html
from kb.page.search import FACETS, SearchView
from kb.page.shown import shown
from kb.records import Hit
from kb.symbols import term_spans

FOLDER = Path(__file__).parent
STATIC = {
    "style.css": "text/css; charset=utf-8",
    "script.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
LANGUAGE_NAMES = {"en": "English", "ko": "Korean", "und": "unknown", "de": "German", "fr": "French", "ja": "Japanese"}
_FIRST_CITED = re.compile(r'<(mark|span|div|tr)((?: id="\w+")?) class="([^"]*\bcited(?:-row)?)"((?: id="L\d+")?)')


@cache
def static_file(name: str) -> bytes:
    """A file of STATIC."""
    return (FOLDER / "static" / name).read_bytes()


def render(template: str, **values: Any) -> str:
    """A page, or a part of one."""
    return _templates().get_template(template).render(**values)


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        finalize=lambda value: shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "version": __version__,
        "static": _static_address,
        "document_address": document_address,
        "hit_address": hit_address,
        "place_address": place_address,
        "session_address": session_address,
        "parts_of": anchored_parts,
        "fields_of": fields_of,
        "query_of": query_of,
        "excerpt": _excerpt,
        "names": _names,
        "facet_value": _facet_value,
    }
    environment.filters |= {"day": _day, "minute": _minute, "size": _size, "percent": _percent}
    return environment


def _static_address(name: str) -> str:
    """The address of a file, another one for other content, so that browsers may keep it."""
    return f"/static/{name}?{hashlib.sha256(static_file(name)).hexdigest()[:12]}"


def hit_address(hit: Hit) -> str:
    """Where a hit stands in its document."""
    return document_address(hit.doc_id, hit.citation, (hit.chunk_id,))


def anchored_parts(view: DocumentView) -> list[Part]:
    """The parts of a document; the first thing that is cited has the id `cited`."""
    parts, is_found = [], False
    for part in document_parts(view):
        if part.is_cited and part.picture and not is_found:
            part, is_found = Part(**{**_fields(part), "anchor": "cited"}), True
        elif not is_found:
            html, count = _FIRST_CITED.subn(r'<\1 class="\3" id="cited"', str(part.html), count=1)
            part, is_found = Part(**{**_fields(part), "html": Markup(html)}), bool(count)
        parts.append(part)
    return parts


def _fields(part: Part) -> dict[str, Any]:
    return {name: getattr(part, name) for name in part.__slots__}


def fields_of(given: Filtered) -> list[tuple[str, str]]:
    """The filters of a page as they stand in its address."""
    lists = [(field, value) for field in (*FACETS, "paths") for value in getattr(given, field)]
    return lists + [(name, value) for name in ("since", "until") if (value := getattr(given, name))]


def query_of(given: Filtered, **more: object) -> str:
    """The query of an address with the filters of a page."""
    return urlencode([*fields_of(given), *more.items()], errors="replace")


def _excerpt(view: SearchView, hit: Hit) -> Markup:
    """What a list shows of a hit; its snippet where the passage has gone since."""
    terms = frozenset(view.response.trace.query_terms) if view.response and view.response.trace else frozenset()
    chunk = view.chunks.get(hit.chunk_id)
    if chunk is None:
        return Markup("<p>{}</p>").format(shown(hit.snippet))
    return excerpt_html(chunk, view.types.get(hit.doc_id, ""), partial(term_spans, terms=terms))


def _names(hit: Hit) -> list[str]:
    """Title and headings of a hit, outermost first, each once."""
    return list(dict.fromkeys(name for name in (hit.title, *hit.heading_path) if name)) or [
        PurePosixPath(hit.path).name
    ]


def _facet_value(field: str, value: str) -> str:
    """A value of a filter as people say it."""
    return LANGUAGE_NAMES.get(value, value) if field == "languages" else value


def _day(moment: str) -> str:
    return moment[:10]


def _minute(moment: str) -> str:
    return moment[:16].replace("T", " ")


def _size(count: int) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 1000 or unit == "MB":
            return f"{count:,.0f} {unit}"
        count //= 1000
    return ""


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
