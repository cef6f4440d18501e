"""How far the two guesses at a prompt's length are from what a server counts: the estimate, and the least it can be.

    python benchmarks/prompt_tokens.py --endpoint http://127.0.0.1:11434 --model M [--folder DIR]…

Texts are cut into pieces and sent with num_predict 1; the server's prompt_eval_count less that of an empty message is
the truth. The least (kb/llm/truncation.py) must never be above it, or a prompt that was read whole would be flagged as
cut; the estimate (kb/text.py) should not be below it, or more is packed than fits. Folders default to fixtures/corpus.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

PIECE_CHARS = 800
PIECES_PER_KIND = 5


def pieces_of(folders: list[Path]) -> dict[str, list[str]]:
    """Pieces of text by the file's ending, Korean ones apart."""
    from kb.text import count_unspaced

    found: dict[str, list[str]] = {}
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.is_file()):
        try:
            text = path.read_text(encoding="utf-8")
        except (UnicodeDecodeError, OSError):
            continue
        for start in range(0, len(text), PIECE_CHARS):
            piece = text[start : start + PIECE_CHARS].strip()
            kind = "Korean" if count_unspaced(piece) > 0.2 * len(piece) else path.suffix or "none"
            if len(piece) > 200 and len(found.setdefault(kind, [])) < PIECES_PER_KIND:
                found[kind].append(piece)
    return {kind: pieces for kind, pieces in found.items() if pieces}


def main() -> None:
    """Count every piece, print the ratios by kind."""
    from kb.config import LlmConfig
    from kb.llm.ollama import OllamaModel
    from kb.llm.protocol import Done, GenerateRequest
    from kb.llm.truncation import least_tokens
    from kb.text import estimate_tokens

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--folder", type=Path, action="append")
    chosen = parser.parse_args()
    model = OllamaModel(LlmConfig(endpoint=chosen.endpoint, model=chosen.model))

    def count(text: str) -> int:
        request = GenerateRequest("count", text, "", (), "en", 1)
        done = list(model.generate_stream(request))[-1]
        assert isinstance(done, Done)
        return done.prompt_tokens or 0

    empty = count("x") - 1
    print(f"{'kind':<8} {'pieces':>6}  {'counted / least':>24}  {'counted / estimate':>24}")
    for kind, pieces in pieces_of(chosen.folder or [ROOT / "fixtures" / "corpus"]).items():
        counted = [count(piece) - empty for piece in pieces]
        least = [n / max(1, least_tokens(piece)) for n, piece in zip(counted, pieces, strict=True)]
        guess = [n / max(1, estimate_tokens(piece)) for n, piece in zip(counted, pieces, strict=True)]
        ranges = [f"{min(r):.2f} {statistics.median(r):.2f} {max(r):.2f}" for r in (least, guess)]
        print(f"{kind:<8} {len(pieces):>6}  {ranges[0]:>24}  {ranges[1]:>24}")


if __name__ == "__main__":
    main()
