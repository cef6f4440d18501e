"""kb open --web: a place in the page of kb serve, in the user's browser."""

from __future__ import annotations

import webbrowser

from kb.cli.invocation import Invocation, is_interactive
from kb.cli.serve import serve_page
from kb.cli.targets import find_target
from kb.cli.terminal import harmless_line, say
from kb.cli.views import Place
from kb.doors.guard import make_guard, read_address
from kb.doors.serving import find_server
from kb.errors import NotFound
from kb.page.addresses import document_address


def open_in_browser(name: str, invocation: Invocation, *, print_only: bool = False) -> None:
    """Open a place in the page of the server that runs; where none does, serve it until Ctrl-C."""
    with invocation.base(invocation.config()) as base:
        target = find_target(base, name)
        root = base.root(target.document.source)
    path = document_address(target.document.doc_id, target.cited)
    server = find_server(invocation.home)
    if print_only or invocation.json or not is_interactive():
        if server is None:
            raise NotFound(
                "no kb serve runs for this knowledge base", fix="start it in another terminal: kb serve --open"
            )
        file = root / target.document.path if root else None
        place = Place(
            path=str(file or ""),
            exists=file is not None and file.exists(),
            start_line=target.cited.start_line,
            end_line=target.cited.end_line,
            page=target.cited.page,
            url=server.rstrip("/") + path,
        )
        invocation.emit(place, lambda _: say(harmless_line(place.url or "")))
    elif server is None:
        serve_page(invocation, make_guard(read_address("0"), None), path)
    else:
        webbrowser.open(server.rstrip("/") + path)
