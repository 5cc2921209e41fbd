from __future__ import annotations

import pytest
from benchmarks.judge_clients import Shift
from benchmarks.servers import Serving
from benchmarks.service import begin, end, over_cap, prepare

from ringtrue.service.store import Store
from service.crowd_server import wait_for_answers
from service.small_projects import rows

ROUNDS = {"sqlite": 5, "postgresql": 2}
BETWEEN = 100  # answers before each kill
JUDGES = 10


@pytest.mark.slow
def test_a_server_that_is_killed_again_and_again_loses_no_acknowledged_answer_and_keeps_none_twice(
    store_url: str,
) -> None:
    """With `kill -9` in mid-load; the judges send again what was not acknowledged, as their page does."""
    judges = prepare(store_url, judges=JUDGES, items=10_000, queries=50, way="pages")
    rounds = ROUNDS[store_url.partition(":")[0]]
    with Serving(store_url) as server:
        shift = Shift(port=server.port, project="load", judges=judges, seconds=600, way="pages", tenacious=True)
        at_work = begin(shift)
        there = 0
        for _ in range(rounds):
            there = wait_for_answers(store_url, there + BETWEEN)
            assert server.kill() == -9
            server.start()
        wait_for_answers(store_url, there + BETWEEN)
        at_work.terminate()
        report = end(at_work)
    assert report.errors == []
    assert report.reconnected >= rounds
    with Store.open(store_url) as store:
        saved = set(rows(store, "SELECT assignment, version, answer FROM judgment WHERE kind = 'answer'"))
        twice = rows(store, "SELECT assignment FROM judgment GROUP BY assignment HAVING COUNT(*) > 1")
        ((bad,),) = rows(store, "SELECT COUNT(*) FROM judgment WHERE kind <> 'answer'")
    kept = {tuple(one) for one in report.kept}
    assert len(kept) == len(report.kept) > rounds * (BETWEEN - JUDGES)
    assert kept <= saved
    assert len(saved - kept) <= JUDGES  # an answer of each that was saved when the judges were told to go home
    assert (twice, bad, over_cap(store_url)) == ([], 0, 0)
