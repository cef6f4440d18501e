"""What a user calls a document → the document. Knows no SQLite: every engine of a corpus uses it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kb.errors import NotFound
from kb.records import Document


def find_named(
    name: str, list_documents: Callable[[Sequence[int] | None], list[Document]], roots: Mapping[str, str | None]
) -> Document:
    """The document a user means: `doc:12`, a path, `source/path`, the unique end of a path, or a file on this machine.

    list_documents  those with these ids, or all
    roots           every source and its folder
    raises          NotFound, naming the nearest paths, or all that match when there are several
    """
    if re.fullmatch(r"doc:[0-9]{1,18}", name):
        found = list_documents([int(name[4:])])
        if found:
            return found[0]
    documents = list_documents(None)
    for matches in (
        [d for d in documents if name in (d.path, f"{d.source}/{d.path}")],
        [d for d in documents if f"/{d.source}/{d.path}".endswith(f"/{name.lstrip('/')}")],
    ):
        if len(matches) == 1:
            return matches[0]
        if matches:
            listed = ", ".join(f"{d.source}/{d.path}" for d in matches[:5])
            raise NotFound(f"'{name}' is the end of {len(matches)} paths", fix=f"name one of: {listed}")
    file = Path(os.path.abspath(Path(name).expanduser()))
    for source, root in roots.items():
        if root is not None and file.is_relative_to(root):
            place = (source, file.relative_to(root).as_posix())
            if named := [d for d in documents if (d.source, d.path) == place]:
                return named[0]
    import difflib

    near = difflib.get_close_matches(name, [d.path for d in documents], n=3, cutoff=0.5)
    hint = f"did you mean: {', '.join(near)}?" if near else "see what there is with: kb list"
    raise NotFound(f"no document '{name}'", fix=hint)
