"""The shape of the code, in figures: one tree, or two side by side.

    python benchmarks/house.py [--before TREE] [--install]

Counts are taken from the syntax trees; what runs in an `ask` and the start-up figures are measured in processes of their own, with the
interpreter that runs this script. --before names another checkout to print beside this one (`git worktree add TREE d44fded`).
--install installs this tree without extras into a new environment, for its size on disk: a minute.
The toys are real: a file and an entry are added to a copy of this tree, the part is used there, and the files that changed are
counted.
"""

from __future__ import annotations

import argparse
import ast
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
QUESTION = "How often must the mirror of Marigold be cleaned?"
STARTUP_RUNS = 7

# Every file of kb in which a function runs while one question is asked; the home's fixtures are ingested before.
TRACE = """
import sys, threading
from pathlib import Path
home, package, question = sys.argv[1:4]
seen, order = set(), []
def note(frame, event, argument):
    file = frame.f_code.co_filename
    if event == "call" and file.startswith(package) and frame.f_code.co_name != "<module>":
        seen.add(file)
        if not order or order[-1] != file:
            order.append(file)
from kb.cli.main import run
sys.setprofile(note)
sys.stdout = open("/dev/null", "w")
run(["ask", question, "--home", home, "--no-stream", "--json"], True)
sys.setprofile(None)
inside = [f for f in order if "/ask/" in f]
changes = sum(1 for one, other in zip(inside, inside[1:]) if one != other)
print(len([f for f in seen if "/ask/" in f]), len(seen), changes, file=sys.__stdout__)
"""
COUNT_KEYS = """
from dataclasses import fields, is_dataclass
from kb.config import Config
def count(record):
    return sum(count(getattr(record, f.name)) if is_dataclass(getattr(record, f.name)) else 1 for f in fields(record))
print(count(Config()))
"""


TOY_MODEL = '''"""A language model that repeats its first passage."""

from collections.abc import Iterator
from typing import Any

from kb.llm.protocol import Done, GenerateRequest, Token
from kb.records import ModelRef


class Parrot:
    title = "the parrot"
    provider = "parrot"

    def describe(self) -> str:
        return "parrot, embedded"

    def reference(self) -> ModelRef:
        return ModelRef("parrot-v1", "parrot")

    def context_tokens(self) -> int:
        return 8000

    def generate_stream(self, request: GenerateRequest) -> Iterator[Token | Done]:
        yield Token(f"{request.evidence[0].text.splitlines()[0]} [#1]")
        yield Done("stop")


def open_parrot(*_: Any) -> Parrot:
    return Parrot()
'''


@dataclass(frozen=True, slots=True)
class Toy:
    """A new part, as small as it can be.

    source    a file of this tree that is copied, or the text of one
    place     where it goes
    registry  the file that gets the entry, and what is replaced in it by what
    uses      environment and arguments of a command that runs on it
    shown     what that command prints when it did
    """

    source: str
    place: str
    registry: str
    edits: tuple[tuple[str, str], ...]
    environment: tuple[tuple[str, str], ...]
    uses: tuple[str, ...]
    shown: str


TOYS = {
    "index engine": Toy(
        "tests/contract/toy_engines.py",
        "kb/index/toy_engines.py",
        "kb/index/registry.py",
        (
            (
                "from kb.index.tantivy_index import TANTIVY\n",
                "from kb.index.tantivy_index import TANTIVY\nfrom kb.index.toy_engines import TOY_VECTOR\n",
            ),
            ('{"mapped": VECTORS}', '{"mapped": VECTORS, "toy": TOY_VECTOR}'),
            ('DEFAULT_VECTOR = "mapped"', 'DEFAULT_VECTOR = "toy"'),
        ),
        (),
        ("search", "mirror cleaning", "--mode", "vector"),
        "mirror",
    ),
    "encoder": Toy(
        "tests/embed/toy_encoder.py",
        "kb/embed/toy_encoder.py",
        "kb/embed/registry.py",
        (
            (
                "ENCODERS: dict[str, str] = {\n",
                'ENCODERS: dict[str, str] = {\n    "toy": "kb.embed.toy_encoder:open_toy",\n',
            ),
        ),
        (("KB_EMBEDDING__MODEL", "toy"),),
        ("search", "mirror cleaning", "--mode", "vector"),
        "mirror",
    ),
    "language model": Toy(
        TOY_MODEL,
        "kb/llm/parrot.py",
        "kb/providers.py",
        (
            (
                "PROVIDERS: dict[str, Provider] = {\n",
                'PROVIDERS: dict[str, Provider] = {\n    "parrot": Provider("kb.llm.parrot:open_parrot", model_id="parrot-v1"),\n',
            ),
        ),
        (("KB_LLM__PROVIDER", "parrot"),),
        ("ask", QUESTION, "--json"),
        '"parrot-v1"',
    ),
}


@dataclass(frozen=True, slots=True)
class Tree:
    """One checkout.

    modules  dotted name → (path, syntax tree) of every module of the package
    """

    root: Path
    modules: dict[str, tuple[Path, ast.Module]]


def read_tree(root: Path) -> Tree:
    """Parse a checkout's package."""
    modules = {}
    for path in sorted((root / "kb").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        modules[name] = path, ast.parse(path.read_text())
    return Tree(root, modules)


def lines_by_room(tree: Tree) -> Counter[str]:
    """Lines of each folder of kb; single files of the package's root together."""
    found: Counter[str] = Counter()
    for path, _ in tree.modules.values():
        parts = path.relative_to(tree.root / "kb").parts
        found[f"{parts[0]}/" if len(parts) > 1 else "(ground)"] += path.read_text().count("\n")
    return found


def lines_by_kind(tree: Tree) -> Counter[str]:
    """Lines of what stands in kb: empty, comments, docstrings, imports, tables (assignments of a module), and statements."""
    found: Counter[str] = Counter()
    for path, module in tree.modules.values():
        lines = path.read_text(encoding="utf-8").splitlines()
        found["empty"] += sum(not line.strip() for line in lines)
        found["comments"] += sum(line.lstrip().startswith("#") for line in lines)
        found["tables"] += sum(_length(node) for node in module.body if isinstance(node, ast.Assign | ast.AnnAssign))
        for node in ast.walk(module):
            if isinstance(node, ast.Import | ast.ImportFrom):
                found["imports"] += _length(node)
            elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
                text = node.body[0]
                found["docstrings"] += sum(bool(line.strip()) for line in lines[text.lineno - 1 : text.end_lineno])
        found["statements"] += len(lines)
    found["statements"] -= sum(count for kind, count in found.items() if kind != "statements")
    return found


def _length(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def own_imports(module: ast.Module) -> Iterator[tuple[str, bool]]:
    """(imported module of kb, stands inside a function) of every import."""
    inside = {
        id(inner)
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(node)
    }
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "kb":
            for alias in node.names:
                yield f"{node.module}.{alias.name}", id(node) in inside
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "kb":
                    yield alias.name, id(node) in inside


def import_statements_in_functions(tree: Tree) -> int:
    """Statements inside functions that import modules of kb."""
    count = 0
    for _, module in tree.modules.values():
        nodes = {
            id(inner): inner
            for node in ast.walk(module)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            for inner in ast.walk(node)
        }
        count += sum(
            isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "kb" for node in nodes.values()
        )
    return count


def cycles(tree: Tree) -> list[list[str]]:
    """Groups of modules that import each other, imports for type checkers and in functions included (Tarjan 1972)."""
    graph: dict[str, set[str]] = {}
    for name, (_, module) in tree.modules.items():
        targets = set()
        for target, _ in own_imports(module):
            while target and target not in tree.modules:
                target = target.rpartition(".")[0]
            if target and target not in (name, "kb"):
                targets.add(target)
        graph[name] = targets
    found: list[list[str]] = []
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in graph[node]:
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            group = []
            while True:
                group.append(stack.pop())
                if group[-1] == node:
                    break
            if len(group) > 1:
                found.append(sorted(group))

    for node in graph:
        if node not in index:
            visit(node)
    return found


def uses_of_connection(tree: Tree) -> int:
    """Attributes `.connection` outside kb/store: who reads one knows the tables."""
    return sum(
        isinstance(node, ast.Attribute) and node.attr == "connection"
        for name, (_, module) in tree.modules.items()
        if not name.startswith("kb.store")
        for node in ast.walk(module)
    )


def type_ignores(tree: Tree) -> int:
    """Comments that silence the type checker."""
    return sum(path.read_text().count("# type: ignore") for path, _ in tree.modules.values())


def run_python(tree: Path, code: str, *arguments: str, home: Path | None = None) -> str:
    """Standard output of a piece of Python that imports the tree's package."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=environment(tree, home),
        cwd=tree,
    )
    return done.stdout


def environment(tree: Path, home: Path | None = None) -> dict[str, str]:
    """The environment that runs a tree's package, without the caller's own settings of kb."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KB_")}
    return kept | {"PYTHONPATH": str(tree)} | ({"KB_HOME": str(home)} if home else {})


def measure_ask(tree: Path, home: Path) -> tuple[int, int, int]:
    """(files of kb/ask in which something runs, files of kb, changes from one file of kb/ask to another) of one `ask`."""
    numbers = run_python(tree, TRACE, str(home), str(tree / "kb") + os.sep, QUESTION, home=home).split()
    return int(numbers[0]), int(numbers[1]), int(numbers[2])


def measure_startup(tree: Path, home: Path, *arguments: str) -> float:
    """CPU seconds of a whole process, the least of several."""
    least = float("inf")
    for _ in range(STARTUP_RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "kb", *arguments],
            capture_output=True,
            env=environment(tree, home),
            check=False,
            cwd=tree,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least


def files_for(toy: Toy, folder: Path) -> int:
    """Files of a copy of this tree that change when the toy is added; raises where the command does not run on it."""
    tree = folder / "toy"
    shutil.rmtree(tree, ignore_errors=True)
    for part in ("kb", "fixtures/corpus"):
        shutil.copytree(REPOSITORY / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
    (tree / ".gitignore").write_text("__pycache__/\n")
    git = ["git", "-C", str(tree), "-c", "user.name=house", "-c", "user.email=house@localhost"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "before"]):
        subprocess.run([*git, *words], check=True)
    source = toy.source if "\n" in toy.source else (REPOSITORY / toy.source).read_text()
    (tree / toy.place).write_text(source)
    registry = (tree / toy.registry).read_text()
    for old, new in toy.edits:
        if old not in registry:
            raise ValueError(f"{toy.registry} has no {old!r}: the toy has to be brought up to date")
        registry = registry.replace(old, new)
    (tree / toy.registry).write_text(registry)
    settings = environment(tree, folder / "toy-home") | dict(toy.environment)
    kb = [sys.executable, "-m", "kb"]
    subprocess.run([*kb, "ingest", "fixtures/corpus", "--quiet"], env=settings, cwd=tree, check=True)
    done = subprocess.run([*kb, *toy.uses], env=settings, cwd=tree, check=False, capture_output=True, text=True)
    if toy.shown not in done.stdout:
        raise ValueError(f"the toy was not used: {done.stdout}{done.stderr}")
    subprocess.run([*git, "add", "."], check=True)
    changed = subprocess.run([*git, "diff", "--cached", "--name-only"], check=True, capture_output=True, text=True)
    shutil.rmtree(folder / "toy-home")
    return len(changed.stdout.splitlines())


def install_megabytes(folder: Path) -> float:
    """Megabytes on disk of a new environment with this tree installed in it, without extras."""
    target = folder / "install"
    subprocess.run([sys.executable, "-m", "venv", str(target)], check=True)
    pip = [str(target / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, str(REPOSITORY)], check=True)
    sizes = subprocess.run(["du", "-sm", str(target)], check=True, capture_output=True, text=True)
    return float(sizes.stdout.split()[0])


def figures_of(root: Path, folder: Path) -> dict[str, str]:
    """Every figure of one tree, as text, in the order of the table."""
    tree = read_tree(root)
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "kb", "ingest", str(root / "fixtures" / "corpus"), "--quiet"],
        env=environment(root, home),
        cwd=root,
        check=True,
        capture_output=True,
    )
    rooms = lines_by_room(tree)
    ask_files, all_files, changes = measure_ask(root, home)
    rows: dict[str, str] = {
        "lines of kb/": f"{sum(rooms.values()):,}",
        **{f"  {kind}": f"{count:,}" for kind, count in lines_by_kind(tree).most_common()},
        "  modules": str(len(tree.modules)),
        "ask: files of kb/ask that run": str(ask_files),
        "ask: files of kb that run": str(all_files),
        "ask: changes of file within kb/ask": str(changes),
        "imports of kb's modules in functions": str(import_statements_in_functions(tree)),
        "cycles, imports for types included": str(len(cycles(tree))),
        ".connection outside the store": str(uses_of_connection(tree)),
        "type: ignore": str(type_ignores(tree)),
        "config keys": run_python(root, COUNT_KEYS).strip(),
        "README lines": str((root / "README.md").read_text().count("\n")),
    }
    for title, arguments in {
        "CPU s: python -c pass": None,
        "CPU s: import kb": ["IMPORT"],
        "CPU s: kb --help": ["--help"],
        "CPU s: lexical search": ["search", "mirror cleaning", "--mode", "lexical"],
        "CPU s: hybrid search": ["search", "mirror cleaning"],
        "CPU s: ask": ["ask", QUESTION],
        "CPU s: ask 'Hey!'": ["ask", "Hey!"],
    }.items():
        rows[title] = f"{measure_code(root, arguments, home):.3f}"
    return rows | {f"lines of {room}": f"{count:,}" for room, count in sorted(rooms.items())}


def measure_code(root: Path, arguments: list[str] | None, home: Path) -> float:
    """CPU seconds of a command line, of `import kb`, or of the interpreter alone."""
    if arguments is not None and arguments != ["IMPORT"]:
        return measure_startup(root, home, *arguments)
    code = "pass" if arguments is None else "import kb"
    least = float("inf")
    for _ in range(STARTUP_RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], env=environment(root), check=True, cwd=root)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="another checkout to print beside this one")
    parser.add_argument("--install", action="store_true", help="install without extras, for the size on disk")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kb-house-") as folder:
        after = figures_of(REPOSITORY, Path(folder))
        after |= {f"files of a toy {name}": str(files_for(toy, Path(folder))) for name, toy in TOYS.items()}
        if options.install:
            after["MB installed: slim"] = f"{install_megabytes(Path(folder)):.0f}"
        before = figures_of(options.before.resolve(), Path(folder)) if options.before else {}
    width = max(map(len, after | before))
    for title in dict.fromkeys([*after, *before]):
        earlier = f"{before.get(title, '–'):>10}" if before else ""
        print(f"{title:<{width}}{earlier}{after.get(title, '–'):>10}")


if __name__ == "__main__":
    main()
