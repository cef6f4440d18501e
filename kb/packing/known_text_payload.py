"""A known text ⇄ `window_fingerprint.v1`: fingerprints that a caller can send in place of a long prompt.

The fields are as published, with what makes two payloads comparable (version, scheme, seed, k, permutations), the shingle
counts that containment is estimated with, and signatures by shingles of three for short candidates.
"""

from __future__ import annotations

from typing import Literal

from kb.errors import InvalidInput
from kb.fingerprint import FP_VERSION, Fingerprint, Shape, Sketch
from kb.frozen import dataclass
from kb.packing.known_text import KnownText, Span
from kb.shingles import SCHEME, SEED

# A known text of MOST_KNOWN_CHARS has at most so many spans when words are two letters long; each is 2.6 kB of JSON.
MOST_SPANS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanFingerprint:
    """One span. Hashes are hex; signatures hold one number of 32 bits for each permutation.

    shingle_count     distinct shingles of k tokens; None counts token_count - k + 1
    minhash128_k3     over shingles of three; None where short candidates need not be recognised
    """

    span_id: str
    sha256: str
    simhash64: str
    minhash128: tuple[int, ...]
    token_count: int
    shingle_count: int | None = None
    minhash128_k3: tuple[int, ...] | None = None
    shingle_count_k3: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowFingerprint:
    """A known text as fingerprints, without its words.

    fp_version, scheme, seed  of the fingerprints: those of another kb cannot be compared
    k, num_perm               tokens of a shingle, length of a signature
    spans                     in the order of the text
    """

    schema_version: Literal["window_fingerprint.v1"] = "window_fingerprint.v1"
    fp_version: str
    scheme: str
    seed: int
    k: int
    num_perm: int
    global_sha256: str
    global_simhash64: str
    global_minhash128: tuple[int, ...]
    global_minhash128_k3: tuple[int, ...] | None = None
    token_count: int
    spans: tuple[SpanFingerprint, ...]
    dropped_chars: int = 0


def known_text_payload(known_text: KnownText) -> WindowFingerprint:
    """A known text as its payload."""
    return WindowFingerprint(
        fp_version=FP_VERSION,
        scheme=SCHEME,
        seed=SEED,
        k=known_text.shape.k,
        num_perm=known_text.shape.permutations,
        global_sha256=known_text.whole.sha256,
        global_simhash64=f"{known_text.whole.simhash64:016x}",
        global_minhash128=_numbers(known_text.whole.long),
        global_minhash128_k3=_numbers(known_text.whole.short),
        token_count=known_text.whole.token_count,
        spans=tuple(_span_payload(span) for span in known_text.spans),
        dropped_chars=known_text.dropped_chars,
    )


def _span_payload(span: Span) -> SpanFingerprint:
    known = span.fingerprint
    return SpanFingerprint(
        span_id=span.span_id,
        sha256=known.sha256,
        simhash64=f"{known.simhash64:016x}",
        minhash128=_numbers(known.long),
        token_count=known.token_count,
        shingle_count=known.long.shingle_count,
        minhash128_k3=_numbers(known.short),
        shingle_count_k3=known.short.shingle_count,
    )


def _numbers(sketch: Sketch) -> tuple[int, ...]:
    import numpy as np

    return tuple(np.frombuffer(sketch.minhash, "<u4").tolist())


def read_payload(raw: bytes | str) -> WindowFingerprint:
    """The payload in a file.

    raises  InvalidInput for what is no such payload, with the place of the fault, and for one of another version
    """
    import msgspec

    try:
        found = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _malformed(f"it is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise _malformed("it is not an object")
    _check_versions(found.get("schema_version"), found.get("fp_version"), found.get("scheme"), found.get("seed"))
    try:
        return msgspec.convert(found, WindowFingerprint)
    except msgspec.ValidationError as error:
        raise _malformed(str(error)) from error


def known_text_from_payload(payload: WindowFingerprint) -> KnownText:
    """The known text that a payload stands for: overlap with it is estimated.

    raises  InvalidInput for a payload of another version, naming both, and for a fault, with its place
    """
    _check_versions(payload.schema_version, payload.fp_version, payload.scheme, payload.seed)
    if not 1 <= payload.k <= 20:
        raise _malformed(f"k is {payload.k}, not 1 to 20")
    if not 16 <= payload.num_perm <= 1024:
        raise _malformed(f"num_perm is {payload.num_perm}, not 16 to 1,024")
    if len(payload.spans) > MOST_SPANS:
        raise _malformed(f"it has {len(payload.spans):,} spans, more than {MOST_SPANS:,}")
    shape = Shape(payload.k, payload.num_perm)
    whole = Fingerprint(
        _digest(payload.global_sha256, "global_sha256"),
        _simhash(payload.global_simhash64, "global_simhash64"),
        _sketch(shape.k, payload.global_minhash128, None, payload.token_count, shape, "global_minhash128"),
        _sketch(shape.short_k, payload.global_minhash128_k3, None, payload.token_count, shape, "global_minhash128_k3"),
        _count(payload.token_count, "token_count"),
    )
    spans = tuple(_span(span, f"spans[{number}]", shape) for number, span in enumerate(payload.spans))
    return KnownText(shape, spans, whole, None, _count(payload.dropped_chars, "dropped_chars"))


def _span(span: SpanFingerprint, place: str, shape: Shape) -> Span:
    tokens = _count(span.token_count, f"{place}.token_count")
    return Span(
        span.span_id,
        Fingerprint(
            _digest(span.sha256, f"{place}.sha256"),
            _simhash(span.simhash64, f"{place}.simhash64"),
            _sketch(shape.k, span.minhash128, span.shingle_count, tokens, shape, f"{place}.minhash128"),
            _sketch(shape.short_k, span.minhash128_k3, span.shingle_count_k3, tokens, shape, f"{place}.minhash128_k3"),
            tokens,
        ),
    )


def _check_versions(schema: object, version: object, scheme: object, seed: object) -> None:
    wanted = "window_fingerprint.v1"
    if schema != wanted:
        raise InvalidInput(
            f"the fingerprint is {schema!r}, this kb reads '{wanted}'",
            fix="make it again with: kb context fingerprint",
        )
    if (version, scheme, seed) != (FP_VERSION, SCHEME, SEED):
        raise InvalidInput(
            f"the fingerprint was made by {version} ({scheme}, seed {seed}), this kb compares"
            f" {FP_VERSION} ({SCHEME}, seed {SEED})",
            fix="make it again with: kb context fingerprint",
        )


def _malformed(what: str) -> InvalidInput:
    return InvalidInput(f"the fingerprint cannot be read: {what}", fix="make it with: kb context fingerprint")


def _digest(value: str, place: str) -> str:
    if len(value) != 64 or set(value) - _HEX:
        raise _malformed(f"{place} is not 64 hexadecimal digits")
    return value.lower()


_HEX = set("0123456789abcdefABCDEF")


def _simhash(value: str, place: str) -> int:
    if len(value) != 16 or set(value) - _HEX:
        raise _malformed(f"{place} is not 16 hexadecimal digits")
    return int(value, 16)


def _count(value: int, place: str) -> int:
    if not 0 <= value < 2**32:
        raise _malformed(f"{place} is {value}")
    return value


def _sketch(
    k: int, signature: tuple[int, ...] | None, count: int | None, tokens: int, shape: Shape, place: str
) -> Sketch:
    import numpy as np

    if signature is None:
        return Sketch(k, b"\xff" * (4 * shape.permutations), 0)
    if len(signature) != shape.permutations:
        raise _malformed(f"{place} has {len(signature)} numbers, num_perm is {shape.permutations}")
    if min(signature) < 0 or max(signature) > 0xFFFFFFFF:
        raise _malformed(f"{place} has a number that is not 0 to 2**32 - 1")
    least = max(0, tokens - k + 1)
    known = least if count is None else _count(count, f"{place.replace('minhash128', 'shingle_count')}")
    return Sketch(k, np.array(signature, "<u4").tobytes(), min(known, least + shape.k))
