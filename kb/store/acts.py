"""The newest kb commands, for the node act_history: a short file beside the store that may be deleted at any time.

It holds only each command's name, when it ended and its exit code: no argument, query, path or option is ever written,
so nothing secret can be. A file and not a table: one appended line takes .05 ms, and reading commands open the store read-only.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from kb.frozen import dataclass
from kb.private import open_private

FILE_NAME = "commands.log"
# When the file has grown past this many bytes, it is cut to the newest `keep` lines; a line has 70.
TRIM_BYTES = 32_768


@dataclass(frozen=True, slots=True)
class Act:
    """One command that was run; `done_at` is ISO 8601 UTC."""

    command: str
    done_at: str
    exit_code: int


def note_act(home: Path, act: Act, keep: int) -> bool:
    """Append a line; False where it cannot be written. The data folder is not created for it.

    keep  lines that stay when the file is trimmed; 0 writes none
    """
    if keep < 1 or not home.is_dir():
        return False
    path = home / FILE_NAME
    line = json.dumps({"command": act.command, "done_at": act.done_at, "exit_code": act.exit_code}) + "\n"
    try:
        with open(path, "a", encoding="utf-8", opener=open_private) as file:
            file.write(line)
            size = file.tell()
        if size > TRIM_BYTES:
            _trim(path, keep)
    except OSError:  # a read-only data folder: the log is not worth an error
        return False
    return True


def _trim(path: Path, keep: int) -> None:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    unfinished = path.with_name(f"{FILE_NAME}.{os.getpid()}.part")
    with open(unfinished, "w", encoding="utf-8", opener=open_private) as file:
        file.writelines(lines[-keep:])
    unfinished.replace(path)


def read_acts(home: Path) -> list[Act]:
    """The commands that were noted, oldest first; damaged lines are left out."""
    try:
        lines = (home / FILE_NAME).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    acts = []
    for line in lines:
        try:
            found = json.loads(line)
            acts.append(Act(str(found["command"]), str(found["done_at"]), int(found["exit_code"])))
        except (ValueError, KeyError, TypeError):
            continue
    return acts
