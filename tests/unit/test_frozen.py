"""The records' own decorator: what it makes behaves as what `dataclasses` makes of the same class."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec
import pytest

from kb.frozen import dataclass as frozen

T = TypeVar("T")


def places(decorate: Callable[..., Any]) -> dict[str, Any]:
    """The same classes by either decorator."""

    @decorate(frozen=True, slots=True)
    class Place:
        """A place."""

        path: str
        line: int = 1
        tags: list[str] = dataclasses.field(default_factory=list, hash=False, compare=False)
        hidden: int = dataclasses.field(default=7, repr=False)
        size: int = dataclasses.field(init=False, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "size", len(self.path))

        def where(self) -> str:
            return f"{self.path}:{self.line}"

    @decorate(frozen=True, slots=True, kw_only=True)
    class Further(Place):
        """A place further on."""

        page: int | None = None

    @decorate(frozen=True, slots=True, eq=False)
    class Itself(Generic[T]):
        """Equal to nothing else."""

        value: T

    @decorate(frozen=True, slots=True)
    class Empty:
        """Nothing."""

    return {"Place": Place, "Further": Further, "Itself": Itself, "Empty": Empty}


OURS, THEIRS = places(frozen), places(dataclasses.dataclass)


def outcome(work: Callable[[], Any]) -> Any:
    """What comes of it, without what names the class or counts the arguments in words of its own."""
    try:
        return repr(work())
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize(
    "work",
    [
        lambda c: c["Place"]("a.md"),
        lambda c: c["Place"]("a.md", 2, ["x"], hidden=3),
        lambda c: c["Place"]("a.md").tags is c["Place"]("a.md").tags,
        lambda c: c["Place"]("a.md").where(),
        lambda c: c["Place"]("a.md").size,
        lambda c: c["Place"](),
        lambda c: c["Place"]("a.md", 1, [], 7, 4),
        lambda c: c["Place"]("a.md", size=4),
        lambda c: c["Place"]("a.md", depth=4),
        lambda c: setattr(c["Place"]("a.md"), "line", 3),
        lambda c: delattr(c["Place"]("a.md"), "line"),
        lambda c: c["Place"]("a.md") == c["Place"]("a.md", tags=["x"]),
        lambda c: c["Place"]("a.md") == c["Place"]("a.md", 2),
        lambda c: c["Place"]("a.md") == c["Further"]("a.md"),
        lambda c: c["Place"]("a.md") == "a.md",
        lambda c: len({c["Place"]("a.md"), c["Place"]("a.md"), c["Place"]("b.md")}),
        lambda c: c["Further"]("a.md", page=3),
        lambda c: c["Further"]("a.md", 1, [], 7, 3),
        lambda c: c["Itself"](3) == c["Itself"](3),
        lambda c: c["Itself"](3),
        lambda c: c["Empty"]() == c["Empty"](),
        lambda c: len({c["Empty"](), c["Empty"]()}),
        lambda c: dataclasses.replace(c["Place"]("a.md"), line=5),
        lambda c: dataclasses.asdict(c["Further"]("a.md", page=3)),
        lambda c: [(f.name, f.default) for f in dataclasses.fields(c["Further"])],
        lambda c: dataclasses.is_dataclass(c["Place"]),
        lambda c: copy.deepcopy(c["Place"]("a.md", tags=["x"])),
        lambda c: msgspec.json.encode(c["Further"]("a.md", page=3)),
        lambda c: hasattr(c["Place"]("a.md"), "__dict__"),
        lambda c: c["Place"].__match_args__,
        lambda c: c["Place"].__doc__,
    ],
)
def test_it_behaves_as_a_dataclass(work: Callable[[dict[str, Any]], Any]) -> None:
    assert outcome(lambda: work(OURS)) == outcome(lambda: work(THEIRS))


@frozen(frozen=True, slots=True)
class Kept:
    """At the top of a module, where pickle finds it."""

    name: str
    number: int = 1


def test_it_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Kept("a", 2))) == Kept("a", 2)


@pytest.mark.parametrize("wrong", [{"frozen": False, "slots": True}, {"frozen": True, "slots": False}])
def test_it_makes_frozen_classes_with_slots_alone(wrong: dict[str, bool]) -> None:
    with pytest.raises(TypeError, match="frozen classes with slots"):
        frozen(**wrong)
