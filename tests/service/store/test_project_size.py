"""What a project's size may cost: the work of the database is counted, not timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.large_project import JUDGES, TASK_SIZE, make_large_project
from sqlalchemy import Connection, event, text

from ringtrue.service.store import Answer, Store
from ringtrue.service.store.accounts import load_accounts
from ringtrue.service.store.adjudication import count_disagreements, count_ties, load_disagreements, load_verdicts
from ringtrue.service.store.answers import record_answer
from ringtrue.service.store.label_queries import load_answers_after, load_judgments
from ringtrue.service.store.progress import (
    load_failed_tasks,
    load_judge_progress,
    load_progress_by_query,
    load_unsure_reasons,
)
from ringtrue.service.store.projects import load_projects
from ringtrue.service.store.records import Project
from ringtrue.service.store.tasks import (
    count_tasks_by_outcome,
    get_or_create_task,
    has_questions_left,
    load_next_question,
)

SMALL, LARGE = 4_500, 45_000
FLAT = 1.2
STEPS = 20  # instructions of SQLite's machine between two counts
LARGE_TABLES = ("item", "document", "query", "assignment", "judgment")

Work = Callable[[Connection, Project, int], object]


def open_task(connection: Connection, project: Project, account: int) -> object:
    return get_or_create_task(connection, project, account, now=time.time(), rng=np.random.default_rng(account))


def record_first_answer(connection: Connection, project: Project, account: int) -> object:
    task = connection.execute(text("SELECT MAX(id) FROM task WHERE account = :account"), {"account": account}).scalar()
    shown = load_next_question(connection, task, account)
    assert shown is not None
    return record_answer(
        connection, account, shown.assignment, shown.version, Answer(answer="1", seconds=2.0), now=time.time()
    )


JUDGES_WORK: dict[str, Work] = {
    "come to the start page": lambda c, project, account: has_questions_left(
        c, project.id, account, queue="main", now=time.time()
    ),
    "open a task": open_task,
    "record an answer": record_first_answer,
}
# What owners look at: it may cost more with more answers, never with more items that nobody has had.
OWNERS_WORK: dict[str, Work] = {
    "judges": lambda c, project, _: load_judge_progress(c, project),
    "failed tasks": lambda c, project, _: load_failed_tasks(c, project),
    "unsure": lambda c, project, _: load_unsure_reasons(c, project.id),
    "people": lambda c, project, _: (load_accounts(c, project.id), count_tasks_by_outcome(c, project.id, 0.0)),
    "disagreements": lambda c, project, _: (count_disagreements(c, project), load_disagreements(c, project, limit=5)),
    "ties": lambda c, project, _: count_ties(c, project),
    "verdicts": lambda c, project, _: load_verdicts(c, project),
    "labels": lambda c, project, _: load_judgments(c, project, traps="labels"),
    "answers": lambda c, project, _: load_answers_after(c, project, limit=100),
}
ADD_UNTOUCHED = """
INSERT INTO item (project, queue, query, doc, asked, wanted, given, position)
SELECT q.project, 'main', q.id, d.id, 3, 3, 0, 1000000 + q.id * 1000 + d.id FROM query q JOIN document d ON d.id <= 700
WHERE TRUE ON CONFLICT DO NOTHING"""


@contextmanager
def large_store(url: str, items: int) -> Iterator[Store]:
    make_large_project(url, items)
    with Store.open(url) as store:
        yield store


def only_project(store: Store) -> Project:
    with store.read() as connection:
        (project,) = load_projects(connection)
    return project


def count_steps(store: Store, work: Work, accounts: range) -> float:
    """Instructions of SQLite's machine for a piece of work, the mean of several judges; statements beside."""
    project, steps = only_project(store), 0

    def count() -> int:
        nonlocal steps
        steps += STEPS
        return 0

    with store.transaction() as connection:
        raw: Any = connection.connection.dbapi_connection
        raw.set_progress_handler(count, STEPS)
        try:
            for account in accounts:
                work(connection, project, account)
        finally:
            raw.set_progress_handler(None, 0)
    return steps / len(accounts)


@pytest.fixture(scope="module")
def sizes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store]]:
    """Two projects in SQLite, alike but for their size."""
    folder: Path = tmp_path_factory.mktemp("sizes")
    with (
        large_store(f"sqlite:///{folder}/small.db", SMALL) as small,
        large_store(f"sqlite:///{folder}/large.db", LARGE) as large,
    ):
        yield small, large


@pytest.mark.slow
def test_opening_a_task_recording_an_answer_and_a_page_of_answers_are_no_more_work_in_a_project_ten_times_as_large(
    sizes: tuple[Store, Store],
) -> None:
    judges = range(2, 2 + JUDGES)
    for name, work in (JUDGES_WORK | {"a page of answers": OWNERS_WORK["answers"]}).items():
        small, large = (count_steps(store, work, judges) for store in sizes)
        assert 0 < large <= FLAT * small, (name, small, large)


@pytest.mark.slow
def test_items_that_nobody_has_had_are_no_work_for_what_owners_look_at(tmp_path: Path) -> None:
    with large_store(f"sqlite:///{tmp_path}/one.db", SMALL) as store:
        before = {name: count_steps(store, work, range(2, 3)) for name, work in OWNERS_WORK.items()}
        with store.transaction() as connection:
            added = connection.execute(text(ADD_UNTOUCHED)).rowcount
        assert added > 5 * SMALL
        after = {name: count_steps(store, work, range(2, 3)) for name, work in OWNERS_WORK.items()}
    assert {name: steps for name, steps in after.items() if steps > FLAT * before[name]} == {}


@pytest.mark.slow
def test_the_number_of_statements_does_not_grow_with_the_project(sizes: tuple[Store, Store]) -> None:
    def count_statements(store: Store, work: Work) -> int:
        statements: list[str] = []

        def note(_c: object, _cursor: object, statement: str, *_: object) -> None:
            statements.append(statement)

        project = only_project(store)
        with store.transaction() as connection:
            event.listen(store.engine, "before_cursor_execute", note)
            try:
                work(connection, project, 2 + JUDGES - 1)
            finally:
                event.remove(store.engine, "before_cursor_execute", note)
        return len(statements)

    progress: Work = lambda c, project, _: load_progress_by_query(c, project.id)  # noqa: E731
    for name, work in (JUDGES_WORK | OWNERS_WORK | {"progress": progress}).items():
        small, large = (count_statements(store, work) for store in sizes)
        assert 0 < large <= small + 1, name


@pytest.mark.slow
def test_postgresql_finds_what_a_judge_needs_and_a_page_of_answers_by_indexes(request: pytest.FixtureRequest) -> None:
    server = request.getfixturevalue("postgresql")
    name = server.create()
    scans: list[str] = []
    with large_store(server.url(name), LARGE) as store:
        project, statements = only_project(store), list[tuple[str, Any]]()

        def note(_c: object, _cursor: object, statement: str, parameters: Any, _x: object, many: bool) -> None:
            if not many:
                statements.append((statement, parameters))

        with store.transaction() as connection:
            event.listen(store.engine, "before_cursor_execute", note)
            for work in (open_task, record_first_answer, OWNERS_WORK["answers"]):
                work(connection, project, 2)
            event.remove(store.engine, "before_cursor_execute", note)
            for statement, parameters in statements:
                if not statement.lstrip().startswith("INSERT"):
                    plan = "\n".join(connection.exec_driver_sql(f"EXPLAIN {statement}", parameters).scalars())
                    scans += [f"{table}: {statement}" for table in LARGE_TABLES if f"Seq Scan on {table} " in plan]
                    scans += [f"all answers sorted: {statement}"] if "Sort Key: judgment.id" in plan else []
    server.drop(name)
    assert len(statements) > 8
    assert scans == []


def test_a_large_project_is_what_the_service_itself_would_have_made(tmp_path: Path) -> None:
    with large_store(f"sqlite:///{tmp_path}/one.db", 900) as store, store.read() as connection:
        (project,) = load_projects(connection)
        progress, queries = load_progress_by_query(connection, project.id)
        judges = load_judge_progress(connection, project)
        failed = load_failed_tasks(connection, project)
        labels = load_judgments(connection, project, traps="labels")
    assert (progress.items, progress.wanted, progress.done, progress.complete, len(queries)) == (900, 2_700, 90, 30, 9)
    assert sum(judge.done for judge in judges) == 90
    assert labels.height == 6 * TASK_SIZE
    assert [(task.traps, task.passed) for task in failed] == [(5, 2)]
