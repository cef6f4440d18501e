"""Two real examples for every command, as its help shows them; each fits on a line of 60 columns."""

from __future__ import annotations

from collections.abc import Mapping

# Command, as it is typed → lines that can be typed.
EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "init": ("kb init", "kb init --encoder all-MiniLM-L6-v2"),
    "ingest": ("kb ingest ~/notes ~/papers", "kb ingest docs --dry-run"),
    "search": ("kb search how do I return an error", "kb search retry limit --type pdf --since 30d -n 5"),
    "ask": ("kb ask how often must the mirror be cleaned", "kb ask 'What changed?' --source notes --explain"),
    "context": ("kb context 'retry policy' --max-tokens 2000", "git diff | kb context 'review this' --seen -"),
    "demo": ("kb demo", "kb demo --yes"),
    "graph": ("kb graph 'who owns lampd'", "kb graph lampd --json"),
    "chat": ("kb chat", "kb chat --continue"),
    "sessions list": ("kb sessions list", "kb sessions list --limit 5 --json"),
    "sessions show": ("kb sessions show trip-planning", "kb sessions show 2026-11-21-1 --json"),
    "sessions export": ("kb sessions export trip -o trip.md", "kb sessions export trip --json > trip.json"),
    "sessions rm": ("kb sessions rm trip-planning", "kb sessions rm 2026-11-21-1 --yes"),
    "verify": ("kb verify --claim 'It burned.' --evidence a.txt", "kb verify --claim x --evidence a.txt --json"),
    "answers list": ("kb answers list --since 7d", "kb answers list --refused --search backup"),
    "answers show": ("kb answers show 12", "kb answers show last --json"),
    "answers replay": ("kb answers replay 12", "kb answers replay 12 --fresh --model qwen2.5:3b"),
    "answers rm": ("kb answers rm 12 13", "kb answers rm --older-than 90d --yes"),
    "answers prune": ("kb answers prune --older-than 1y", "kb answers prune --before 2026-01 --yes"),
    "answers export": ("kb answers export --format md -o answers.md", "kb answers export --since 2026-10 > a.jsonl"),
    "encoders": ("kb encoders", "kb encoders --json"),
    "remember": ("kb remember the wifi is called Plover", "kb remember 'I work on lampd'"),
    "forget": ("kb forget 1", "kb forget 2 5"),
    "facts": ("kb facts", "kb facts --json"),
    "models list": ("kb models list", "kb models list --json"),
    "models use": ("kb models use qwen2.5:3b", "kb models use extractive"),
    "models pull": ("kb models pull qwen2.5:3b", "kb models pull llama3.2:3b --quiet"),
    "corpus copy": ("kb corpus copy local milvus://db:19530/team", "kb corpus copy corpus.db ~/copy"),
    "tags import": ("kb tags import tags.json", "kb tags import subjects.skos.ttl"),
    "tags train": ("kb tags train", "kb tags train --json"),
    "tags list": ("kb tags list", "kb tags list --json"),
    "tags suggest": ("kb tags suggest 'telescope mirror'", "kb tags suggest 'night shift' --json"),
    "tags apply": ("kb tags apply --all --dry-run", "kb tags apply --all"),
    "tags eval": ("kb tags eval", "kb tags eval --seeds 0 --json"),
    "eval init": ("kb eval init", "kb eval init -o notes.yaml --source notes -n 30"),
    "eval run": ("kb eval run suite.yaml", "kb eval run suite.yaml --gate 'ndcg@10>=0.40'"),
    "eval beir": ("kb eval beir cranfield", "kb eval beir scifact --mode hybrid --json"),
    "eval spans": ("kb eval spans chunking-eval", "kb eval spans chunking-eval --mode lexical"),
    "eval compare": ("kb eval compare baseline.json last", "kb eval compare baseline.json --tolerance 0.02"),
    "eval report": ("kb eval report last -o report.html", "kb eval report baseline.json last --format md"),
    "eval list": ("kb eval list", "kb eval list --limit 5 --json"),
    "eval sessions": ("kb eval sessions sessions.yaml", "kb eval sessions sessions.yaml --json"),
    "eval tune": ("kb eval tune suite.yaml", "kb eval tune suite.yaml --json"),
    "list": ("kb list --type pdf --since 30d", "kb list --sort newest --limit 20"),
    "show": ("kb show 1", "kb show guide/intro.md#L13-L25"),
    "open": ("kb open 1", "kb open report.pdf#page=3"),
    "rm": ("kb rm notes/old.md", "kb rm 'drafts/**' --source notes"),
    "status": ("kb status", "kb status --json"),
    "doctor": ("kb doctor", "kb doctor --deep"),
    "reindex": ("kb reindex", "kb reindex --json"),
    "backup": ("kb backup ~/kb-2026-11-22.sqlite", "kb backup /mnt/usb/kb.sqlite --json"),
    "restore": ("kb restore ~/kb-2026-11-22.sqlite", "kb restore kb.sqlite --replace"),
    "mcp": ("kb mcp", "kb mcp --home ~/work-kb"),
    "serve": ("kb serve --open", "kb serve --http 8765"),
    "schema": ("kb schema", "kb schema search_response.v1"),
    "expert relevance": ("kb expert relevance RESPOND", "kb expert relevance --prompt 'Fix the tests'"),
    "expert stability": ("kb expert stability", "kb expert stability --json"),
    "expert recalibrate": ("kb expert recalibrate", "kb expert recalibrate --reset"),
}


def examples_text(name: str) -> str | None:
    """The examples as they end a command's help; None for a command without any."""
    lines = EXAMPLES.get(name)
    # \b keeps lines as they are where the help is wrapped.
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines) if lines else None
