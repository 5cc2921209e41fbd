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
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Self, TypeVar

from ringtrue.errors import RingtrueError, UnavailableError
from ringtrue.service.store.connections import Engines, engines
from ringtrue.service.store.db_errors import told, told_at_opening
from ringtrue.service.store.migrations import migrate

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["Store"]

T = TypeVar("T")
TOGETHER = 64  # how many writes share a commit at most
RETRIES = (0.05, 0.1, 0.2, 0.5)  # seconds between tries where the database is full or away; the last again and again
PATIENCE = 5.0  # seconds for which a write waits for a database that is locked or away


@dataclass(slots=True)
class _Job:
    work: Callable[[Connection], Any]
    done: Future[Any] | asyncio.Future[Any]
    until: float


class Store:
    """Judgments and all that belongs to them, in SQLite or PostgreSQL.

    `read` and `transaction` are for the caller's own thread. `write` and `submit` hand short pieces of work to one
    writing thread, which commits those that wait together: each is answered only when the disk has it, and a piece of
    work that fails takes nothing of the others with it. A piece may be run again after a fault, even after a commit
    whose answer got lost, so it must do nothing but speak to its connection, and be harmless when repeated. With a
    database that is locked, full or away, a piece is tried for `patience` seconds, and then raises UnavailableError.

    Examples:
        >>> from sqlalchemy import text
        >>> with Store.open("sqlite://") as store:
        ...     store.write(lambda connection: connection.execute(text("SELECT 1 + 1")).scalar_one())
        2
    """

    def __init__(self, made: Engines, *, patience: float = PATIENCE) -> None:
        self.engine = made.writing
        self._reading = made.reading
        self._patience = patience
        self._sqlite = self.engine.dialect.name == "sqlite"
        self._memory = made.in_memory
        self._writing = threading.RLock()  # SQLite has one writer; waiting here is fair, and its own waiting is not
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name="ringtrue-writer", daemon=True)
        self._door = threading.Lock()  # nothing is handed in behind the last
        self._closed = False

    @classmethod
    def open(cls, url: str, *, pool_size: int = 20, patience: float = PATIENCE) -> Self:
        """Open a database by its URL or the path of an SQLite file, and bring its tables up to date."""
        store = cls(engines(url, pool_size=pool_size, patience=patience), patience=patience)
        try:
            with told_at_opening(store.engine.url.render_as_string()), store._begun() as connection:
                migrate(connection)
        except BaseException:
            store._let_go()
            raise
        store._thread.start()
        return store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Finish what was handed in, and let go of the database."""
        with self._door:
            if self._closed:
                return
            self._closed = True
            self._jobs.put(None)
        if self._thread.ident is not None:
            self._thread.join()
        self._let_go()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection to look things up with: all it reads is of one moment."""
        alone = self._writing if self._memory else nullcontext()  # all share the one connection that has the tables
        with told(), alone, self._reading.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A connection for a longer piece of writing, committed at the end or not at all."""
        with told(), self._begun() as connection:
            yield connection

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run a short piece of work in a transaction; it is on the disk when this returns."""
        return self.submit(work).result()

    def submit(self, work: Callable[[Connection], T]) -> Future[T]:
        """Hand in a short piece of work; the answer is there when the disk has it.

        It cannot be called off: a judge whose connection breaks still gets the answer saved.
        """
        done: Future[T] = Future()
        done.set_running_or_notify_cancel()
        self._hand_in(work, done)
        return done

    async def written(self, work: Callable[[Connection], T]) -> T:
        """The same for coroutines: those whose work is committed together are woken together."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._hand_in(work, done)
        return await done

    def _hand_in(self, work: Callable[[Connection], T], done: Future[T] | asyncio.Future[T]) -> None:
        with self._door:
            if self._closed:
                raise UnavailableError("the server is stopping; try again in a moment")
            self._jobs.put(_Job(work, done, time.monotonic() + self._patience))

    def _let_go(self) -> None:
        self.engine.dispose()
        self._reading.dispose()

    @contextmanager
    def _begun(self) -> Iterator[Connection]:
        with self._hand(), self.engine.connect() as connection, connection.execution_options(writes=True).begin():
            yield connection

    @contextmanager
    def _hand(self) -> Iterator[None]:
        """The turn to write: SQLite has one for all, and a long import may have it."""
        if not self._sqlite:
            yield
        elif self._writing.acquire(timeout=self._patience):
            try:
                yield
            finally:
                self._writing.release()
        else:
            raise UnavailableError("something long is being written; trying again is safe")

    def _serve(self) -> None:
        last = False
        while not last and (job := self._jobs.get()) is not None:
            jobs = [job]
            with suppress(Empty):
                while len(jobs) < TOGETHER and not last:
                    more = self._jobs.get_nowait()
                    last = more is None
                    if more is not None:
                        jobs.append(more)
            self._commit(jobs)

    def _commit(self, jobs: list[_Job]) -> None:
        """Commit several pieces of work together; again where the database fails, one by one where a piece does."""
        for wait in chain(RETRIES, repeat(RETRIES[-1])):
            try:
                outcomes = self._run(jobs)
            except UnavailableError as error:
                now = time.monotonic()
                _tell([(job, None, error) for job in jobs if job.until <= now])
                jobs = [job for job in jobs if job.until > now]
                if not jobs:
                    return
                time.sleep(wait)
            except BaseException as error:  # a faulty piece must take neither the others nor the thread with it
                if len(jobs) == 1:
                    _tell([(jobs[0], None, error)])
                    return
                for job in jobs:
                    self._commit([job])
                return
            else:
                _tell([(job, value, refused) for job, (value, refused) in zip(jobs, outcomes, strict=True)])
                return

    def _run(self, jobs: list[_Job]) -> list[tuple[Any, RingtrueError | None]]:
        """What each piece answers, or why it was refused. Refusals are rare, so that savepoints wait for the first."""
        outcomes: list[tuple[Any, RingtrueError | None]]
        try:
            with self.transaction() as connection:
                outcomes = [(job.work(connection), None) for job in jobs]
        except UnavailableError:
            raise
        except RingtrueError as error:
            return [(None, error)] if len(jobs) == 1 else self._run_apart(jobs)
        return outcomes

    def _run_apart(self, jobs: list[_Job]) -> list[tuple[Any, RingtrueError | None]]:
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


def _tell(outcomes: list[tuple[_Job, Any, BaseException | None]]) -> None:
    """Tell who waits in a thread one by one, and who waits in an event loop by waking the loop once."""
    in_loops: dict[asyncio.AbstractEventLoop, list[tuple[_Job, Any, BaseException | None]]] = {}
    for outcome in outcomes:
        done = outcome[0].done
        if isinstance(done, Future):
            _settle([outcome])
        else:
            in_loops.setdefault(done.get_loop(), []).append(outcome)
    for loop, several in in_loops.items():
        with suppress(RuntimeError):  # a loop that is closed: nobody waits there any more
            loop.call_soon_threadsafe(_settle, several)


def _settle(outcomes: list[tuple[_Job, Any, BaseException | None]]) -> None:
    for job, value, error in outcomes:
        if job.done.done():  # who waited was called off; what was written stays
            continue
        if error is None:
            job.done.set_result(value)
        else:
            # Which no coroutine can be told: it would wait for ever.
            job.done.set_exception(RuntimeError("StopIteration") if isinstance(error, StopIteration) else error)
