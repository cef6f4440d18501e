"""The errors a user can fix, as types: each has the problem, the fix, and a code that scripts can test for.

The command line prints an error once, as two lines.

    KbError                     invalid_input       exit 2
    ├── ConfigInvalid           config_invalid
    │   └── RulesInvalid        config_invalid
    ├── ConfigNotFound          config_not_found
    ├── NotFound                not_found
    ├── NotIndexed              not_indexed
    ├── IndexOutOfDate          index_out_of_date
    ├── EmbeddingMismatch       embedding_mismatch
    ├── ModelError              model_unavailable
    │   ├── ExtraMissing        model_unavailable
    │   ├── ModelNotPulled      model_not_pulled
    │   ├── ModelTimeout        timeout
    │   ├── StreamAborted       stream_aborted
    │   └── MalformedResponse   malformed_response
    ├── Locked                  locked
    ├── CorruptStore            corrupt_store
    ├── ParseFailed             parse_failed
    │   └── ReaderStopped       parse_failed
    ├── InvalidInput            invalid_input
    ├── IoError                 io_error
    └── SuiteInvalid            suite_invalid
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from functools import partial
from typing import Any


class ExitCode(IntEnum):
    """The process exit codes; what each means is said in the README."""

    DONE = 0
    NOTHING = 1
    USER_ERROR = 2
    UNHEALTHY = 3
    INTERRUPTED = 130


class KbError(Exception):
    """A problem the user can fix.

    problem  one sentence: what is wrong, with the value that is wrong
    fix      one sentence: what to do about it
    details  values a script may want (paths, sizes, names); JSON-serialisable
    """

    code = "invalid_input"

    def __init__(self, problem: str, *, fix: str, **details: str | int | float | bool | None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.fix = fix
        self.details = details

    def __reduce__(self) -> tuple[Any, ...]:
        # An error that another process raised arrives whole: without this, it would be made anew without its fix.
        return partial(type(self), self.problem, fix=self.fix, **self.details), (), self.__dict__


class ConfigInvalid(KbError):
    """A key or value in a config file, the environment or a flag is not usable."""

    code = "config_invalid"


class RulesInvalid(ConfigInvalid):
    """A file of context relevance rules has faults; all of them are listed.

    places  the path of keys (empty for the whole file) and what is wrong there, for each fault
    """

    places: tuple[tuple[str, str], ...] = ()


class ConfigNotFound(KbError):
    """The config file named by --config or KB_CONFIG does not exist."""

    code = "config_not_found"


class NotFound(KbError):
    """The document, chunk, answer, file or schema that was named does not exist."""

    code = "not_found"


class NotIndexed(KbError):
    """There is no knowledge base here yet, or it holds no document."""

    code = "not_indexed"


class IndexOutOfDate(KbError):
    """A search index was not built from the chunks that are in the store now."""

    code = "index_out_of_date"


class EmbeddingMismatch(KbError):
    """The vectors in the store were made by another encoder than the configured one."""

    code = "embedding_mismatch"


class ModelError(KbError):
    """An encoder or a language model could not be used."""

    code = "model_unavailable"


class ExtraMissing(ModelError):
    """A model needs libraries that only the full set-up installs."""


class ModelNotPulled(ModelError):
    """The model server answers but does not have the configured model."""

    code = "model_not_pulled"


class ModelTimeout(ModelError):
    """The model server did not answer in time."""

    code = "timeout"


class StreamAborted(ModelError):
    """The answer stream broke off before its end."""

    code = "stream_aborted"


class MalformedResponse(ModelError):
    """The model server sent something that is not its protocol."""

    code = "malformed_response"


class Locked(KbError):
    """Another process is writing to this knowledge base."""

    code = "locked"


class CorruptStore(KbError):
    """kb.sqlite cannot be read as a knowledge base."""

    code = "corrupt_store"


class ParseFailed(KbError):
    """A file could not be read as the format it claims to be."""

    code = "parse_failed"


class ReaderStopped(ParseFailed):
    """A file crashed the process that read it, or passed one of its limits: reading it again would do so again."""


class InvalidInput(KbError):
    """An argument, a query or an input line is not usable."""

    code = "invalid_input"


class IoError(KbError):
    """The operating system refused to read or write something."""

    code = "io_error"


class SuiteInvalid(KbError):
    """An evaluation suite has faults; all of them are listed.

    places  the suite's path, the line (1-based) and what is wrong there, for each fault
    """

    code = "suite_invalid"
    places: tuple[tuple[str, int, str], ...] = ()


def error_codes() -> list[str]:
    """Every code a script may meet in error.v1, sorted; generated from the classes above."""

    def walk(base: type[KbError]) -> Iterator[type[KbError]]:
        yield base
        for child in base.__subclasses__():
            yield from walk(child)

    return sorted({error.code for error in walk(KbError)})
