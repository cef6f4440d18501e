"""The Python API on a real home: the same as the command, and nothing imported before it is needed."""

import subprocess
import sys
from pathlib import Path

import pytest

import kb as library
from kb.errors import ConfigNotFound, InvalidInput, NotFound, NotIndexed
from tests.journey.conftest import CORPUS, Call


def test_importing_kb_imports_nothing_else() -> None:
    code = "import sys, kb; print([name for name in sys.modules if name.startswith('kb.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", library.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(library, name) is not None
    assert name in dir(library)


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'serach'"):
        _ = library.serach  # type: ignore[attr-defined]


def test_types_are_shipped() -> None:
    assert (Path(library.__file__).parent / "py.typed").is_file()


def test_from_an_empty_folder_to_an_answer(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with library.open(home) as base:
        with pytest.raises(NotIndexed):
            base.search("mirror")
        report = base.ingest(CORPUS / "guide")
        assert report.counts["new"] > 3
        found = base.search("How is the mirror cleaned?", k=3)
        assert len(found.hits) == 3
        assert base.ask("How often must the mirror of Marigold be cleaned?").grounded
        assert base.context("mirror cleaning", max_tokens=200).text
        base.ingest_text("The tide clock is wound on Mondays.", "Tide clock")
        (typed,) = base.documents(library.Filters(sources=("stdin",)))
        assert base.document(typed.path).title == "Tide clock"
        told = base.remember("The kettle  is blue")
        assert (told.fact.text, told.is_new) == ("The kettle is blue", True)
        assert base.remember("the kettle is blue.") == library.Remembered(fact=told.fact, is_new=False)
        assert base.memories() == [told.fact]
        assert base.forget(told.fact.fact_id) == library.Forgotten(forgotten=(told.fact,), answers=0)
        with pytest.raises(InvalidInput, match="the fact is empty"):
            base.remember(" . ")
        chunk = found.hits[0].chunk_id
        assert base.chunks([chunk, 10**9]).keys() == {chunk}
    assert base.search("tide clock", mode="lexical").hits[0].path == typed.path
    base.close()


def test_documents_are_read_and_removed(tmp_path: Path) -> None:
    note = tmp_path / "notes" / "tide.md"
    note.parent.mkdir()
    note.write_text("# Tide clock\n\nIt is wound on Mondays.\n")
    with library.open(tmp_path / "home") as base:
        base.ingest(note.parent)
        base.ingest_text("The kettle is blue.", "Kettle")
        document = base.document(str(note))
        assert document == base.document("tide.md")
        assert base.text(document) == (1, "# Tide clock\n\nIt is wound on Mondays.")
        assert (base.root(document.source), base.root("stdin")) == (note.parent, None)
        assert base.remove("*.md", sources=(document.source,)) == [document]
        assert [left.source for left in base.documents()] == ["stdin"]
        with pytest.raises(NotFound):
            base.remove("tide.md")
    assert note.is_file()


def test_what_only_changes_stored_data_creates_no_home(tmp_path: Path) -> None:
    base = library.open(tmp_path / "home")
    for change in (lambda: base.forget(1), lambda: base.remove("tide.md"), lambda: base.recalibrate()):
        with pytest.raises(NotIndexed):
            change()
    assert not base.home.exists()


def test_a_search_is_the_commands_search(kb: Call, corpus_home: Path) -> None:
    for mode in ("lexical", "vector", "hybrid"):
        said = kb("search", "mirror cleaning", "--mode", mode, "--json", home=corpus_home).json()
        with library.open(corpus_home) as base:
            found = base.search("mirror cleaning", mode=mode)  # type: ignore[arg-type]
        assert [(hit["chunk_id"], hit["score"]) for hit in said["hits"]] == [(h.chunk_id, h.score) for h in found.hits]


def test_seen_text_is_left_out(corpus_home: Path) -> None:
    with library.open(corpus_home) as base:
        first = base.search("mirror cleaning").hits[0]
        text = base.chunks([first.chunk_id])[first.chunk_id].text
        assert first.chunk_id not in [hit.chunk_id for hit in base.search("mirror cleaning", seen=text).hits]
        known = base.known_text([text, ""])
        assert first.chunk_id not in [hit.chunk_id for hit in base.search("mirror cleaning", seen=known).hits]
        assert base.known_text("") is None


def test_home_and_config_are_found_as_the_command_finds_them(
    corpus_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "own.toml"
    config.write_text("[search]\nk = 2\n")
    monkeypatch.setenv("KB_HOME", str(corpus_home))
    monkeypatch.setenv("KB_CONFIG", str(config))
    with library.open() as base:
        assert base.home == corpus_home
        assert len(base.search("mirror").hits) == 2
    with library.open(config=library.Config()) as base:
        assert len(base.search("mirror").hits) == 10
    with pytest.raises(ConfigNotFound):
        library.open(config=tmp_path / "none.toml")


def test_errors_are_those_of_the_command(corpus_home: Path) -> None:
    with library.open(corpus_home) as base, pytest.raises(InvalidInput) as caught:
        base.search("  ")
    assert isinstance(caught.value, library.KbError)
    assert caught.value.fix


@pytest.mark.usefixtures("default_readers")
def test_models_leave_the_memory_when_the_base_is_closed(corpus_home: Path) -> None:
    sessions = (
        "import gc, onnxruntime\n"
        "def held(): return sum(isinstance(o, onnxruntime.InferenceSession) for o in gc.get_objects())\n"
    )
    code = (
        f"{sessions}import kb\ngc.disable()\n"
        f"with kb.open({str(corpus_home)!r}) as base:\n"
        "    base.ask('How often must the mirror of Marigold be cleaned?')\n"
        "    assert held() >= 2, 'neither the encoder nor the reader was used'\n"
        "print(held())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("0", "")
