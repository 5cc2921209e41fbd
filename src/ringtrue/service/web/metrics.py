"""Numbers for Prometheus: requests as they were answered, and what the server and its database are at.

Labels are templates of routes, methods and statuses: no project, no person and no secret can come into them. Where
several processes serve, each leaves its numbers in a folder that they share, and whoever is asked adds them up.
"""

from __future__ import annotations

import json
import os
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ringtrue._version import __version__

# Seconds; the page that makes a judge wait is the one above 0.25.
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
FOLDER_VARIABLE = "RINGTRUE_METRICS"  # where the processes that serve together leave their numbers
SHARE_SECONDS = 2.0
ALIVE_SECONDS = 5 * SHARE_SECONDS  # a process that was silent for longer has ended: what it counted stays
HELP = {  # name → type and what it is
    "ringtrue_build_info": ("gauge", "The version that runs."),
    "ringtrue_http_requests_total": ("counter", "Requests by route, method and status; 499 for a client that left."),
    "ringtrue_http_request_duration_seconds": ("histogram", "Seconds until a request was answered."),
    "ringtrue_newest_answer_number": (
        "gauge",
        "Number of the newest answer; changing or undoing one takes one more. Deleting a project may lower it.",
    ),
    "ringtrue_open_tasks": ("gauge", "Tasks that judges have taken and not handed in."),
    "ringtrue_writer_queue_length": ("gauge", "Writes that wait for the writing thread."),
    "ringtrue_pool_queue_length": ("gauge", "Pieces of work that wait for a thread, by pool."),
    "ringtrue_deferred_writes": ("gauge", "Entries of the record that wait for a database that can be written."),
    "ringtrue_database_unavailable_total": ("counter", "How often the database was locked, full or away."),
    "ringtrue_database_writable": (
        "gauge",
        "0 if the database cannot be written, or was not for 30 s.",
    ),
    "ringtrue_schema_version": ("gauge", "The last migration of the database."),
    "ringtrue_disk_free_bytes": ("gauge", "Room on the disk of an SQLite database."),
    "ringtrue_disk_size_bytes": ("gauge", "Size of the disk of an SQLite database."),
}


@dataclass(slots=True)
class RequestMetrics:
    """The requests of one process; only its event loop counts them."""

    statuses: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    buckets: defaultdict[tuple[str, str], list[int]] = field(
        default_factory=lambda: defaultdict(lambda: [0] * (len(BUCKETS) + 1))
    )
    seconds: Counter[tuple[str, str]] = field(default_factory=Counter)

    def observe(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        if method not in METHODS:
            method = "other"
        self.statuses[route, method, status] += 1
        self.buckets[route, method][bisect_left(BUCKETS, seconds)] += 1
        self.seconds[route, method] += seconds  # type: ignore[assignment]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessNumbers:
    """The numbers of one process, or of several together."""

    requests: RequestMetrics
    counters: Mapping[str, float]
    gauges: Mapping[str, float]

    def to_json(self) -> str:
        """For another process of the same server."""
        requests = {
            "statuses": [[*key, count] for key, count in self.requests.statuses.items()],
            "buckets": [[*key, counts] for key, counts in self.requests.buckets.items()],
            "seconds": [[*key, seconds] for key, seconds in self.requests.seconds.items()],
        }
        return json.dumps({**requests, "counters": dict(self.counters), "gauges": dict(self.gauges)})


def share_numbers(numbers: str, folder: Path) -> None:
    """Leave the JSON of this process for the others; on a full disk they see the last that could be written."""
    temporary = folder / f"{os.getpid()}.part"
    try:
        temporary.write_text(numbers)
        temporary.replace(folder / f"{os.getpid()}.json")
    except OSError:
        return


def add_shared_numbers(own: ProcessNumbers, folder: Path | None) -> ProcessNumbers:
    """The numbers of this process and of the others; gauges only of those that still run."""
    total, counters, gauges = RequestMetrics(), Counter(own.counters), Counter(own.gauges)
    _add_requests(total, own)
    for path in () if folder is None else folder.glob("*.json"):
        if path.stem == str(os.getpid()):
            continue
        shared = json.loads(path.read_text())
        requests = RequestMetrics()
        for route, method, status, count in shared["statuses"]:
            requests.statuses[route, method, status] = count
        for route, method, counts in shared["buckets"]:
            requests.buckets[route, method] = counts
        for route, method, seconds in shared["seconds"]:
            requests.seconds[route, method] = seconds
        other = ProcessNumbers(requests=requests, counters=shared["counters"], gauges=shared["gauges"])
        _add_requests(total, other)
        counters.update(other.counters)
        if time.time() - path.stat().st_mtime < ALIVE_SECONDS:
            gauges.update(other.gauges)
    return ProcessNumbers(requests=total, counters=counters, gauges=gauges)


def _add_requests(total: RequestMetrics, other: ProcessNumbers) -> None:
    total.statuses.update(other.requests.statuses)
    total.seconds.update(other.requests.seconds)
    for key, counts in other.requests.buckets.items():
        total.buckets[key] = [a + b for a, b in zip(total.buckets[key], counts, strict=True)]


def render_metrics(numbers: ProcessNumbers, database: Mapping[str, float | None]) -> str:
    """All numbers in the text format of Prometheus; what is not known is left out.

    Examples:
        >>> requests = RequestMetrics()
        >>> requests.observe("/login", "GET", 200, 0.02)
        >>> text = render_metrics(ProcessNumbers(requests=requests, counters={}, gauges={}), {})
        >>> [line for line in text.splitlines() if line.startswith("ringtrue_http_requests")]
        ['ringtrue_http_requests_total{route="/login",method="GET",status="200"} 1']
    """
    samples: defaultdict[str, list[str]] = defaultdict(list)
    samples["ringtrue_build_info"].append(_sample("ringtrue_build_info", {"version": __version__}, 1))
    for (route, method, status), count in sorted(numbers.requests.statuses.items()):
        labels = {"route": route, "method": method, "status": str(status)}
        samples["ringtrue_http_requests_total"].append(_sample("ringtrue_http_requests_total", labels, count))
    samples["ringtrue_http_request_duration_seconds"] = list(_histogram_samples(numbers.requests))
    for key, value in (*numbers.counters.items(), *numbers.gauges.items(), *database.items()):
        name, _, pool = key.partition("/")
        if value is not None:
            samples[name].append(_sample(name, {"pool": pool} if pool else {}, value))
    return "\n".join(_with_help(samples)) + "\n"


def _histogram_samples(requests: RequestMetrics) -> Iterator[str]:
    name = "ringtrue_http_request_duration_seconds"
    for key, counts in sorted(requests.buckets.items()):
        labels, running = {"route": key[0], "method": key[1]}, 0
        for bound, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
            running += count
            yield _sample(f"{name}_bucket", {**labels, "le": bound}, running)
        yield _sample(f"{name}_sum", labels, round(requests.seconds[key], 6))
        yield _sample(f"{name}_count", labels, running)


def _with_help(samples: Mapping[str, Iterable[str]]) -> Iterator[str]:
    for name, (kind, text) in HELP.items():
        if lines := samples.get(name):
            yield f"# HELP {name} {text}"
            yield f"# TYPE {name} {kind}"
            yield from lines


def _sample(name: str, labels: Mapping[str, str], value: Any) -> str:
    pairs = ",".join(f'{label}="{_escape(text)}"' for label, text in labels.items())
    return f"{name}{{{pairs}}} {value}" if pairs else f"{name} {value}"


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
