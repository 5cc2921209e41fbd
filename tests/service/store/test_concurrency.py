from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from ringtrue.service.store import Store
from ringtrue.service.store.tasks import get_or_create_task
from service.crowd_server import check_nothing_is_lost, judge_in_a_process, judge_until_nothing_is_left
from service.small_projects import NOW, judge, project, rows

LATER = NOW + 3600 * 24
UNSEEN = """
    SELECT i.id, t.account FROM item i JOIN (SELECT DISTINCT account FROM task WHERE account >= :first) t ON 1 = 1
    WHERE i.given < i.wanted AND NOT EXISTS
      (SELECT 1 FROM assignment a WHERE a.item = i.id AND a.account = t.account AND a.state <> 'expired')"""


def test_judges_at_the_same_time_never_go_over_the_cap_and_lose_nothing(store: Store) -> None:
    where = project(store, items=24, queries=3, judges=3, task_size=6, known=8, traps=2, traps_needed=1)
    judges = [judge(store, f"judge-{number}") for number in range(8)]

    def work(number: int) -> list[object]:
        leaves = 4 if number < 2 else None
        return judge_until_nothing_is_left(store, where.name, judges[number], seed=number, leaves_after=leaves)

    with ThreadPoolExecutor(8) as pool:
        kept = [one for done in pool.map(work, range(8)) for one in done]
    check_nothing_is_lost(store, kept)
    assert rows(store, "SELECT COUNT(*) FROM assignment WHERE state = 'open'") > [(0,)]  # of those who left
    for number in (*range(2, 8), *range(2, 8)):  # a second time for what others skipped in the first
        kept += judge_until_nothing_is_left(store, where.name, judges[number], seed=99 + number, now=LATER)
    check_nothing_is_lost(store, kept)
    assert rows(store, UNSEEN, first=judges[2]) == []
    assert rows(store, "SELECT COUNT(*) FROM assignment WHERE state = 'open'") == [(0,)]
    assert rows(store, "SELECT COUNT(*) FROM task WHERE outcome = 'expired'") == [(2,)]


def test_two_tabs_of_a_judge_open_one_task(store: Store) -> None:
    where = project(store, items=24, judges=3)
    judges = [judge(store, f"judge-{number}") for number in range(4)]

    def work(number: int) -> int:
        rng = np.random.default_rng(number)
        with store.transaction() as connection:  # on PostgreSQL beside each other, not by the one writer
            task = get_or_create_task(connection, where, judges[number % 4], now=NOW, rng=rng)
        assert task is not None
        return task.id

    with ThreadPoolExecutor(8) as pool:
        tasks = list(pool.map(work, range(32)))
    assert [set(tasks[at::4]) for at in range(4)] == [{tasks[at]} for at in range(4)]
    assert rows(store, "SELECT COUNT(*) FROM task") == [(4,)]
    check_nothing_is_lost(store, [])


@pytest.mark.slow
def test_servers_at_the_same_time_never_go_over_the_cap_and_lose_nothing(store_url: str) -> None:
    with Store.open(store_url) as store:
        where = project(store, items=60, queries=5, judges=2, task_size=6, known=8, traps=2, traps_needed=1)
        judges = [judge(store, f"judge-{number}") for number in range(4)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(4, mp_context=context) as pool:
        done = [pool.submit(judge_in_a_process, store_url, where.name, judges[at], at) for at in range(4)]
        kept = [one for future in done for one in future.result()]
    with Store.open(store_url) as store:
        check_nothing_is_lost(store, kept)
        for account in judges:  # what others skipped when this one had gone
            kept += judge_until_nothing_is_left(store, where.name, account, seed=account)
        check_nothing_is_lost(store, kept)
