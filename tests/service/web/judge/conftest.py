"""A project with four documents to judge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringtrue.service.store import Store
from ringtrue.service.store.items import add_documents, add_items, add_queries
from ringtrue.service.store.records import Project


@pytest.fixture
def web_store(tmp_path: Path) -> Iterator[Store]:
    """A store that soon gives up on a database that is locked."""
    with Store.open(str(tmp_path / "web.db"), patience=0.2) as store:
        yield store


@pytest.fixture
def asked(web_store: Store, project: Project) -> Project:
    """The project `news` with four documents about wind power."""

    def work(connection: Any) -> None:
        query = {"name": "q1", "text": "Wind power", "description": "How much of it?", "narrative": "Numbers count."}
        add_queries(connection, project.id, [query])
        docs = [
            {
                "name": f"secret-id-{at}",
                "title": f"Title {at}",
                "url": "https://example.org/a",
                "text": "The wind <blows>",
            }
            for at in range(4)
        ]
        add_documents(connection, project.id, docs)
        items = [{"query": "q1", "doc": f"secret-id-{at}"} for at in range(4)]
        add_items(connection, project, items, queue="main", wanted=2, rng=np.random.default_rng(1))

    web_store.write(work)
    return project
