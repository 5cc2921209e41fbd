from __future__ import annotations

import pytest
from benchmarks.crashes import BETWEEN, JUDGES, WHOLE_EVERY, survive_kills
from benchmarks.servers import PostgreSQL

KILLS = {"sqlite": 5, "postgresql": 2}  # `python -m benchmarks.crashes` kills twenty times


@pytest.mark.slow
def test_a_server_that_is_killed_again_and_again_loses_no_acknowledged_answer_and_keeps_none_twice(
    store_url: str,
) -> None:
    kills = KILLS[store_url.partition(":")[0]]
    survival = survive_kills(store_url, kills=kills)
    assert survival.errors == ()
    assert survival.reconnected >= kills
    assert survival.acknowledged > kills * (BETWEEN - JUDGES)
    assert (survival.lost, survival.twice, survival.other_kinds, survival.over_cap) == (0, 0, 0, 0)
    assert survival.unacknowledged <= JUDGES
    assert survival.is_whole


@pytest.mark.slow
def test_of_several_workers_one_or_all_are_killed_and_no_answer_is_lost_or_kept_twice(postgresql: PostgreSQL) -> None:
    kills = WHOLE_EVERY  # twice one of the two, then the whole server
    name = postgresql.create()
    survival = survive_kills(postgresql.url(name), kills=kills, workers=2)
    assert survival.is_whole, survival
    assert survival.reconnected >= 1
    assert survival.acknowledged > kills * (BETWEEN - JUDGES)
    postgresql.drop(name)
