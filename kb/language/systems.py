"""A text → the operating systems that it names: what is told for one of them answers no question about another. Pure."""

from __future__ import annotations

import re
from collections.abc import Set

# Names are written in several ways, and Korean particles follow them at once. "windows" in small letters may be a building's, and a Mac
# address is a card's.
_SYSTEM = re.compile(
    r"(?<![A-Za-z0-9_])(?:"
    r"(?P<macos>[mM]ac ?(?:OS|os)(?: [xX])?|MACOS|OS ?X|Macs?(?! address)|MacBook|(?<=on )mac|(?<=on my )mac|(?<=on a )mac)"
    r"|(?P<windows>Windows(?! of )(?: \d+)?|(?<=on )windows)"
    r"|(?P<linux>[Ll]inux)|(?P<ubuntu>[Uu]buntu)|(?P<debian>[Dd]ebian)|(?P<fedora>[Ff]edora)|(?P<unix>[Uu]nix)"
    r"|(?P<android>[Aa]ndroid)|(?P<ios>iOS|iPhone)"
    r")(?![A-Za-z0-9_])"
    r"|(?P<macos_ko>(?<![가-힣])맥(?:OS|북|에서|용))|(?P<windows_ko>윈도우)|(?P<linux_ko>리눅스)|(?P<ubuntu_ko>우분투)|(?P<unix_ko>유닉스)"
    r"|(?P<android_ko>안드로이드)|(?P<ios_ko>아이폰)"
)
# What is told for one of these goes for the first, more or less.
_KIN = {
    "macos": frozenset(("unix",)),
    "linux": frozenset(("unix", "ubuntu", "debian", "fedora")),
    "ubuntu": frozenset(("linux", "unix", "debian")),
    "debian": frozenset(("linux", "unix", "ubuntu")),
    "fedora": frozenset(("linux", "unix")),
}


def systems_in(text: str) -> frozenset[str]:
    """The systems that a text names.

    >>> sorted(systems_in("On macOS and Windows 11")), sorted(systems_in("Close the windows.")), sorted(systems_in("Mac에서, Fedora"))
    (['macos', 'windows'], [], ['fedora', 'macos'])
    """
    return frozenset(str(match.lastgroup).removesuffix("_ko") for match in _SYSTEM.finditer(text))


def serves(asked: Set[str], text: str) -> bool:
    """Whether what a text tells may go for one of the systems that are asked about.

    >>> serves({"ubuntu"}, "On Linux, call apt."), serves({"windows"}, "On Linux, call apt.")
    (True, False)
    """
    found = systems_in(text)
    return any(system in found or not _KIN.get(system, frozenset()).isdisjoint(found) for system in asked)
