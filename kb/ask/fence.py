"""Packed passages and a secret of the home → the tag that fences them off in a prompt. Pure.

Whoever writes a document knows neither the secret nor what else is packed, so no document can hold the line that ends its
own fence. The same evidence gives the same tag: a replayed prompt is the same byte for byte, and a server's prefix cache
still hits.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from hashlib import sha256

# 64 bits: enough that nobody guesses it, short enough that a small model keeps it apart.
TAG_CHARS = 16
# Stands for the tag while passages are counted: as long as any.
PLACEHOLDER = "0" * TAG_CHARS


def fence_tag(secret: bytes, passages: Iterable[str]) -> str:
    """The tag of these passages in this order: TAG_CHARS hex digits of an HMAC over their bytes."""
    digest = hmac.new(secret, digestmod=sha256)
    for passage in passages:
        raw = passage.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "big") + raw)
    return digest.hexdigest()[:TAG_CHARS]
