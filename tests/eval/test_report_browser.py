"""The page in a real headless Chromium: nothing asked of the network, no error on the console, nothing too wide."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from kb.eval.report import render_report
from tests.eval.sample_runs import ask_run, comparison, make_run, search_runs

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: apt-get install chromium")

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-default-apps --disable-extensions --no-pings "
    "--enable-logging=stderr --hide-scrollbars"
).split()
WIDTHS = (1280, 400)
CONTROL = "http://control.example/seen.png"

# In frames of both widths: how wide the page is, closed and with everything open, and whether its script works.
PROBE = """<!doctype html><title>probe</title><img src="CONTROL">FRAMES<pre id="found"></pre><script>
addEventListener('load', function () {
  var found = Array.prototype.map.call(document.querySelectorAll('iframe'), function (frame) {
    var page = frame.contentDocument, root = page.documentElement, told = {width: frame.clientWidth, closed: root.scrollWidth};
    page.querySelectorAll('details').forEach(function (box) { box.open = true; });
    told.open = root.scrollWidth;
    told.wide = Array.prototype.filter.call(page.querySelectorAll('body *'), function (node) {
      return !node.closest('svg,.wide,caption') && node.getBoundingClientRect().right > frame.clientWidth + 1;
    }).map(function (node) { return node.tagName + '.' + node.className; });
    told.cut = Array.prototype.filter.call(page.querySelectorAll('.wide'), function (node) {
      return node.scrollWidth > node.clientWidth + 1;
    }).length;
    var sort = page.querySelector('.tools select'), rows = page.querySelectorAll('.queries>li');
    told.tools = !page.querySelector('.tools').hidden;
    sort.value = 'i'; sort.dispatchEvent(new Event('change'));
    told.sorted = page.querySelector('.queries>li').getAttribute('data-i');
    var find = page.querySelector('.tools input');
    find.value = 'q007'; find.dispatchEvent(new Event('input'));
    told.shown = Array.prototype.filter.call(rows, function (row) { return !row.hidden; }).length;
    return told;
  });
  document.getElementById('found').textContent = JSON.stringify(found);
});
</script>"""


@contextmanager
def closed_gate() -> Iterator[int]:
    """A proxy on a free port that refuses everything: whatever is asked for, nothing leaves this machine."""

    class Gate(BaseHTTPRequestHandler):
        def refuse(self) -> None:
            self.send_error(502)

        do_GET = do_POST = do_HEAD = do_CONNECT = refuse  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Gate)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def requests_of_pages(net_log: Path) -> list[str]:
    """Addresses that pages asked for, by Chromium's own network log.

    The browser asks too (its clock, its updates, flags or no flags); its requests have "not an origin" as initiator.
    """
    log = json.loads(net_log.read_text())
    started = log["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    asked = [
        event["params"] for event in log["events"] if event["type"] == started and "url" in event.get("params", {})
    ]
    return sorted({params["url"] for params in asked if params["initiator"] != "not an origin"})


def browse(page: Path, folder: Path, *more: str) -> tuple[str, str, list[str]]:
    """Open a page: the document as it stands after its scripts, what Chromium said, and what the page asked the network for."""
    assert CHROMIUM is not None
    with closed_gate() as port:
        network = [f"--proxy-server=http://127.0.0.1:{port}", "--proxy-bypass-list=<-loopback>"]
        network.append(f"--log-net-log={folder / 'net.json'}")
        command = [
            CHROMIUM,
            *FLAGS,
            *network,
            f"--user-data-dir={folder / 'profile'}",
            *more,
            "--dump-dom",
            page.as_uri(),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
    return done.stdout, done.stderr, requests_of_pages(folder / "net.json")


def big_page(*, hostile: bool) -> str:
    runs = search_runs() if not hostile else (make_run("lexical", "search", hostile=True),)
    asked = ask_run(hostile=hostile)
    return render_report([*runs, asked], comparison(runs[0], asked, hostile=hostile), "html")


@pytest.mark.parametrize("hostile", [False, True])
def test_the_page_asks_for_nothing_and_has_no_error(tmp_path: Path, hostile: bool) -> None:
    page = tmp_path / "report.html"
    page.write_text(big_page(hostile=hostile), encoding="utf-8")
    shown, said, asked = browse(page, tmp_path, "--window-size=1280,900")
    assert asked == []
    assert not re.findall(r".*CONSOLE.*", said)
    assert 'class="queries"' in shown
    assert '<div class="tools">' in shown, "the script ran: it alone shows the tools"


@pytest.mark.parametrize("hostile", [False, True])
def test_the_page_fits_and_its_script_works(tmp_path: Path, hostile: bool) -> None:
    written = escape(big_page(hostile=hostile), quote=True)
    frames = "".join(f'<iframe srcdoc="{written}" style="width:{w}px;height:900px;border:0"></iframe>' for w in WIDTHS)
    probe = tmp_path / "probe.html"
    probe.write_text(PROBE.replace("CONTROL", CONTROL).replace("FRAMES", frames), encoding="utf-8")
    shown, _, asked = browse(probe, tmp_path, "--window-size=1400,900")
    # The probe's own picture is in the log: so a request of the page would have been, too.
    assert asked == [CONTROL]
    answer = re.search(r'<pre id="found">(.*?)</pre>', shown)
    assert answer
    found = json.loads(answer[1])
    assert [told["width"] for told in found] == list(WIDTHS)
    for told in found:
        assert told["closed"] <= told["width"], told
        assert told["open"] <= told["width"], told
        assert told["wide"] == []
        assert told["tools"] is True
        assert told["sorted"] == "0"
        assert told["shown"] == 1
