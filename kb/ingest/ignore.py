"""Ignore files → is a path left out: .gitignore, .git/info/exclude and .kbignore, at every level, as git reads them.

The caller walks the folders: it asks about one entry at a time, top down, and does not enter a folder that is left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from pathspec.patterns.gitignore.base import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from kb.frozen import dataclass


@dataclass(frozen=True, slots=True)
class _Rules:
    """The patterns of one ignore file; they match paths relative to its folder.

    folder    absolute path with a "/" at the end
    patterns  the last line of the file first, because the last that matches decides; True where it ignores
    """

    folder: str
    patterns: tuple[tuple[re.Pattern[str], bool], ...]

    def verdict(self, path: str) -> bool | None:
        """Whether an entry is ignored (True) or included again by "!" (False); None where no pattern matches it."""
        asked = path[len(self.folder) :]
        for pattern, ignores in self.patterns:
            # pathspec's own matcher would also let a folder's pattern decide about all below the folder. Here folders
            # were decided when they were entered, and "!*/" must not take back every file: so the mark that pathspec
            # puts where a folder's name ends has to stand at the end of the path.
            is_folders = "ps_d" in pattern.groupindex
            for match in pattern.finditer(asked):
                if not is_folders or match.end("ps_d") in (-1, len(asked)):
                    return ignores
        return None


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """All rules that hold in one folder; the innermost comes first, and the first that matches decides.

    own  from .kbignore files: they win over git's rules, and may include an ignored path again with "!"
    git  from .gitignore and .git/info/exclude
    """

    own: tuple[_Rules, ...] = ()
    git: tuple[_Rules, ...] = ()

    def is_ignored(self, path: str, *, is_folder: bool) -> bool:
        """Whether an entry of that folder is left out; `path` is absolute."""
        asked = path + "/" if is_folder else path
        for rules in (*self.own, *self.git):
            verdict = rules.verdict(asked)
            if verdict is not None:
                return verdict
        return False

    def entering(self, folder: str, names: Iterable[str]) -> IgnoreRules:
        """The rules inside a folder: these, and what its own ignore files add.

        names  what the folder holds, so that only ignore files that are there are opened
        """
        held = set(names)
        own, git = self.own, self.git
        if ".git" in held:
            git = _load(folder, ".git/info/exclude") + git
        if ".gitignore" in held:
            git = _load(folder, ".gitignore") + git
        if ".kbignore" in held:
            own = _load(folder, ".kbignore") + own
        return self if (own, git) == (self.own, self.git) else IgnoreRules(own, git)


def rules_above(start: str, root: str) -> IgnoreRules:
    """The rules of the folders above an absolute path: up to the root, and on to the top of a git work tree around it.

    No rules where they ignore the path itself: a user who names an ignored folder wants its files.
    """
    rules = IgnoreRules()
    folders = _folders_above(start, root)
    for parent, child in zip(folders, [*folders, start][1:], strict=True):
        names = (name for name in (".git", ".gitignore", ".kbignore") if os.path.exists(os.path.join(parent, name)))
        rules = rules.entering(parent, names)
        if rules.is_ignored(child, is_folder=os.path.isdir(child)):
            return IgnoreRules()
    return rules


def _folders_above(start: str, root: str) -> list[str]:
    """The folders whose rules apply to a path, outermost first, without the path itself."""
    above: list[str] = []
    kept = 0
    in_root, in_tree = True, True
    folder = start
    while in_root or in_tree:
        if in_tree and os.path.exists(os.path.join(folder, ".git")):
            kept, in_tree = len(above), False
        if in_root and folder == root:
            kept, in_root = len(above), False
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        above.append(folder := parent)
    return above[:kept][::-1]


def _load(folder: str, name: str) -> tuple[_Rules, ...]:
    """The rules of one ignore file; none where it cannot be read, as git does."""
    try:
        with open(os.path.join(folder, name), "rb") as file:
            lines = file.read().decode("utf-8-sig", errors="surrogateescape").replace("\r\n", "\n").split("\n")
    except OSError:
        return ()
    patterns = tuple(pattern for line in reversed(lines) if (pattern := _compile(line)))
    return (_Rules(folder.rstrip("/") + "/", patterns),) if patterns else ()


def _compile(line: str) -> tuple[re.Pattern[str], bool] | None:
    """One pattern, and whether it ignores; None for a blank line, a comment or an invalid pattern, which git skips too."""
    try:
        pattern = GitIgnoreSpecPattern(line)
    except (GitIgnorePatternError, ValueError, re.error):
        return None
    return None if pattern.include is None or pattern.regex is None else (pattern.regex, pattern.include)
