"""Which files of a folder are read, and the reason for each that is not."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kb.config import IngestConfig
from kb.ingest.discover import Scan, scan
from tests.work import count_calls

CALLS_PER_FILE = 100

Tree = Callable[..., Path]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A folder with files, given as path=content; a "/" at the end makes a folder."""

    def make(files: dict[str, str | bytes]) -> Path:
        root = tmp_path / "root"
        root.mkdir(exist_ok=True)
        for name, content in files.items():
            path = root / name
            if name.endswith("/"):
                path.mkdir(parents=True, exist_ok=True)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return root

    return make


def paths(found: Scan) -> list[str]:
    return [file.path for file in found.files]


def reasons(found: Scan) -> dict[str, str]:
    return {skipped.path: skipped.reason for skipped in found.skipped}


def run(root: Path, **settings: object) -> Scan:
    return scan(root, config=IngestConfig(**settings))  # type: ignore[arg-type]


def test_files_have_what_a_later_scan_compares(tree: Tree) -> None:
    root = tree({"b/one.md": "one", "a.py": "x = 1", "b.txt": ""})
    found = run(root)
    assert [(f.path, f.type, f.size_bytes) for f in found.files] == [
        ("a.py", "code", 5),
        ("b.txt", "text", 0),
        ("b/one.md", "markdown", 3),
    ]
    assert found.files[0].mtime_ns == (root / "a.py").stat().st_mtime_ns
    assert found.files[2].absolute == root / "b" / "one.md"
    assert (found.skipped, found.unreadable, found.ignored) == ((), (), 0)


IGNORED = {
    "plain": ({".gitignore": "*.log\n", "a.md": "", "a.log": "", "d/b.log": ""}, ["a.md"]),
    "negation": (
        {".gitignore": "*.txt\n!keep.txt\n", "a.txt": "", "keep.txt": "", "d/keep.txt": ""},
        ["d/keep.txt", "keep.txt"],
    ),
    "nested": ({"d/.gitignore": "*.txt\n", "a.txt": "", "d/a.txt": "", "d/e/a.txt": ""}, ["a.txt"]),
    "nested negation": (
        {".gitignore": "*.txt\n", "d/.gitignore": "!keep.txt\n", "keep.txt": "", "d/keep.txt": "", "d/a.txt": ""},
        ["d/keep.txt"],
    ),
    "folder": ({".gitignore": "build/\n", "build/a.md": "", "d/build/a.md": "", "d/build.md": ""}, ["d/build.md"]),
    "anchored": ({".gitignore": "/a.md\n", "a.md": "", "d/a.md": ""}, ["d/a.md"]),
    "nothing below an ignored folder comes back": ({".gitignore": "d/\n!d/a.md\n", "d/a.md": "", "e.md": ""}, ["e.md"]),
    "all but": (
        {".gitignore": "*\n!*/\n!*.md\n", "a.md": "", "a.txt": "", "d/b.md": "", "d/b.txt": ""},
        ["a.md", "d/b.md"],
    ),
    "double star": ({".gitignore": "d/**/x.md\n", "d/x.md": "", "d/e/f/x.md": "", "x.md": ""}, ["x.md"]),
    "broken pattern": ({".gitignore": "[z-a]\n!\n\n# note\n*.txt\n", "a.md": "", "a.txt": ""}, ["a.md"]),
    "info/exclude": ({".git/info/exclude": "*.txt\n", "a.txt": "", "a.md": ""}, ["a.md"]),
    "exclude is the weakest": (
        {".git/info/exclude": "*.txt\n", ".gitignore": "!a.txt\n", "a.txt": "", "b.txt": ""},
        ["a.txt"],
    ),
    "byte order mark and CRLF": ({".gitignore": "\ufeff*.txt\r\n", "a.txt": "", "a.md": ""}, ["a.md"]),
}
OWN = {
    "ignores": ({".kbignore": "*.txt\n", "a.txt": "", "a.md": ""}, ["a.md"]),
    "takes back a file": ({".gitignore": "*.txt\n", ".kbignore": "!a.txt\n", "a.txt": "", "b.txt": ""}, ["a.txt"]),
    "takes back a folder": (
        {".gitignore": "build/\n", ".kbignore": "!build/\n", "build/a.md": "", "build/b/c.md": ""},
        ["build/a.md", "build/b/c.md"],
    ),
    "above wins over git below": ({".kbignore": "!a.txt\n", "d/.gitignore": "a.txt\n", "d/a.txt": ""}, ["d/a.txt"]),
    "nested": ({"d/.kbignore": "*\n", "d/a.md": "", "e/a.md": ""}, ["e/a.md"]),
}


@pytest.mark.parametrize("case", [*IGNORED.values(), *OWN.values()], ids=[*IGNORED, *OWN])
def test_ignore_rules(tree: Tree, case: tuple[dict[str, str], list[str]]) -> None:
    files, expected = case
    assert paths(run(tree(files))) == expected


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("case", IGNORED.values(), ids=IGNORED)
def test_ignores_what_git_ignores(tree: Tree, case: tuple[dict[str, str], list[str]]) -> None:
    root = tree(case[0])
    kept = case[0].get(".git/info/exclude")
    shutil.rmtree(root / ".git", ignore_errors=True)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    if kept:
        (root / ".git/info/exclude").write_text(kept)
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-o", "--exclude-standard"], check=True, capture_output=True, text=True
    ).stdout.split()
    assert paths(run(root)) == sorted(name for name in listed if ".gitignore" not in name)


def test_rules_above_the_root_apply_inside_a_work_tree_only(tree: Tree) -> None:
    root = tree({".gitignore": "*.txt\n", "d/a.txt": "", "d/a.md": "", "build/b.md": ""})
    assert paths(run(root / "d")) == ["a.md", "a.txt"]
    (root / ".git").mkdir()
    assert paths(run(root / "d")) == ["a.md"]


def test_a_named_folder_is_entered_though_it_is_ignored(tree: Tree) -> None:
    root = tree({".git/HEAD": "", ".gitignore": "build/\n", "build/a.md": ""})
    assert paths(run(root)) == []
    assert paths(run(root / "build")) == ["a.md"]


def test_a_part_of_a_root_keeps_the_paths_and_rules_of_the_root(tree: Tree) -> None:
    root = tree({".kbignore": "*.txt\n", "d/a.txt": "", "d/a.md": "", "e.md": ""})
    assert paths(scan(root / "d", root=root, config=IngestConfig())) == ["d/a.md"]
    assert paths(scan(root / "d" / "a.txt", root=root, config=IngestConfig())) == ["d/a.txt"]


def test_hidden_and_never_entered(tree: Tree) -> None:
    root = tree(
        {
            ".hidden.md": "",
            ".dir/a.md": "",
            "node_modules/a.md": "",
            "__pycache__/a.md": "",
            ".git/a.md": "",
            "a.md": "",
        }
    )
    assert paths(run(root)) == ["a.md"]
    assert paths(run(root, hidden=True)) == [".dir/a.md", ".hidden.md", "a.md"]
    assert run(root).ignored == 2


def test_a_home_is_not_read(tree: Tree) -> None:
    root = tree({"home/kb.sqlite": "", "home/a.md": "", "new/b.md": "", "c.md": ""})
    found = scan(root, config=IngestConfig(), home=root / "new")
    assert paths(found) == ["c.md"]
    assert reasons(found) == {"home": "the home of a knowledge base", "new": "the home of a knowledge base"}


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.doc", b"\xd0\xcf", "a legacy Office file"),
        ("a.xls", b"", "a legacy Office file"),
        ("a.PNG", b"\x89PNG", "an image"),
        ("a.mp3", b"", "audio or video"),
        ("a.zip", b"", "an archive"),
        ("a.weird", bytes(range(256)), "unknown file type .weird, and the content is binary"),
        ("noname", b"\0\1\2\3", "unknown file type <none>, and the content is binary"),
        ("big.md", b"x" * 2_000_001, "larger than the limit (2.000001 MB > 2 MB; raise ingest.max_text_bytes)"),
        ("big.pdf", b"x" * 3_500_000, "larger than the limit (3.5 MB > 3 MB; raise ingest.max_binary_bytes)"),
    ],
)
def test_each_skipped_file_has_its_reason(tree: Tree, name: str, content: bytes, reason: str) -> None:
    found = run(tree({name: content}), max_text_bytes=2_000_000, max_binary_bytes=3_000_000)
    assert paths(found) == []
    assert reason in reasons(found)[name]


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("README", "words", "text"),
        ("LICENSE", "words", "text"),
        ("Makefile", "all:\n", "code"),
        ("Dockerfile", "FROM x\n", "code"),
        ("run", "#!/bin/sh\necho\n", "code"),
        ("notes.unknown", "words", "text"),
        ("A.MD", "words", "markdown"),
        ("x.wide", "wide words".encode("utf-16"), "text"),
    ],
)
def test_files_without_a_known_extension_are_told_by_name_or_content(
    tree: Tree, name: str, content: str | bytes, kind: str
) -> None:
    assert [file.type for file in run(tree({name: content})).files] == [kind]


def test_links(tree: Tree, tmp_path: Path) -> None:
    root = tree({"a.md": "", "d/b.md": "", ".hidden/c.md": "", ".hidden/e/f.md": ""})
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "o.md").touch()
    for name, target in {
        "alias.md": root / "a.md", "loop": root, "d/up": root / "d", "out": outside, "out.md": outside / "o.md",
        "broken.md": root / "gone", "inside.md": root / ".hidden/c.md", "e": root / ".hidden/e", "e2": root / ".hidden/e",
    }.items():  # fmt: skip
        (root / name).symlink_to(target)
    found = run(root)
    assert paths(found) == ["a.md", "d/b.md", "e/f.md", "inside.md"]
    assert reasons(found) == {
        "alias.md": "a symbolic link to a.md, which is read there",
        "broken.md": "a symbolic link that leads nowhere",
        "d/up": "a symbolic link to d, which is read there",
        "e2": "a symbolic link to .hidden/e, which is read there",
        "loop": "a symbolic link to ., which is read there",
        "out": "a symbolic link that leads out of the folder",
        "out.md": "a symbolic link that leads out of the folder",
    }


def test_a_root_can_be_a_file_or_a_link(tree: Tree, tmp_path: Path) -> None:
    root = tree({"d/a.md": "", ".gitignore": "*.md"})
    assert paths(run(root / "d" / "a.md")) == ["a.md"]
    (tmp_path / "link").symlink_to(root / "d")
    assert paths(run(tmp_path / "link")) == ["a.md"]


def test_what_is_not_there_is_unreadable_and_not_empty(tmp_path: Path) -> None:
    found = run(tmp_path / "gone")
    assert (found.files, found.unreadable) == ((), (".",))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permission_is_recorded(tree: Tree) -> None:
    root = tree({"a.md": "", "locked/b.md": ""})
    (root / "locked").chmod(0)
    try:
        found = run(root)
    finally:
        (root / "locked").chmod(0o755)
    assert paths(found) == ["a.md"]
    assert found.unreadable == ("locked",)
    assert reasons(found)["locked"] == "cannot be listed: Permission denied"


def test_names_that_cannot_be_stored(tree: Tree) -> None:
    root = tree({"ok #1.md": ""})
    with open(os.fsencode(root) + b"/bad\xff.md", "w"), open(root / "line\nbreak.md", "w"):
        pass
    found = run(root)
    assert paths(found) == ["ok #1.md"]
    assert list(reasons(found)) == ["bad\\xff.md", "line\\nbreak.md"]


def test_special_files_are_not_opened(tree: Tree) -> None:
    root = tree({})
    os.mkfifo(root / "pipe.md")
    assert reasons(run(root)) == {"pipe.md": "not a regular file"}


def test_deep_folders(tree: Tree) -> None:
    root = tree({})
    deep = str(root)
    try:
        for _ in range(1_050):  # deeper than Python recurses
            deep += "/d"
            os.mkdir(deep)
        Path(deep, "a.md").touch()
        assert len(run(root).files) == 1
    finally:
        # Python 3.11's own rmtree, which pytest tidies up with, recurses.
        subprocess.run(["rm", "-rf", str(root / "d")], check=True)


def test_five_thousand_files_are_listed_with_little_work(tree: Tree) -> None:
    root = tree({".gitignore": "*.log\nbuild/\n!keep.log\n"})
    for folder in range(100):
        (root / f"d{folder}").mkdir()
        for number in range(50):
            (root / f"d{folder}" / f"{number}.md").touch()
    found = []
    calls = count_calls(lambda: found.append(run(root)))
    assert len(found[0].files) == 5_000
    assert calls["scandir"] == 101
    assert calls.total() < CALLS_PER_FILE * 5_000
