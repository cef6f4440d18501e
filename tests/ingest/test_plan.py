"""What is gone and what must be kept, from scans and stamps alone."""

from pathlib import Path

from kb.ingest.discover import Scan, Skipped, SourceFile
from kb.ingest.plan import Plan, make_plan
from kb.ingest.sources import Target
from kb.store.documents import Stamp

ROOT = Path("/notes")
PATHS = ("a.md", "sub/b.md", "sub\u200b/c.md", "subway/d.md")


def plan_of(found: Scan, *, start: Path = ROOT, prune: bool = True) -> Plan:
    stamps = [Stamp(number, "notes", path, 1, 1, "hash", "sig") for number, path in enumerate(PATHS)]
    return make_plan([(Target("notes", ROOT, start), found)], {"notes": "/notes"}, {"notes": stamps}, prune=prune)


def found(*paths: str, skipped: tuple[Skipped, ...] = (), unreadable: tuple[str, ...] = (), ignored: int = 0) -> Scan:
    files = tuple(SourceFile(ROOT / path, path, 1, 1, "markdown") for path in paths)
    return Scan(files, skipped, unreadable, ignored)


def gone(plan: Plan) -> set[str]:
    return {stamp.path for stamp in plan.gone}


def test_what_is_not_found_is_gone() -> None:
    assert gone(plan_of(found("a.md"))) == set(PATHS[1:])
    assert gone(plan_of(found("a.md"), prune=False)) == set()


def test_only_what_was_looked_at_can_be_gone() -> None:
    assert gone(plan_of(found("sub/new.md"), start=ROOT / "sub")) == {"sub/b.md"}


def test_a_root_without_files_forgets_nothing() -> None:
    for ignored in (0, 3):
        plan = plan_of(found(ignored=ignored))
        assert gone(plan) == set()
        assert "kept its 4 documents" in plan.warnings[0]


def test_a_folder_that_cannot_be_listed_keeps_its_documents() -> None:
    listed = Skipped("sub", "cannot be listed: Permission denied")
    plan = plan_of(found("a.md", skipped=(listed,), unreadable=("sub",)))
    assert gone(plan) == {"sub\u200b/c.md", "subway/d.md"}
    assert plan.warnings == ("kept 1 documents of notes: sub cannot be read",)
    shown = "sub\\u200b"  # a scan names folders as they can be printed
    assert gone(plan_of(found("a.md", unreadable=(shown,)))) == {"sub/b.md", "subway/d.md"}
    whole = plan_of(found(skipped=(Skipped(".", "cannot be listed"),), unreadable=(".",)))
    assert (gone(whole), whole.warnings) == (set(), ("kept 4 documents of notes: /notes cannot be read",))


def test_a_file_the_system_refuses_is_kept_and_one_that_is_unwanted_is_not() -> None:
    refused = Skipped("a.md", "cannot be read: Input/output error", may_be_readable_later=True)
    unwanted = Skipped("sub/b.md", "larger than the limit")
    assert gone(plan_of(found(*PATHS[2:], skipped=(refused, unwanted)))) == {"sub/b.md"}
