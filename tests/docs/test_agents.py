"""The page for agents and the skill name the tools that there are, with their budgets."""

from __future__ import annotations

import json
import re

from kb.doors.arguments import schema_of
from kb.mcp.prompts import PROMPTS
from kb.mcp.resources import DOCUMENT_TEMPLATE, PASSAGE_TEMPLATE
from kb.mcp.tools import TOOLS
from kb.serve.openapi import openapi
from tests.docs.blocks import ROOT, blocks_of

PAGE = ROOT / "docs" / "mcp.md"
SKILL = ROOT / "skills" / "kb" / "SKILL.md"


def test_the_table_of_tools_has_every_tool_with_its_budget() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .* \| ([\d,]*) ?(?:tokens )?\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    said = {name: int(budget.replace(",", "") or 0) for name, budget in rows}
    defaults = {name: schema_of(tool.takes)["properties"].get("max_tokens", {}) for name, tool in TOOLS.items()}
    assert said == {name: shape.get("default", 0) for name, shape in defaults.items()}


def test_the_page_names_prompts_and_resources() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in PROMPTS)
    assert DOCUMENT_TEMPLATE == "kb://document/{source}/{+path}"
    assert "`kb://document/SOURCE/PATH`" in text
    assert PASSAGE_TEMPLATE == "kb://passage/{chunk_id}"
    assert "`kb://passage/CHUNK_ID`" in text


def test_settings_for_agents_are_json_that_starts_kb_mcp() -> None:
    found = [json.loads(block.text) for block in blocks_of(PAGE) if block.language == "json"]
    assert len(found) == 3
    for settings in found:
        (servers,) = settings.values()
        assert servers["kb"]["command"] == "kb"
        assert servers["kb"]["args"][0] == "mcp"


def test_the_skill_calls_tools_that_there_are() -> None:
    text = SKILL.read_text(encoding="utf-8")
    calls = re.findall(r"`(\w+)\(([^)]*)\)`", text)
    assert {name for name, _ in calls} <= set(TOOLS)
    for name, given in calls:
        takes = set(schema_of(TOOLS[name].takes)["properties"])
        named = {part.split("=")[0].strip() for part in given.split(",")}
        assert {part.lower() for part in named} <= takes, name


def test_the_page_for_programs_names_every_call() -> None:
    text = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")
    assert all(path.replace("{doc_id}", "12") in text for path in openapi()["paths"])
