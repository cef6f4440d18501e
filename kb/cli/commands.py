"""The commands: name → its function and help text, in the order of `kb --help`; and names of earlier versions.

The help texts stand here so that listing the commands imports none of them; each fits on one line of 80 columns.
"""

from __future__ import annotations

from collections.abc import Sequence

from kb.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One command.

    place       module:function
    help        what it does, in one line of the list
    is_group    it is followed by the name of a command
    renamed_to  today's name of a command that is kept for one version; it is not listed
    """

    place: str
    help: str
    is_group: bool = False
    renamed_to: str | None = None


COMMANDS = {
    "init": Entry("kb.cli.encoders:init", "Create the data folder and config.toml; choose encoder, corpus."),
    "ingest": Entry("kb.cli.ingest:ingest", "Add files and folders; read only what has changed."),
    "watch": Entry("kb.cli.watch:watch", "Follow files and folders: bring in every change, until Ctrl-C."),
    "search": Entry("kb.cli.search:search", "Find passages: ranked hits with exact citations."),
    "ask": Entry("kb.cli.ask:ask", "Ask a question: a cited answer, or a refusal (exit 1)."),
    "demo": Entry("kb.cli.demo:demo", "Show all of it on a small example, in two minutes."),
    "context": Entry(
        "kb.cli.context:context",
        "Compose a context block for another model's prompt.",
    ),
    "graph": Entry("kb.cli.graph:graph", "Show how the things that a query names are connected."),
    "chat": Entry("kb.cli.chat:chat", "Ask turn by turn; follow-up questions are understood."),
    "sessions": Entry(
        "kb.cli.sessions:app",
        "List, show, export or remove conversations.",
        is_group=True,
    ),
    "verify": Entry(
        "kb.cli.verify:verify",
        "Check whether texts back a claim (exit 1 when not).",
    ),
    "answers": Entry(
        "kb.cli.answers:app",
        "List, search, show, replay, remove or export stored answers.",
        is_group=True,
    ),
    "encoders": Entry("kb.cli.encoders:encoders", "List the encoders: what is here, what can be fetched."),
    "remember": Entry("kb.cli.facts:remember", "Remember a fact for later questions."),
    "forget": Entry("kb.cli.facts:forget", "Forget facts, all that are named or none."),
    "facts": Entry("kb.cli.facts:facts", "List the facts that kb remembers."),
    "models": Entry("kb.cli.models:app", "List, choose or download language models (Ollama).", is_group=True),
    "tags": Entry("kb.cli.tags:app", "Import, train, suggest and apply tags of a vocabulary.", is_group=True),
    "eval": Entry("kb.cli.eval:app", "Measure search and answers; gate and compare in CI.", is_group=True),
    "list": Entry("kb.cli.documents:list_", "List documents, filtered like a search."),
    "show": Entry("kb.cli.looking:show", "Show a hit of the last search, a citation or a document."),
    "open": Entry("kb.cli.looking:open_", "Open a hit or a citation in your editor at its line."),
    "rm": Entry("kb.cli.documents:rm", "Forget documents; their files are not touched."),
    "status": Entry("kb.cli.upkeep:status", "Show what is in the knowledge base, and whether it is complete."),
    "doctor": Entry("kb.cli.doctor:doctor", "Check this installation; every fault comes with its fix."),
    "reindex": Entry("kb.cli.upkeep:reindex", "Rebuild both indexes from the store."),
    "corpus": Entry("kb.cli.corpus:app", "Copy documents and vectors to or from Milvus.", is_group=True),
    "backup": Entry("kb.cli.upkeep:backup", "Copy the whole knowledge base to one file."),
    "restore": Entry("kb.cli.upkeep:restore", "Make a backup the knowledge base of this data folder."),
    "mcp": Entry("kb.cli.mcp:mcp", "Serve the knowledge base to agents (Model Context Protocol)."),
    "serve": Entry("kb.cli.serve:serve", "Serve a page to read in, the JSON over HTTP, and MCP."),
    "schema": Entry("kb.cli.schema:schema", "Print the JSON Schema of a wire object, or list them."),
    "expert": Entry(
        "kb.cli.expert:app", "Look into relevance rules and stability thresholds; tune them.", is_group=True
    ),
    "relevance": Entry(
        "kb.cli.relevance:relevance",
        "Try the context relevance rules: which context nodes a prompt would get, and why.",
        renamed_to="expert relevance",
    ),
    "cswr": Entry(
        "kb.cli.cswr:app",
        "Context stability: the weights and thresholds in force, and their recalibration from past answers.",
        is_group=True,
        renamed_to="expert stability",
    ),
}
# The commands as `kb --help` groups them; every one that is listed stands in one of them.
SECTIONS: dict[str, tuple[str, ...]] = {
    "Every day": ("ingest", "watch", "search", "ask", "chat", "show", "open", "demo"),
    "Look and tidy up": (
        *("list", "rm", "status", "answers", "sessions", "remember", "facts", "forget", "models", "encoders"),
        *("doctor", "backup", "restore", "init"),
    ),
    "Measure and prove": ("eval", "verify"),
    "For scripts and experts": ("context", "graph", "tags", "mcp", "serve", "corpus", "reindex", "schema", "expert"),
}
GROUPS = frozenset(name for name, entry in COMMANDS.items() if entry.is_group)

# Options of an earlier version → today's, by command.
_SEEN = {"--window": "--seen"}
RENAMED_OPTIONS: dict[str, dict[str, str]] = {
    "search": _SEEN,
    "ask": {**_SEEN, "--mode-hint": "--intent"},
    "context": {**_SEEN, "--window-fingerprint": "--seen-fingerprint", "--k": "--limit"},
}
# The same for commands of a group: both words → both words.
RENAMED_COMMANDS = {("cswr", "show"): ("expert", "stability"), ("cswr", "recalibrate"): ("expert", "recalibrate")}


def present_names(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """(the arguments in today's names, a note for each old name among them).

    >>> present_names(["ask", "why?", "--window=a.md"])
    (['ask', 'why?', '--seen=a.md'], ['--window is called --seen now'])
    >>> present_names(["cswr", "show", "--json"])
    (['expert', 'stability', '--json'], ['kb cswr show is called kb expert stability now'])
    """
    words = list(arguments)
    notes: list[str] = []
    renamed = RENAMED_COMMANDS.get((words[0], words[1])) if len(words) > 1 else None
    if renamed:
        notes.append(f"kb {words[0]} {words[1]} is called kb {' '.join(renamed)} now")
        words[:2] = renamed
    elif words and (entry := COMMANDS.get(words[0])) and entry.renamed_to and not entry.is_group:
        notes.append(f"kb {words[0]} is called kb {entry.renamed_to} now")
        words[:1] = entry.renamed_to.split()
    options = RENAMED_OPTIONS.get(words[0], {}) if words else {}
    end = words.index("--") if "--" in words else len(words)
    for place, word in enumerate(words[:end]):
        name, separator, value = word.partition("=")
        if name in options:
            words[place] = options[name] + separator + value
            notes.append(f"{name} is called {options[name]} now")
    return words, list(dict.fromkeys(notes))
