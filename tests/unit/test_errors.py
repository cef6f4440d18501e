"""Every error of kb arrives whole from another process: with its type, its fix and its details."""

from __future__ import annotations

import pickle

import pytest

from kb.errors import KbError, RulesInvalid


def kinds(of: type[KbError] = KbError) -> list[type[KbError]]:
    return [of, *(kind for below in of.__subclasses__() for kind in kinds(below))]


@pytest.mark.parametrize("kind", [kind for kind in kinds() if kind.__module__ == "kb.errors"])
def test_an_error_comes_back_as_it_was_sent(kind: type[KbError]) -> None:
    sent = kind("it is full", fix="make room", path="/x", is_time=True)
    if isinstance(sent, RulesInvalid):
        sent.places = (("a.b", "is no number"),)
    found = pickle.loads(pickle.dumps(sent))
    assert (type(found), str(found), found.problem, found.__dict__) == (kind, str(sent), sent.problem, sent.__dict__)
