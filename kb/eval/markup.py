"""Text and numbers for HTML and SVG. The template engine escapes."""

from __future__ import annotations

from kb.wire import TERMINAL_DANGERS


def visible(raw: str) -> str:
    """Text with control, direction and surrogate characters written out, so that none has an effect.

    >>> visible("a\\u202eb\\x00")
    'a<U+202E>b<U+0000>'
    """
    return TERMINAL_DANGERS.sub(lambda match: f"<U+{ord(match.group()):04X}>", raw.replace("\r\n", "\n"))


def number(value: float) -> str:
    """A coordinate with at most two decimals: short, and the same on every machine.

    >>> number(12.0), number(0.126), number(-0.001)
    ('12', '0.13', '0')
    """
    short = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if short in ("-0", "") else short


def percent(share: float) -> str:
    """A share, clipped to [0, 1], as a length in percent for SVG and CSS.

    >>> percent(1 / 3), percent(-1.0)
    ('33.33%', '0%')
    """
    return f"{number(100 * min(max(share, 0.0), 1.0))}%"
