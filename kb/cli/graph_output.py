"""A slice of the graph → text for people."""

from __future__ import annotations

from kb.cli.terminal import harmless_line, say, styled, tell
from kb.graph.names import name_key
from kb.graph.records import Slice, TokenCheck


def print_slice(found: Slice, *, quiet: bool = False) -> None:
    """What the query names, then the paths, best first: score, sentence, places."""
    if found.entities and not quiet:
        named = ", ".join(f"{node.label} ({node.kind})" for node in found.entities)
        tell(f"from: {harmless_line(named)}")
    for path in found.paths:
        say(f"{styled(f'{path.base_score:.2f}', 'dim')}  {harmless_line(path.text)}")
    if quiet:
        return
    if found.project and not any(n.kind == "project" and n.key == name_key(found.project) for n in found.entities):
        tell(f"note: no document belongs to a project '{harmless_line(found.project)}' (front matter: project: …)")
    if not found.entities:
        tell("nothing found: the query names no document, heading, tag, project or thing that the documents name")
    elif not found.paths:
        tell("nothing found: no relation, link, tag or mention leads on from there")


def print_token_check(checked: TokenCheck) -> None:
    """Whether a token holds, and where it does not, what may have changed."""
    if checked.is_admissible:
        say(f"the token holds: {checked.paths} paths, corpus revision {checked.corpus_revision}")
        return
    say("the token does not hold")
    tell("it was issued for another query, --project or --max-paths, or the documents have changed since")
