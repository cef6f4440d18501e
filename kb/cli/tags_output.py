"""Records of the tag commands → lines for people, or JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kb.cli.invocation import Invocation
from kb.cli.render import size_text
from kb.cli.terminal import harmless_line, say, styled
from kb.tags.records import (
    ImportReport,
    PhraseReport,
    Suggestions,
    TagApplication,
    TagEvaluation,
    TagList,
    TrainReport,
)
from kb.wire import to_json

# Rows for people; JSON has them all.
SHOWN_CANDIDATES = 20
SHOWN_ALIASES = 4


def _print_import(report: ImportReport, invocation: Invocation) -> None:
    """What was imported, and what to do next."""
    parts = [f"{report.tags:,} tags", f"{report.aliases:,} aliases", f"{report.items:,} items"]
    if report.ambiguous_aliases:
        parts.insert(2, f"{report.ambiguous_aliases:,} of them for several tags")
    if report.rated:
        parts.append(f"{report.rated:,} rated")
    say(f"imported {harmless_line(report.origin)} ({report.format}): {', '.join(parts)}")
    invocation.notify("train on it with: kb tags train" if report.changed else "the same vocabulary was there already")


def _print_training(report: TrainReport, invocation: Invocation) -> None:
    """What was trained, with the figures that show whether it learned."""
    say(
        f"trained on {harmless_line(report.origin)}: {report.tags:,} tags, {report.aliases:,} aliases, {report.items:,} items"
    )
    say(f"{styled('n-grams ', 'dim')} {report.tokens:,} tokens")
    if report.epochs is not None:
        figures = f"mean cosine of neighbours {report.neighbour_cosine:.2f}, of random tags {report.random_cosine:.2f}"
        say(f"{styled('FastText', 'dim')} {report.epochs} epochs, {figures}")
    if report.components is not None:
        say(f"{styled('context ', 'dim')} {report.components} dimensions")
    say(f"{styled('took    ', 'dim')} {report.seconds:.1f} s, {size_text(report.size_bytes)}")


def _print_suggestions(found: Suggestions, invocation: Invocation) -> None:
    """The best candidates as a table; under --verbose each phrase's own list first."""
    for report in found.phrases or ():
        _print_phrase(report)
    rows = found.candidates[:SHOWN_CANDIDATES]
    width = max((len(row.tag) for row in rows), default=0)
    for row in rows:
        scores = f"{row.score_combined:5.3f}  {_score(row.score_fasttext)}  {_score(row.score_context)}"
        count = "–" if row.count is None else f"{row.count:,}"
        sources = harmless_line(", ".join(row.sources[:3])) + (" …" if len(row.sources) > 3 else "")
        say(f"{styled(f'{harmless_line(row.tag):<{width}}', 'cyan')}  {scores}  {count:>8}  {styled(sources, 'dim')}")
    if len(found.candidates) > len(rows):
        invocation.notify(f"{len(found.candidates) - len(rows)} more; --json has them, --global-k limits them")
    if not rows:
        invocation.notify("no tag is like any of these")
    elif invocation.verbose:
        invocation.notify("columns: tag, combined score, likeness, context, count, phrases")


def _print_phrase(report: PhraseReport) -> None:
    known = "" if report.tfidf_vocab else "  (no context of its own)"
    say(f"{styled(harmless_line(report.normalized), 'bold')}{styled(known, 'dim')}")
    for row in report.candidates:
        context = f"{_score(row.score_context)}{'~' if row.context_imputed else ' '}"
        through = "" if row.alias_token == row.tag else f"  through {harmless_line(row.alias_token)}"
        say(
            f"  {row.score_combined:5.3f}  {_score(row.score_fasttext)}  {context}  {harmless_line(row.tag)}"
            f"{styled(through, 'dim')}"
        )


def _score(value: float | None) -> str:
    return "    –" if value is None else f"{value:5.2f}"


def _print_tags(listed: TagList, invocation: Invocation) -> None:
    """A line a tag: count, documents, name, aliases."""
    if listed.tags:
        say(styled(f"{'count':>9}  {'docs':>5}  tag · aliases", "dim"))
    for row in listed.tags:
        count = "–" if row.count is None else f"{row.count:,}"
        aliases = ", ".join(row.aliases[:SHOWN_ALIASES]) + (" …" if len(row.aliases) > SHOWN_ALIASES else "")
        mark = styled("  sensitive", "yellow") if row.sensitive else ""
        behind = f" · {styled(harmless_line(aliases), 'dim')}" if aliases else ""
        say(f"{count:>9}  {row.documents + row.applied:>5}  {harmless_line(row.tag)}{behind}{mark}")
    origin = "the documents' own tags" if listed.origin == "documents" else listed.origin
    model = {"current": "trained", "stale": "trained on another vocabulary: kb tags train", "none": "not trained"}[
        listed.model
    ]
    shown = f"{len(listed.tags):,} of " if len(listed.tags) < listed.total else ""
    invocation.notify(f"{shown}{listed.total:,} tags, {listed.aliases:,} aliases from {origin}; {model}")


def _print_application(done: TagApplication, invocation: Invocation) -> None:
    """A line a document that got tags, and what the thresholds were learned from."""
    tagged = [document for document in done.documents if document.applied or done.threshold is None]
    for document in tagged:
        tags = ", ".join(f"{harmless_line(tag.tag)} {styled(f'{tag.score:.2f}', 'dim')}" for tag in document.applied)
        say(f"{styled(harmless_line(f'{document.source}/{document.path}'), 'cyan')}  {tags}".rstrip())
    if done.threshold is None:
        what = "lose their applied tags" if done.action == "planned" else "lost their applied tags"
        invocation.notify(f"{len(tagged)} documents {what}")
        return
    learned = f"learned on {done.calibrated_on} documents" if done.calibrated_on else "not learned"
    would = "would get tags" if done.action == "planned" else "got tags"
    invocation.notify(
        f"{len(tagged)} of {len(done.documents)} documents {would}; threshold {done.threshold:.2f}, {learned}"
        + (f", {len(done.thresholds)} tags have their own" if done.thresholds else "")
    )


def _print_evaluation(found: TagEvaluation, invocation: Invocation) -> None:
    """Two tables: aliases, documents."""
    if found.aliases:
        say(styled(f"{found.aliases_held_out} aliases held out, {found.seeds} seeds: mean recall (worst seed)", "bold"))
        ks = list(found.aliases[0].recall)
        say(styled(f"{'':<12}" + "".join(f"{at.removeprefix('recall'):>14}" for at in ks), "dim"))
        for row in found.aliases:
            say(f"{row.method:<12}" + "".join(f"{row.recall[at]:>7.3f} ({row.worst[at]:.3f})" for at in ks))
    if found.tagging:
        say(styled(f"{found.documents} documents with tags of their own, thresholds learned on other folds", "bold"))
        names = ("micro F1", "macro F1", "precision", "recall", "coverage", "tags/doc", "@5", "@10")
        say(styled(f"{'':<12}" + "".join(f"{name:>10}" for name in names), "dim"))
        for tagging in found.tagging:
            shares = (tagging.micro_f1, tagging.macro_f1, tagging.precision, tagging.recall_of_tags, tagging.coverage)
            values = (*shares, tagging.tags_per_document, tagging.recall["recall@5"], tagging.recall["recall@10"])
            say(f"{tagging.method:<12}" + "".join(f"{value:>10.3f}" for value in values))


PRINTERS: Mapping[type, Callable[..., None]] = {
    ImportReport: _print_import,
    TrainReport: _print_training,
    Suggestions: _print_suggestions,
    TagList: _print_tags,
    TagApplication: _print_application,
    TagEvaluation: _print_evaluation,
}


def print_report(report: object, invocation: Invocation) -> None:
    """The record of a tag command as JSON under --json; else its notes on stderr, then its lines."""
    if invocation.json:
        print(to_json(report))
        return
    for note in getattr(report, "notes", ()):
        invocation.notify(f"note: {note}")
    PRINTERS[type(report)](report, invocation)
