"""A home for the tests of the page: the documents of the fixtures, a PDF, and documents that try to break out of a page."""

from __future__ import annotations

import shutil
from pathlib import Path

from kb.config import Config, EmbeddingConfig, LlmConfig, ReaderConfig, SearchConfig
from kb.eval.runs import run_path, save_run
from kb.library import KnowledgeBase
from tests.eval.sample_runs import make_run
from tests.journey.conftest import CORPUS, ROOT

EVIL = "http://evil.example"
QUESTION = "How often must the mirror of Marigold be cleaned?"
SESSION = 'night "watch" <b>/1'
HOSTILE_NAME = 'a"><img src=x onerror=alert(1)>.md'
HOSTILE = f"""---
tags: ['"><script>alert(1)</script>', 'plain']
---
# Quokka <script>alert('title')</script> "quoted"

Quokka <img src="{EVIL}/a.png" onerror="alert(1)"> and ![a picture]({EVIL}/b.png) and ![local](../../secret.png).
[run](javascript:alert(1)) [data](data:text/html,<script>alert(1)</script>) [file](file:///etc/passwd)
[out]({EVIL}/page) [up](../../../etc/passwd) [root](/metrics) [beside](other.md#part) <{EVIL}/auto>
<iframe src="{EVIL}"></iframe><svg onload=alert(1)> <a href="{EVIL}" onclick="alert(1)">x</a>
quokka \u202eesrever\u202c and [#1] and {{{{ 7 * 7 }}}} {{% raw %}}

| quokka | <b onmouseover=alert(1)>cell</b> |
|:-:|--|
| `</code><script>alert(1)</script>` | 2 |

```"onload="alert(1)
</pre><script>alert('quokka')</script>
```
"""
HOSTILE_CSV = 'quokka,"<script>alert(1)</script>"\n=cmd(),"</table><img src=x onerror=alert(1)>"\n'
HOSTILE_CODE = "# quokka </pre><script>alert(1)</script>\nprint('<img src=x onerror=alert(1)>')\n"


def config() -> Config:
    """Words alone where nothing else is asked for, and quotes in place of a model."""
    return Config(
        embedding=EmbeddingConfig(model="all-MiniLM-L6-v2"),
        search=SearchConfig(mode="lexical"),
        llm=LlmConfig(provider="extractive"),
        reader=ReaderConfig(model="none"),
    )


def make_home(folder: Path) -> Path:
    """The home; its documents lie beside it, so that a test may change them."""
    notes, home = folder / "notes", folder / "home"
    for pattern in ("guide/*", "code/*", "ops/error-codes.csv", "notes/history.txt", "ko/마리골드-망원경.md"):
        for file in CORPUS.glob(pattern):
            (notes / file.relative_to(CORPUS)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, notes / file.relative_to(CORPUS))
    shutil.copy(ROOT / "fixtures" / "formats" / "sample.pdf", notes)
    hostile = folder / "hostile"
    hostile.mkdir()
    (hostile / HOSTILE_NAME).write_text(HOSTILE, encoding="utf-8")
    (hostile / "q.csv").write_text(HOSTILE_CSV)
    (hostile / "q.py").write_text(HOSTILE_CODE)
    (hostile / "q.txt").write_text("quokka <script>alert(1)</script>\n\u202eline\n")
    with KnowledgeBase(home, config()) as base:
        base.ingest(notes, hostile, words_only=True)
        base.ask(QUESTION, session=SESSION)
        base.ask("Who won the football cup <script>alert(1)</script>?", session=SESSION)
    (home / "eval").mkdir()
    for mode in ("lexical", "hybrid"):
        run = make_run(mode, "search", 6, hostile=True)
        save_run(run_path(home, run.run_id), run)
    return home
