"""A prompt ↔ what the store keeps of it: its own words, and the packed texts by their hash. Pure.

The pieces are put together again byte for byte, whatever becomes of the documents and of the template.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from kb.ask.records import PackedChunk
from kb.context.node_input import NodeText
from kb.errors import CorruptStore, InvalidInput
from kb.llm.protocol import Evidence, GenerateRequest
from kb.records import Chunk, Citation
from kb.store.answers import AnswerRow, KeptPrompt

FRESH_FIX = "ask today's documents instead: kb answers replay --fresh"


def text_hash(text: str) -> str:
    """sha256 of a text, hex, as chunks and packed texts are named by."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def prompt_hash(prompt: GenerateRequest) -> str:
    """sha256 of the two messages, hex."""
    return text_hash(f"{prompt.system}\0{prompt.user}")


def take_apart(
    prompt: GenerateRequest, packed: Sequence[PackedChunk], nodes: Sequence[str] = ()
) -> tuple[str, dict[str, str]]:
    """(prompt_json, texts by hash): the user message as literal pieces and hashes of the texts between them.

    nodes  texts of context nodes, which stand behind the passages
    """
    held = [p.chunk.text for p in packed] + list(nodes)
    texts = {text_hash(text): text for text in held}
    pieces: list[str | dict[str, str]] = []
    at = 0
    for text in held:
        start = prompt.user.find(text, at) if text else -1
        if start >= 0:
            pieces += [prompt.user[at:start], {"text": text_hash(text)}]
            at = start + len(text)
    pieces.append(prompt.user[at:])
    texts[text_hash(prompt.system)] = prompt.system
    kept = {
        "system": text_hash(prompt.system),
        "user": pieces,
        "language": prompt.language,
        "max_tokens": prompt.max_tokens,
        "stop": prompt.stop,
        "by_meaning": prompt.by_meaning,
        "told_of_others": prompt.told_of_others,
    }
    return json.dumps(kept, ensure_ascii=False), texts


def put_together(row: AnswerRow, texts: Mapping[str, str]) -> GenerateRequest:
    """The request of a stored answer, as it was sent.

    raises  InvalidInput where none was made or kept; CorruptStore when it is not the one that was sent
    """
    if row.prompt_sha256 is None:
        how = "refused before a model was asked" if row.refusal_reason else "answered without a model"
        raise InvalidInput(f"{row.trace_id} was {how}: there is no prompt", fix=FRESH_FIX)
    if row.prompt_json is None:
        raise InvalidInput(f"{row.trace_id} was stored by an older kb, which kept no prompts", fix=FRESH_FIX)
    kept: dict[str, Any] = json.loads(row.prompt_json)
    try:
        prompt = GenerateRequest(
            system=texts[kept["system"]],
            user="".join(piece if isinstance(piece, str) else texts[piece["text"]] for piece in kept["user"]),
            question=row.standalone_question or row.question,
            evidence=tuple(
                Evidence(
                    p["marker"],
                    texts[p["text_hash"]],
                    tuple(p["chunk"]["heading_path"]),
                    p["similarity"],
                    p.get("subject", ""),
                    tuple(p.get("not_about", ())),
                )
                for p in json.loads(row.packed_json)
            ),
            language=kept["language"],
            max_tokens=kept["max_tokens"],
            temperature=row.temperature or 0.0,
            seed=row.seed or 0,
            stop=tuple(kept["stop"]),
            evidence_score=row.evidence_score,
            by_meaning=kept.get("by_meaning", True),
            told_of_others=tuple(kept.get("told_of_others", ())),
        )
    except KeyError as error:
        raise CorruptStore(f"the store has lost a text of the prompt of {row.trace_id}", fix=FRESH_FIX) from error
    if prompt_hash(prompt) != row.prompt_sha256:
        raise CorruptStore(f"the stored prompt of {row.trace_id} is not the one that was sent", fix=FRESH_FIX)
    return prompt


def read_packed(row: AnswerRow, texts: Mapping[str, str]) -> tuple[PackedChunk, ...]:
    """The passages of a stored answer, in the order of the prompt; `entry` is left empty, the prompt being made already."""
    return tuple(
        PackedChunk(p["marker"], _read_chunk(p["chunk"], texts[p["text_hash"]]), p["score"], "")
        for p in json.loads(row.packed_json)
    )


def read_node_texts(row: AnswerRow, texts: Mapping[str, str]) -> tuple[NodeText, ...]:
    """The context nodes that a stored prompt held, in its order."""
    kept = json.loads(row.nodes_json) if row.nodes_json else []
    return tuple(NodeText(entry["node"], texts[entry["text_hash"]], entry["tokens"]) for entry in kept)


def _read_chunk(stored: Mapping[str, Any], text: str) -> Chunk:
    values = dict(stored) | {"text": text, "citation": Citation(**stored["citation"])}
    return Chunk(**values | {name: tuple(stored[name]) for name in ("heading_path", "tags")})


def keep_prompt(packed: Sequence[PackedChunk], prompt: GenerateRequest | None, nodes: Sequence[NodeText]) -> KeptPrompt:
    """The columns of an answer that say what its prompt held.

    nodes  context nodes that stand in the prompt, if there is one
    """
    if prompt is None:
        return KeptPrompt(packed_json=_packed_json(packed, None), packed_texts_json=_packed_texts_json(packed))
    prompt_json, texts = take_apart(prompt, packed, [text.text for text in nodes])
    return KeptPrompt(
        prompt_sha256=prompt_hash(prompt),
        packed_json=_packed_json(packed, prompt),
        packed_texts_json=_packed_texts_json(packed),
        prompt_json=prompt_json,
        nodes_json=_nodes_json(nodes) if nodes else None,
        texts=texts,
    )


def _nodes_json(nodes: Sequence[NodeText]) -> str:
    return json.dumps([{"node": n.node, "text_hash": text_hash(n.text), "tokens": n.tokens} for n in nodes])


def _packed_json(packed: Sequence[PackedChunk], prompt: GenerateRequest | None) -> str:
    evidence = {entry.marker: entry for entry in prompt.evidence} if prompt else {}
    rows = [
        {
            "marker": p.marker,
            "chunk_id": p.chunk.chunk_id,
            "text_hash": text_hash(p.chunk.text),
            "score": round(p.score, 6),
            "members": list(p.members) or [p.chunk.chunk_id],
            "path": p.chunk.path,
            "start": p.chunk.start,
            "end": p.chunk.end,
            "uri": p.chunk.citation.uri,
            **(_told_to_model(evidence[p.marker]) if p.marker in evidence else {"similarity": None}),
            # The rest of the chunk, but for its text: what it was when it was cited, whatever becomes of the document.
            "chunk": {name: value for name, value in asdict(p.chunk).items() if name != "text"},
        }
        for p in packed
    ]
    return json.dumps(rows, ensure_ascii=False)


def _told_to_model(entry: Evidence) -> dict[str, Any]:
    """What a model that quotes is told of a passage besides its text; most passages are of no document that is named."""
    subject = {"subject": entry.subject} if entry.subject else {}
    return {"similarity": entry.similarity, **subject, **({"not_about": entry.not_about} if entry.not_about else {})}


def _packed_texts_json(packed: Sequence[PackedChunk]) -> str:
    return json.dumps([{"marker": p.marker, "text": p.chunk.text} for p in packed], ensure_ascii=False)
