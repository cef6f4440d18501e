"""Source code → its definitions by the language's grammar: functions, classes and their methods, with their signatures.

The parser goes on behind a syntax error, so that broken files have definitions too. Knows no blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from kb.frozen import dataclass

SIGNATURE_CHARS = 120
# Deeper in the syntax tree stand expressions; bounds the recursion for minified files.
DEPTH = 24


@dataclass(frozen=True, slots=True)
class Definition:
    """What a stretch of lines defines.

    first, stop  lines, 0-based, stop exclusive, with decorators and the like
    line         the line that holds the name
    path         signatures of the definitions around it, outermost first, and its own
    """

    first: int
    stop: int
    line: int
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grammar:
    """One language of tree-sitter.

    module    the package, and its function that returns the language
    leaves    nodes that are a definition
    branches  nodes that are a definition and hold others
    wrappers  nodes that belong to the definition in them: decorators, export
    """

    module: str
    leaves: frozenset[str]
    branches: frozenset[str]
    wrappers: frozenset[str] = frozenset()


def _grammar(module: str, leaves: str, branches: str, wrappers: str = "") -> Grammar:
    return Grammar(module, frozenset(leaves.split()), frozenset(branches.split()), frozenset(wrappers.split()))


_JAVASCRIPT = "function_declaration generator_function_declaration method_definition"
_TYPESCRIPT = (
    f"{_JAVASCRIPT} function_signature interface_declaration type_alias_declaration enum_declaration",
    "class_declaration abstract_class_declaration internal_module module",
    "export_statement",
)
_C = "function_definition struct_specifier union_specifier enum_specifier type_definition"
# Extension → the grammar of its language.
GRAMMARS: Mapping[str, Grammar] = {
    extension: grammar
    for extensions, grammar in (
        (
            "py pyi pyw",
            _grammar("tree_sitter_python:language", "function_definition", "class_definition", "decorated_definition"),
        ),
        (
            "js mjs cjs jsx",
            _grammar("tree_sitter_javascript:language", _JAVASCRIPT, "class_declaration", "export_statement"),
        ),
        ("ts mts cts", _grammar("tree_sitter_typescript:language_typescript", *_TYPESCRIPT)),
        ("tsx", _grammar("tree_sitter_typescript:language_tsx", *_TYPESCRIPT)),
        (
            "rs",
            _grammar(
                "tree_sitter_rust:language",
                "function_item function_signature_item struct_item enum_item union_item type_item macro_definition",
                "trait_item impl_item mod_item",
            ),
        ),
        ("go", _grammar("tree_sitter_go:language", "function_declaration method_declaration type_declaration", "")),
        (
            "java",
            _grammar(
                "tree_sitter_java:language",
                "method_declaration constructor_declaration annotation_type_declaration",
                "class_declaration interface_declaration enum_declaration record_declaration",
            ),
        ),
        ("c h", _grammar("tree_sitter_c:language", _C, "", "declaration")),
        (
            "cc cpp cxx hpp hh hxx",
            _grammar(
                "tree_sitter_cpp:language",
                _C,
                "class_specifier namespace_definition",
                "template_declaration declaration",
            ),
        ),
        (
            "cs",
            _grammar(
                "tree_sitter_c_sharp:language",
                "method_declaration constructor_declaration enum_declaration delegate_declaration",
                "class_declaration interface_declaration struct_declaration record_declaration namespace_declaration",
            ),
        ),
        ("rb rake gemspec", _grammar("tree_sitter_ruby:language", "method singleton_method", "class module")),
    )
    for extension in extensions.split()
}
# A constant that is a function: `const add = (a, b) => …`
_ASSIGNED = frozenset({"lexical_declaration", "variable_declaration"})
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "function"})


@cache
def _language(module: str) -> Any:
    from tree_sitter import Language

    name, _, function = module.partition(":")
    return Language(getattr(import_module(name), function)())


def find_definitions(text: str, extension: str) -> list[Definition]:
    """The definitions of a file in order, those inside a class behind it; empty for a language without a grammar."""
    grammar = GRAMMARS.get(extension)
    if grammar is None:
        return []
    try:
        from tree_sitter import Parser

        parser = Parser(_language(grammar.module))
    except ImportError:  # there is no wheel for this platform
        return []
    raw = text.encode("utf-8", "replace")
    tree = parser.parse(raw)
    return list(_walk(grammar, raw, tree.root_node, (), None, DEPTH))


def _walk(
    grammar: Grammar, raw: bytes, node: Any, path: tuple[str, ...], first: int | None, depth: int
) -> Iterator[Definition]:
    for child in node.named_children if depth else ():
        begin = child.start_point[0] if first is None else first
        kind = child.type
        if kind in grammar.leaves or kind in grammar.branches or _is_assigned(child):
            if "specifier" in kind and child.child_by_field_name("body") is None:
                continue  # `struct point p;` uses a type
            own = (*path, _signature(raw, child))
            yield Definition(begin, _stop(child), child.start_point[0], own)
            if kind in grammar.branches:
                yield from _walk(grammar, raw, child, own, None, depth - 1)
        elif kind not in _FUNCTIONS:
            yield from _walk(grammar, raw, child, path, begin if kind in grammar.wrappers else None, depth - 1)


def _is_assigned(node: Any) -> bool:
    if node.type not in _ASSIGNED:
        return False
    values = [one.child_by_field_name("value") for one in node.named_children if one.type == "variable_declarator"]
    return any(value is not None and value.type in _FUNCTIONS for value in values)


def _stop(node: Any) -> int:
    """A node may end with the newline behind it."""
    row, column = node.end_point
    return int(row if column == 0 and row > node.start_point[0] else row + 1)


def _signature(raw: bytes, node: Any) -> str:
    """The definition up to its body, on one line."""
    body = node.child_by_field_name("body")
    if body is None and node.type in _ASSIGNED:
        value = node.named_children[0].child_by_field_name("value")
        body = value.child_by_field_name("body") if value is not None else None
    end = body.start_byte if body is not None else node.end_byte
    found = raw[node.start_byte : end].decode("utf-8", "replace")
    if body is None:
        found = found.split("\n", 1)[0]
    one_line = " ".join(found.split("{", 1)[0].split()) if body is None else " ".join(found.split())
    one_line = one_line.replace("( ", "(").replace(", )", ")").rstrip(" :{=>")
    return one_line if len(one_line) <= SIGNATURE_CHARS else f"{one_line[: SIGNATURE_CHARS - 1]}…"
