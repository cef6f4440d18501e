"""The page over real HTTP: what it shows, that no document gets out of it, and that no address reaches a file."""

from __future__ import annotations

import re
import struct
import time
import xml.etree.ElementTree
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import lxml.html
import pytest

from kb.library import KnowledgeBase
from tests.journey.conftest import Call, aside
from tests.journey.mcp_client import http_server, server_environment
from tests.journey.pages import EVIL, HOSTILE_NAME, QUESTION, SESSION, config, make_home
from tests.schemas import check_wire


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> Path:
    folder = tmp_path_factory.mktemp("page")
    with aside(folder / "cache", encoder_cache):
        return make_home(folder)


@pytest.fixture(scope="module")
def client(home: Path, tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> Iterator[httpx.Client]:
    environment = server_environment(encoder_cache, tmp_path_factory.mktemp("serve"), KB_SEARCH__MODE="lexical")
    with (
        http_server(home, environment, "serve", "--http", "0") as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def doc_ids(home: Path) -> dict[str, int]:
    """Path → id."""
    with KnowledgeBase(home, config()) as base:
        return {document.path: document.doc_id for document in base.documents()}


def page(client: httpx.Client, address: str, status: int = 200) -> Any:
    """The parsed page of an address."""
    found = client.get(address, follow_redirects=True)
    assert found.status_code == status, (address, found.text)
    return lxml.html.document_fromstring(found.text)


def words(element: Any) -> str:
    return " ".join(element.text_content().split())


# ---- nothing gets out


def every_address(client: httpx.Client, doc_ids: dict[str, int]) -> Iterator[str]:
    """Each page, those that the list pages lead to included."""
    yield from (
        "/",
        "/?q=quokka",
        "/?q=quokka&part=1",
        "/?types=markdown",
        "/?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
    )
    yield from ("/documents", "/tags", "/changes", "/evaluations", "/sessions", "/ask", "/ask?question=%3Cscript%3E")
    yield from (f"/documents/{doc_id}{more}" for doc_id in doc_ids.values() for more in ("", "/around"))
    yield from (f"/documents/{doc_ids[HOSTILE_NAME]}{more}" for more in ("?lines=4-20", "?lines=4-20&part=1"))
    yield f"/sessions/{quote(SESSION, safe='')}"
    yield from page(client, "/ask").xpath("//ul[@class='rows']//a/@href")


def test_no_page_runs_or_loads_what_a_document_says(client: httpx.Client, doc_ids: dict[str, int]) -> None:
    seen = 0
    for address in every_address(client, doc_ids):
        found = client.get(address)
        assert found.status_code == 200, (address, found.text)
        policy = found.headers["content-security-policy"]
        assert policy.startswith("default-src 'self';")
        assert "unsafe" not in policy
        tree = lxml.html.document_fromstring(found.text)
        for element in tree.iter():
            names = {name.lower() for name in element.attrib}
            assert not any(name.startswith("on") or name in ("style", "srcdoc") for name in names), (address, names)
            assert element.tag not in ("iframe", "object", "embed", "style", "base"), address
            if element.tag == "script":
                assert re.fullmatch(r"/static/script\.js\?\w{12}", element.get("src", "")), address
                assert not words(element)
            for name in ("src", "href", "action"):
                target = element.get(name)
                if target is None or not urlsplit(target).scheme:
                    assert target is None or re.match(r"[/#](?!/)", target), (address, target)
                    continue
                assert (element.tag, name, element.get("class")) == ("a", "href", "outside"), (address, target)
                assert target.startswith(("http://", "https://", "mailto:"))
                assert "noreferrer" in element.get("rel")
        assert "\u202e" not in found.text
        seen += 1
    assert seen > 40


def test_what_is_hostile_is_read_as_text(client: httpx.Client, doc_ids: dict[str, int]) -> None:
    tree = page(client, f"/documents/{doc_ids[HOSTILE_NAME]}")
    text = words(tree.xpath("//article")[0])
    for written in ("</code><script>alert(1)</script>", "</pre><script>alert('quokka')</script>", "{{ 7 * 7 }}"):
        assert written in text
    for path, written in (("q.csv", "<img src=x onerror=alert(1)>"), ("q.py", "</pre><script>"), ("q.txt", "<script>")):
        assert written in words(page(client, f"/documents/{doc_ids[path]}").xpath("//article")[0])
    assert "Picture: a picture" in text
    assert "<U+202E>esrever" in text
    assert [a.get("href") for a in tree.xpath("//article//a[@class='outside']")] == [f"{EVIL}/page", f"{EVIL}/auto"]
    assert tree.xpath("//article//a[starts-with(@href, '/place')]/text()") == ["beside"]
    assert tree.xpath("//article//a[@class='no-link']/text()") == ["up", "root"]


@pytest.mark.parametrize(
    "address",
    [
        "/place?uri=/etc/passwd",
        "/place?uri=../../etc/passwd%23L1",
        "/place?uri=guide/marigold-telescope.md&source=..",
        "/documents/99999",
        "/documents/99999/pages/1.png",
        "/documents/1/pages/1.png",
        "/sessions/..%2F..%2Fetc",
        "/answers/..%2Fkb.sqlite",
        "/evaluations/report?run=../../../etc/passwd",
        "/evaluations/report",
        "/static/..%2Frender.py",
        "/static/page.html",
    ],
)
def test_no_address_reaches_a_file(client: httpx.Client, address: str) -> None:
    found = client.get(address, follow_redirects=True)
    assert found.status_code == 404
    assert "root:" not in found.text
    assert "Traceback" not in found.text


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("/documents/1?lines=no", "Write it as 12-34"),
        ("/documents/1?passage=x", "passage"),
        ("/?color=red", "color"),
        ("/?q=x&since=never", "is not a date"),
    ],
)
def test_an_address_that_means_nothing_says_what_to_do(client: httpx.Client, address: str, said: str) -> None:
    assert said in words(page(client, address, 400).xpath("//main")[0])


# ---- search


def test_search_shows_passages_with_their_places(client: httpx.Client) -> None:
    tree = page(client, "/?q=mirror+cleaning")
    first = tree.xpath("//li[contains(@class, 'hit')]")[0]
    assert words(first.xpath(".//h2")[0]) == "The Marigold telescope › Care of the mirror › Cleaning"
    assert words(first.xpath(".//p[@class='place']")[0]) == "guide/marigold-telescope.md#L28-L35"
    snippet = first.xpath(".//div[@class='snippet']")[0]
    assert words(snippet).startswith("The mirror must be cleaned every 14 days.")  # not its headings again
    assert {words(mark) for mark in snippet.xpath(".//mark")} == {"mirror", "cleaned", "clean", "Cleaning"}
    part = client.get("/?q=mirror+cleaning&part=1").text
    assert "<html" not in part
    assert 'data-said="' in part
    assert tree.xpath("//input[@id='q']/@value") == ["mirror cleaning"]


def test_facets_count_and_filter(client: httpx.Client) -> None:
    tree = page(client, "/?q=mirror&types=markdown")
    facets = {words(facet.xpath("legend")[0]): facet for facet in tree.xpath("//fieldset")}
    assert set(facets) >= {"Type", "Tag"}
    chosen = facets["Type"].xpath(".//input[@checked]/@value")
    assert chosen == ["markdown"]
    counts = {
        words(label).rsplit(" ", 1)[0]: int(words(label).rsplit(" ", 1)[1]) for label in facets["Type"].xpath("label")
    }
    assert counts["markdown"] >= len(tree.xpath("//li[contains(@class, 'hit')]")) > 0
    assert len(counts) > 1  # what else was found is still offered
    assert all(".md#" in place for place in tree.xpath("//p[@class='place']/text()"))
    (without,) = tree.xpath("//details//p/a/@href")
    assert len(page(client, without).xpath("//li[contains(@class, 'hit')]")) > 0


def test_nothing_found_and_only_filters(client: httpx.Client) -> None:
    assert "Nothing was found" in words(page(client, "/?q=zzzqqq").xpath("//main")[0])
    tree = page(client, "/?types=pdf")
    assert tree.xpath("//ul[@class='rows']/li/a/text()") == ["Keeper’s handbook"]


# ---- a document


@pytest.mark.parametrize(
    ("uri", "cited", "beside"),
    [
        ("guide/marigold-telescope.md#L32-L35", "The mirror must be cleaned every 14 days.", "recoated with aluminium"),
        ("guide/marigold-telescope.md#L33", "swept from the top edge", "The mirror must be cleaned"),
        ("ops/error-codes.csv#L3", "E-114", "E-118"),
        ("code/lamp_queue.py#L52", "def effective_priority", "return max"),
        ("notes/history.txt#L3", "", ""),
    ],
)
def test_cited_lines_are_marked_and_nothing_else(client: httpx.Client, uri: str, cited: str, beside: str) -> None:
    tree = page(client, f"/place?uri={quote(uri)}")
    marks = tree.xpath("//*[self::mark or self::tr or self::span][contains(concat(' ', @class, ' '), ' cited') ]")
    text = " ".join(words(mark) for mark in marks)
    assert marks
    assert cited in text
    assert not beside or beside not in text
    assert len(tree.xpath("//*[@id='cited']")) == 1
    ids = tree.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert tree.xpath("//@data-place") == [uri]


def test_a_place_leads_to_its_mark(client: httpx.Client, doc_ids: dict[str, int]) -> None:
    found = client.get("/place?uri=guide/marigold-telescope.md%23L32-L35&source=notes&part=1")
    wanted = f"/documents/{doc_ids['guide/marigold-telescope.md']}?lines=32-35&part=1#cited"
    assert (found.status_code, found.headers["location"]) == (303, wanted)


def test_tables_code_and_formats_without_lines(client: httpx.Client, doc_ids: dict[str, int]) -> None:
    tables = page(client, f"/documents/{doc_ids['guide/lampd-config.md']}").xpath("//table")
    assert [words(cell) for cell in tables[0].xpath(".//th")] == ["Key", "Default", "Unit", "Meaning"]
    code = page(client, f"/documents/{doc_ids['code/lamp_queue.py']}").xpath("//pre")[0]
    assert code.xpath(".//span[@class='k']/text()")[:1] in (["def"], ["class"], ["from"])
    assert code.xpath(".//span[@id='L52']/@data-no") == ["52"]
    html = page(client, f"/documents/{doc_ids['guide/boat-timetable.html']}")
    assert [words(h) for h in html.xpath("//section/h3")][:2] == ["Timetable", "Booking"]
    assert words(html.xpath("//table//th")[0]) == "Season"
    notebook = page(client, f"/documents/{doc_ids['code/seeing-report-2024-03.ipynb']}")
    assert notebook.xpath("//pre//span[@class='kn']/text()")[:1] == ["from"]


# ---- pictures of pages


def pixels(png: bytes) -> tuple[int, int, bytes]:
    """(width, height, the rows) of a PNG that was written with filter 0."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    length = struct.unpack(">I", png[33:37])[0]
    return width, height, zlib.decompress(png[41 : 41 + length])


def test_a_page_of_a_pdf_is_drawn_with_its_passage_marked(client: httpx.Client, doc_ids: dict[str, int]) -> None:
    hit = page(client, "/?q=lamp+of+Brandholm&types=pdf").xpath("//li[contains(@class, 'hit')]//a/@href")[0]
    tree = page(client, hit)
    (cited,) = tree.xpath("//section[@id='cited']")
    address = cited.xpath("./img/@src")[0]
    assert "Its text follows" in cited.xpath("./img/@alt")[0]
    assert "The lamp of Brandholm is lit at dusk" in words(cited)
    found = client.get(address)
    assert found.headers["content-type"] == "image/png"
    plain = client.get(address.partition("?")[0])
    width, height, marked = pixels(found.content)
    assert (width, height) == pixels(plain.content)[:2]
    yellow = bytes([255, int(255 * 0.93), int(255 * 0.45)])
    share = marked.count(yellow) / (width * height)
    assert 0.003 < share < 0.05  # the passage, and not the page
    assert yellow not in pixels(plain.content)[2]
    assert client.get(f"/documents/{doc_ids['sample.pdf']}/pages/99.png").status_code == 404


def test_a_pdf_that_has_changed_is_read_as_text(
    client: httpx.Client, home: Path, doc_ids: dict[str, int], tmp_path: Path
) -> None:
    """Another file at its place, a link out of the folder, no file: never drawn, and said."""
    file = home.parent / "notes" / "sample.pdf"
    raw = file.read_bytes()
    (tmp_path / "elsewhere.pdf").write_bytes(raw)
    doc = f"/documents/{doc_ids['sample.pdf']}"

    def is_text_alone(said: str) -> None:
        tree = page(client, doc)
        assert said in words(tree.xpath("//article/header")[0])
        assert "The lamp of Brandholm is lit at dusk" in words(tree.xpath("//article")[0])
        assert not tree.xpath("//img")
        assert client.get(f"{doc}/pages/2.png").status_code == 404

    try:
        file.write_bytes(raw + b"\n% changed")
        is_text_alone("has changed since it was ingested")
        file.unlink()
        is_text_alone("is not where it was")
        file.symlink_to(tmp_path / "elsewhere.pdf")
        is_text_alone("is not where it was")
    finally:
        file.unlink(missing_ok=True)
        file.write_bytes(raw)
    assert page(client, doc).xpath("//img")


# ---- answers, conversations, tags, connections, evaluations


def test_asking_without_a_script(client: httpx.Client) -> None:
    sent = client.post("/ask", data={"question": QUESTION, "session": ""})
    assert sent.status_code == 303
    tree = page(client, sent.headers["location"])
    answer = tree.xpath("//article")[0]
    assert "every 14 days" in words(answer)
    (cite,) = answer.xpath(".//a[@class='cite']")
    assert words(cite) == "[#1]"
    assert "every 14 days" in words(page(client, cite.get("href")).xpath("//*[@id='cited']/..")[0])
    assert client.post("/ask", data={"question": " "}).status_code == 400
    assert client.post("/ask", content=b"x" * 200_000).status_code == 400


def test_a_conversation_is_read_and_gone_on_with(client: httpx.Client) -> None:
    (link,) = page(client, "/sessions").xpath("//main//ul//a")
    assert words(link) == SESSION
    tree = page(client, link.get("href"))
    questions = [words(heading) for heading in tree.xpath("//article/h2")]
    assert questions == [QUESTION, "Who won the football cup <script>alert(1)</script>?"]
    states = [words(p) for p in tree.xpath("//article/p[last()]")]
    assert states[0].startswith("✓ Every citation was checked")
    assert "✓" not in states[1]
    assert tree.xpath("//input[@name='session']/@value") == [SESSION]


def test_tags_lead_to_their_documents(client: httpx.Client) -> None:
    links = {words(a): a.get("href") for a in page(client, "/tags").xpath("//ul[@class='tags']//a")}
    assert "optics" in links
    rows = page(client, links["optics"]).xpath("//ul[@class='rows']/li/a/text()")
    assert "The Marigold telescope" in rows


def test_connections_are_drawn_and_listed(client: httpx.Client, doc_ids: dict[str, int]) -> None:
    found = client.get(f"/documents/{doc_ids['guide/marigold-telescope.md']}/around")
    (svg,) = re.findall(r"<svg.*?</svg>", found.text, re.S)
    drawn = xml.etree.ElementTree.fromstring(svg)
    links = [element.get("href") for element in drawn.iter("a")]
    listed = lxml.html.document_fromstring(found.text).xpath("//ul[@class='rows']/li/a[1]/@href")
    assert links == listed
    assert f"/documents/{doc_ids['ko/마리골드-망원경.md']}" in links
    boxes = [(float(rect.get("x", 0)), float(rect.get("y", 0))) for rect in drawn.iter("rect")]
    assert len(boxes) == len(set(boxes)) == len(links) + 1
    _, _, width, height = map(float, drawn.get("viewBox", "").split())
    assert all(0 <= x < width and 0 <= y < height for x, y in boxes)


def test_evaluations_are_listed_and_shown_in_a_box_of_their_own(client: httpx.Client) -> None:
    tree = page(client, "/evaluations")
    links = tree.xpath("//td/a/@href")
    assert len(links) == 2
    report = client.get(links[0])
    policy = report.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none'")
    assert "script-src 'sha256-" in policy
    assert "<title>fixtures · kb eval</title>" in report.text
    runs = [link.partition("run=")[2] for link in links]
    assert "Differences" in client.get(f"/evaluations/report?run={runs[0]}&run={runs[1]}").text


def test_what_comes_in_is_shown_without_a_restart(client: httpx.Client, home: Path) -> None:
    with KnowledgeBase(home, config()) as base:
        (home.parent / "notes" / "gong.md").write_text("# Gong of Tidewater\n\nThe brass gong is struck at noon.\n")
        base.ingest(home.parent / "notes", words_only=True)
    assert "Gong of Tidewater" in page(client, "/changes").xpath("//ul[@class='rows']/li/a/text()")[0]
    assert "brass gong" in words(page(client, "/?q=brass+gong").xpath("//li[contains(@class, 'hit')]")[0])


# ---- keys, and readers of screens


def test_every_page_can_be_used_without_a_mouse_and_without_seeing(
    client: httpx.Client, doc_ids: dict[str, int]
) -> None:
    script = client.get(page(client, "/").xpath("//script/@src")[0]).text
    for key in ('"/":', "j:", "k:", '"Escape"', '"?":'):
        assert key in script
    assert EVIL.partition(":")[0] + "://" not in script
    for address in ("/", "/?q=mirror", "/documents", "/ask", f"/documents/{doc_ids['sample.pdf']}", "/sessions"):
        tree = page(client, address)
        assert tree.get("lang") == "en"
        assert words(tree.xpath("//title")[0])
        assert len(tree.xpath("//h1")) == 1
        assert tree.xpath("//a[@class='skip']/@href") == ["#main"]
        assert len(tree.xpath("//main[@id='main']")) == 1
        assert tree.xpath("//nav//a[@aria-current='page']")
        for field in tree.xpath("//input[not(@type='hidden')] | //textarea"):
            is_named = tree.xpath(f"//label[@for='{field.get('id')}']") or field.xpath("ancestor::label")
            assert is_named or field.get("aria-label"), (address, field.get("name"))
        assert all(image.get("alt") for image in tree.xpath("//img"))
    assert page(client, "/?q=mirror").xpath("//li[contains(@class, 'stop')]")


# ---- from the command line, and with a token


def test_kb_open_leads_to_the_passage(
    kb: Call, client: httpx.Client, home: Path, doc_ids: dict[str, int], tmp_path: Path
) -> None:
    said = kb("open", "guide/marigold-telescope.md#L32-L35", "--web", "--print", home=home)
    doc_id = doc_ids["guide/marigold-telescope.md"]
    assert said.out == f"{client.base_url}documents/{doc_id}?lines=32-35#cited\n".replace("///", "/")
    as_json = kb("open", "guide/marigold-telescope.md#L32-L35", "--web", "--json", home=home).json()
    check_wire(as_json, "place.v1")
    assert as_json["url"] == said.out.strip()
    kb("search", "lamp of Brandholm", "--type", "pdf", home=home)
    assert f"/documents/{doc_ids['sample.pdf']}?page=1#cited" in kb("open", "1", "--web", "--print", home=home).out
    other = tmp_path / "other"
    kb("ingest", home.parent / "hostile", "--words-only", home=other)
    alone = kb("open", "q.txt", "--web", "--print", home=other)
    assert (alone.code, alone.out) == (2, "")
    assert "kb serve --open" in alone.err


def test_serve_opens_the_browser_and_asks_for_the_token(
    home: Path, tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path, tmp_path: Path
) -> None:
    program, opened, token = tmp_path / "browser", tmp_path / "opened", "a-token-of-some-length"
    program.write_text(f'#!/bin/sh\necho "$1" > {opened}.part\nmv {opened}.part {opened}\n')
    program.chmod(0o755)
    own = {"KB_SEARCH__MODE": "lexical", "KB_TOKEN": token, "BROWSER": f"{program} %s"}
    environment = server_environment(encoder_cache, tmp_path_factory.mktemp("open"), **own)
    with (
        http_server(home, environment, "serve", "--http", "0", "--open") as address,
        httpx.Client(base_url=address) as client,
    ):
        deadline = time.monotonic() + 60
        while not opened.exists():
            assert time.monotonic() < deadline, "no browser was opened"
            time.sleep(0.05)
        assert opened.read_text().strip() == address
        assert client.get("/api/status").status_code == 401
        sent = client.get("/", headers={"accept": "text/html"})
        assert (sent.status_code, sent.headers["location"]) == (303, "/sign-in")
        assert client.get("/sign-in").status_code == 200
        assert client.post("/sign-in", data={"token": "wrong"}).status_code == 401
        assert client.get("/", headers={"accept": "text/html"}).status_code == 303
        given = client.post("/sign-in", data={"token": token}, headers={"origin": address.rstrip("/")})
        assert (given.status_code, given.headers["location"]) == (303, "/")
        assert {"httponly", "samesite=strict"} <= set(given.headers["set-cookie"].lower().replace(" ", "").split(";"))
        assert token not in given.headers["set-cookie"]
        assert client.get("/").status_code == 200
        assert (
            client.post("/sign-in", data={"token": token}, headers={"origin": "http://evil.example"}).status_code == 403
        )
