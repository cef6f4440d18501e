"""The house's order: imports go one way and stand at the top, heavy libraries stay in their adapters, files stay readable."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "kb"

# Lowest first. What stands in one row may import only rows above it, and modules of its own folder.
ORDER = [
    ["kb.frozen"],
    ["kb", "kb.records", "kb.errors", "kb.arrays", "kb.drafts"],
    [
        "kb.fixed_point",
        "kb.text",
        "kb.text_units",
        "kb.normal_form",
        "kb.extras",
        "kb.private",
        "kb.providers",
        "kb.places",
    ],
    ["kb.symbols", "kb.shingles", "kb.language"],
    ["kb.fingerprint"],
    ["kb.config"],
    ["kb.wire"],
    [
        "kb.store",
        "kb.embed",
        "kb.index",
        "kb.graph",
        "kb.packing",
        "kb.relevance",
        "kb.support",
        "kb.followup",
        "kb.llm",
    ],
    ["kb.reader"],  # by the encoders' tokenizer
    ["kb.milvus"],  # another engine for corpus and indexes
    ["kb.indexes"],
    ["kb.corpora"],
    ["kb.runtime"],
    ["kb.ingest"],
    ["kb.ray"],
    ["kb.tags"],
    ["kb.search"],
    ["kb.context"],
    ["kb.evidence"],
    ["kb.ask"],
    ["kb.chat"],
    ["kb.soundness"],
    ["kb.eval", "kb.copying", "kb.doctor", "kb.status", "kb.stability_thresholds", "kb.reading"],
    ["kb.library"],
    ["kb.doors"],
    ["kb.mcp", "kb.page"],
    ["kb.serve"],
    ["kb.cli"],
    ["kb.__main__"],
]
RANKS = {name: rank for rank, row in enumerate(ORDER) for name in row}
# Imports of kb's own modules inside functions; each has its reason beside it.
MOST_INNER_IMPORTS = 40

HEAVY = {
    "torch",
    "transformers",
    "sentence_transformers",
    "gensim",
    "sklearn",
    "faiss",
    "onnxruntime",
    "onnx",
    "safetensors",
    "ollama",
    "httpx",
    "numpy",
    "tantivy",
    "prompt_toolkit",
    "rich",
    "jinja2",
    "rdflib",
    "trafilatura",
    "pypdfium2",
    "docx",
    "pptx",
    "openpyxl",
    "docutils",
    "rank_bm25",
    "pytrec_eval",
    "py3langid",
    "kiwipiepy",
    "mcp",
    "mcp_types",
    "starlette",
    "uvicorn",
    "anyio",
    "pydantic",
    "pymilvus",
    "milvus_lite",
    "ray",
    "fsspec",
}
# Of the rooms that only their own command or setting opens, which nothing can do without these.
DOOR_LIBRARIES = {
    "kb.mcp": {"mcp", "mcp_types", "starlette", "uvicorn", "anyio"},
    "kb.page": {"starlette", "jinja2"},
    "kb.serve": {"starlette"},
    "kb.milvus": {"numpy"},
}


@cache
def modules() -> dict[str, Path]:
    """Dotted name → file of every module of the package."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(modules()[module].read_text())


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Those inside a node, at any depth; expressions, the most of a tree, hold none."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, field, ()):
            if isinstance(child, ast.stmt):
                yield child
            yield from statements(child)


def part_of(module: str) -> str:
    return ".".join(module.split(".")[:2])


@cache
def imports_of(module: str) -> frozenset[str]:
    """Every module that a file names in an import: at the top, inside functions, and for type checkers only."""
    names = set()
    for node in statements(tree_of(module)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if name in modules() else str(node.module) for name in inner}
    return frozenset(names)


def own_imports(module: str) -> set[str]:
    return {name for name in imports_of(module) if name.split(".")[0] == "kb" and name not in ("kb", module)}


def test_every_part_has_its_place() -> None:
    assert {part_of(module) for module in modules()} <= set(RANKS)


def test_imports_go_one_way() -> None:
    faults = [
        f"{module} imports {name}, which stands above it or beside it"
        for module in modules()
        if module != "kb"  # names the public records; importing it imports none of them
        for name in own_imports(module)
        if part_of(name) != part_of(module) and RANKS[part_of(name)] >= RANKS[part_of(module)]
    ]
    assert faults == []


def test_no_module_imports_itself_by_a_detour() -> None:
    """No cycle between modules, those included that hide in functions or behind TYPE_CHECKING."""
    graph = {module: own_imports(module) for module in modules() if module != "kb"}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a cycle: {' → '.join(error.args[1])}")


def test_few_imports_stand_inside_functions() -> None:
    inner = [
        f"{module}: {node.module}"
        for module in modules()
        for function in statements(tree_of(module))
        if isinstance(function, ast.FunctionDef)
        for node in statements(function)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "kb"
    ]
    assert len(inner) < MOST_INNER_IMPORTS, "\n".join(inner)


def test_heavy_libraries_are_imported_inside_functions() -> None:
    faults = []
    for module in modules():
        top = [node for node in tree_of(module).body if isinstance(node, ast.Import | ast.ImportFrom)]
        names = {
            name.split(".")[0]
            for node in top
            for name in ([a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""])
        }
        heavy = HEAVY - DOOR_LIBRARIES.get(part_of(module), set())
        faults += [(module, name) for name in names & heavy]
    assert faults == []


def test_files_can_be_held_in_the_head() -> None:
    long = {module: path.read_text().count("\n") for module, path in modules().items()}
    assert {module: lines for module, lines in long.items() if lines > 420} == {}


def test_modules_say_what_they_do() -> None:
    assert [m for m in modules() if tree_of(m).body and not ast.get_docstring(tree_of(m))] == []


def test_the_type_checker_is_never_silenced() -> None:
    assert [module for module, path in modules().items() if "# type: ignore" in path.read_text()] == []


def test_no_mocks() -> None:
    for path in (ROOT / "tests").rglob("*.py"):
        assert "unittest.mock" not in path.read_text() or path == Path(__file__), path


@pytest.mark.parametrize(
    ("arguments", "forbidden"),
    [
        (["--help"], HEAVY | {"kb.runtime"}),
        (["search", "--help"], HEAVY),
        (["mcp", "--help"], HEAVY | {"kb.mcp"}),
        (["serve", "--help"], HEAVY | {"kb.mcp", "kb.serve"}),
        (["--version"], HEAVY),
        (["--home", "/nonexistent", "search", "x"], HEAVY),
        (["--home", "/nonexistent", "status"], HEAVY),
        (["--home", "/nonexistent", "expert", "relevance", "RESPOND"], HEAVY),
        (["--home", "/nonexistent", "expert", "relevance", "--prompt", "안녕하세요!", "--json"], HEAVY),
    ],
)
def test_a_command_loads_only_what_it_needs(arguments: list[str], forbidden: set[str]) -> None:
    code = (
        "import sys; from kb.cli.main import run, hoist_global_options\n"
        f"run(hoist_global_options({arguments!r}), False)\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.splitlines())
    assert not (loaded | {name.split(".")[0] for name in loaded}) & forbidden


@pytest.mark.parametrize(
    ("module", "not_asked"),
    [
        ("kb.search.pipeline", ("kb.tags", "kb.context", "kb.packing.stability")),
        ("kb.cli.search", ("kb.tags", "kb.ask", "kb.ingest", "kb.packing.stability")),
        ("kb.cli.ask", ("kb.tags", "kb.ingest", "kb.eval", "kb.packing.stability", "kb.search.stability")),
    ],
)
def test_a_command_does_not_pay_for_what_it_was_not_asked(module: str, not_asked: tuple[str, ...]) -> None:
    """Tags are 40 ms of imports, wanted only with search.expand_tags; context stability only to explain or to recalibrate."""
    code = f"import sys, {module}; print([name for name in sys.modules if name.startswith({not_asked!r})])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
