"""Source code → units over the file's own text, each with its comments, named by its symbol and its signature.

Units follow the grammar of the language: functions, classes, and the methods of a long class. Where there is no grammar,
or nothing that it calls a definition, they are found by layout: a line at the margin that declares something begins one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import PurePosixPath

from kb.drafts import Parsed
from kb.frozen import dataclass
from kb.ingest.decode import decode
from kb.ingest.readers.grammars import Definition, find_definitions
from kb.ingest.readers.lines import Lines

_LONG_UNIT_LINES = 20  # a class longer than this is cut at its methods, so that each is found by its own name

_C_MODIFIERS = (
    r"(?:(?:export|default|declare|public|private|protected|internal|static|final|abstract|sealed|open|override|async|"
    r"inline|virtual|extern|const|constexpr|unsafe|partial|pub(?:\([^)]*\))?|data|suspend|implicit|case|readonly)\s+)*"
)
_TYPES = r"(?P<kind>class|struct|enum|interface|trait|impl|module|mod|namespace|protocol|extension|object|record|union)"
_DECLARED = {
    "c": rf"{_C_MODIFIERS}(?:typedef\s+)?(?:{_TYPES}\b\s*(?:<[^>]*>\s*)?(?P<name>[\w:.]+)|"
    r"(?P<kind2>function\*?|func|fun|fn|def|macro_rules!|type)\s+(?:\([^)]*\)\s*)?(?P<name2>[\w.]+)|"
    r"(?:const|let|var)\s+(?P<name3>\w+)\s*=\s*(?:async\s*)?(?:function|\(|\w+\s*=>)|"
    r"(?:template\s*<.*)|(?:[\w:*&<>,\[\] ]+?[\s*&])?(?P<name4>~?[\w:]+)\s*\([^;]*$)",
    "indent": r"(?:async\s+)?(?P<kind>class|def|module|object|defmodule|defp?|defmacro|trait)\s+(?P<name>[\w.:?!]+)",
    "sql": r"(?i:create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|unique\s+|materialized\s+|virtual\s+)*"
    r"(?P<kind>table|view|index|function|procedure|trigger|type|schema)\s+(?:if\s+not\s+exists\s+)?(?P<name>[\w.\"`]+))",
    "shell": r"(?:function\s+)?(?P<name>[\w:.-]+)\s*\(\)|(?P<kind>function)\s+(?P<name2>[\w:.-]+)",
    "lua": r"(?:local\s+)?(?P<kind>function)\s+(?P<name>[\w.:]+)",
    "assign": r"(?P<name>[\w.]+)\s*(?:<-|=)\s*(?P<kind>function)\b",
    "julia": r"(?P<kind>function|macro|struct|mutable struct|module|abstract type)\s+(?P<name>[\w.!]+)",
    "haskell": r"(?P<kind>class|data|newtype|type|instance|module)\s+(?P<name>[\w.']+)|(?P<name2>[a-z_][\w']*)\s*::",
    "lisp": r"\((?P<kind>def[\w-]*)\s+(?P<name>[^\s()]+)",
    "proto": r"(?P<kind>message|service|enum|extend)\s+(?P<name>\w+)",
    "css": r"(?P<name>[^{};/@]+?)\s*\{|@(?P<kind>media|keyframes|supports)\b",
    "make": r"(?P<name>[\w./%$()-]+)\s*:(?!=)",
    "docker": r"(?i:(?P<kind>FROM)\s+(?P<name>\S+))",
    "markup": r"<(?P<kind>template|script|style)\b",
    "plain": r"(?!)",
}
_COMMENTS = {
    "c": ("//", "/*", "*", "#[", "@", "///"),
    "indent": ("#", "@"),
    "sql": ("--", "/*", "*"),
    "lua": ("--",),
    "haskell": ("--", "{-"),
    "lisp": (";",),
    "proto": ("//", "/*", "*"),
    "css": ("/*", "*", "//"),
    "markup": ("<!--",),
}
_STYLES = {
    "c": "rs js mjs cjs jsx ts tsx mts cts go java c h cc cpp cxx hpp hh hxx cs php swift kt kts scala dart groovy gradle "
    "m mm zig v d sol glsl cu proto3 cr",
    "python": "py pyi pyw",
    "indent": "rb rake gemspec ex exs nim coffee",
    "sql": "sql ddl",
    "shell": "sh bash zsh fish ksh bats",
    "lua": "lua",
    "assign": "r",
    "julia": "jl",
    "haskell": "hs elm ml mli fs fsi purs",
    "lisp": "clj cljs cljc edn el lisp scm rkt",
    "proto": "proto thrift",
    "css": "css scss sass less",
    "make": "mk makefile gnumakefile justfile",
    "docker": "dockerfile containerfile",
    "markup": "vue svelte astro",
    "plain": "ps1 psm1 bat cmd vim tf hcl nix cmake awk sed pl pm t tcl asm s f90 f for pas vb erl hrl graphql gql jsonnet "
    "rakefile gemfile vagrantfile jenkinsfile cmakelists.txt procfile",
}
LAYOUTS = {extension: style for style, extensions in _STYLES.items() for extension in extensions.split()}
# Whole file names; all other keys of LAYOUTS are extensions.
FILE_NAMES = frozenset(
    "makefile gnumakefile justfile dockerfile containerfile rakefile gemfile vagrantfile jenkinsfile cmakelists.txt "
    "procfile".split()
)
_PATTERNS = {style: re.compile(pattern) for style, pattern in _DECLARED.items()}
_NOT_NAMES = frozenset(
    "if else for while switch return catch sizeof do try using import package case when elif".split()
)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A stretch of lines, first..stop-1, and what it declares; the name is None between declarations."""

    first: int
    stop: int
    symbol: str | None
    path: tuple[str, ...] = ()


def read_code(raw: bytes, path: str) -> Parsed:
    """A source file: one code block per function, class or other top-level unit, with the symbol's name as section."""
    decoded = decode(raw)
    lines = Lines(decoded.text)
    style = _style_of(path, decoded.text)
    units = _defined_units(lines, style, _extension_of(path, style)) or _layout_units(
        lines, "indent" if style == "python" else style
    )
    blocks = ((unit, lines.block("code", unit.first, unit.stop, section=unit.symbol)) for unit in units)
    return Parsed(
        decoded.text,
        tuple(replace(block, path=unit.path) for unit, block in blocks if block),
        has_lines=True,
        note=decoded.note,
    )


def _extension_of(path: str, style: str) -> str:
    """A script without an extension is known by its first line."""
    return PurePosixPath(path.lower()).suffix.removeprefix(".") or ("py" if style == "python" else "")


def _style_of(path: str, text: str) -> str:
    name = PurePosixPath(path).name.lower()
    if name in LAYOUTS:
        return LAYOUTS[name]
    extension = PurePosixPath(name).suffix.removeprefix(".")
    if extension not in LAYOUTS and text.startswith("#!"):
        first = text[: text.find("\n")]
        return "python" if "python" in first else "indent" if "ruby" in first else "shell"
    return LAYOUTS.get(extension, LAYOUTS.get(name.partition(".")[0], "plain"))


def _defined_units(lines: Lines, style: str, extension: str) -> list[_Unit]:
    """Every line with the innermost definition that it stands in; empty where there are none."""
    comments = _COMMENTS.get(style, ("#",))
    owners: list[int | None] = [None] * len(lines)
    kept: list[Definition] = []
    for found in find_definitions(lines.text, extension):
        around = next((d for d in reversed(kept) if d.path == found.path[:-1] and found.stop <= d.stop), None)
        is_whole = around is None or around.stop - around.first > _LONG_UNIT_LINES
        before = max((d.stop for d in kept if d is not around and d.stop <= found.stop), default=0)
        floor = max(before, around.first + 1 if around else 0)
        if (len(found.path) > 1 and around is None) or not is_whole or found.first < floor:
            continue
        begin = _with_comments(lines, found.first, comments, floor)
        owners[begin : found.stop] = [len(kept)] * (found.stop - begin)
        kept.append(found)
    units: list[_Unit] = []
    for owner, run in groupby(range(len(lines)), key=lambda line: owners[line]) if kept else ():
        numbers = list(run)
        first, stop = numbers[0], numbers[-1] + 1
        if units and not "".join(lines[n] for n in numbers).strip("\t });]"):
            units[-1] = replace(units[-1], stop=stop)  # what closes a class
        elif owner is None:
            _add_unit(units, first, stop, None)
        else:
            found = kept[owner]
            units.append(_Unit(first, stop, _label(lines, style, found, kept), found.path))
    return units


def _label(lines: Lines, style: str, found: Definition, kept: Sequence[Definition]) -> str:
    """The kind and the name of a definition, a method's after its class: "def Lamp.light"."""
    names = [
        _symbol(_PATTERNS["indent" if style == "python" else style], lines[d.line].strip()[:400]) or d.path[-1]
        for d in kept
        if d is found or (d.path == found.path[: len(d.path)] and d.first <= found.first and found.stop <= d.stop)
    ]
    kind, _, name = names[-1].rpartition(" ")
    scopes = [one.rpartition(" ")[2] for one in names[:-1]]
    return f"{kind} {'.'.join([*scopes, name])}".strip()[:80]


def _add_unit(units: list[_Unit], first: int, stop: int, symbol: str | None) -> None:
    if stop > first:
        units.append(_Unit(first, stop, symbol))


def _layout_units(lines: Lines, style: str) -> list[_Unit]:
    """Units that begin where a line at the margin declares something, and last to the next one or to its end."""
    comments = _COMMENTS.get(style, ("#",))
    pattern = _PATTERNS[style]
    starts: list[tuple[int, str | None]] = []
    for line in range(len(lines)):
        text = lines[line]
        if text[:1].isspace() or not text or text[0] in "}])" or text.startswith(comments):
            continue
        symbol = _symbol(pattern, text[:400])
        if symbol is not None:
            starts.append((_with_comments(lines, line, comments, starts[-1][0] + 1 if starts else 0), symbol or None))
    if not starts:
        return _paragraph_units(lines)
    units: list[_Unit] = []
    _add_unit(units, 0, starts[0][0], None)
    for (first, symbol), following in zip(starts, [*(s for s, _ in starts[1:]), len(lines)], strict=True):
        _add_unit(units, first, following, symbol)
    return units


def _symbol(pattern: re.Pattern[str], text: str) -> str | None:
    """The declaration of a line, as "class Foo"; "" for one without a name, None for a line without one."""
    match = pattern.match(text)
    if not match:
        return None
    found = match.groupdict()
    kind = found.get("kind") or found.get("kind2") or ""
    name = next((found[key] for key in ("name", "name2", "name3", "name4") if found.get(key)), "")
    if name in _NOT_NAMES or text.partition(" ")[0] in _NOT_NAMES:
        return None
    return f"{kind} {name.rstrip(':')}".strip()[:80]


def _paragraph_units(lines: Lines) -> list[_Unit]:
    """Where nothing is declared: stretches that a blank line and then the margin separate."""
    units: list[_Unit] = []
    first = 0
    for line in range(1, len(lines)):
        if lines.is_blank(line - 1) and not lines.is_blank(line) and not lines[line][:1].isspace():
            _add_unit(units, first, line, None)
            first = line
    _add_unit(units, first, len(lines), None)
    return units


def _with_comments(lines: Lines, line: int, marks: tuple[str, ...], floor: int) -> int:
    """The first line of the comments and attributes that stand directly above a line."""
    while line > floor and lines[line - 1].strip().startswith(marks):
        line -= 1
    return line
