"""Draw the pictures of the page in docs/serve.md: phone and desk, light and dark, in headless Chromium.

    python docs/make_page_pictures.py [--out docs/images/page] [--only search,document,…]

Needs Debian's chromium and chromium-driver, and selenium and pillow from PyPI. The documents are those of fixtures/.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.forked_kb import FRESH  # noqa: E402
from tests.journey.browser import browser, look  # noqa: E402
from tests.journey.mcp_client import http_server  # noqa: E402

COLOURS = 96
SCREENS = {"phone": (390, 780), "desk": (1280, 800)}
QUESTION = "How often must the mirror of Marigold be cleaned?"
FOLLOWING = "And how long does it take?"


def wait_for(driver: Any, selector: str) -> Any:
    """The first element of a selector, as soon as it is shown."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.expected_conditions import visibility_of_element_located
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(driver, 30).until(visibility_of_element_located((By.CSS_SELECTOR, selector)))


def show_search(driver: Any, address: str) -> None:
    """Results while typing."""
    driver.get(address)
    wait_for(driver, "#q").send_keys("mirror cleaning")
    wait_for(driver, ".hit")
    press(driver, "\ue00c", "j")


def show_document(driver: Any, address: str) -> None:
    """Cited lines of a document in Markdown."""
    driver.get(f"{address}place?uri=guide/marigold-telescope.md%23L32-L35")
    wait_for(driver, "#cited")


def show_table(driver: Any, address: str) -> None:
    """Cited rows of a table."""
    driver.get(f"{address}place?uri=ops/error-codes.csv%23L3-L4")
    wait_for(driver, "#cited")


def show_code(driver: Any, address: str) -> None:
    """Cited lines of a program."""
    driver.get(f"{address}place?uri=code/lamp_queue.py%23L40-L52")
    wait_for(driver, "#cited")


def show_pdf(driver: Any, address: str) -> None:
    """A page of a PDF with the passage marked."""
    driver.get(f"{address}?q=lamp+of+Brandholm&types=pdf")
    wait_for(driver, ".hit h2 a").click()
    image = wait_for(driver, "img.page")
    driver.execute_async_script(
        "const image = arguments[0], done = arguments[1];"
        "if (image.complete) done(); else image.addEventListener('load', () => done());",
        image,
    )


def show_answer(driver: Any, address: str) -> None:
    """An answer, with its citation open beside it."""
    driver.get(f"{address}ask")
    wait_for(driver, "#question").send_keys(QUESTION + "\n")
    wait_for(driver, "#answer .cite").click()
    wait_for(driver, "#beside #cited")


def show_conversation(driver: Any, address: str) -> None:
    """A conversation."""
    driver.get(f"{address}sessions/night%20watch")
    wait_for(driver, ".answer")


def show_around(driver: Any, address: str) -> None:
    """What stands around a document."""
    driver.get(f"{address}place?uri=guide/marigold-telescope.md")
    wait_for(driver, "a[href$='/around']").click()
    wait_for(driver, "svg.around")


def show_changes(driver: Any, address: str) -> None:
    """What changed lately."""
    driver.get(f"{address}changes")
    wait_for(driver, ".rows")


def show_evaluation(driver: Any, address: str) -> None:
    """The report of an evaluation."""
    driver.get(f"{address}evaluations")
    wait_for(driver, "td a").click()
    wait_for(driver, ".tiles")


def show_korean(driver: Any, address: str) -> None:
    """A document in Korean."""
    driver.get(f"{address}?q=%EB%A7%88%EB%A6%AC%EA%B3%A8%EB%93%9C+%EA%B1%B0%EC%9A%B8")
    wait_for(driver, ".hit h2 a").click()
    wait_for(driver, "#cited")


SCENES: dict[str, Callable[[Any, str], None]] = {
    "search": show_search,
    "document": show_document,
    "table": show_table,
    "code": show_code,
    "pdf": show_pdf,
    "answer": show_answer,
    "conversation": show_conversation,
    "around": show_around,
    "changes": show_changes,
    "evaluation": show_evaluation,
    "korean": show_korean,
}


def press(driver: Any, *keys: str) -> None:
    """Press keys where the focus is."""
    from selenium.webdriver.common.action_chains import ActionChains

    for key in keys:
        ActionChains(driver).send_keys(key).perform()


def make_home(home: Path, environment: dict[str, str]) -> None:
    """Documents, two answers of a conversation, and an evaluation."""

    def kb(*words: str) -> None:
        command = [sys.executable, "-m", "kb", *words, "--home", str(home), "--quiet"]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)

    corpus, formats = ROOT / "fixtures" / "corpus", ROOT / "fixtures" / "formats" / "sample.pdf"
    kb("ingest", str(corpus), str(formats), "--words-only")
    kb("ask", QUESTION, "--session", "night watch")
    kb("ask", FOLLOWING, "--session", "night watch")
    kb("eval", "run", str(ROOT / "fixtures" / "suites" / "two-step.yaml"), "--mode", "lexical")


def shoot(driver: Any, path: Path) -> None:
    """Save what the screen shows, with few colours."""
    image = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size:,} bytes")


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images" / "page")
    parser.add_argument("--only", default=",".join(SCENES))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    own = {"KB_SEARCH__MODE": "lexical", "KB_LLM__PROVIDER": "extractive", "KB_READER__MODEL": "none"}
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **own}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        make_home(home, environment)
        with (
            http_server(home, environment, "serve", "--http", "0", command=FRESH) as address,
            browser(str(Path(folder) / "profile")) as driver,
        ):
            for name in given.only.split(","):
                for screen, (width, height) in SCREENS.items():
                    for scheme in ("light", "dark"):
                        look(driver, width, height, scheme)
                        SCENES[name](driver, address)
                        shoot(driver, given.out / f"{name}-{screen}-{scheme}.png")


if __name__ == "__main__":
    main()
