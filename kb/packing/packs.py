"""Scored chunks → packs: a centre chunk and its neighbours in the document, as far as they are stable. Pure.

Each chunk that no pack holds yet becomes a centre, best first. Before it, then after it, neighbours join while they are
stable (main); an unstable neighbour with a good score joins as the last on its side (supporting). Packs that do not look
like an answer are dropped; if all are, the best one stays, flagged. Knows no text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from kb.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Scored:
    """A chunk as packing sees it.

    position   0-based in its document
    tokens     what it takes of the budget
    stability  in [0, 1]
    csw        in [0, .90]
    """

    chunk_id: int
    doc_id: int
    position: int
    tokens: int
    stability: float
    csw: float


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a pack, and of their number.

    pack_tokens      of one pack; a longer centre is a pack of its own
    total_tokens     of all packs together; None for no bound. The first pack is kept even if its centre is longer
    main_stability   a neighbour at least this stable joins, and the next one is tried
    supporting_csw   a less stable one with at least this score joins as the last on its side
    least_csw        no chunk below it becomes a centre
    least_share      no chunk below this share of the best centre's csw becomes a centre; 0 for no such bound
    confidence       a pack below it is dropped
    """

    pack_tokens: int = 1800
    total_tokens: int | None = None
    most_packs: int = 4
    main_stability: float = 0.65
    supporting_csw: float = 0.40
    least_csw: float = 0.25
    least_share: float = 0.0
    confidence: float = 0.55


@dataclass(frozen=True, slots=True)
class Pack:
    """A stretch of one document.

    members      in reading order, the centre among them
    supporting   chunk_ids of the members that joined by their score, not by their stability
    confidence   probability that it holds an answer, in [0, 1]
    is_fallback  every pack looked unlike an answer, and this was the best
    """

    centre: Scored
    members: tuple[Scored, ...]
    supporting: frozenset[int] = frozenset()
    confidence: float = 0.0
    is_fallback: bool = False

    @property
    def tokens(self) -> int:
        """The tokens of all members."""
        return sum(member.tokens for member in self.members)

    @property
    def csw(self) -> float:
        """The score of its centre."""
        return self.centre.csw


Placed = Mapping[tuple[int, int], Scored]
Answerability = Callable[[Pack], tuple[bool, float]]


def step_answerability(pack: Pack) -> tuple[bool, float]:
    """Whether a pack looks like an answer, and how sure that is, by its csw alone.

    With `Limits.confidence` of .55, packs with csw >= .45 pass.
    """
    if pack.csw >= 0.45:
        return True, 0.7
    return (True, 0.5) if pack.csw >= 0.35 else (False, 0.3)


def build_pack(
    centre: Scored, placed: Placed, limits: Limits, taken: frozenset[int] = frozenset(), budget: int | None = None
) -> Pack:
    """The pack around one chunk.

    placed  (doc_id, position) → chunk; a missing one ends its side
    taken   chunk_ids that other packs hold; one of them ends its side
    budget  tokens, used instead of limits.pack_tokens where it is less
    """
    room = (limits.pack_tokens if budget is None else min(budget, limits.pack_tokens)) - centre.tokens
    members, supporting = [centre], set()
    for step in (-1, 1):
        position = centre.position + step
        while (found := placed.get((centre.doc_id, position))) and found.chunk_id not in taken and found.tokens <= room:
            is_main = found.stability >= limits.main_stability
            if not is_main and found.csw < limits.supporting_csw:
                break
            members.append(found)
            room -= found.tokens
            if not is_main:
                supporting.add(found.chunk_id)
                break
            position += step
    return Pack(centre, tuple(sorted(members, key=lambda m: m.position)), frozenset(supporting))


def pack_neighbourhoods(
    ranked: Sequence[Scored],
    placed: Placed,
    limits: Limits,
    judge: Answerability = step_answerability,
) -> list[Pack]:
    """Up to `most_packs` packs, best first, none sharing a chunk with another.

    ranked   the found chunks, in the order in which they are tried as centres
    placed   these and their neighbours, by (doc_id, position)
    returns  the packs that pass the gate; the best one, flagged, where none does; empty where nothing was found

    For every pack: tokens <= max(pack_tokens, tokens of its centre).
    """
    packs = _build_packs(ranked, placed, limits)
    judged = []
    for pack in packs:
        looks_like_answer, confidence = judge(pack)
        if looks_like_answer and confidence >= limits.confidence:
            judged.append(replace(pack, confidence=confidence))
    if judged or not packs:
        return judged
    return [replace(max(packs, key=lambda pack: pack.csw), is_fallback=True)]


def _build_packs(ranked: Sequence[Scored], placed: Placed, limits: Limits) -> list[Pack]:
    packs: list[Pack] = []
    taken: set[int] = set()
    used = 0
    floor = max(limits.least_csw, limits.least_share * max((c.csw for c in ranked), default=0.0))
    for centre in ranked:
        if len(packs) == limits.most_packs:
            break
        room = None if limits.total_tokens is None else limits.total_tokens - used
        too_long = packs and room is not None and centre.tokens > room
        # The first is tried whatever its score, so that there is a fallback.
        if centre.chunk_id in taken or too_long or (packs and centre.csw < floor):
            continue
        pack = build_pack(centre, placed, limits, frozenset(taken), room)
        packs.append(pack)
        taken.update(member.chunk_id for member in pack.members)
        used += pack.tokens
    return packs
