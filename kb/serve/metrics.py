"""What the server has done → Prometheus' text format, with the totals of the home beside it."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

from kb.context.metrics import prometheus_text
from kb.store.counters import read_counts

# Upper bounds of the buckets, in seconds: a warm search is in the first three.
BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 60.0)


class Metrics:
    """Counts of one server; changed on its event loop alone."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._below: Counter[tuple[str, float]] = Counter()
        self._running = 0

    def began(self) -> None:
        """A request came in."""
        self._running += 1

    def ended(self, call: str, status: int, seconds: float) -> None:
        """It was answered, or its client has gone away."""
        self._running -= 1
        self._requests[call, status] += 1
        self._seconds[call] += seconds
        for bound in BUCKETS:
            self._below[call, bound] += seconds <= bound

    def text(self, home: Path) -> str:
        """The page that a collector reads."""
        lines = ["# HELP kb_requests_total requests by call and status", "# TYPE kb_requests_total counter"]
        for (call, status), count in sorted(self._requests.items()):
            lines.append(f'kb_requests_total{{call="{call}",status="{status}"}} {count}')
        lines += ["# HELP kb_requests_running requests in hand", "# TYPE kb_requests_running gauge"]
        lines += [f"kb_requests_running {self._running}"]
        lines += ["# HELP kb_request_seconds duration of requests", "# TYPE kb_request_seconds histogram"]
        for call in sorted({call for call, _ in self._requests}):
            count = sum(n for (name, _), n in self._requests.items() if name == call)
            lines += [f'kb_request_seconds_bucket{{call="{call}",le="{b}"}} {self._below[call, b]}' for b in BUCKETS]
            lines += [
                f'kb_request_seconds_bucket{{call="{call}",le="+Inf"}} {count}',
                f'kb_request_seconds_sum{{call="{call}"}} {self._seconds[call]:.6f}',
                f'kb_request_seconds_count{{call="{call}"}} {count}',
            ]
        return "\n".join(lines) + "\n" + prometheus_text(read_counts(home))
