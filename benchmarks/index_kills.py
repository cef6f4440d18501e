"""Is anything lost when the process that brings the indexes up to date is killed?

    python benchmarks/index_kills.py [--kills 300] [--seed 1]

A writer edits documents and commits without a pause; it is killed at a random moment, and a reader looks at what is left:
both indexes are there, hold the chunks of the store once the reader has opened them, and were not built from nothing. In
the end they rank as indexes that were built from nothing.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory


def main() -> None:
    """Kill, look, and say how often the reader had something to take up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    # Loaded here: the tests are not installed with the package.
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.contract.test_index_kills import kill_writers, same_as_new

    with TemporaryDirectory() as place:
        home = Path(place) / "home"
        behind = kill_writers(home, given.kills, given.seed)
        same_as_new(home)
    print(f"{given.kills} kills, {behind} of them before the indexes were up to date; 0 differences")


if __name__ == "__main__":
    main()
