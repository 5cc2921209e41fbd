"""50 judges at once: `ringtrue serve` on SQLite and on PostgreSQL, by its pages and by its API.

    python -m benchmarks.service [--seconds 60] [--judges 50] [--on sqlite …] [--by pages …]

The judges are a process of their own on the same machine, and answer as fast as the server lets them: no time to
think, a connection each. The yardstick is what one writer reaches that does nothing but commit single rows, with the
same settings on the same disk. Both take turns, so that a busy moment of the machine hits them more or less alike.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.judge_clients import Report, Shift, Way
from benchmarks.servers import Serving, cpu_seconds, running_postgresql

DATABASES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
WORKERS = {"sqlite": 1, "postgresql": 2}  # SQLite has one writer
WAYS: dict[Way, str] = {
    "pages": "pages: see the next item, submit",
    "api": "API: submit, which brings the next item",
    "whole": "API: get a whole task, submit all its answers",
}
PROJECT = "load"
QUERIES, ITEMS, WANTED = 200, 100_000, 3
TURNS = 6
HELD = """SELECT COUNT(*) FROM assignment a JOIN task t ON t.id = a.task
WHERE a.item = i.id AND (a.state = 'done' OR t.closed IS NULL)"""
BARE_SECONDS = 1.5  # in each turn
TEXT = "The quick brown fox jumps over the lazy dog, and what it finds there is told in some words more. " * 8


class Latency(NamedTuple):
    """Seconds that half, 95% and 99% of the requests did not exceed."""

    p50: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What was measured: rates by the second, latencies in seconds, CPU seconds of the server and of its database."""

    judgments: int
    rate: float
    bare: float
    bare_range: tuple[float, float]  # the least and the most of the turns
    errors: tuple[str, ...]
    over_cap: int
    miscounted: int
    open_task: Latency | None
    next_item: Latency | None
    submit: Latency | None
    cpu: float
    database_cpu: float | None
    judges_cpu: float

    @property
    def ratio(self) -> float:
        """Judgments a second for each bare commit a second."""
        return self.rate / self.bare

    @property
    def is_exact(self) -> bool:
        """Whether every request was answered as it should be, and every item counts its judges."""
        return not (self.errors or self.over_cap or self.miscounted)


def prepare(
    url: str, *, judges: int, items: int, wanted: int = WANTED, way: Way, queries: int = QUERIES
) -> list[list[str]]:
    """Make a project and its judges in an empty database; answers how each of them is known to the server."""
    import numpy as np

    from ringtrue.service.store import Scale, Settings, Store
    from ringtrue.service.store.accounts import add_member, create_account
    from ringtrue.service.store.items import add_documents, add_items, add_queries
    from ringtrue.service.store.projects import create_project
    from ringtrue.service.store.sessions import get_or_create_signing_secret, issue_token, log_in
    from ringtrue.service.web.context import ServerContext

    rng, now = np.random.default_rng(0), time.time()
    with Store.open(url) as store, store.transaction() as connection:
        project = create_project(
            connection, name=PROJECT, title="Load", scale=Scale.graded("Not relevant", "Related", "Relevant"),
            settings=Settings(judges=wanted), guidelines="# Judge\n\nRead the document, and *then* judge.", now=now,
        )  # fmt: skip
        topics = [
            {"name": f"q{at}", "text": f"quick fox {at}", "description": "What does it do?"} for at in range(queries)
        ]
        add_queries(connection, project.id, topics)
        rows = [{"query": f"q{at % queries}", "doc": f"d{at}"} for at in range(items)]
        add_documents(
            connection, project.id,
            ({"name": row["doc"], "title": f"Document {row['doc']}", "url": f"https://example.org/{row['doc']}",
              "snippet": None, "text": TEXT} for row in rows),
        )  # fmt: skip
        add_items(connection, project, rows, queue="main", wanted=wanted, rng=rng)
        traps = [{"query": f"q{at % queries}", "doc": f"d{at}", "expected": "2"} for at in range(min(500, items))]
        add_items(connection, project, traps, queue="trap", wanted=None, rng=rng)
        site = ServerContext(store=store, secret=get_or_create_signing_secret(connection))
        known = []
        for number in range(judges):
            account = create_account(connection, kind="named", now=now, name=f"Judge {number}")
            add_member(connection, project.id, account, "judge", now)
            if way != "pages":
                known.append([issue_token(connection, account, name="load", scopes=["judge"], now=now, days=1)])
            else:
                secret, csrf = log_in(connection, account, now=now, hours=24)
                known.append([f"{site.session_cookie}={site.sign(secret, 'login')}", csrf])
    return known


def begin(shift: Shift) -> subprocess.Popen[str]:
    """Let judges work in a process of their own."""
    words = [sys.executable, "-m", "benchmarks.judge_clients"]
    root = Path(__file__).parents[1]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root)
    assert process.stdin is not None
    process.stdin.write(json.dumps(asdict(shift)))
    process.stdin.close()
    process.stdin = None
    return process


def end(process: subprocess.Popen[str]) -> Report:
    """What they say when their time is over, or they were told to end."""
    said, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"the judges ended with {process.returncode}")
    return Report(**json.loads(said))


def work(shift: Shift) -> Report:
    """Both at once."""
    return end(begin(shift))


def over_cap(url: str) -> int:
    """How many items are in the hands of more judges than they want, counted anew."""
    return _count_items(url, f"({HELD}) > i.wanted")


def miscounted(url: str) -> int:
    """How many items do not know how many judges have them."""
    return _count_items(url, f"i.wanted IS NOT NULL AND ({HELD}) <> i.given")


def _count_items(url: str, condition: str) -> int:
    from sqlalchemy import text

    from ringtrue.service.store import Store

    with Store.open(url) as store, store.read() as connection:
        return int(connection.execute(text(f"SELECT COUNT(*) FROM item i WHERE {condition}")).scalar_one())


def bare_rate(url: str, seconds: float) -> float:
    """Commits a second of one writer that adds single rows, with the settings of the store."""
    if url.startswith("sqlite"):
        commit = _bare_sqlite(url.removeprefix("sqlite:///") + ".bare")
    else:
        commit = _bare_postgresql(url)
    count, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        commit(count)
        count += 1
    return count / (time.perf_counter() - begun)


def _bare_sqlite(path: str) -> Callable[[int], None]:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS bare (id INTEGER PRIMARY KEY, answer TEXT, time REAL)")

    def commit(number: int) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO bare (answer, time) VALUES ('1', ?)", (number,))
        connection.execute("COMMIT")

    return commit


def _bare_postgresql(url: str) -> Callable[[int], None]:
    import psycopg

    connection = psycopg.connect(url)
    connection.execute("CREATE TABLE IF NOT EXISTS bare (id BIGSERIAL PRIMARY KEY, answer TEXT, time DOUBLE PRECISION)")
    connection.commit()

    def commit(number: int) -> None:
        connection.execute("INSERT INTO bare (answer, time) VALUES ('1', %s)", (number,))
        connection.commit()

    return commit


@contextmanager
def database(kind: str) -> Iterator[tuple[str, list[int]]]:
    """An empty database and the processes that serve it."""
    if kind == "sqlite":
        with tempfile.TemporaryDirectory(prefix="ringtrue-serving-") as folder:
            yield f"sqlite:///{folder}/ringtrue.db", []
        return
    with running_postgresql() as server:
        assert server.process is not None
        yield server.url(server.create()), [server.process.pid]


def measured(kind: str, way: Way, *, judges: int, seconds: float) -> Load:
    """Judges at work on one database, in one way."""
    with database(kind) as (url, of_database):
        known = prepare(url, judges=judges, items=ITEMS, way=way)
        whole, bare, cpu = Report(), [], [0.0, 0.0]
        with Serving(url, "--workers", str(WORKERS[kind])) as server:
            assert server.process is not None
            roots = [server.process.pid], of_database
            shift = Shift(port=server.port, project=PROJECT, judges=known, seconds=seconds / TURNS, way=way)
            for _ in range(TURNS):
                bare.append(bare_rate(url, BARE_SECONDS))
                before = [cpu_seconds(of) for of in roots]
                report = work(shift)
                cpu = [sum_ + cpu_seconds(of) - spent for sum_, of, spent in zip(cpu, roots, before, strict=True)]
                whole.seconds += report.seconds
                whole.cpu += report.cpu
                for name in ("open_task", "next_item", "submit", "kept", "errors"):
                    getattr(whole, name).extend(getattr(report, name))
        return Load(
            judgments=len(whole.kept), rate=len(whole.kept) / whole.seconds, bare=sum(bare) / len(bare),
            bare_range=(min(bare), max(bare)), errors=tuple(whole.errors), over_cap=over_cap(url),
            miscounted=miscounted(url), open_task=latency(whole.open_task), next_item=latency(whole.next_item),
            submit=latency(whole.submit), cpu=cpu[0],
            database_cpu=cpu[1] if of_database else None, judges_cpu=whole.cpu,
        )  # fmt: skip


def latency(seconds: Sequence[float]) -> Latency | None:
    """What half, 95% and 99% of the requests took at most; None where there was none."""
    ordered = sorted(seconds)
    return Latency(*(ordered[int(len(ordered) * share)] for share in (0.5, 0.95, 0.99))) if ordered else None


def lines(load: Load, promised: Callable[[str, Load], str] = lambda _name, _load: "") -> list[str]:
    """What was measured, in words."""
    each = 1000 / max(load.judgments, 1)
    shown = [
        ("judgments a second", f"{load.rate:>9,.0f}"),
        ("bare commits a second", f"{load.bare:>9,.0f}  from {load.bare_range[0]:,.0f} to {load.bare_range[1]:,.0f}"),
        ("ratio", f"{load.ratio:>9.2f}"),
        ("p50, p95, p99 ms: open a task", _milliseconds(load.open_task)),
        ("  show the next item", _milliseconds(load.next_item)),
        ("  submit", _milliseconds(load.submit)),
        ("CPU ms a judgment, server", f"{each * load.cpu:>9.2f}"),
        ("CPU ms a judgment, database", "" if load.database_cpu is None else f"{each * load.database_cpu:>9.2f}"),
        ("CPU ms a judgment, judges", f"{each * load.judges_cpu:>9.2f}"),
        ("errors", f"{len(load.errors):>9}{'  ' + load.errors[0] if load.errors else ''}"),
        ("items over their cap", f"{load.over_cap:>9}"),
        ("items that miscount judges", f"{load.miscounted:>9}"),
    ]
    return [f"{name:<30}{words}{promised(name, load)}" for name, words in shown if words]


def _milliseconds(taken: Latency | None) -> str:
    return "" if taken is None else "".join(f"{1000 * seconds:>9.1f}" for seconds in taken)


def main() -> None:
    """Ends with an error when a request failed, or an item has other judges than it counts."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service", description="How many judges can be served?")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--judges", type=int, default=50)
    parser.add_argument("--on", nargs="+", choices=list(DATABASES), default=list(DATABASES))
    parser.add_argument("--by", nargs="+", choices=list(WAYS), default=list(WAYS))
    given = parser.parse_args()
    exact = True
    for kind in given.on:
        for way in given.by:
            load = measured(kind, way, judges=given.judges, seconds=given.seconds)
            print(f"\n{title(kind, way, judges=given.judges, seconds=given.seconds)}")
            print("\n".join(lines(load)), flush=True)
            exact &= load.is_exact
    sys.exit(0 if exact else 1)


def title(kind: str, way: Way, *, judges: int, seconds: float) -> str:
    """What is measured, in words."""
    return f"{DATABASES[kind]}, {WAYS[way]}: {judges} judges for {seconds:g} s, served by {WORKERS[kind]}"


if __name__ == "__main__":
    main()
