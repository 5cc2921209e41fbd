from __future__ import annotations

import pytest
from benchmarks.crashes import wait_for_answers
from benchmarks.judge_clients import Shift, Way
from benchmarks.servers import Serving
from benchmarks.service import WORKERS, begin, end, over_cap, prepare

from ringtrue.service.store import Store
from service.crowd_server import Acknowledged, check_nothing_is_lost

ENOUGH = 500  # answers, which is more than a second of work where nothing else runs


@pytest.mark.slow
def test_twenty_judges_at_once_meet_no_error_and_no_item_goes_over_its_cap(store_url: str) -> None:
    way: Way = "pages" if store_url.startswith("sqlite") else "api"
    judges = prepare(store_url, judges=20, items=2_000, queries=20, wanted=2, way=way)
    with Serving(store_url, "--workers", str(WORKERS[store_url.split(":")[0]])) as server:
        at_work = begin(Shift(port=server.port, project="load", judges=judges, seconds=600, way=way))
        wait_for_answers(store_url, ENOUGH)
        at_work.terminate()
        report = end(at_work)
    assert report.errors == []
    assert len(report.kept) >= ENOUGH
    assert over_cap(store_url) == 0
    with Store.open(store_url) as store:
        check_nothing_is_lost(store, [Acknowledged(assignment=at, version=v, answer=a) for at, v, a in report.kept])
