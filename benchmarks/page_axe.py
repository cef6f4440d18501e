"""What axe-core finds in each page of kb serve, light and dark, at the width of a phone and of a desk.

    python benchmarks/page_axe.py AXE.JS [--impact serious]

AXE.JS is `package/axe.min.js` of the npm package axe-core (`npm pack axe-core`). Needs chromium, chromedriver and selenium. The
pages are those of docs/make_page_pictures.py with the same documents. Printed: rules that were checked, and what was found, by
impact; the exit code is 1 where something is found that is as bad as --impact, or worse.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from docs.make_page_pictures import SCENES, SCREENS, make_home
from tests.forked_kb import FRESH
from tests.journey.browser import MISSING, browser, look
from tests.journey.mcp_client import http_server

ROOT = Path(__file__).parents[1]
IMPACTS = ("minor", "moderate", "serious", "critical")
RUN = "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then(done);"


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("axe", type=Path)
    parser.add_argument("--impact", choices=IMPACTS, default="serious")
    parser.add_argument("--only", default=",".join(SCENES))
    given = parser.parse_args()
    if MISSING:
        print(f"not here: {MISSING}", file=sys.stderr)
        return 2
    own = {"KB_SEARCH__MODE": "lexical", "KB_LLM__PROVIDER": "extractive", "KB_READER__MODEL": "none"}
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **own}
    found: Counter[str] = Counter()
    looks, rules = 0, 0
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
                        result = check(driver, given.axe.read_text(encoding="utf-8"))
                        looks, rules = looks + 1, max(rules, len(result["passes"]) + len(result["violations"]))
                        for violation in result["violations"]:
                            found[violation["impact"]] += 1
                            for node in violation["nodes"][:3]:
                                print(
                                    f"{name} {screen} {scheme}: {violation['impact']} {violation['id']}: {node['html'][:160]}"
                                )
                                print(f"    {node['failureSummary'].splitlines()[-1].strip()[:200]}")
    print(
        f"{looks} looks at {len(given.only.split(','))} pages, up to {rules} rules each: {dict(found) or 'nothing found'}"
    )
    return 1 if any(found[impact] for impact in IMPACTS[IMPACTS.index(given.impact) :]) else 0


def check(driver: Any, axe: str) -> Any:
    """axe's result of the page that is shown; it is given to the browser from outside, which no policy of a page refuses."""
    driver.execute_script(axe)
    return driver.execute_async_script(RUN)


if __name__ == "__main__":
    sys.exit(main())
