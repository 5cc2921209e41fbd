from __future__ import annotations

import asyncio
from pathlib import Path

from ringtrue.service.store import Store
from ringtrue.service.store.projects import close_project
from ringtrue.service.web.app import create_app
from service.small_projects import NOW, begin, judge, project
from service.web.judge.answering import columns


def test_tasks_whose_lease_has_ended_are_closed_though_nobody_asks_for_the_next(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "ringtrue.db")) as store:
        where = project(store, lease_minutes=1)
        begin(store, where, judge(store))
        store.write(lambda c: close_project(c, where.id, NOW + 10))
        app = create_app(store, secret=b"secret", clock=lambda: NOW + 1_000)

        async def run_until_closed() -> None:
            async with app.router.lifespan_context(app):
                for _ in range(200):
                    if columns(store, "task", "closed") != [(None,)]:
                        return
                    await asyncio.sleep(0.02)

        asyncio.run(run_until_closed())
        assert columns(store, "task", "outcome") == [("expired",)]
