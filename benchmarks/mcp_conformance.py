"""`kb mcp` beside tools of others: the protocol's conformance tests, and the inspector's command line over both transports.

    npm install @modelcontextprotocol/inspector @modelcontextprotocol/conformance@0.1.9
    python benchmarks/mcp_conformance.py node_modules/.bin

Scenarios that need the tools, prompts and resources of a server made for them (test_simple_text, test://static-text …) are
left out, and so is logging, which kb does not offer. Conformance 0.1.9 is the newest that Node.js 20 runs. Exit code 1 if one fails.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "corpus" / "guide"
KB = [sys.executable, "-m", "kb"]
SCENARIOS = (
    *(
        "server-initialize",
        "ping",
        "completion-complete",
        "tools-list",
        "tools-call-error",
        "server-sse-multiple-streams",
    ),
    *("resources-list", "resources-subscribe", "resources-unsubscribe", "prompts-list"),
)
# Method and its arguments → a key of the answer.
CALLS: tuple[tuple[list[str], str], ...] = (
    (["tools/list"], "tools"),
    (["resources/list"], "resources"),
    (["resources/templates/list"], "resourceTemplates"),
    (["prompts/list"], "prompts"),
    (["tools/call", "--tool-name", "search", "--tool-arg", "query=mirror", "mode=lexical"], "structuredContent"),
    (["tools/call", "--tool-name", "list_documents"], "structuredContent"),
    (
        ["prompts/get", "--prompt-name", "answer", "--prompt-args", "question=How often is the mirror cleaned?"],
        "messages",
    ),
)


@contextmanager
def serve(home: str) -> Iterator[str]:
    """The address of a server over HTTP."""
    words = [*KB, "mcp", "--http", "127.0.0.1:0", "--home", home]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        try:
            yield next(found[0] for line in process.stderr if (found := re.search(r"http://\S+/mcp", line)))
        finally:
            process.terminate()


def conforms(program: Path, url: str, scenario: str, folder: str) -> bool:
    """Whether a scenario passes: it writes its results into the folder that it runs in."""
    words = [str(program), "server", "--url", url, "--scenario", scenario]
    ran = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)
    return ran.returncode == 0


def inspects(program: Path, server: list[str], call: list[str], key: str) -> bool:
    """Whether the inspector gets an answer with this key."""
    words = [str(program), "--cli", *server, "--method", *call]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=120)
    try:
        answer: dict[str, Any] = json.loads(ran.stdout)
    except ValueError:
        return False
    return bool(answer.get(key))


def main() -> None:
    """Print a line for each check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=Path, help="the folder with mcp-inspector and conformance")
    programs = parser.parse_args().bin.resolve()
    results: list[tuple[str, bool]] = []
    with TemporaryDirectory() as folder:
        home = str(Path(folder) / "home")
        subprocess.run([*KB, "ingest", str(FIXTURES), "--words-only", "--quiet", "--home", home], check=True)
        with serve(home) as url:
            for scenario in SCENARIOS:
                results.append((f"conformance {scenario}", conforms(programs / "conformance", url, scenario, folder)))
            transports = {"stdio": [*KB, "mcp", "--home", home], "http": [url, "--transport", "http"]}
            for transport, server in transports.items():
                for call, key in CALLS:
                    passed = inspects(programs / "mcp-inspector", server, call, key)
                    results.append((f"inspector {transport} {' '.join(call[:3])}", passed))
    for name, passed in results:
        print(f"{'passed' if passed else 'FAILED'}  {name}")
    print(f"{sum(passed for _, passed in results)} of {len(results)} passed")
    sys.exit(not all(passed for _, passed in results))


if __name__ == "__main__":
    main()
