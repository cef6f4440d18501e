"""What kb stores is its owner's alone; keys and passwords are left out; no log holds what was asked."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.ingest.secrets import secret_by_content, secret_by_name
from tests.journey.conftest import Call


def open_to_others(folder: Path) -> list[str]:
    places = [folder, *folder.rglob("*")]
    return [str(p.relative_to(folder)) for p in places if stat.S_IMODE(p.lstat().st_mode) & 0o077]


@pytest.fixture
def loose_umask() -> Iterator[None]:
    before = os.umask(0o000)
    yield
    os.umask(before)


def test_nothing_in_the_home_is_open_to_others(kb: Call, tmp_path: Path, loose_umask: None) -> None:
    home, notes = tmp_path / "home", tmp_path / "notes"
    notes.mkdir()
    (notes / "otters.md").write_text("# Otters\n\nOtters sleep on their backs and hold hands.\n")
    assert kb("init", home=home).code == 0
    assert kb("ingest", notes, home=home).code == 0
    assert kb("search", "otters", home=home).code == 0
    assert kb("ask", "How do otters sleep?", home=home).code in (0, 1)
    assert kb("remember", "The otter is called Olga.", home=home).code == 0
    assert kb("backup", tmp_path / "copy.sqlite", home=home).code == 0
    assert open_to_others(home) == []
    assert stat.S_IMODE((tmp_path / "copy.sqlite").stat().st_mode) == 0o600


def test_the_next_write_closes_a_home_that_was_open(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    for place in (corpus_home, *corpus_home.rglob("*")):
        place.chmod(0o777 if place.is_dir() else 0o666)
    (tmp_path / "a.md").write_text("A new note.\n")
    found = kb("ingest", tmp_path / "a.md", home=corpus_home)
    assert found.code == 0
    assert f"other users of this machine could read {corpus_home}; now only you can" in found.err
    assert open_to_others(corpus_home) == []
    again = kb("ingest", tmp_path / "a.md", home=corpus_home)
    assert "other users" not in again.err


def test_a_folder_with_other_things_in_it_keeps_its_rights(kb: Call, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("A note.\n")
    tmp_path.chmod(0o755)
    (tmp_path / "a.md").chmod(0o644)
    assert kb("ingest", tmp_path / "a.md", home=tmp_path).code == 0
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert {name for name in open_to_others(tmp_path) if name.startswith(("kb.sqlite", "index"))} == set()
    assert "a.md" in open_to_others(tmp_path)


@pytest.mark.parametrize(
    ("name", "is_secret"),
    [
        ("id_rsa", True),
        ("id_ed25519", True),
        ("id_rsa.pub", False),
        ("server.pem", True),
        ("TLS.KEY", True),
        (".env", True),
        ("prod.env", True),
        (".env.local", True),
        (".env.example", False),
        ("credentials.json", True),
        ("credentials.md", False),
        ("credentials-prod.json", True),
        ("aws-credentials.csv", True),
        (".envrc", True),
        (".netrc", True),
        ("passwords.kdbx", True),
        ("monkey.md", False),
        ("environment.yml", False),
        ("keynote.txt", False),
    ],
)
def test_names_of_keys(name: str, is_secret: bool) -> None:
    assert (secret_by_name(name) is not None) == is_secret


BODY = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gt"


@pytest.mark.parametrize(
    ("text", "is_secret"),
    [
        (f"-----BEGIN OPENSSH PRIVATE KEY-----\n{BODY}\n", True),
        (f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{BODY}\n", True),
        ("A key begins with -----BEGIN PRIVATE KEY----- and ends likewise.", False),
        (f"-----BEGIN PUBLIC KEY-----\n{BODY}\n", False),
        (f'{{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\n{BODY}\\n"}}', True),
        (f"STRIPE={'sk_' + 'live_'}{'aB3dE5fG7h' * 3}", True),
        (f"{'hf_'}{'aB3dE5fG7h' * 3}Kq9Z", True),
        (f"{'np' + 'm_'}{'aB3dE5fG7h' * 3}Kq9ZtR", True),
        (f"token = {'gh' + 'p_'}{'aB3dE5fG7h' * 3}Kq9ZtR", True),
        (f"{'gh' + 'p_'}{'x' * 36} stands for your token", False),
        ("aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYzzTTTTKEY1Qp", True),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", False),
        ("The password is swordfish.", False),
    ],
)
def test_contents_of_keys(text: str, is_secret: bool) -> None:
    assert (secret_by_content(text.encode()) is not None) == is_secret


def test_secrets_are_left_out_unless_asked_for(kb: Call, tmp_path: Path) -> None:
    home, notes = tmp_path / "home", tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("Plain words.\n")
    (notes / "prod.env").write_text("SWORD=fish\n")
    (notes / "deploy.txt").write_text(f"-----BEGIN OPENSSH PRIVATE KEY-----\n{BODY}\n")
    found = kb("ingest", notes, "--json", home=home)
    assert found.code == 0
    reasons = {
        e["path"]: e.get("reason") for e in map(json.loads, found.out.splitlines()) if e.get("result") == "skipped"
    }
    assert reasons == {
        "prod.env": "looks like a secret: passwords or tokens, by its name",
        "deploy.txt": "looks like a secret: it holds a private key",
    }
    assert kb("search", "sword", "--mode", "lexical", home=home).code == 1
    assert kb("ingest", notes, "--include-secrets", home=home).code == 0
    assert kb("search", "sword", "--mode", "lexical", home=home).code == 0
