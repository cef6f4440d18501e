"""Files that were named one by one, and files behind URLs: as those of a folder, as far as their storage can tell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kb import library
from kb.embed.model_files import ENGLISH_MODEL
from kb.extras import is_installed
from tests.journey.conftest import Call
from tests.journey.folders import BREAD, COMETS, OTTERS, check_events, fill

needs_fsspec = pytest.mark.skipif(not is_installed("fsspec"), reason="fsspec is not installed (kb-cited[s3])")
needs_moto = pytest.mark.skipif(
    not (all(map(is_installed, ("moto", "flask", "boto3", "s3fs")))),
    reason="moto and s3fs are not installed (kb-cited[s3])",
)
WORDS = "--words-only"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "a/otters.md": OTTERS,
        "b/comets.md": COMETS,
        "b/c/bread.md": BREAD,
        "b/photo.png": b"\x89PNG",
        ".x.md": "no",
    }
    return fill(tmp_path / "archive", files)


def results(events: list[dict[str, object]]) -> dict[str, object]:
    return {str(e["path"]): e["result"] for e in events if e.get("event") == "document_finished"}


def test_a_list_of_files_is_one_source_and_forgets_nothing(kb: Call, folder: Path, tmp_path: Path) -> None:
    home, gone = tmp_path / "home", folder / "b/gone.md"
    first = [folder / "a/otters.md", folder / "b/comets.md", gone, folder / "b/photo.png"]
    listing = "\n".join(map(str, first)) + "\n\n"
    done = kb("ingest", "--files-from", "-", "--json", WORDS, home=home, stdin=listing)
    assert done.code == 0, done.err
    found = results(check_events(done))
    assert found == {"a/otters.md": "new", "b/comets.md": "new", "b/gone.md": "skipped", "b/photo.png": "skipped"}
    (tmp_path / "list").write_text(f"{folder}/b/c/bread.md\n{folder}/a/otters.md\n")
    again = kb("ingest", "--files-from", tmp_path / "list", "--json", WORDS, home=home)
    assert results(again.events()) == {"a/otters.md": "unchanged", "b/c/bread.md": "new"}
    documents = kb("list", "--json", home=home).json()["documents"]
    assert {(d["source"], d["path"]) for d in documents} == {
        ("archive", "a/otters.md"),
        ("archive", "b/comets.md"),
        ("archive", "b/c/bread.md"),
    }


@pytest.mark.parametrize(
    ("arguments", "problem"), [(["--files-from", "-"], "is empty"), (["--files-from", "no"], "read")]
)
def test_a_list_that_names_nothing_is_an_error(kb: Call, tmp_path: Path, arguments: list[str], problem: str) -> None:
    refused = kb("ingest", *arguments, home=tmp_path / "home", stdin="\n")
    assert (refused.code, refused.err.count("\n")) == (2, 2)
    assert problem in refused.err


@needs_fsspec
def test_a_folder_behind_an_url_is_followed_as_one_on_this_disk(kb: Call, folder: Path, tmp_path: Path) -> None:
    follow(kb, folder, f"file://{folder}", tmp_path / "home")


def follow(kb: Call, folder: Path, url: str, home: Path) -> None:
    """Ingest, change, ingest again: what is new, unchanged, updated, moved, pruned."""
    done = kb("ingest", url, "--json", WORDS, home=home)
    assert done.code == 0, done.err
    assert results(check_events(done)) == {
        "a/otters.md": "new",
        "b/c/bread.md": "new",
        "b/comets.md": "new",
        "b/photo.png": "skipped",
    }
    assert done.json()["ignored"] == 1
    (hit,) = kb("search", "sourdough", "--mode", "lexical", "--json", home=home).json()["hits"]
    assert (hit["path"], hit["citation"]["uri"], hit["file"]) == ("b/c/bread.md", "b/c/bread.md#L1-L3", None)
    assert kb("search", "sourdough", "--mode", "lexical", "--paths", home=home).out == f"{url}/b/c/bread.md:1\n"
    assert f"documents from {url}" in kb("status", home=home).out
    refused = kb("open", "b/c/bread.md", home=home)
    assert (refused.code, "no file on this machine" in refused.err) == (2, True)

    change(folder)
    again = kb("ingest", f"{url}/", "--json", WORDS, home=home)
    assert results(again.events()) == {
        "a/otters.md": "updated",
        "b/c/loaf.md": "moved",
        "b/photo.png": "skipped",
        "b/comets.md": "pruned",
    }
    part = kb("ingest", f"{url}/b", "--json", WORDS, home=home)
    assert results(part.events()) == {"b/c/loaf.md": "unchanged", "b/photo.png": "skipped"}
    one = kb("ingest", "--files-from", "-", "--json", WORDS, home=home, stdin=f"{url}/a/otters.md\n{url}/a/none.md\n")
    assert results(one.events()) == {"a/otters.md": "unchanged", "a/none.md": "skipped"}
    lost = kb("ingest", f"{url}/nowhere", home=home)
    assert (lost.code, lost.err.startswith(f"error: nothing is at {url}/nowhere\n")) == (2, True)


@needs_fsspec
def test_what_was_interrupted_goes_on(kb: Call, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_EMBEDDING__MODEL", ENGLISH_MODEL)
    home, listed = tmp_path / "home", [f"file://{folder}/b/comets.md", str(folder / "a/otters.md")]
    asked = iter([False, True, True])
    with library.open(home) as base:
        assert base.ingest(listed=listed, should_stop=lambda: next(asked, True)).interrupted
    resumed = kb("ingest", "--resume", "--json", home=home)
    assert resumed.code == 0, resumed.err
    assert (resumed.json()["counts"]["scanned"], resumed.json()["vector_share"]) == (2, 1)
    assert kb("list", "--json", home=home).json()["documents"][1]["path"] in ("comets.md", "otters.md")


def change(folder: Path) -> None:
    (folder / "a/otters.md").write_text(OTTERS + "\nIt floats on its back.\n")
    (folder / "b/c/bread.md").rename(folder / "b/c/loaf.md")
    (folder / "b/comets.md").unlink()


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        pytest.param("nosuch://b/x", "no storage that fsspec knows", marks=needs_fsspec),
        ("https://example.org/page.html", "no folder of a storage"),
    ],
)
def test_an_url_that_is_none_is_an_error_of_two_lines(kb: Call, tmp_path: Path, url: str, problem: str) -> None:
    refused = kb("ingest", url, home=tmp_path / "home")
    assert (refused.code, refused.err.count("\n")) == (2, 2)
    assert problem in refused.err


# ---- a server of S3 on this machine


@pytest.fixture(scope="module")
def s3_address() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


@needs_moto
def test_a_bucket_of_s3(
    kb: Call, s3_address: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import boto3

    for name, value in {
        "AWS_ENDPOINT_URL": s3_address,
        "AWS_ACCESS_KEY_ID": "me",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3")
    client.create_bucket(Bucket="team")

    def upload() -> None:
        held = {o["Key"] for o in client.list_objects_v2(Bucket="team").get("Contents", ())}
        files = {f"notes/{p.relative_to(folder).as_posix()}": p for p in folder.rglob("*") if p.is_file()}
        for key in held - files.keys():
            client.delete_object(Bucket="team", Key=key)
        for key, path in files.items():
            client.put_object(Bucket="team", Key=key, Body=path.read_bytes())

    upload()
    home, url = tmp_path / "home", "s3://team/notes"
    first = kb("ingest", url, "--json", WORDS, home=home)
    assert results(check_events(first))["b/c/bread.md"] == "new"
    assert kb("ingest", url, "--json", WORDS, home=home).json()["counts"]["unchanged"] == 3
    change(folder)
    upload()
    again = results(kb("ingest", url, "--json", WORDS, home=home).events())
    assert (again["a/otters.md"], again["b/c/loaf.md"], again["b/comets.md"]) == ("updated", "moved", "pruned")
    refused = kb("ingest", "s3://nobody/notes", home=home)
    assert (refused.code, refused.err.count("\n")) == (2, 2)
