"""Text of documents → text that may stand in a page: what would turn the reading direction, or has no shape, is written out.

The characters that scripts need (joiners, direction marks) stay; escaping is left to who writes the HTML.
"""

from __future__ import annotations

import re

# Controls but for tab and newline, separators of lines, overrides and isolates of direction, tags, surrogates.
_DANGERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def shown(text: str) -> str:
    """The text with dangerous characters as their numbers.

    >>> shown("a\\u202eb 가\\u200d나")
    'a<U+202E>b 가\\u200d나'
    """
    return _DANGERS.sub(lambda match: f"<U+{ord(match.group()):04X}>", text)
