"""A headless Chromium for tests, pictures and checks of the page: a profile of its own, nothing from the network."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
DRIVER = shutil.which("chromedriver")
# Why a browser cannot be started here, empty where it can.
MISSING = ", ".join(
    name
    for name, is_there in (
        ("chromium", CHROMIUM),
        ("chromedriver", DRIVER),
        ("selenium", importlib.util.find_spec("selenium")),
    )
    if not is_there
)
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --force-color-profile=srgb"
).split()


@contextmanager
def browser(profile: str) -> Iterator[Any]:
    """A driver of selenium; `profile` is a new folder."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.set_page_load_timeout(60)
    try:
        yield driver
    finally:
        driver.quit()


def look(driver: Any, width: int, height: int, scheme: str, scale: float = 1) -> None:
    """Make the browser a screen of this size, light or dark."""
    size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [
        {"name": "prefers-color-scheme", "value": scheme},
        {"name": "prefers-reduced-motion", "value": "reduce"},
    ]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
