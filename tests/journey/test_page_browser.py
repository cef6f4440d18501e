"""The page in headless Chromium: ten things that a reader does, with the keyboard, by mouse, and on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.journey.browser import MISSING, browser, look
from tests.journey.conftest import aside
from tests.journey.mcp_client import http_server, server_environment
from tests.journey.pages import QUESTION, SESSION, make_home

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not here: {MISSING} (apt-get install chromium chromium-driver)")
ESCAPE, ENTER, DOWN = "\ue00c", "\ue007", "\ue015"


class Reader:
    """A person before the page: looks at what is shown, presses keys, clicks."""

    def __init__(self, driver: Any, address: str) -> None:
        self.driver, self.address = driver, address

    def go(self, path: str) -> None:
        """Open an address of the page."""
        self.driver.get("about:blank")
        self.driver.get(self.address + path)

    def until(self, what: Callable[[], Any]) -> Any:
        """What is true or there at last; a page that changes meanwhile is looked at again."""
        from selenium.common.exceptions import StaleElementReferenceException
        from selenium.webdriver.support.ui import WebDriverWait

        waiting = WebDriverWait(self.driver, 60, 0.05, ignored_exceptions=[StaleElementReferenceException])
        return waiting.until(lambda _: what())

    def all(self, selector: str) -> list[Any]:
        """The elements of a selector that are shown."""
        return [found for found in self.driver.find_elements("css selector", selector) if found.is_displayed()]

    def see(self, selector: str) -> Any:
        """The first element of a selector, as soon as it is shown."""
        return self.until(lambda: next(iter(self.all(selector)), None))

    def press(self, *keys: str) -> None:
        """Press keys where the focus is."""
        from selenium.webdriver.common.action_chains import ActionChains

        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def focused(self) -> Any:
        """What has the focus."""
        return self.driver.switch_to.active_element

    def is_on_screen(self, element: Any) -> bool:
        """Whether all of it can be seen without scrolling, below the bar."""
        return bool(
            self.driver.execute_script(
                "const box = arguments[0].getBoundingClientRect(), bar = document.querySelector('.top').getBoundingClientRect();"
                "return box.top >= bar.bottom - 1 && box.bottom <= innerHeight + 1;",
                element,
            )
        )


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> Iterator[Reader]:
    folder = tmp_path_factory.mktemp("browser")
    with aside(folder / "cache", encoder_cache):
        home = make_home(folder)
    environment = server_environment(encoder_cache, folder, KB_SEARCH__MODE="lexical")
    with (
        http_server(home, environment, "serve", "--http", "0") as address,
        browser(str(folder / "profile")) as driver,
    ):
        driver.execute_cdp_cmd("Log.enable", {})
        look(driver, 1280, 800, "light")
        yield Reader(driver, address.rstrip("/"))


@pytest.fixture(autouse=True)
def nothing_is_refused(reader: Reader) -> Iterator[None]:
    """No error of a script, nothing that the policy refused, no alert of a document."""
    yield
    told = [row["message"] for row in reader.driver.get_log("browser") if row["level"] == "SEVERE"]
    assert told == []


def test_results_come_as_you_type_and_are_opened_with_keys(reader: Reader) -> None:
    reader.go("/documents")
    reader.press("/")
    reader.until(lambda: reader.driver.current_url.endswith("/"))
    reader.see("#q")
    reader.press(*"mirror cleaning")
    reader.until(lambda: "Cleaning" in reader.all(".hit h2")[0].text if reader.all(".hit h2") else False)
    assert reader.driver.current_url.endswith("/?q=mirror+cleaning")
    reader.until(lambda: "passages" in reader.driver.find_element("id", "count").get_attribute("textContent"))
    reader.press(ESCAPE)
    assert reader.driver.find_element("id", "q").get_attribute("value") == "mirror cleaning"
    reader.press("j", "j")
    assert reader.focused() == reader.all(".hit h2 a")[1]
    reader.press("k")
    assert reader.focused() == reader.all(".hit h2 a")[0]
    reader.press(ENTER)
    reader.see("#cited")
    assert "/documents/" in reader.driver.current_url


def test_the_cited_lines_are_scrolled_to(reader: Reader) -> None:
    reader.go("/place?uri=guide/marigold-telescope.md%23L44-L52")
    cited = reader.see("#cited")
    reader.until(lambda: reader.is_on_screen(cited))
    assert reader.driver.execute_script("return scrollY") > 100


def test_filters_narrow_the_results(reader: Reader) -> None:
    reader.go("/?q=sustained+wind")
    reader.see(".hit")
    box = next(box for box in reader.all(".facets input") if box.get_attribute("value") == "restructuredtext")
    box.click()
    reader.until(lambda: all(".rst#" in place.text for place in reader.all(".hit .place")) and reader.all(".hit"))
    assert "types=restructuredtext" in reader.driver.current_url
    assert reader.focused().get_attribute("value") == "restructuredtext"  # the focus stays where it was


def test_an_answer_comes_with_its_citation_beside_it(reader: Reader) -> None:
    reader.go("/ask")
    reader.see("#question").send_keys(QUESTION + ENTER)
    answer = reader.see("#answer .answer")
    assert "every 14 days" in answer.text
    cite = reader.see("#answer a.cite")
    cite.click()
    beside = reader.see("#beside")
    mark = reader.see("#beside #cited")
    assert "every 14 days" in mark.text
    assert reader.is_on_screen(mark)
    assert reader.focused() == beside
    reader.press(ESCAPE)
    reader.until(lambda: not reader.all("#beside"))
    assert reader.focused() == cite


def test_a_refusal_shows_the_closest_passages(reader: Reader) -> None:
    reader.go("/ask?question=" + "Who+repairs+the+submarine+of+the+moon%3F")
    reader.see("form#ask button").click()
    assert reader.see("#answer .answer")
    assert not reader.all("#answer a.cite")
    assert not reader.all("#answer .sure")


def test_a_page_of_a_pdf_is_seen(reader: Reader) -> None:
    reader.go("/?q=lamp+of+Brandholm&types=pdf")
    reader.see(".hit h2 a").click()
    image = reader.see("#cited img.page")
    reader.until(lambda: reader.driver.execute_script("return arguments[0].naturalWidth", image) == 1100)


def test_a_conversation_is_read(reader: Reader) -> None:
    reader.go("/sessions")
    reader.press("j", ENTER)
    reader.until(lambda: reader.see("h1").text == SESSION)
    reader.press("j", "j")
    assert reader.focused() == reader.all("article.answer")[1]


def test_a_neighbour_is_reached_from_the_picture(reader: Reader) -> None:
    reader.go("/place?uri=guide/marigold-telescope.md")
    reader.see("a[href$='/around']").click()
    node = reader.see("svg.around a[href^='/documents/'] rect")
    node.click()
    reader.until(lambda: reader.all("article.document"))
    assert reader.see("h1").text != "The Marigold telescope"


def test_an_evaluation_is_opened(reader: Reader) -> None:
    reader.go("/evaluations")
    reader.see("td a").click()
    reader.see(".tiles")
    reader.see(".tools select")  # its own script runs, in its own box


def test_tags_changes_and_the_list_of_keys(reader: Reader) -> None:
    reader.go("/tags")
    reader.see(".tags a").click()
    reader.see(".rows a")
    reader.go("/changes")
    reader.see(".rows a")
    reader.press("?")
    reader.see("dialog[open]")
    reader.press(ESCAPE)
    reader.until(lambda: not reader.all("dialog[open]"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone(reader: Reader, scheme: str) -> None:
    look(reader.driver, 390, 780, scheme)
    try:
        for path in (
            "/?q=mirror",
            "/ask",
            "/documents",
            "/place?uri=ops/error-codes.csv",
            "/place?uri=code/lamp_queue.py",
            "/tags",
        ):
            reader.go(path)
            reader.see("main")
            assert reader.driver.execute_script("return document.documentElement.scrollWidth") <= 390, path
    finally:
        look(reader.driver, 1280, 800, "light")
