"""Calls that run elsewhere → their results, or errors with a fix; waiting ends when the run is asked to stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kb.errors import IoError, KbError

# So often is a call made again whose process was lost: more would go on for hours with a file that kills every process.
TRIES = 5
_LOOK_SECONDS = 0.5


class Stopped(Exception):
    """The run was asked to stop."""


class Lost(Exception):
    """A call was lost TRIES times, with the process that it ran in."""


class Waiter:
    """Waits for calls.

    ray          the module, connected
    should_stop  asked every half second
    """

    def __init__(self, ray: Any) -> None:
        self.ray = ray
        self.should_stop: Callable[[], bool] = lambda: False

    def done(self, calls: Sequence[Any]) -> list[Any]:
        """Those that are answered already."""
        return list(self.ray.wait(list(calls), num_returns=len(calls), timeout=0)[0]) if calls else []

    def some(self, calls: Sequence[Any]) -> None:
        """Wait until one is answered. raises Stopped"""
        while not self.ray.wait(list(calls), num_returns=1, timeout=_LOOK_SECONDS)[0]:
            if self.should_stop():
                raise Stopped

    def get(self, call: Any) -> Any:
        """The result of one.

        raises  Stopped; Lost; what the call raised where that is a KbError; IoError where the cluster or an encoder is gone
        """
        self.some([call])
        errors = self.ray.exceptions
        try:
            return self.ray.get(call)
        except errors.RayTaskError as error:
            if isinstance(error.cause, KbError):
                raise error.cause from error
            if isinstance(error.cause, ImportError) or "failed to import" in str(error):
                last = str(error).strip().splitlines()[-1][:200]
                raise IoError(
                    f"a machine of the cluster cannot do kb's work: {last}",
                    fix="install the same kb, with the extra ray, on every machine",
                ) from error
            raise
        except (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.LocalRayletDiedError) as error:
            raise Lost(str(error).strip().splitlines()[0]) from error
        except errors.RayError as error:
            said = " ".join(str(error).split())[:200]
            raise IoError(
                f"Ray lost what it was asked for: {said}", fix="see that the cluster is sound, then run the same again"
            ) from error
