"""The database: opened, migrated, read, and written by one hand."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Self, TypeVar

from ringtrue.errors import ReadOnlyError, RingtrueError, UnavailableError
from ringtrue.service.store.connections import Engines, create_engines, translate_db_errors, translate_opening_errors
from ringtrue.service.store.deferred_writes import DeferredWrites
from ringtrue.service.store.migration import migrate_with_copy

if TYPE_CHECKING:
    from sqlalchemy import Connection

T = TypeVar("T")
JOBS_PER_COMMIT = 64  # how many writes share a commit at most
# Seconds between tries where the database is locked or away; the last again and again.
RETRY_DELAYS = (0.05, 0.1, 0.2, 0.5)
PATIENCE = 5.0  # seconds for which a write waits for a database that is locked or away


@dataclass(slots=True)
class _Job:
    work: Callable[[Connection], Any]
    future: Future[Any] | asyncio.Future[Any]
    deadline: float


class Store:
    """Judgments and all that belongs to them, in SQLite or PostgreSQL.

    `read` and `transaction` are for the caller's own thread. `write` and `submit` hand short pieces of work to one
    writing thread, which commits those that wait together: each is answered only when the disk has it, and a piece of
    work that fails takes nothing of the others with it. A piece may be run again after a fault, even after a commit
    whose answer got lost, so it must do nothing but speak to its connection, and be harmless when repeated. With a
    database that is locked or away, a piece is tried for `patience` seconds, and then raises UnavailableError; with one
    that is full or cannot be written, ReadOnlyError at once.

    Examples:
        >>> from sqlalchemy import text
        >>> with Store.open("sqlite://") as store:
        ...     store.write(lambda connection: connection.execute(text("SELECT 1 + 1")).scalar_one())
        2
    """

    def __init__(self, engines: Engines, *, patience: float = PATIENCE) -> None:
        self.engine = engines.writing
        self._read_engine = engines.reading
        self._patience = patience
        self._is_sqlite = self.engine.dialect.name == "sqlite"
        self._in_memory = engines.in_memory
        self._write_lock = threading.RLock()  # SQLite has one writer; waiting here is fair, and its own waiting is not
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run_writer, name="ringtrue-writer", daemon=True)
        self._queue_lock = threading.Lock()  # nothing is handed in behind the last
        self._closed = False
        self.deferred = DeferredWrites(self)
        self.unavailable = 0  # how often the database could not do what it was asked, locked, full or away

    @classmethod
    def open(cls, url: str, *, pool_size: int = 20, patience: float = PATIENCE) -> Self:
        """Open a database by its URL or the path of an SQLite file, and bring its tables up to date."""
        store = cls(create_engines(url, pool_size=pool_size, patience=patience), patience=patience)
        try:
            with translate_opening_errors(store.engine.url.render_as_string()), store._begin_write() as connection:
                migrate_with_copy(connection, store.path)
        except BaseException:
            store._dispose_engines()
            raise
        store._thread.start()
        return store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Finish what was handed in, and let go of the database."""
        with self._queue_lock:
            if self._closed:
                return
            self._closed = True
            self._jobs.put(None)
        if self._thread.ident is not None:
            self._thread.join()
        self._dispose_engines()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection to look things up with: all it reads is of one moment."""
        # In memory, all share the one connection that has the tables.
        lock = self._write_lock if self._in_memory else nullcontext()
        with self._translate_errors(), lock, self._read_engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A connection for a longer piece of writing, committed at the end or not at all."""
        with self._translate_errors(), self._begin_write() as connection:
            yield connection

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run a short piece of work in a transaction; it is on the disk when this returns."""
        return self.submit(work).result()

    def submit(self, work: Callable[[Connection], T]) -> Future[T]:
        """Hand in a short piece of work; the answer is there when the disk has it.

        It cannot be called off: a judge whose connection breaks still gets the answer saved.
        """
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()
        self._enqueue(work, future)
        return future

    async def write_async(self, work: Callable[[Connection], T], *, patience: float | None = None) -> T:
        """The same for coroutines: those whose work is committed together are woken together.

        With a patience of 0 it is tried once.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._enqueue(work, future, patience)
        return await future

    @property
    def path(self) -> Path | None:
        """The file of an SQLite database; None for one in memory, and for PostgreSQL."""
        return Path(str(self.engine.url.database)) if self._is_sqlite and not self._in_memory else None

    @property
    def waiting_writes(self) -> int:
        """How many pieces of work wait for the writing thread."""
        return self._jobs.qsize()

    def _enqueue(
        self, work: Callable[[Connection], T], future: Future[T] | asyncio.Future[T], patience: float | None = None
    ) -> None:
        with self._queue_lock:
            if self._closed:
                raise UnavailableError("server-stopping", "the server is stopping; try again in a moment")
            self._jobs.put(_Job(work, future, time.monotonic() + (self._patience if patience is None else patience)))

    def _dispose_engines(self) -> None:
        self.engine.dispose()
        self._read_engine.dispose()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            with translate_db_errors():
                yield
        except UnavailableError:
            self.unavailable += 1
            raise

    @contextmanager
    def _begin_write(self) -> Iterator[Connection]:
        with (
            self._hold_write_lock(),
            self.engine.connect() as connection,
            connection.execution_options(writes=True).begin(),
        ):
            yield connection

    @contextmanager
    def _hold_write_lock(self) -> Iterator[None]:
        """The turn to write: SQLite has one for all, and a long import may have it."""
        if not self._is_sqlite:
            yield
        elif self._write_lock.acquire(timeout=self._patience):
            try:
                yield
            finally:
                self._write_lock.release()
        else:
            raise UnavailableError("long-write", "something long is being written; trying again is safe")

    def _run_writer(self) -> None:
        is_last = False
        while not is_last and (job := self._jobs.get()) is not None:
            jobs = [job]
            with suppress(Empty):
                while len(jobs) < JOBS_PER_COMMIT and not is_last:
                    next_job = self._jobs.get_nowait()
                    is_last = next_job is None
                    if next_job is not None:
                        jobs.append(next_job)
            self._commit_jobs(jobs)

    def _commit_jobs(self, jobs: list[_Job]) -> None:
        """Commit several pieces of work together; again where the database fails, one by one where a piece does."""
        for wait in chain(RETRY_DELAYS, repeat(RETRY_DELAYS[-1])):
            try:
                outcomes = self._run_jobs(jobs)
            except UnavailableError as error:
                # A disk that is full or fails is not another one in a moment.
                now = float("inf") if isinstance(error, ReadOnlyError) else time.monotonic()
                _deliver_outcomes([(job, None, error) for job in jobs if job.deadline <= now])
                jobs = [job for job in jobs if job.deadline > now]
                if not jobs:
                    return
                time.sleep(wait)
            except BaseException as error:  # a faulty piece must take neither the others nor the thread with it
                if len(jobs) == 1:
                    _deliver_outcomes([(jobs[0], None, error)])
                    return
                for job in jobs:
                    self._commit_jobs([job])
                return
            else:
                _deliver_outcomes(
                    [(job, answer, refusal) for job, (answer, refusal) in zip(jobs, outcomes, strict=True)]
                )
                return

    def _run_jobs(self, jobs: list[_Job]) -> list[tuple[Any, RingtrueError | None]]:
        """What each piece answers, or why it was refused. Refusals are rare, so that savepoints wait for the first."""
        outcomes: list[tuple[Any, RingtrueError | None]]
        try:
            with self.transaction() as connection:
                outcomes = [(job.work(connection), None) for job in jobs]
        except UnavailableError:
            raise
        except RingtrueError as error:
            return [(None, error)] if len(jobs) == 1 else self._run_with_savepoints(jobs)
        return outcomes

    def _run_with_savepoints(self, jobs: list[_Job]) -> list[tuple[Any, RingtrueError | None]]:
        outcomes: list[tuple[Any, RingtrueError | None]] = []
        with self.transaction() as connection:
            for job in jobs:
                connection.exec_driver_sql("SAVEPOINT piece")
                try:
                    outcomes.append((job.work(connection), None))
                except UnavailableError:
                    raise
                except RingtrueError as error:
                    connection.exec_driver_sql("ROLLBACK TO SAVEPOINT piece")
                    outcomes.append((None, error))
                connection.exec_driver_sql("RELEASE SAVEPOINT piece")
        return outcomes


def _deliver_outcomes(outcomes: list[tuple[_Job, Any, BaseException | None]]) -> None:
    """Tell who waits in a thread one by one, and who waits in an event loop by waking the loop once."""
    in_loops: dict[asyncio.AbstractEventLoop, list[tuple[_Job, Any, BaseException | None]]] = {}
    for outcome in outcomes:
        future = outcome[0].future
        if isinstance(future, Future):
            _resolve_futures([outcome])
        else:
            in_loops.setdefault(future.get_loop(), []).append(outcome)
    for loop, loop_outcomes in in_loops.items():
        with suppress(RuntimeError):  # a loop that is closed: nobody waits there any more
            loop.call_soon_threadsafe(_resolve_futures, loop_outcomes)


def _resolve_futures(outcomes: list[tuple[_Job, Any, BaseException | None]]) -> None:
    for job, answer, error in outcomes:
        if job.future.done():  # who waited was called off; what was written stays
            continue
        if error is None:
            job.future.set_result(answer)
        else:
            # Which no coroutine can be told: it would wait for ever.
            job.future.set_exception(RuntimeError("StopIteration") if isinstance(error, StopIteration) else error)
