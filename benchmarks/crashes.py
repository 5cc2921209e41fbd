"""A server that is killed again and again under load: is every acknowledged answer there, once?

    python -m benchmarks.crashes [--kills 20] [--on sqlite …] [--workers 2]

`kill -9` in mid-load; the judges send again what was not acknowledged, as their page does. With several workers, which
need PostgreSQL, single ones are killed by turns while the others go on, and every third time the whole server is.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from dataclasses import dataclass
from typing import Any

from benchmarks.judge_clients import Shift
from benchmarks.servers import Serving
from benchmarks.service import DATABASES, PROJECT, begin, database, end, over_cap, prepare

KILLS = 20
BETWEEN = 60  # answers before each kill
WHOLE_EVERY = 3  # of several workers, all are killed every third time
JUDGES = 10
PATIENCE = 120  # seconds for that many answers, however slow the machine is


@dataclass(frozen=True, slots=True, kw_only=True)
class Survival:
    """What was acknowledged and what is in the database after so many kills.

    `other_kinds` counts what is no answer, as no judge here skips, undoes or comes late. `unacknowledged` answers are
    saved all the same: one of each judge may have been on its way when the work ended.
    """

    kills: int
    acknowledged: int
    lost: int
    twice: int
    other_kinds: int
    unacknowledged: int
    over_cap: int
    reconnected: int
    errors: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether nothing was lost, kept twice or given to too many."""
        faults = self.lost or self.twice or self.other_kinds or self.over_cap or self.errors
        return not faults and self.unacknowledged <= JUDGES


def survive_kills(url: str, *, kills: int, workers: int = 1) -> Survival:
    """Let judges work on a new database while their server is killed, or one of its workers."""
    judges = prepare(url, judges=JUDGES, items=10_000, queries=50, way="pages")
    with Serving(url, "--workers", str(workers)) as server:
        seconds = (kills + 1) * PATIENCE
        shift = Shift(port=server.port, project=PROJECT, judges=judges, seconds=seconds, way="pages", tenacious=True)
        at_work = begin(shift)
        try:
            answers = 0
            for number in range(1, kills + 1):
                answers = wait_for_answers(url, answers + BETWEEN)
                if workers > 1 and number % WHOLE_EVERY:
                    server.wait_for_workers(workers, without=server.kill_worker(number))
                    continue
                if (code := server.kill()) != -signal.SIGKILL:
                    raise RuntimeError(f"the server ended by itself, with exit code {code}")
                server.start()
            wait_for_answers(url, answers + BETWEEN)
        finally:
            at_work.terminate()
        report = end(at_work)
    acknowledged = {tuple(answer) for answer in report.kept}
    saved = _rows(url, "SELECT assignment, version, answer FROM judgment WHERE kind = 'answer'")
    ((other_kinds,),) = _rows(url, "SELECT COUNT(*) FROM judgment WHERE kind <> 'answer'")
    again = _rows(url, "SELECT assignment FROM judgment GROUP BY assignment HAVING COUNT(*) > 1")
    return Survival(
        kills=kills,
        acknowledged=len(acknowledged),
        lost=len(acknowledged - set(saved)),
        twice=len(again) + len(report.kept) - len(acknowledged),
        other_kinds=int(other_kinds),
        unacknowledged=len(set(saved) - acknowledged),
        over_cap=over_cap(url),
        reconnected=report.reconnected,
        errors=tuple(report.errors),
    )


def wait_for_answers(url: str, count: int) -> int:
    """Wait until judges who work on a server have given this many answers; how many they are by then.

    Looks at the database from outside, and is gone again before it returns: answers count, not seconds.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        ((answers,),) = _rows(url, "SELECT COUNT(*) FROM judgment")
        if answers >= count:
            return int(answers)
        if time.monotonic() > deadline:
            raise TimeoutError(f"{answers} answers in {PATIENCE} seconds, where {count} were waited for")
        time.sleep(0.05)


def describe(survival: Survival) -> str:
    """What happened, in a line."""
    return (
        f"{survival.kills} kills: {survival.acknowledged:,} answers acknowledged, {survival.lost} lost, "
        f"{survival.twice} kept twice, {survival.over_cap} items over their cap, {len(survival.errors)} errors, "
        f"{survival.reconnected} reconnections"
    )


def _rows(url: str, statement: str) -> list[tuple[Any, ...]]:
    from sqlalchemy import text

    from ringtrue.service.store import Store

    with Store.open(url, patience=30) as store, store.read() as connection:
        return [tuple(row) for row in connection.execute(text(statement))]


def main() -> None:
    """Ends with an error when an answer was lost."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crashes", description="Is any answer lost?")
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--on", nargs="+", choices=list(DATABASES), default=list(DATABASES))
    parser.add_argument("--workers", type=int, default=1, help="processes of the server; more than one on PostgreSQL")
    given = parser.parse_args()
    survivals = []
    for kind in given.on:
        with database(kind) as (url, _):
            workers = given.workers if kind == "postgresql" else 1
            survivals.append(survive_kills(url, kills=given.kills, workers=workers))
        print(f"{DATABASES[kind]}, {describe(survivals[-1])}", flush=True)
    sys.exit(0 if all(survival.is_whole for survival in survivals) else 1)


if __name__ == "__main__":
    main()
