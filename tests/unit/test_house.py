"""The house's order: imports go one way, heavy libraries stay in their adapters, files stay readable."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "kb"

# Lowest first. What stands in one row may import only rows above it, and modules of its own folder.
ORDER = [
    ["kb", "kb.records", "kb.errors", "kb.arrays", "kb.drafts"],
    ["kb.text", "kb.normal_form", "kb.extras", "kb.providers"],
    ["kb.shingles", "kb.language"],
    ["kb.fingerprint"],
    ["kb.config"],
    ["kb.wire"],
    ["kb.store", "kb.embed", "kb.index", "kb.graph", "kb.rank", "kb.relevance", "kb.support", "kb.followup", "kb.llm"],
    ["kb.knowledge_base"],
    ["kb.ingest"],
    ["kb.tags"],
    ["kb.search"],
    ["kb.context"],
    ["kb.evidence"],
    ["kb.ask"],
    ["kb.chat"],
    ["kb.eval", "kb.doctor", "kb.status", "kb.cswr"],
    ["kb.library"],
    ["kb.cli", "kb.mcp_server"],
    ["kb.__main__"],
]
RANKS = {name: rank for rank, row in enumerate(ORDER) for name in row}

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
    "sqlite_utils",
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
}


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def part_of(module: str) -> str:
    return ".".join(module.split(".")[:2])


def imported_modules(path: Path) -> list[str]:
    """Every import of a file, those inside functions included, those for type checkers only left out."""
    tree = ast.parse(path.read_text())
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    names = []
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names += [node.module or ""]
    return names


@pytest.mark.parametrize("module", modules())
def test_imports_go_one_way(module: str) -> None:
    path = modules()[module]
    own = part_of(module)
    assert own in RANKS, f"{own} has no place in the order: add it to ORDER"
    for name in imported_modules(path):
        if name.split(".")[0] != "kb" or name == "kb" or part_of(name) == own:
            continue
        assert RANKS[part_of(name)] < RANKS[own], f"{module} imports {name}, which stands above it or beside it"


def test_type_checking_imports_make_no_cycle() -> None:
    """TYPE_CHECKING spares the cost of numpy; it must not hide an import against the order."""
    for module, path in modules().items():
        if module == "kb":  # names the public records, imports none of them
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kb."):
                target = part_of(node.module or "")
                own = part_of(module)
                assert target == own or RANKS[target] < RANKS[own], f"{module} names {node.module}"


@pytest.mark.parametrize("module", modules())
def test_heavy_libraries_are_imported_inside_functions(module: str) -> None:
    tree = ast.parse(modules()[module].read_text())
    top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {n.split(".")[0] for node in top for n in _names(node)}
    allowed = {"kb.store.migrations": {"sqlite_utils"}}.get(module, set())
    assert names & HEAVY <= allowed


def test_no_type_error_is_ignored() -> None:
    ignoring = [str(path.relative_to(ROOT)) for path in modules().values() if "type: " + "ignore" in path.read_text()]
    assert ignoring == []


def _names(node: ast.Import | ast.ImportFrom) -> list[str]:
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]


@pytest.mark.parametrize(
    ("arguments", "forbidden"),
    [
        (["--help"], HEAVY),
        (["search", "--help"], HEAVY),
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
    loaded = {line.split(".")[0] for line in done.stderr.splitlines()}
    assert not loaded & forbidden


@pytest.mark.parametrize("module", modules())
def test_files_can_be_held_in_the_head(module: str) -> None:
    lines = modules()[module].read_text().count("\n")
    assert lines <= 420, f"{module} has {lines} lines: split it by concept"


@pytest.mark.parametrize("module", modules())
def test_modules_say_what_they_do(module: str) -> None:
    tree = ast.parse(modules()[module].read_text())
    assert ast.get_docstring(tree) or not tree.body, f"{module} has no docstring"


def test_no_mocks() -> None:
    for path in (ROOT / "tests").rglob("*.py"):
        for name in imported_modules(path):
            assert not name.startswith("unittest.mock"), path


NOT_ASKED = ("kb.tags", "kb.rank", "kb.context", "kb.search.novelty")


@pytest.mark.parametrize(
    ("module", "not_asked"),
    [
        ("kb.search.pipeline", NOT_ASKED),
        ("kb.cli.search", NOT_ASKED),
        ("kb.cli.ask", NOT_ASKED),
        ("kb.context.pipeline", ("kb.tags",)),
    ],
)
def test_a_search_does_not_pay_for_what_it_was_not_asked(module: str, not_asked: tuple[str, ...]) -> None:
    """Tags are 40 ms of imports, wanted only with search.expand_tags; context stability is 10, wanted to explain; novelty
    pressure is 40, wanted with a window."""
    code = f"import sys, {module}; print([name for name in sys.modules if name.startswith({not_asked!r})])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
