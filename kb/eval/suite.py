"""A suite's YAML file → its queries with their labels, or every fault in it at once, each with its line.

Needs no knowledge base: `resolve.py` finds the places that the labels name.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, get_args

from kb.errors import IoError, NotFound, SuiteInvalid
from kb.eval.records import Label, Query, Suite, Wanted
from kb.records import SearchMode

# The `version` of the file format; it rises when the meaning of a file changes.
SUITE_VERSION = 1
# A suite has six levels. libyaml composes by recursion in C: 100,000 brackets would crash the process.
MOST_LEVELS = 50
# A fault in every line of a long suite is one repeated mistake: the first hundred show it.
MOST_FAULTS_SHOWN = 100

SUITE_KEYS = ("name", "version", "description", "queries")
SLICE_KEYS = ("lang", "difficulty", "kind", "split")
QUERY_KEYS = (
    "id",
    "query",
    "answerable",
    "relevant",
    "window",
    "must_contain",
    "must_not_contain",
    "tags",
    "mode",
    "group",
    "session",
    "standalone",
    "facts",
    "after_hours",
    "expect_mode",
    "draft",
    *SLICE_KEYS,
)
LABEL_KEYS = ("path", "anchor", "heading", "grade")
WANTED_KEYS = ("all", "any")

_TYPE_NAMES = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "empty",
    "timestamp": "a date",
    "seq": "a list",
    "map": "a mapping",
}

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One fault in a suite's file; `line` counts from 1."""

    line: int
    what: str


def raise_faults(path: str, faults: Sequence[Fault], *, fix: str) -> None:
    """Raise SuiteInvalid with all faults in line order, each as a line `file:line: what`; return without faults."""
    if not faults:
        return
    ordered = sorted(set(faults))
    lines = [f"{path}:{fault.line}: {fault.what}" for fault in ordered[:MOST_FAULTS_SHOWN]]
    if len(ordered) > MOST_FAULTS_SHOWN:
        lines.append(f"… and {len(ordered) - MOST_FAULTS_SHOWN} more")
    count = "1 fault" if len(ordered) == 1 else f"{len(ordered)} faults"
    error = SuiteInvalid(f"{path} has {count}:\n" + "\n".join(lines), fix=fix, path=path, faults=len(ordered))
    error.places = tuple((path, fault.line, fault.what) for fault in ordered)
    raise error


def nearest_hint(name: str, known: Sequence[str]) -> str:
    """ ", did you mean 'x'?" for the most similar known name; empty when none is similar."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f", did you mean '{near[0]}'?" if near else ""


def load_suite(path: Path, *, with_drafts: bool = False) -> Suite:
    """Read and check a suite.

    with_drafts  measure the queries that nobody has judged as well; the suite's name then says so
    raises       NotFound without the file, IoError when it cannot be read, SuiteInvalid with every fault in it, and
                 where every query is a draft
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError as error:
        raise NotFound(f"no suite '{path}'", fix="name a suite's YAML file; one to begin with: kb eval init") from error
    except OSError as error:
        raise IoError(f"cannot read the suite '{path}': {error.strerror}", fix="name a readable YAML file") from error
    return parse_suite(raw, str(path), with_drafts=with_drafts)


def parse_suite(raw: bytes, path: str, *, with_drafts: bool = False) -> Suite:
    """The suite in a file's bytes; `path` is for messages, and its stem names a suite without a `name`.

    raises  SuiteInvalid with every fault
    """
    text = _decode(raw, path)
    reader = _Reader()
    root = _compose(text, path)
    fields = reader.fields(root, "the suite", SUITE_KEYS) if root is not None else {}
    name = reader.take(fields, "name", reader.text) or Path(path).stem
    reader.take(fields, "description", reader.text)
    version = reader.take(fields, "version", reader.whole_number)
    if version not in (None, SUITE_VERSION):
        reader.fault(fields["version"], f"version {version} is not known: this kb reads version {SUITE_VERSION}")
    queries = _read_queries(reader, fields, root)
    raise_faults(path, reader.faults, fix="correct these lines; fixtures/suites/corpus.yaml shows the format")
    judged = tuple(query for query in queries if not query.draft)
    drafts = len(queries) - len(judged)
    if not judged and not with_drafts:
        every = "its query is a draft" if drafts == 1 else f"all its {drafts} queries are drafts"
        raise SuiteInvalid(
            f"{path} measures nothing yet: {every}",
            fix=f"check each and delete its line 'draft: true'; to try it as it is: kb eval run {path} --drafts",
            path=path,
            faults=drafts,
        )
    return Suite(
        name=f"{name} with {'1 draft' if drafts == 1 else f'{drafts} drafts'}" if with_drafts and drafts else name,
        path=path,
        sha256=sha256(raw).hexdigest(),
        text=text,
        queries=queries if with_drafts else judged,
        drafts=0 if with_drafts else drafts,
    )


def _decode(raw: bytes, path: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        fault = Fault(line, f"not UTF-8: byte 0x{raw[error.start]:02x} at offset {error.start}")
        raise_faults(path, [fault], fix="save the file as UTF-8")
        raise


def _compose(text: str, path: str) -> Any | None:
    """The file's YAML node tree, whose every node knows its line; None for a file without content."""
    import yaml

    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    try:
        fault = _find_deep_nesting(yaml.parse(text, Loader=loader))
        if fault is None:
            return yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = " ".join(part for part in (error.context, error.problem) if part)
        where = f", column {mark.column + 1}" if mark else ""
        fault = Fault(mark.line + 1 if mark else 1, f"not valid YAML{where}: {what}")
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        fault = Fault(line, f"not valid YAML: the character U+{_code_point(error.character):04X} is not allowed")
    except yaml.YAMLError as error:
        fault = Fault(1, f"not valid YAML: {' '.join(str(error).split())}")
    raise_faults(path, [fault], fix="correct the YAML at that place")
    return None


def _find_deep_nesting(events: Iterable[Any]) -> Fault | None:
    import yaml

    level = 0
    for event in events:
        level += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if level > MOST_LEVELS:
            return Fault(event.start_mark.line + 1, f"nested more than {MOST_LEVELS} levels deep")
    return None


def _code_point(character: Any) -> int:
    return ord(character) if isinstance(character, str) else int(character)


def _read_queries(reader: _Reader, fields: dict[str, Any], root: Any | None) -> tuple[Query, ...]:
    node = fields.get("queries")
    if node is None or reader.kind(node) == "null":
        if not reader.faults:
            reader.fault(node or root, "the suite has no queries")
        return ()
    nodes = reader.items(node, "queries")
    if reader.kind(node) == "seq" and not nodes:
        reader.fault(node, "the suite has no queries")
    queries = [_read_query(reader, entry) for entry in nodes]
    first_lines: dict[str, int] = {}
    for query in queries:
        if query.id and (first := first_lines.setdefault(query.id, query.line)) != query.line:
            reader.faults.append(Fault(query.line, f"the id '{query.id}' is taken: line {first} has it"))
    return tuple(queries)


def _read_query(reader: _Reader, node: Any) -> Query:
    fields = reader.fields(node, "a query", QUERY_KEYS, required=("id", "query"))
    entries = reader.take(fields, "relevant", reader.items) or ()
    labels = tuple(_read_label(reader, entry) for entry in entries)
    window = tuple(_read_label(reader, entry) for entry in reader.take(fields, "window", reader.items) or ())
    answerable = reader.take(fields, "answerable", reader.flag)
    if "answerable" not in fields and fields and not labels:
        reader.fault(node, "say 'answerable: true' or 'answerable: false': a query without relevant labels needs it")
    if answerable is False and labels:
        reader.fault(fields["answerable"], "'answerable: false' with relevant labels: one of them is wrong")
    mode: SearchMode | None = None
    named = reader.take(fields, "mode", reader.text)
    for known in get_args(SearchMode):
        mode = known if named == known else mode
    if named is not None and mode is None:
        known_modes = get_args(SearchMode)
        reader.fault(fields["mode"], f"mode must be one of {', '.join(known_modes)}, not '{named}'")
    slices = {key: value for key in SLICE_KEYS if (value := reader.take(fields, key, reader.text)) is not None}
    return Query(
        id=reader.take(fields, "id", reader.text) or "",
        text=reader.take(fields, "query", reader.text) or "",
        answerable=answerable is not False,
        labels=labels,
        window=window,
        must_contain=_read_wanted(reader, fields, "must_contain", "all"),
        must_not_contain=_read_wanted(reader, fields, "must_not_contain", "any"),
        tags=reader.take(fields, "tags", reader.texts) or (),
        mode=mode,
        group=reader.take(fields, "group", reader.text),
        session=reader.take(fields, "session", reader.text),
        standalone=reader.take(fields, "standalone", reader.text),
        facts=reader.take(fields, "facts", reader.texts) or (),
        after_hours=reader.take(fields, "after_hours", reader.whole_number) or 0,
        expect_mode=reader.take(fields, "expect_mode", reader.text),
        draft=reader.take(fields, "draft", reader.flag) is True,
        slices=slices,
        line=node.start_mark.line + 1,
    )


def _read_label(reader: _Reader, node: Any) -> Label:
    fields = reader.fields(node, "a label", LABEL_KEYS, required=("path",))
    if fields and ("anchor" in fields) == ("heading" in fields):
        reader.fault(node, "a label has exactly one of 'anchor' and 'heading'")
    grade = reader.take(fields, "grade", reader.whole_number)
    if grade is not None and grade < 1:
        reader.fault(fields["grade"], f"grade must be 1 or more, not {grade}: what is not relevant has no label")
    return Label(
        path=reader.take(fields, "path", reader.text) or "",
        anchor=reader.take(fields, "anchor", reader.text),
        heading=reader.take(fields, "heading", reader.text),
        grade=1 if grade is None else grade,
        line=node.start_mark.line + 1,
    )


def _read_wanted(reader: _Reader, fields: dict[str, Any], key: str, meaning_of_list: str) -> Wanted:
    """`{all: […], any: […]}`; a bare list means `all` for must_contain, `any` for must_not_contain."""
    if key not in fields:
        return Wanted()
    node = fields[key]
    if reader.kind(node) == "seq":
        words = reader.texts(node, key) or ()
        return Wanted(all=words) if meaning_of_list == "all" else Wanted(any=words)
    inner = reader.fields(node, key, WANTED_KEYS)
    return Wanted(
        all=reader.take(inner, "all", reader.texts) or (),
        any=reader.take(inner, "any", reader.texts) or (),
    )


class _Reader:
    """Takes values out of YAML nodes and collects the faults instead of stopping at the first."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def fault(self, node: Any | None, what: str) -> None:
        """Add a fault at a node's line; at the first line without a node."""
        self.faults.append(Fault(node.start_mark.line + 1 if node is not None else 1, what))

    def kind(self, node: Any) -> str:
        """The node's YAML type: str, int, bool, null, seq, map …"""
        return str(node.tag).rpartition(":")[2].rpartition("!")[2]

    def take(self, fields: dict[str, Any], key: str, read: Callable[[Any, str], _T | None]) -> _T | None:
        """A field's value as `read` takes it; None where the field is missing or wrong."""
        return read(fields[key], key) if key in fields else None

    def fields(self, node: Any, what: str, known: Sequence[str], required: Sequence[str] = ()) -> dict[str, Any]:
        """A mapping's values by key: the known ones; unknown, double and missing keys are faults."""
        if not self._is(node, "map", what):
            return {}
        found: dict[str, Any] = {}
        for key, value in node.value:
            name = str(key.value) if isinstance(key.value, str) else "…"
            if name not in known:
                hint = nearest_hint(name, known) or f", known are: {', '.join(known)}"
                self.fault(key, f"unknown key '{name}' in {what}{hint}")
            elif name in found:
                self.fault(key, f"the key '{name}' appears twice in {what}")
            else:
                found[name] = value
        for name in required:
            if name not in found:
                self.fault(node, f"{what} has no '{name}'")
        return found

    def items(self, node: Any, name: str) -> tuple[Any, ...]:
        """The nodes of a list."""
        return tuple(node.value) if self._is(node, "seq", f"'{name}'") else ()

    def text(self, node: Any, name: str) -> str | None:
        """A non-empty text."""
        if not self._is(node, "str", f"'{name}'"):
            return None
        if not node.value.strip():
            self.fault(node, f"'{name}' is empty")
            return None
        return str(node.value)

    def texts(self, node: Any, name: str) -> tuple[str, ...] | None:
        """A list of non-empty texts."""
        values = [self.text(entry, name) for entry in self.items(node, name)]
        return tuple(value for value in values if value is not None)

    def flag(self, node: Any, name: str) -> bool | None:
        """True or false; YAML 1.1 has yes, no, on and off too."""
        return node.value.lower() in ("true", "yes", "on") if self._is(node, "bool", f"'{name}'") else None

    def whole_number(self, node: Any, name: str) -> int | None:
        """A decimal whole number."""
        if not self._is(node, "int", f"'{name}'"):
            return None
        try:
            return int(node.value)
        except ValueError:
            self.fault(node, f"'{name}' must be a decimal whole number, not {node.value}")
            return None

    def _is(self, node: Any, kind: str, what: str) -> bool:
        found = self.kind(node)
        if found == kind:
            return True
        shown = f" ({node.value})" if isinstance(node.value, str) and node.value else ""
        quote = ": put it in quotes" if kind == "str" and shown else ""
        found_name = _TYPE_NAMES.get(found, f"!{found}")
        self.fault(node, f"{what} must be {_TYPE_NAMES[kind]}, not {found_name}{shown}{quote}")
        return False
