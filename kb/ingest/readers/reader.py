"""What a reader is, and the one place where its failures become errors: bytes of a format → Parsed, or ParseFailed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from kb.drafts import Parsed
from kb.errors import KbError, ParseFailed
from kb.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Reader:
    """How files of one format become text with structure.

    name        the document's `type`
    version     bumped when its output changes: documents read by another version are read again
    extensions  lower case, with the dot; or whole file names, for files that are known by them
    kind        which size limit holds: max_text_bytes or max_binary_bytes
    read        (bytes, path relative to the root) → Parsed; may raise anything, so call it through `read_file`
    has_lines   True when line n of the text is line n of the file
    """

    name: str
    version: int
    extensions: tuple[str, ...]
    kind: Literal["text", "binary"]
    read: Callable[[bytes, str], Parsed]
    has_lines: bool


def read_file(reader: Reader, raw: bytes, path: str) -> Parsed:
    """The text and structure of a file's bytes.

    raises  ParseFailed, and nothing else, whatever the bytes are
    """
    try:
        return reader.read(raw, path)
    except KbError:
        raise
    except MemoryError as error:
        raise _failed(reader, path, "it needs more memory than there is", "split the file") from error
    except RecursionError as error:
        raise _failed(reader, path, "it is nested too deeply", "flatten the file, or ignore it in .kbignore") from error
    except ImportError as error:
        problem = f"this installation of kb is incomplete, the file may be sound: {error}"
        raise _failed(reader, path, problem, "see what kb doctor says") from error
    except Exception as error:
        said = str(error).strip().split("\n")[0][:200]
        problem = f"the {reader.name} reader stopped with {type(error).__name__}" + (f": {said}" if said else "")
        raise _failed(reader, path, problem, "open and save it again in its program, or ignore it") from error


def _failed(reader: Reader, path: str, problem: str, fix: str) -> ParseFailed:
    return ParseFailed(f"cannot read {path}: {problem}", fix=fix, path=path, reader=reader.name)
