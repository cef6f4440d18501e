"""Stored answers → text for people, files to keep, and what changed between two of them."""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from kb.ask.backing import name_nodes
from kb.ask.refuse import describe_outcome, refusal_lines
from kb.ask.replay import AnswerReplay, Change
from kb.ask.story import facts_of_row, sign_of, stored_fault, stored_outcome, stored_sign, tell_story
from kb.cli.render import size_text
from kb.cli.terminal import harmless, harmless_line, say, say_message, styled
from kb.cli.views import AnswerRemoval, StoredAnswer
from kb.cli.wrap import wrapped
from kb.errors import InvalidInput, IoError
from kb.language.registry import LANGUAGES, question_language
from kb.store.answers import AnswerRow, time_text
from kb.store.dates import age_seconds
from kb.wire import to_json

# What a spreadsheet is good for; the whole row is in jsonl.
CSV_COLUMNS = (
    "trace_id created_at question answer grounded refusal_reason model_id model_provider top_score evidence_score"
    " chunks_used prompt_tokens completion_tokens latency_ms session_id replay_of"
).split()


def verdict(row: AnswerRow) -> str:
    """✓, ≈, ⚠ as below the answer, ✗ with the reason, ◌ with the nodes it rests on, · for small talk."""
    if row.grounded:
        sign = stored_sign(row.verification_json)
        return styled(sign, "green" if sign == "✓" else "yellow")
    if row.refusal_reason:
        fault = stored_fault(row.verification_json) if row.refusal_reason == "not_backed" else ""
        outcome = stored_outcome(row.refusal_reason, row.evidence_score, row.evidence_gate, row.answer)
        return styled(f"✗ {LANGUAGES['en'].replies[fault] if fault else describe_outcome(outcome, 'en')}", "red")
    return (
        styled(f"◌ {name_nodes(json.loads(row.rests_on_json), 'en')}", "yellow")
        if row.rests_on_json
        else styled("·", "dim")
    )


def print_answers(rows: Sequence[AnswerRow], numbers: Mapping[str, int]) -> None:
    """A line an answer: the number that names it, when, how it ended, the question."""
    width = max((len(str(number)) for number in numbers.values()), default=1)
    for row in rows:
        replayed = f"↻ {numbers.get(row.replay_of, 'an answer that is gone')} " if row.replay_of else ""
        number = styled(f"{numbers.get(row.trace_id, ''):>{width}}", "bold")
        moment = styled(row.created_at[:16].replace("T", " "), "dim")
        say(f"{number}  {moment}  {verdict(row)}  {replayed}{harmless_line(row.question)}")


def as_objects(row: AnswerRow) -> dict[str, Any]:
    """A row with its JSON columns as what they hold."""
    out: dict[str, Any] = {}
    for name, value in asdict(row).items():
        is_json = name.endswith("_json")
        out[name.removesuffix("_json")] = json.loads(value) if is_json and value else value
    return out


def print_answer(values: dict[str, Any], *, everything: bool = False) -> None:
    """A stored answer for a person: the question, the answer, what it cites, and how it came about.

    everything  a line for every field that is stored as well
    """
    name = f"answer {values['number']} · " if values.get("number") else ""
    moment = str(values["created_at"])[:16].replace("T", " ")
    session = f" · session {harmless_line(values['session_id'])}" if values.get("session_id") else ""
    say(styled(f"{name}{moment}{session}", "dim"))
    say(styled(f"› {harmless(values['question'])}", "bold"))
    say(f"\n{wrapped(harmless(values['answer']))}\n")
    cited = [(place.get("marker"), place["uri"]) for place in values["citations"]]
    for at, (marker, uri) in enumerate(cited, start=1):
        label = f"  {at}." if marker is None else f"[#{marker}]"
        say(f"{label} {styled(harmless_line(uri), 'cyan')}")
    say()
    for line in tell_story(facts_of_row(values), values.get("number") or "last"):
        say_message(harmless(line))
    if everything:
        _print_fields(values)


def _print_fields(values: dict[str, Any]) -> None:
    """Everything that is stored of an answer; the prompt's pieces are left to --json."""
    say()
    for name, value in values.items():
        if value not in (None, []) and name not in ("question", "answer", "raw_answer", "packed", "prompt", "number"):
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            say(f"{styled(f'{name:<24}', 'dim')} {harmless(shown)}")
    for place in values["packed"]:
        label = f"packed [#{place['marker']}]"
        say(f"{styled(f'{label:<24}', 'dim')} {harmless_line(place['uri'])} score {place['score']:.3f}")
    if values["raw_answer"] and values["raw_answer"] != values["answer"]:
        say(f"{styled('raw_answer', 'bold')}\n{harmless(values['raw_answer'])}")


def print_replay(replayed: AnswerReplay, numbers: Mapping[str, int]) -> None:
    """What changed: a line a thing, then the answers as a diff; or the answer that stayed the same."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    if replayed.is_same:
        say(harmless(replayed.answer.answer))
    for change in replayed.changes:
        if line := _describe_change(change, has_diff=bool(replayed.diff)):
            say(f"{styled(change.field, 'bold')}: {line}")
    for line in replayed.diff:
        say(styled(harmless(line), colours.get(line[:1], "dim")))
    words = styled("the same", "green") if replayed.is_same else styled("changed", "yellow")
    source = "the stored prompt" if replayed.evidence == "packed" else "today's corpus"
    why = replayed.answer.refusal_reason and describe_outcome(replayed.answer.outcome, "en")
    named = name_nodes(replayed.answer.rests_on, "en")
    why = why or (f"from {named}, not from your documents" if named else "small talk")
    checked = replayed.answer.verification
    sign = sign_of(checked.status if checked else None)
    state = f"grounded {sign}" if replayed.answer.grounded else f"grounded ✗ ({why})"
    say(f"{words}{styled(f' · from {source} · {state} · {harmless_line(replayed.answer.model.id)}', 'dim')}")
    made, of = (numbers.get(trace_id, "?") for trace_id in (replayed.trace_id, replayed.replay_of))
    say(styled(f"stored as answer {made}, a replay of answer {of}", "dim"))


def _describe_change(change: Change, *, has_diff: bool) -> str | None:
    """One line on what changed; None where the diff of the answers says it."""
    if change.field in ("answer", "raw_answer"):
        return None if has_diff else "the model wrote other words"
    before, after = _describe(change.before), _describe(change.after)
    return f"{before} → {after}" if before != after else f"{after}, by other sentences or scores"


def _describe(value: object) -> str:
    """A value of a change in plain words.

    >>> _describe({"status": "weak", "verified": 1, "total": 2}), _describe(["a.md#L1", "b.md"]), _describe(None)
    ('weak, 1 of 2 sentences verified', 'a.md#L1, b.md', 'none')
    """
    match value:
        case {"status": status, "verified": verified, "total": total}:
            return f"{status}, {verified} of {total} sentences verified"
        case list():
            return harmless_line(", ".join(map(str, value)) or "none")
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case _:
            return harmless_line(str(value))


def print_removal(removal: AnswerRemoval, as_json: bool) -> None:
    """How many are gone, and what that has freed."""
    if as_json:
        print(to_json(removal))
        return
    freed = "another process holds the store: the space is used again by what comes next"
    if removal.freed_bytes is not None:
        freed = f"freed {size_text(removal.freed_bytes)}"
    say(f"forgot {removal.removed:,} {'answer' if removal.removed == 1 else 'answers'}; {freed}")


def age_limit(age: str) -> str:
    """`30d` → the moment 30 days ago, as created_at is written.

    raises  InvalidInput
    """
    seconds = age_seconds(age)
    if seconds is None:
        raise InvalidInput(f"--older-than '{age}' is no age", fix="write it as 12h, 30d, 8w or 1y")
    return time_text(time.time_ns() - seconds * 10**9)


@contextmanager
def open_output(path: str | None) -> Iterator[TextIO]:
    """The file, written whole or not at all; stdout for None.

    raises  IoError
    """
    if path is None:
        yield sys.stdout
        return
    target = Path(path).expanduser()
    unfinished = target.with_name(f"{target.name}.part")
    try:
        with unfinished.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            yield file
        unfinished.replace(target)
    except OSError as error:
        raise IoError(f"cannot write {target}: {error.strerror}", fix="check its folder and free space") from error
    finally:
        unfinished.unlink(missing_ok=True)


def _export_jsonl(rows: Iterable[AnswerRow], file: TextIO) -> int:
    count = 0
    for row in rows:
        file.write(to_json(StoredAnswer(answer=as_objects(row))) + "\n")
        count += 1
    return count


def _export_csv(rows: Iterable[AnswerRow], file: TextIO) -> int:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    count = 0
    for row in rows:
        writer.writerow([_cell(getattr(row, name)) for name in CSV_COLUMNS])
        count += 1
    return count


def _cell(value: object) -> object:
    """A spreadsheet takes a text that begins with one of these for a formula, and a question can be anybody's."""
    if isinstance(value, str):
        return harmless(f"'{value}" if value.startswith(("=", "+", "-", "@", "\t")) else value)
    return value


def _state(row: AnswerRow) -> str:
    if row.grounded:
        return "quoted" if row.model_provider == "extractive" else "grounded"
    if row.refusal_reason:
        return f"refused: {row.refusal_reason}"
    return f"from {name_nodes(json.loads(row.rests_on_json), 'en')}" if row.rests_on_json else "small talk"


def _export_markdown(rows: Iterable[AnswerRow], file: TextIO) -> int:
    count = 0
    for row in rows:
        places = json.loads(row.citations_json)
        file.write(f"## {harmless_line(row.question)}\n\n")
        if row.refusal_reason:
            uris = [f"`{harmless_line(place['uri'])}`" for place in places if place["marker"] is None]
            language = question_language(row.standalone_question or row.question)
            file.write("\n".join(refusal_lines(harmless(row.answer), uris, language)) + "\n\n")
        else:
            file.write(f"{harmless(row.answer)}\n\n")
        marked = [place for place in places if place["marker"] is not None]
        for place in marked:
            file.write(f"- [#{place['marker']}] `{harmless_line(place['uri'])}`\n")
        file.write("\n" if marked else "")
        by = [harmless_line(row.model_id)] if row.prompt_sha256 else []
        file.write(f"*{' · '.join([_state(row), *by, row.created_at])}*\n\n")
        count += 1
    return count


EXPORTS: dict[str, Callable[[Iterable[AnswerRow], TextIO], int]] = {
    "jsonl": _export_jsonl,
    "csv": _export_csv,
    "md": _export_markdown,
}
