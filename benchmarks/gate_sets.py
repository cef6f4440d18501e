"""Questions whose answerability is known → cases for the evidence gate, and the throw-away homes they are asked of.

Kinds: `answerable`; `same topic` (ClapNQ's unanswerable questions, judged against one passage each, which is in the
corpus), and questions of the reader's rows whose passage is left out of the corpus, the others of its article are in it;
`not said` (questions that invented papers of households and offices do not answer though they are about the very thing, gate_papers.jsonl.gz:
language models wrote papers and questions, and knew nothing of kb);
`wrong corpus` (a question asked of another corpus); `near miss` (a name or number of an answerable question
swapped); `gold removed` (the answering passage taken out of both retrievers' lists: labels are noisy, another passage
may answer). Groups tie what shares a gold document: folds are cut between groups. Knows no signal.

What a case is made as is not always what it is: the name that is swapped in may be another spelling of the same one, another
passage may answer, or a passage that no longer stands under its title does not say what it is about. So all of them but
those of other corpora were judged (gate_judged.json), and `load_cases` leaves out what its verdict contradicts.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml
from kiwipiepy import Kiwi
from reader_rows import SQUAD, Row, digest, held_out_squad, load_rows

from kb.config import Config, cache_folder
from kb.eval.collections import CollectionDocument, load_spans
from kb.eval.suite import load_suite
from kb.eval.throwaway import collection_home, fill_from_documents, fill_from_folder
from kb.evidence.question import units_of
from kb.language.korean_particles import NAME_PARTICLES, fitting_particle
from kb.language.registry import question_language
from kb.runtime import Runtime

ROOT = Path(__file__).resolve().parents[1]
KOREAN = Path(__file__).with_name("gate_korean.yaml")
JUDGED = Path(__file__).with_name("gate_judged.json")
PAPERS = Path(__file__).with_name("gate_papers.jsonl.gz")
# A corpus with fewer names lends none for swapping.
FEWEST_NAMES = 20
ANSWERABLE, SAME_TOPIC, WRONG, NEAR, REMOVED = "answerable", "same topic", "wrong corpus", "near miss", "gold removed"
NOT_SAID = "not said"
# Of these sets every n-th question: a case costs half a second of CPU, and the others tell more.
EVERY = {
    "cranfield": 8,
    "chatlogs": 2,
    "finance": 4,
    "pubmed": 4,
    "state_of_the_union": 2,
    "wikitexts": 3,
    "reader-en": 2,
}
# Of wrong corpora and removed passages every n-th.
EVERY_DERIVED = 3
# Questions of the reader's rows: (language, source) → how many. squad2 holds only people's near misses.
READER_ROWS = {
    ("en", "squad-dev"): 120,
    ("en", "squad2-dev"): 120,
    ("en", "tydi-goldp-train"): 120,
    ("en", "qed-nq"): 120,
    ("en", "covid-qa"): 60,
    ("ko", "tydi-goldp-train"): 360,
}
# One of so many of these questions is asked of a corpus that lacks its passage.
WITHOUT_PASSAGE = 3
READER_SETS = ("reader-en", "reader-ko")
# Questions of the fixture suite that its documents in the other language alone answer.
ACROSS = "fixtures-across"


@dataclass(frozen=True, slots=True)
class Case:
    """One question asked of one home.

    home   name of the home
    set    where the question comes from; home and set differ for a wrong corpus
    group  what shares a gold document
    gold   path, start, end (characters) of what answers it, end -1 for the whole document; () when unknown
    """

    question: str
    home: str
    set: str
    kind: str
    group: str
    gold: tuple[tuple[str, int, int], ...] = ()

    @property
    def is_answerable(self) -> bool:
        return self.kind == ANSWERABLE


def read_titles(folder: Path) -> dict[str, str]:
    """passage → title of its article, of all files in SQuAD's form in a folder."""
    found: dict[str, str] = {}
    for file in sorted(folder.rglob("*.json")):
        for article in json.loads(file.read_text(encoding="utf-8"))["data"]:
            found |= {paragraph["context"]: article["title"] for paragraph in article["paragraphs"]}
    return found


def open_homes(
    data: Path, only: Collection[str] = (), config: Config | None = None, titles: Mapping[str, str] | None = None
) -> dict[str, Runtime]:
    """Every corpus, or only those named, in a home of its own, cached by content and encoder.

    titles  passage of the reader's rows → its title, which they lack
    """
    homes = {}
    title_of = titles or {}

    def add(name: str, content: str, fill: object) -> None:
        if not only or name in only:
            homes[name] = _home(name, content, fill, config or Config())

    for name in ("clapnq", "cranfield"):
        path = data / name / "corpus.jsonl"
        rows = [json.loads(line) for line in path.open(encoding="utf-8")]
        texts = [CollectionDocument(r["_id"], r.get("title") or "", r["text"]) for r in rows if r["text"].strip()]
        add(name, sha256(path.read_bytes()).hexdigest(), fill_from_documents(texts, _ignore))
    for file in sorted((data / "chunking-eval" / "corpora").glob("*.md")):
        text = CollectionDocument(file.name, file.stem, file.read_text(encoding="utf-8"))
        content = sha256(file.read_bytes()).hexdigest()
        add(file.stem, content, fill_from_documents([text], _ignore))
    for name in READER_SETS:
        texts = [
            CollectionDocument(c.gold[0][0], title_of.get(text, ""), text)
            for c, text in reader_cases(data, name)
            if text
        ]
        key = sha256("\0".join(t.text + (f"\0{t.title}" if t.title else "") for t in texts).encode()).hexdigest()
        add(name, key, fill_from_documents({t.id: t for t in texts}.values(), _ignore))
    for name, folder in (
        ("fastapi-ko", data / "fastapi-docs-en-ko/docs/ko"),
        ("fastapi-en", data / "fastapi-docs-en-ko/docs/en"),
        ("rust-book", data / "rust-book/src"),
        ("fixtures", ROOT / "fixtures/corpus"),
    ):
        files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
        parts = (part for f in files for part in (str(f.relative_to(folder)).encode(), f.read_bytes()))
        add(name, sha256(b"\0".join(parts)).hexdigest(), fill_from_folder(folder, _ignore))
    for papers in read_papers():
        content = sha256(json.dumps(papers["documents"]).encode()).hexdigest()
        add(home_of(papers), content, _filler(papers["documents"]))
    return homes


def read_papers() -> list[dict[str, Any]]:
    """Collections of papers with their questions."""
    with gzip.open(PAPERS, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def home_of(papers: Mapping[str, Any]) -> str:
    """Its home, and its set."""
    return "papers-" + str(papers["name"]).replace(", ", "-")


def _filler(documents: Sequence[Mapping[str, str]]) -> Callable[[Runtime], None]:
    """Of papers as files, since what a document is is told by its name."""

    def fill(kb: Runtime) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for document in documents:
                Path(folder, document["name"]).write_text(document["text"], encoding="utf-8")
            fill_from_folder(Path(folder), _ignore)(kb)

    return fill


def _home(name: str, content: str, fill: object, config: Config) -> Runtime:
    return collection_home(cache_folder(os.environ), config, f"gate-{name}", content, fill, print)  # type: ignore[arg-type]


def _ignore(event: object) -> None:
    pass


def load_cases(data: Path, homes: dict[str, Runtime], *, as_made: bool = False) -> list[Case]:
    """All cases, in a fixed order.

    as_made  those too whose label raters contradict
    """
    asked = [*_clapnq(data), *_spans(data), *_cranfield(data)]
    asked += [case for name in READER_SETS for case, _ in reader_cases(data, name) if case.question]
    asked = [case for case in _thinned(asked) if case.home in homes]
    answerable = [case for case in asked if case.is_answerable]
    others = [name for name in homes if name not in ("fixtures", *READER_SETS) and not name.startswith("papers-")]
    wrong = []
    for case in answerable[::EVERY_DERIVED]:
        # The two collections of scientific abstracts, and of encyclopedia articles, might answer for each other.
        alike = {"clapnq": ["wikitexts"], "wikitexts": ["clapnq"], "reader-en": ["clapnq", "wikitexts"]}
        choice = [name for name in others if name not in (case.home, *alike.get(case.home, ()))]
        if case.home == "reader-ko":
            choice = [name for name in ("fastapi-ko", "fixtures") if name in homes]
        choice = choice or ["fixtures"]
        home = choice[int(digest(case.question), 16) % len(choice)]
        wrong.append(replace(case, home=home, kind=WRONG, gold=()))
    questions = [case for case in answerable if case.set != "cranfield"]
    removed = [replace(case, kind=REMOVED) for case in questions[::EVERY_DERIVED] if case.home not in READER_SETS]
    pools = {name: found for name in others if len(found := _names(homes[name])) >= FEWEST_NAMES}
    near = [swapped for case in questions if (swapped := _swap(case, homes, pools))]
    near += _swap_korean([case for case in questions if case.home == "reader-ko"], homes)
    made = [*asked, *wrong, *removed, *near, *(c for c in (*_korean(), *_fixtures(), *_papers()) if c.home in homes)]
    return made if as_made else [case for case in made if not is_contradicted(case)]


def is_contradicted(case: Case) -> bool:
    """Whether raters found the case's label wrong, or could not decide; what was not judged is not."""
    return verdict_of(case) not in (None, "Y" if case.is_answerable else "N")


def verdict_of(case: Case) -> str | None:
    """What gate_judged.json says of a case; None for one that was not judged, as those of other corpora."""
    # A question may be asked with its passage and without it; its words belong to others, so a digest stands for them.
    return _verdicts().get(digest(f"{case.home}\n{case.kind}\n{case.question}")[:16])


@cache
def _verdicts() -> dict[str, str]:
    """Y a passage answers, N none does, M undecidable: no passage says whether it is about the thing, or two raters differ."""
    return dict(json.loads(JUDGED.read_text(encoding="utf-8"))["verdicts"])


def _clapnq(data: Path) -> Iterator[Case]:
    for line in (data / "clapnq/queries.jsonl").open(encoding="utf-8"):
        row = json.loads(line)
        kind = ANSWERABLE if row["answerable"] else SAME_TOPIC
        gold = tuple((passage, 0, -1) for passage in row["passage"])
        yield Case(row["text"], "clapnq", "clapnq", kind, f"clapnq/{row['passage'][0]}", gold)


def _thinned(cases: Iterable[Case]) -> Iterator[Case]:
    seen = Counter[str]()
    for case in cases:
        if seen[case.set] % EVERY.get(case.set, 1) == 0:
            yield case
        seen[case.set] += 1


@cache
def reader_cases(data: Path, name: str) -> list[tuple[Case, str]]:
    """Questions with the passage each is about; after them passages without a question, which fill the corpus.

    The text of a passage that is left out is "".
    """
    wanted = {source: n for (language, source), n in READER_ROWS.items() if f"reader-{language}" == name}
    asked: dict[tuple[str, str], list[Row]] = {}
    for row in load_rows(data):
        is_kept = row["source"] not in SQUAD or row["passage"] in held_out_squad(data)
        if row["source"] in wanted and f"reader-{row['lang']}" == name and is_kept:
            asked.setdefault((row["source"], row["question"]), []).append(row)
    # By digest: a choice that does not depend on the order of the file.
    order = sorted(asked, key=lambda key: digest("".join(key)))
    chosen = [key for key in order if (wanted := wanted | {key[0]: wanted[key[0]] - 1})[key[0]] >= 0]
    found: list[tuple[Case, str]] = []
    fill: dict[str, str] = {}
    held_out: set[str] = set()
    for number, key in enumerate(chosen):
        rows = asked[key]
        gold = next((r for r in rows if r["answerable"]), None)
        about = str((gold or rows[0])["passage"])
        path = digest(about)[:16]
        kind = ANSWERABLE if gold else SAME_TOPIC
        if gold and number % WITHOUT_PASSAGE == 0:
            kind, about = SAME_TOPIC, ""
            held_out.add(path)
        found.append((Case(str(key[1]), name, name, kind, f"{name}/{path}", ((path, 0, -1),)), about))
        fill |= {digest(str(r["passage"]))[:16]: str(r["passage"]) for r in rows if not r["answerable"]}
    # A passage that one question must not find must not come in by another's.
    kept = [(case, "" if case.gold[0][0] in held_out else text) for case, text in found]
    kept = [(replace(c, kind=SAME_TOPIC) if c.gold[0][0] in held_out else c, text) for c, text in kept]
    have = {case.gold[0][0] for case, _ in found}
    filler = [(Case("", name, name, "", "", ((i, 0, -1),)), t) for i, t in fill.items() if i not in have]
    return kept + filler


def _spans(data: Path) -> Iterator[Case]:
    for q in load_spans(data / "chunking-eval"):
        gold = tuple((f"{q.corpus}.md", start, end) for start, end in q.spans)
        # A stretch of 5,000 characters is what folds are cut between: the texts are single long documents.
        yield Case(q.text, q.corpus, q.corpus, ANSWERABLE, f"{q.corpus}/{q.spans[0][0] // 5000}", gold)


def _cranfield(data: Path) -> Iterator[Case]:
    best: dict[str, tuple[int, str]] = {}
    for line in (data / "cranfield/qrels/test.tsv").read_text().splitlines():
        query, document, grade = line.split("\t")
        if grade.lstrip("-").isdigit() and int(grade) > 0:
            best[query] = max(best.get(query, (0, "")), (int(grade), document))
    for line in (data / "cranfield/queries.jsonl").open(encoding="utf-8"):
        row = json.loads(line)
        if str(row["_id"]) in best:
            group = f"cranfield/{best[str(row['_id'])][1]}"
            yield Case(row["text"], "cranfield", "cranfield", ANSWERABLE, group)


def _papers() -> Iterator[Case]:
    for papers in read_papers():
        name = home_of(papers)
        for number, question in enumerate(papers["questions"]):
            kind = ANSWERABLE if question["answered"] else NOT_SAID
            group = f"{name}/{question['document'] or number}"
            yield Case(question["q"], name, name, kind, group)


def _korean() -> Iterator[Case]:
    for entry in yaml.safe_load(KOREAN.read_text(encoding="utf-8")) if KOREAN.exists() else ():
        yield Case(entry["question"], entry["home"], "korean", entry["kind"], f"{entry['home']}/{entry['document']}")


def _fixtures() -> Iterator[Case]:
    for query in load_suite(ROOT / "fixtures/suites/corpus.yaml").queries:
        asked = query.slices.get("lang", "")
        places = [question_language(label.anchor or label.heading or "") for label in query.labels]
        name = f"fixtures-{asked}" if not places or asked in places else ACROSS
        kind = ANSWERABLE if query.answerable else NEAR
        yield Case(query.text, "fixtures", name, kind, f"fixtures/{query.group or query.id}")


def _names(kb: Runtime) -> list[str]:
    """Capitalised words inside sentences that a corpus holds twice or more, in order."""
    seen = Counter[str]()
    for (text,) in kb.store._connection.execute("SELECT text FROM chunks"):
        seen.update(re.findall(r"(?<=[a-z,] )[A-Z][a-z]{3,}", text))
    return sorted(name for name, n in seen.items() if n >= 2)


def _swap_korean(cases: Sequence[Case], homes: dict[str, Runtime]) -> list[Case]:
    """Questions with their longest name that the gold passage holds swapped by that of another question, of about the same
    length, which the passage does not hold.

    Only names, and where more is asked than the name: a verb's stem or a synonym in a word's place asks the same or nothing, and
    of a name alone some other passage may tell what it is.
    """
    golds = [_gold_text(case, homes) for case in cases]
    held = [
        [name for name in _names_in(case.question) if name in gold] for case, gold in zip(cases, golds, strict=True)
    ]
    longest = [max(names, key=lambda name: (len(name), name), default="") for names in held]
    swapped = []
    for case, name, gold in zip(cases, longest, golds, strict=True):
        fits = [n for n in longest if len(n) > 1 and abs(len(n) - len(name)) <= 1 and n not in gold]
        rest = [unit for unit in units_of(case.question.replace(name, "")) if len(unit.text) > 1] if name else []
        if len(name) > 1 and fits and rest:
            other = fits[int(digest(case.question), 16) % len(fits)]
            before, _, after = case.question.partition(name)
            particle = next((p for p in NAME_PARTICLES if after.startswith(p)), "")
            fitting = fitting_particle(other, particle) + after.removeprefix(particle)
            swapped.append(replace(case, kind=NEAR, question=before + other + fitting))
    return swapped


def _names_in(question: str) -> list[str]:
    """Stretches of nouns that stand together and hold a name, as Kiwi cuts them."""
    found: list[tuple[str, bool]] = []
    end = -1
    for token in _kiwi().tokenize(question):
        if token.tag in ("NNG", "NNP", "SL", "XPN", "XSN"):
            text, is_name = question[token.start : token.start + token.len], token.tag in ("NNP", "SL")
            if token.start == end:
                text, is_name = found[-1][0] + text, found[-1][1] or is_name
                found.pop()
            found.append((text, is_name))
            end = token.start + token.len
    return [text for text, is_name in found if is_name]


@cache
def _kiwi() -> Kiwi:
    return Kiwi()


def _gold_text(case: Case, homes: dict[str, Runtime]) -> str:
    paths = [path for path, _, _ in case.gold]
    rows = homes[case.home].store._connection.execute(
        f"SELECT text FROM chunks JOIN documents USING (doc_id) WHERE path IN ({','.join('?' * len(paths))})", paths
    )
    return " ".join(text for (text,) in rows)


def _swap(case: Case, homes: dict[str, Runtime], pools: dict[str, list[str]]) -> Case | None:
    """The question with its rarest name or a number swapped: half by a name of the corpus, half by a foreign one."""
    gold = _gold_text(case, homes)
    number = int(digest(case.question), 16)
    for unit in units_of(case.question):
        word = unit.text
        if unit.kind == "number":
            other = str(int(re.sub(r"\D", "", word) or 0) + 3 + number % 17)
        elif len(word) > 3 and re.search(rf"(?<=[a-z,] ){re.escape(word.capitalize())}\b", gold):
            own = number % 2 and case.home in pools
            pool = pools[case.home if own else sorted(pools)[number // 2 % len(pools)]]
            other = pool[number % len(pool)]
            if other in gold:
                continue
            other = other if word[0].isupper() else other.lower()
        else:
            continue
        if other.lower() != word.lower():
            return replace(case, kind=NEAR, question=re.sub(rf"\b{re.escape(word)}\b", other, case.question))
    return None
