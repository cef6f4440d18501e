"""The verdict on an answer → one line a person understands; a doubtful sentence → why, marked where it stands."""

from __future__ import annotations

import re

from kb.ask.backing import DOCUMENT_NODES, name_nodes
from kb.ask.doubt_marks import is_certain, mark_of
from kb.ask.records import Answer, SentenceCheck
from kb.ask.refuse import describe_outcome
from kb.ask.verify import has_tick, is_backed
from kb.cli.doubts import describe_doubt
from kb.cli.terminal import harmless_line, styled
from kb.cli.wrap import columns_of, terminal_columns
from kb.language.registry import LANGUAGES

# Refused before any model was asked.
NOT_ASKED = ("no_chunks", "score_gate", "weak_evidence")


def footer(answer: Answer) -> str:
    """What the answer is worth, who wrote it, and how long that took."""
    replies = LANGUAGES[answer.language()].replies
    seconds = f"{answer.usage.latency_ms / 1000:.1f} s"
    if answer.is_quote():
        return styled(f"{replies['quoted']} · {seconds}", "dim")
    by = harmless_line(answer.model.id) if _was_asked(answer) else replies["no_model"]
    verdict, colour = _verdict(answer)
    columns = terminal_columns()
    # A line that does not fit is broken where it can be: behind the verdict.
    fits = not columns or columns_of(f"{verdict} · {by} · {seconds}") <= columns
    between = " · " if fits else "\n"
    return f"{styled(verdict, colour)}{styled(between, 'dim')}{styled(f'{by} · {seconds}', 'dim')}"


def _verdict(answer: Answer) -> tuple[str, str]:
    """(the words, their colour): a tick for an answer of which every sentence is backed; how many are not where some are not.

    One that is likely to be backed, in other words, gets no tick: a reader of claims alone says so.
    """
    replies = LANGUAGES[answer.language()].replies
    if answer.grounded:
        found = answer.verification
        if found is None or has_tick(found):
            return replies["backed"], "green"
        if found.status == "likely":
            return replies["backed_in_other_words"], "yellow"
        doubtful = [check for check in found.sentences if not is_backed(check) and check.status != "likely"]
        if all(check.status == "misattributed" for check in doubtful):
            return replies["backed_elsewhere"], "yellow"
        return replies["backed_in_part"].format(doubtful=len(doubtful), total=found.total), "yellow"
    if answer.rests_on:
        line = "from_nodes_uncited" if DOCUMENT_NODES.issuperset(answer.rests_on) else "from_nodes"
        return replies[line].format(nodes=name_nodes(answer.rests_on, answer.language())), "yellow"
    return replies["ungrounded"].format(why=_reason(answer)), "red"


def doubts_of(answer: Answer) -> tuple[SentenceCheck, ...]:
    """The sentences that are not backed; none where all are alike, likely to be backed: the footer says it of the whole answer."""
    found = answer.verification
    if found is None or all(check.status == "likely" and check.misattributed_to is None for check in found.sentences):
        return ()
    return tuple(check for check in found.sentences if not is_backed(check))


def doubt_line(check: SentenceCheck, language: str) -> str:
    """A sign and the reason."""
    return f"{'≈' if check.status == 'likely' else '⚠'} {describe_doubt(check, language)}"


def mark_doubts(answer: Answer) -> str:
    """An answer with a sign and the reason behind each sentence that does not hold; code and tables have it below them."""
    text, language = answer.answer, answer.language()
    for check in sorted(doubts_of(answer), key=lambda c: -c.end):
        at = len(text[: check.end].rstrip())
        if not at:
            continue
        block_end = _end_of_block(text, at)
        if block_end is None:
            text = f"{text[:at]} **{doubt_line(check, language)}**{text[at:]}"
        else:
            text = f"{text[:block_end]}\n\n**{doubt_line(check, language)}**\n\n{text[block_end:].lstrip(chr(10))}"
    return text


def _end_of_block(text: str, at: int) -> int | None:
    """Where the fenced code or the table ends that holds the character before `at`; None in prose."""
    fence = ""
    position = 0
    kind = ""
    for line in text.splitlines(keepends=True):
        begins, position = position, position + len(line)
        mark = re.match(r"\s{0,3}(```|~~~)", line)
        is_code = bool(fence or mark)
        if mark:
            fence = "" if fence == mark[1] else fence or mark[1]
        if begins < at <= position:
            kind = "code" if is_code else "table" if line.lstrip().startswith("|") else ""
            if not kind:
                return None
        is_last = not fence if kind == "code" else not text[position:].lstrip(" ").startswith("|")
        if kind and is_last:
            return begins + len(line.rstrip())
    return len(text) if kind else None


def _was_asked(answer: Answer) -> bool:
    """False where no model was asked: refused before, or answered by a context node."""
    return answer.verification is not None or not (answer.rests_on or answer.refusal_reason in NOT_ASKED)


def _reason(answer: Answer) -> str:
    """The outcome, or what is worst about the sentences of an answer that is not backed; the sentences say more."""
    language = answer.language()
    if answer.refusal_reason == "not_backed" and answer.verification:
        bad = [check for check in answer.verification.sentences if not is_backed(check)]
        worst = min(bad, key=lambda c: (c.status != "contradicted", not is_certain(c)), default=None)
        if worst:
            return mark_of(worst, LANGUAGES[language].replies)[2:]
    return describe_outcome(answer.outcome, language)
