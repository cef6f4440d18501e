"""Source code → top-level units over the file's own text, each with its comments and named by its symbol.

Units are found by layout: a line at the margin that declares something begins one. Python is parsed, which gives exact
ends; a file that does not parse falls back to the layout. No other language is parsed.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass
from pathlib import PurePosixPath

from kb.drafts import Parsed
from kb.ingest.decode import decode
from kb.ingest.readers.lines import Lines

_LONG_UNIT_LINES = 60  # a class longer than this is cut at its methods, so that each is found by its own name

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


def read_code(raw: bytes, path: str) -> Parsed:
    """A source file: one code block per function, class or other top-level unit, with the symbol's name as section."""
    decoded = decode(raw)
    lines = Lines(decoded.text)
    style = _style_of(path, decoded.text)
    units = _python_units(lines) if style == "python" else None
    if units is None:
        units = _layout_units(lines, "indent" if style == "python" else style)
    blocks = (lines.block("code", unit.first, unit.stop, section=unit.symbol) for unit in units)
    return Parsed(decoded.text, tuple(block for block in blocks if block), has_lines=True, note=decoded.note)


def _style_of(path: str, text: str) -> str:
    name = PurePosixPath(path).name.lower()
    if name in LAYOUTS:
        return LAYOUTS[name]
    extension = PurePosixPath(name).suffix.removeprefix(".")
    if extension not in LAYOUTS and text.startswith("#!"):
        first = text[: text.find("\n")]
        return "python" if "python" in first else "indent" if "ruby" in first else "shell"
    return LAYOUTS.get(extension, LAYOUTS.get(name.partition(".")[0], "plain"))


def _python_units(lines: Lines) -> list[_Unit] | None:
    """Exact units of Python that parses; None for Python that does not."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of invalid escapes in the file that is read
            tree = ast.parse(lines.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if lines.text.count("\f") or len(lines.text.splitlines()) > len(lines):
        return None  # ast counts other line ends too
    units: list[_Unit] = []
    done = 0
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = _with_comments(lines, _first_line(node), ("#",), done)
            _add_unit(units, done, first, None)
            done = node.end_lineno or node.lineno
            _add_definition(lines, units, first, done, node)
    _add_unit(units, done, len(lines), None)
    return units


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1


def _add_definition(
    lines: Lines, units: list[_Unit], first: int, stop: int, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
) -> None:
    if not isinstance(node, ast.ClassDef):
        return _add_unit(units, first, stop, f"def {node.name}")
    begin = first
    methods = [m for m in node.body if isinstance(m, ast.FunctionDef | ast.AsyncFunctionDef)]
    for method in methods if stop - first > _LONG_UNIT_LINES else ():
        start = _with_comments(lines, _first_line(method), ("#",), begin)
        _add_unit(units, begin, start, f"class {node.name}")
        begin = method.end_lineno or method.lineno
        _add_unit(units, start, begin, f"def {node.name}.{method.name}")
    return _add_unit(units, begin, stop, f"class {node.name}")


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
