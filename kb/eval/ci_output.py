"""Gates, a comparison and a suite's faults → what a CI server shows: JUnit XML, and annotations of GitHub Actions."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from kb.eval.figures import number_text, p_text, signed_text
from kb.eval.markup import visible
from kb.eval.records import Comparison, GateResult, MetricDifference, QueryChange, Run, Suite
from kb.eval.worst import FailedGate, WorstQuery
from kb.frozen import dataclass

SHOWN_CHANGES = 10
SHOWN_PLACES = 3


@dataclass(frozen=True, slots=True)
class SuiteFault:
    """One fault of a suite; line counts from 1, 0 means no line."""

    path: str
    line: int
    what: str


def junit_xml(
    runs: Sequence[Run],
    gates: Sequence[GateResult],
    comparison: Comparison | None,
    faults: Sequence[SuiteFault] = (),
    failed: Sequence[FailedGate] = (),
) -> str:
    """A testsuite per run with its gates as testcases, one for the comparison's metrics, one for the suite's faults.

    A failed gate and a regressed metric are failures; a fault is an error. Jenkins, GitLab and GitHub's reporters read
    this form (https://github.com/testmoapp/junitxml).
    """
    root = ElementTree.Element("testsuites", name="kb eval")
    for run in runs:
        own = [gate for gate in gates if gate.run_id == run.run_id]
        suite = _add_suite(root, f"{run.suite} {run.kind} {run.mode}", timestamp=run.created_at)
        suite.set("id", _xml_text(run.run_id))
        for gate in own:
            body = next((_worst_lines(one) for one in failed if one.result == gate), "")
            _add_case(suite, f"gate {gate.gate}", run.suite, None if gate.passed else _gate_words(gate), body)
        if not own:
            _add_case(suite, "run", run.suite, None if run.finished else "the run is not finished")
    if comparison:
        suite = _add_suite(root, f"{comparison.suite} {comparison.run_b} against {comparison.run_a}")
        for difference in comparison.metrics:
            failure = _difference_words(difference) if difference.is_regression else None
            _add_case(
                suite, f"regression {difference.metric}", comparison.suite, failure, _worst(comparison, difference)
            )
    if faults:
        suite = _add_suite(root, "suite")
        for fault in faults:
            _add_case(suite, f"{fault.path}:{fault.line}", fault.path, fault.what, kind="error")
    _count(root)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def github_annotations(
    runs: Sequence[Run],
    gates: Sequence[GateResult],
    comparison: Comparison | None,
    suite: Suite | None = None,
    faults: Sequence[SuiteFault] = (),
    failed: Sequence[FailedGate] = (),
) -> str:
    """Workflow commands, one per line: errors for faults, failed gates and regressions; a notice when everything passed.

    suite  the file that annotations point to, with the line of the query that got worse; None names no file
    """
    names = {run.run_id: f"{run.suite} {run.kind} {run.mode}" for run in runs}
    lines = [_command("error", fault.what, fault.path, fault.line, "kb eval: suite") for fault in faults]
    path = suite.path if suite else None
    for gate in gates:
        if not gate.passed:
            words = f"{_gate_words(gate)} ({names.get(gate.run_id, gate.run_id)})"
            lines.append(_command("error", words, path, 1, "kb eval: gate failed"))
    for failure in failed:
        for query in failure.worst:
            words = f"{query.query_id}: {_worst_words(query)}"
            lines.append(_command("warning", words, path, query.line, f"kb eval: query below {failure.result.gate}"))
    if comparison:
        for difference in comparison.metrics:
            if difference.is_regression:
                lines.append(_command("error", _difference_words(difference), path, 1, "kb eval: regression"))
        if comparison.has_regression:
            lines += [_change_command(change, suite) for change in comparison.worst[:SHOWN_CHANGES]]
    if not lines and (gates or comparison):
        passed = [f"gate {gate.gate} passed" for gate in gates] + (["no regression"] if comparison else [])
        lines.append(_command("notice", ", ".join(passed), None, 0, "kb eval"))
    return "".join(f"{line}\n" for line in lines)


def _change_command(change: QueryChange, suite: Suite | None) -> str:
    lines = {query.id: query.line for query in suite.queries} if suite else {}
    words = f"{change.query_id}: {_change_words(change)}"
    path = suite.path if suite else None
    return _command("warning", words, path, lines.get(change.query_id, 0), "kb eval: query got worse")


def _gate_words(gate: GateResult) -> str:
    # Six digits: rounded to three, .3998 would fail ">=0.4" as "0.400".
    value = "undefined" if gate.value is None else f"{gate.value:.6g}"
    return f"gate {gate.gate} failed: the value is {value}"


def _worst_words(query: WorstQuery) -> str:
    facts = "; ".join(f"{name}: {places}" for name, places in query.facts())
    return f"{query.metric} {query.change()}: {query.text}; {facts}"


def _worst_lines(gate: FailedGate) -> str:
    return "\n".join(f"{query.query_id}: {_worst_words(query)}" for query in gate.worst)


def _difference_words(difference: MetricDifference) -> str:
    name = difference.metric
    means = f"{number_text(difference.mean_a, name)} → {number_text(difference.mean_b, name)}"
    ends = f"{signed_text(difference.ci_low, name)} … {signed_text(difference.ci_high, name)}"
    words = f"{name} {means}: {signed_text(difference.difference, name)} ({ends}, p {p_text(difference.p)})"
    return f"{words}; {difference.wins} won, {difference.losses} lost, {difference.ties} tied"


def _change_words(change: QueryChange) -> str:
    before, after = number_text(change.before, change.metric), number_text(change.after, change.metric)
    then, now = (", ".join(p[:SHOWN_PLACES]) or "nothing" for p in (change.places_before, change.places_after))
    return f"{change.metric} {before} → {after}: {change.text}; before: {then}; now: {now}"


def _worst(comparison: Comparison, difference: MetricDifference) -> str:
    """The queries that lost most in this metric, for the body of a failure."""
    found = [change for change in comparison.worst if change.metric == difference.metric]
    return "\n".join(f"{change.query_id}: {_change_words(change)}" for change in found[:SHOWN_CHANGES])


def _add_suite(root: ElementTree.Element, name: str, timestamp: str | None = None) -> ElementTree.Element:
    suite = ElementTree.SubElement(root, "testsuite", name=_xml_text(name))
    if timestamp:
        # The schema has local time without a zone.
        suite.set("timestamp", _xml_text(timestamp)[:19])
    return suite


def _add_case(
    suite: ElementTree.Element,
    name: str,
    class_name: str,
    failure: str | None,
    body: str = "",
    kind: str = "failure",
) -> None:
    case = ElementTree.SubElement(suite, "testcase", name=_xml_text(name), classname=_xml_text(class_name), time="0")
    if failure is not None:
        found = ElementTree.SubElement(case, kind, message=_xml_text(failure), type=kind)
        found.text = _xml_text(body or failure)


def _count(root: ElementTree.Element) -> None:
    """The numbers of testcases, failures and errors on each testsuite and on the whole."""
    for holder in [*root, root]:
        for attribute, path in (("tests", ".//testcase"), ("failures", ".//failure"), ("errors", ".//error")):
            holder.set(attribute, str(len(holder.findall(path))))


def _xml_text(text: str) -> str:
    """Text without what XML 1.0 does not allow: control characters, surrogates and the two non-characters."""
    return visible(text).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")


def _command(level: str, message: str, path: str | None, line: int, title: str) -> str:
    properties = []
    if path:
        properties.append(f"file={_property(path)}")
        if line > 0:
            properties.append(f"line={line}")
    properties.append(f"title={_property(title)}")
    return f"::{level} {','.join(properties)}::{_escaped(message)}"


def _escaped(text: str) -> str:
    """Percent-encodes what would end the command, as @actions/core does (toolkit, command.ts)."""
    kept = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return visible(kept)


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
