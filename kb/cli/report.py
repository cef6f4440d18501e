"""An ingest's report → text: the counts in one line, and every file that is not in the knowledge base with its reason."""

from __future__ import annotations

import sys

from kb.cli.invocation import Invocation
from kb.cli.terminal import counted, harmless_line, say, styled, tell
from kb.ingest.report import IngestReport, Outcome
from kb.search.depth import vectors_text
from kb.wire import to_json

SHOWN_PER_REASON = 8


def print_report(report: IngestReport, invocation: Invocation) -> None:
    """ingest_report.v1, or lines for people; warnings on stderr."""
    if invocation.json:
        print(to_json(report))
        return
    if not invocation.quiet:
        for warning in report.warnings:
            tell(f"warning: {warning}")
        _print_not_indexed(report, everything=invocation.verbose)
        if invocation.verbose:
            for note in report.notes:
                say(f"  {styled('note', 'yellow')}    {_name(note)}: {harmless_line(note.reason or '')}")
            for moved in report.moved:
                say(f"  moved   {harmless_line(moved.moved_from or '')} → {_name(moved)}")
    say(_summary(report))
    if not invocation.quiet and sys.stderr.isatty() and not report.dry_run and not report.interrupted:
        _tell_next(report)


def _tell_next(report: IngestReport) -> None:
    """What was left out, and what can be done now."""
    left_out = [
        f"{report.counts['failed']} failed" if report.counts["failed"] else "",
        f"{report.counts['skipped']} skipped" if report.counts["skipped"] else "",
        f"{report.ignored} ignored by .gitignore and the like" if report.ignored else "",
    ]
    if any(left_out):
        tell(f"left out: {', '.join(filter(None, left_out))}; kb ingest --verbose names each with its reason")
    if report.chunks_written:
        tell("next: kb search WORDS · kb ask QUESTION · kb chat")


def _summary(report: IngestReport) -> str:
    counts = report.counts
    words = [
        f"{counts[r]} {r}" for r in ("new", "updated", "moved", "unchanged", "pruned", "skipped", "failed") if counts[r]
    ]
    seconds = sum(report.phase_ms.values()) / 1000
    done = "would be" if report.dry_run else "interrupted after" if report.interrupted else "done"
    chunks = f" · {counted(report.chunks_written, 'chunk')}" if report.chunks_written else ""
    ignored = f" · {report.ignored} ignored" if report.ignored else ""
    share = 1.0 if report.dry_run or report.vector_share is None else report.vector_share
    lacking = f" · {vectors_text(share)}, the rest with: kb ingest --resume" if share < 1 else ""
    return f"{done}: {', '.join(words) or 'no files'}{chunks}{ignored} · {seconds:.1f} s{lacking}"


def _print_not_indexed(report: IngestReport, *, everything: bool) -> None:
    """Files that are not in the knowledge base, grouped by reason: a folder of scans has one reason and one fix."""
    groups: dict[tuple[str, str, str], list[Outcome]] = {}
    for outcome in report.not_indexed:
        groups.setdefault((outcome.result, outcome.reason or "", outcome.fix or ""), []).append(outcome)
    for (result, reason, fix), outcomes in sorted(groups.items(), key=lambda group: group[0][0] != "failed"):
        label = styled(f"{result:<7}", "red" if result == "failed" else "yellow")
        if len(outcomes) == 1:
            say(f"  {label} {_name(outcomes[0])}: {harmless_line(reason)}")
        else:
            say(f"  {label} {len(outcomes)} × {harmless_line(reason)}")
        if fix:
            say(f"          fix: {harmless_line(fix)}")
        if len(outcomes) > 1:
            _print_names(outcomes, len(outcomes) if everything else SHOWN_PER_REASON)


def _print_names(outcomes: list[Outcome], most: int) -> None:
    for outcome in outcomes[:most]:
        say(f"          {_name(outcome)}")
    if len(outcomes) > most:
        say(styled(f"          … and {len(outcomes) - most} more (--verbose lists them)", "dim"))


def _name(outcome: Outcome) -> str:
    return harmless_line(f"{outcome.source}/{outcome.path}")
