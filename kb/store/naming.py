"""What a user calls a document → the document. Knows no SQLite: every engine of a corpus uses it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from kb.errors import NotFound


class DocumentPlace(NamedTuple):
    """What a document can be named by."""

    doc_id: int
    source: str
    path: str


def find_named(name: str, documents: Sequence[DocumentPlace], roots: Mapping[str, str | None]) -> int:
    """The doc_id of what a user means: `doc:12`, a path, `source/path`, the unique end of a path, or a file on this machine.

    documents  all, in the order that they are listed in
    roots      every source and its folder
    raises     NotFound, naming the nearest paths, or all that match when there are several
    """
    if re.fullmatch(r"doc:[0-9]{1,18}", name) and any(d.doc_id == int(name[4:]) for d in documents):
        return int(name[4:])
    for matches in (
        [d for d in documents if name in (d.path, f"{d.source}/{d.path}")],
        [d for d in documents if f"/{d.source}/{d.path}".endswith(f"/{name.lstrip('/')}")],
    ):
        if len(matches) == 1:
            return matches[0].doc_id
        if matches:
            listed = ", ".join(f"{d.source}/{d.path}" for d in matches[:5])
            raise NotFound(f"'{name}' is the end of {len(matches)} paths", fix=f"name one of: {listed}")
    file = Path(os.path.abspath(Path(name).expanduser()))
    for source, root in roots.items():
        if root is not None and file.is_relative_to(root):
            place = (source, file.relative_to(root).as_posix())
            if named := [d for d in documents if (d.source, d.path) == place]:
                return named[0].doc_id
    import difflib

    # By the name of the file: two that end in .md are not near for that.
    stems = {d.path: Path(d.path).stem.casefold() for d in documents}
    meant = difflib.get_close_matches(Path(name).stem.casefold(), list(stems.values()), n=3, cutoff=0.6)
    near = [path for stem in dict.fromkeys(meant) for path in stems if stems[path] == stem]
    near = list(dict.fromkeys([*near, *difflib.get_close_matches(name, list(stems), n=3, cutoff=0.8)]))[:3]
    hint = f"did you mean: {', '.join(near)}?" if near else "see what there is with: kb list"
    raise NotFound(f"no document '{name}'", fix=hint)
