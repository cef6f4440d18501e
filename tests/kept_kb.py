"""`python -m kb` with the models of `tests.kept_models`: for tests of a process to which it is no matter how vectors come about.

Its arguments are those of `kb`. After a first one, --own-models, it keeps nothing.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path


def put(name: str, value: object) -> None:
    """As `MonkeyPatch.setattr`, for the life of the process."""
    module, attribute = name.rsplit(".", 1)
    setattr(import_module(module), attribute, value)


def keep() -> None:
    """Let this process keep what its models say."""
    from tests.kept_models import keep_models

    keep_models(put, Path(os.environ["XDG_CACHE_HOME"]) / "kb")


def start() -> None:
    """Be `kb` with the arguments of this process."""
    from kb.cli.main import main

    if sys.argv[1:2] == ["--own-models"]:
        del sys.argv[1]
    else:
        keep()
    main()


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])  # what stood there is this folder
    start()
