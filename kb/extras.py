"""Libraries that a slim installation leaves out: whether they are there, and the error that names the extra."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

from kb.errors import ExtraMissing

DISTRIBUTION = "kb-cited"  # the name on the package index; the one in pyproject.toml


def install_command(extra: str) -> str:
    """How an extra is installed."""
    return f"pip install '{DISTRIBUTION}[{extra}]' (pipx: pipx install '{DISTRIBUTION}[{extra}]')"


FULL = install_command("full")


@cache
def is_installed(library: str) -> bool:
    """Whether a library can be imported; nothing is imported to find out."""
    return find_spec(library) is not None


def require(what: str, *libraries: str, extra: str = "full") -> None:
    """Do nothing where all the libraries are installed.

    what    what needs them, as the beginning of a sentence: "training tags needs …"
    raises  ExtraMissing, which names those that are missing and the extra that brings them
    """
    missing = [library for library in libraries if not is_installed(library)]
    if missing:
        raise ExtraMissing(
            f"{what} {' and '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed",
            fix=f"install {'the full set-up' if extra == 'full' else 'it'}: {install_command(extra)}",
            missing=", ".join(missing),
        )
