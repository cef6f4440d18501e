"""An ingest's report → text: the counts in one line, and every file that is not in the knowledge base with its reason."""

from __future__ import annotations

from kb.cli.invocation import Invocation
from kb.cli.terminal import harmless_line, say, styled, tell
from kb.ingest.report import IngestReport, Outcome

SHOWN_PER_REASON = 8


def print_report(report: IngestReport, invocation: Invocation) -> None:
    """ingest_report.v1, or lines for people; warnings on stderr."""
    if invocation.json:
        from kb.wire import to_json

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


def _summary(report: IngestReport) -> str:
    counts = report.counts
    words = [
        f"{counts[r]} {r}" for r in ("new", "updated", "moved", "unchanged", "pruned", "skipped", "failed") if counts[r]
    ]
    seconds = sum(report.phase_ms.values()) / 1000
    done = "would be" if report.dry_run else "interrupted after" if report.interrupted else "done"
    chunks = f" · {report.chunks_written:,} chunks" if report.chunks_written else ""
    ignored = f" · {report.ignored} ignored" if report.ignored else ""
    return f"{done}: {', '.join(words) or 'no files'}{chunks}{ignored} · {seconds:.1f} s"


def _print_not_indexed(report: IngestReport, *, everything: bool) -> None:
    """Failed files each with its fix; skipped ones grouped by reason, since a folder of pictures is one fact."""
    failed = [o for o in report.not_indexed if o.result == "failed"]
    for outcome in failed:
        say(f"  {styled('failed', 'red')}  {_name(outcome)}: {harmless_line(outcome.reason or '')}")
        if outcome.fix:
            say(f"          fix: {harmless_line(outcome.fix)}")
    groups: dict[str, list[Outcome]] = {}
    for outcome in report.not_indexed:
        if outcome.result == "skipped":
            groups.setdefault(outcome.reason or "", []).append(outcome)
    for reason, outcomes in groups.items():
        say(f"  {styled('skipped', 'yellow')} {len(outcomes)} × {harmless_line(reason)}")
        most = len(outcomes) if everything else SHOWN_PER_REASON
        for outcome in outcomes[:most]:
            say(f"          {_name(outcome)}")
        if len(outcomes) > most:
            say(styled(f"          … and {len(outcomes) - most} more (--verbose lists them)", "dim"))


def _name(outcome: Outcome) -> str:
    return harmless_line(f"{outcome.source}/{outcome.path}")
