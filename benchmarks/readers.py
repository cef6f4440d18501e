"""Every reader over real, messy files: what is read, skipped or failed and why; the accuracy of encodings and of HTML.

Run: python benchmarks/readers.py FOLDER   (a folder that holds messy-encodings, messy-pdf, html-readability …)
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from pathlib import Path

from kb.config import IngestConfig
from kb.errors import ParseFailed
from kb.ingest import decode as decoding
from kb.ingest.decode import decode
from kb.ingest.discover import scan
from kb.ingest.language import detect_language
from kb.ingest.readers import READERS, read_file
from kb.ingest.readers.html import parse_page, read_html

# The folder names of chardet's test files: "<encoding>-<language>", with the language only on single-byte encodings.
LANGUAGES = "czech hungarian slovene bulgarian russian arabic greek turkish croatian polish slovak hebrew".split()


def sweep(folder: Path) -> None:
    """Print how many files of a folder were read, skipped and failed, and each reason with its count."""
    started = time.perf_counter()
    found = scan(folder, config=IngestConfig())
    outcomes: Counter[str] = Counter()
    reasons: Counter[str] = Counter(f"skipped: {one.reason}" for one in found.skipped)
    slowest = (0.0, "")
    for file in found.files:
        begun = time.perf_counter()
        try:
            parsed = read_file(READERS[file.type], file.absolute.read_bytes(), file.path)
        except ParseFailed as error:
            outcomes["failed"] += 1
            reasons[f"failed: {error.problem.replace(file.path, '…')}"] += 1
        else:
            outcomes["read" if parsed.blocks else "empty"] += 1
            if parsed.note:
                reasons[f"note ({file.type}): {re.sub('[0-9]+', '#', parsed.note)[:110]}"] += 1
            if not parsed.blocks:
                reasons[f"empty: {file.path}"] += 1
            detect_language(parsed.text, parsed.language)
        slowest = max(slowest, (time.perf_counter() - begun, file.path))
    outcomes["skipped"], outcomes["ignored"] = len(found.skipped), found.ignored
    seconds = time.perf_counter() - started
    print(f"\n{folder.name}: {dict(outcomes)} in {seconds:.1f} s; slowest {slowest[0]:.2f} s {slowest[1]}")
    for reason, count in reasons.most_common():
        print(f"  {count:4d}  {reason}")


def encoding_accuracy(folder: Path, *, believe_labels: bool) -> tuple[int, int, list[str]]:
    """(right, all, the wrong ones): right when the text equals what the true encoding gives."""
    right, wrong = 0, []
    label_inside = decoding._label_inside
    if not believe_labels:
        decoding._label_inside = lambda raw: None
    try:
        for path in sorted(folder.glob("*/*")):
            encoding = re.sub(rf"-({'|'.join(LANGUAGES)})$", "", path.parent.name)
            raw = path.read_bytes()
            try:
                truth = decoding._clean(raw.decode(encoding))
            except (UnicodeError, LookupError):
                continue  # Python has no EUC-TW; a few files break their own encoding
            got = decode(raw)
            if got.text == truth:
                right += 1
            else:
                wrong.append(f"{path.parent.name}/{path.name} read as {got.encoding}")
    finally:
        decoding._label_inside = label_inside
    return right, right + len(wrong), wrong


def token_f1(got: str, wanted: str) -> float:
    """F1 of two bags of words, in [0, 1]."""
    ours, theirs = Counter(re.findall(r"\w+", got.lower())), Counter(re.findall(r"\w+", wanted.lower()))
    shared = sum((ours & theirs).values())
    return 2 * shared / (sum(ours.values()) + sum(theirs.values())) if shared else float(ours == theirs)


def html_f1(folder: Path) -> list[tuple[float, str]]:
    """(F1, page) for each page that has both a source and the text expected of it, worst first."""
    scores = []
    for source in sorted(folder.glob("*/source.html")):
        expected = source.with_name("expected.html")
        if expected.exists():
            wanted = parse_page(f"<body>{decode(expected.read_bytes()).text}</body>").text_content()
            scores.append((token_f1(read_html(source.read_bytes(), source.name).text, wanted), source.parent.name))
    return sorted(scores)


def main() -> None:
    """Print all of it for one folder of corpora."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    for corpus in sorted(folder.iterdir()):
        if corpus.name.startswith("messy-") or corpus.name in ("html-readability", "rust-book"):
            sweep(corpus)
    for believe in (True, False):
        right, total, wrong = encoding_accuracy(folder / "messy-encodings" / "chardet", believe_labels=believe)
        print(f"\nencodings, labels {'believed' if believe else 'withheld'}: {right}/{total}", *wrong, sep="\n  ")
    scores = html_f1(folder / "html-readability")
    mean = sum(score for score, _ in scores) / max(len(scores), 1)
    print(f"\nhtml: mean token F1 {mean:.3f} over {len(scores)} pages; worst:", *scores[:4], sep="\n  ")


if __name__ == "__main__":
    main()
