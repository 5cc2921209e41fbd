"""Does anybody wait for those who compute? 20 requests for judge quality at once, while people log in and judge.

    python -m benchmarks.starvation [--requests 20] [--items 20000] [--seconds 30]

`ringtrue serve` on SQLite, one process. Each of the requests is by another viewer, asks for 1,000 resamples and has a
seed of its own, so that none shares the answer of another. Log-ins are real: the page, the form, Argon2.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.servers import Serving

PROJECT, PASSWORD = "load", "four words of nonsense"
JUDGES, QUERIES = 3, 200
WORD = re.compile(r'name="word" value="([^"]+)"')
PATIENCE = 600.0  # seconds for one answer
MOST_SECONDS = 1.0  # wall time of a log-in, whatever others compute


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Who is known to the server: one who logs in by a handle, tokens of viewers, and one of a judge."""

    handle: str
    viewers: tuple[str, ...]
    judge: str


def prepare(path: Path, *, viewers: int, items: int) -> Known:
    """A project with labels of three judges for each of so many items, and as many more to be judged."""
    import numpy as np

    from ringtrue.service.collect.import_labels import import_labels
    from ringtrue.service.collect.uploads import UploadedFile
    from ringtrue.service.store import Scale, Settings, Store
    from ringtrue.service.store.accounts import add_member, create_account
    from ringtrue.service.store.items import add_items
    from ringtrue.service.store.projects import create_project
    from ringtrue.service.store.sessions import issue_token
    from ringtrue.service.web.auth.login import hash_password

    rng, now = np.random.default_rng(0), time.time()
    with Store.open(str(path)) as store:
        with store.transaction() as connection:
            project = create_project(
                connection, name=PROJECT, title="Load", scale=Scale.graded("Not relevant", "Related", "Relevant"),
                settings=Settings(judges=JUDGES, traps=0, traps_needed=0), guidelines="", now=now,
            )  # fmt: skip
            rows = [{"query": f"q{at % QUERIES}", "doc": f"new{at}"} for at in range(items)]
            add_items(connection, project, rows, queue="main", wanted=JUDGES, rng=rng)
            person = create_account(
                connection, kind="named", name="Lena", password_hash=hash_password(PASSWORD), now=now
            )
            add_member(connection, project.id, person, "judge", now)
            tokens = []
            for number in range(viewers):
                viewer = create_account(connection, kind="named", name=f"Viewer {number}", now=now)
                add_member(connection, project.id, viewer, "viewer", now)
                tokens.append(issue_token(connection, viewer, name="load", scopes=["read"], now=now, days=1))
            judge = issue_token(connection, person, name="load", scopes=["judge"], now=now, days=1)
        truth = rng.integers(0, 3, items)
        noise = rng.integers(-1, 2, (JUDGES, items))
        lines = [
            f"q{at % QUERIES},d{at},judge{number},{label}"
            for number in range(JUDGES)
            for at, label in enumerate(np.clip(truth + noise[number], 0, 2))
        ]
        content = "\n".join(["query,doc,judge,label", *lines]).encode()
        import_labels(store, project, UploadedFile(name="labels.csv", content=content), now=now, rng=rng)
    return Known(handle="lena", viewers=tuple(tokens), judge=judge)


def ask(
    port: int, method: str, path: str, *, headers: dict[str, str] | None = None, body: str | None = None
) -> tuple[int, http.client.HTTPMessage, str]:
    """One request on a connection of its own: status, headers, body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def log_in(port: int, handle: str) -> None:
    """See the page, and send its form."""
    _, headers, page = ask(port, "GET", "/login")
    cookie, word = headers["set-cookie"].split(";")[0], WORD.search(page)
    assert word is not None
    form = urlencode({"handle": handle, "password": PASSWORD, "word": word[1], "next": "/"})
    sent = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie}
    status, _, said = ask(port, "POST", "/login", headers=sent, body=form)
    assert status == 303, f"{status}: {said[:200]}"


class Judge:
    """A judge who answers one question after the other."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.token, self.step = port, token, {"task": None, "question": None}

    def answer(self) -> None:
        """One answer, and a new task first where there is none."""
        while (question := self.step["question"]) is None:  # also in a task of which all is answered already
            if self.step["task"] is not None:
                self._post(f"/tasks/{self.step['task']['id']}/hand-in", {})
            self.step = self._post(f"/projects/{PROJECT}/tasks", {})
        said = {"assignment": question["assignment"], "version": question["version"], "answer": "1"}
        self.step = self._post(f"/tasks/{self.step['task']['id']}/answers", said)

    def _post(self, path: str, body: object) -> dict:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        status, _, said = ask(self.port, "POST", f"/api/v1{path}", headers=headers, body=json.dumps(body))
        assert status == 200, f"{status}: {said[:200]}"
        return json.loads(said)


def repeat(work: Callable[[], None], until: Callable[[], bool]) -> list[float]:
    """How long each turn took; at least one is tried."""
    seconds: list[float] = []
    while not seconds or not until():
        begun = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begun)
    return seconds


def measure(known: Known, port: int, *, seconds: float, busy: bool) -> tuple[dict[str, list[float]], Counter[int]]:
    """What log-ins and answers take, while quality is asked for by all viewers at once, or by nobody."""
    statuses: Counter[int] = Counter()
    took: dict[str, list[float]] = {}
    begun = time.perf_counter()

    def look(seed: int, token: str) -> None:
        path = f"/api/v1/projects/{PROJECT}/quality?resamples=1000&seed={seed}"
        status, _, _ = ask(port, "GET", path, headers={"Authorization": f"Bearer {token}"})
        statuses[status] += 1

    lookers = [threading.Thread(target=look, args=pair) for pair in enumerate(known.viewers)] if busy else []
    for thread in lookers:
        thread.start()
    if busy:
        time.sleep(0.3)  # until all of them are there

    def is_over() -> bool:
        elapsed = time.perf_counter() - begun
        return elapsed > seconds or (busy and not any(thread.is_alive() for thread in lookers))

    judge = Judge(port, known.judge)
    jobs = {"log-in": lambda: log_in(port, known.handle), "answer": judge.answer}
    workers = [
        threading.Thread(target=lambda name=name, work=work: took.update({name: repeat(work, is_over)}))
        for name, work in jobs.items()
    ]
    for thread in [*workers, *lookers]:
        if thread in workers:
            thread.start()
    for thread in [*workers, *lookers]:
        thread.join()
    return took, statuses


def line(name: str, seconds: list[float]) -> str:
    """p50, p95 and the longest, in milliseconds."""
    ordered = sorted(seconds)
    spread = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)], ordered[-1]
    return f"{name:<24}{len(ordered):>6}" + "".join(f"{1000 * value:>10,.0f}" for value in spread)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.starvation", description="Does anybody starve?")
    parser.add_argument("--requests", type=int, default=20)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=30)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ringtrue-starvation-") as folder:
        path = Path(folder) / "ringtrue.db"
        known = prepare(path, viewers=given.requests, items=given.items)
        with Serving(f"sqlite:///{path}") as server:
            header = {"Authorization": f"Bearer {known.viewers[0]}"}
            begun = time.perf_counter()
            status, _, _ = ask(server.port, "GET", f"/api/v1/projects/{PROJECT}/quality?resamples=1000", headers=header)
            alone = time.perf_counter() - begun
            print(f"one request for quality alone: {alone:.1f} s (status {status}), {JUDGES * given.items:,} labels")
            print(f"{'milliseconds':<24}{'n':>6}{'p50':>10}{'p95':>10}{'max':>10}", flush=True)
            for busy in (False, True):
                took, statuses = measure(known, server.port, seconds=given.seconds if busy else 5, busy=busy)
                for name in sorted(took):
                    print(line(f"{name}, {'busy' if busy else 'idle'}", took[name]), flush=True)
            print(f"statuses of {given.requests} requests at once: {dict(sorted(statuses.items()))}")
            kept = max(took["log-in"]) < MOST_SECONDS
            print(f"log-ins meanwhile: less than {MOST_SECONDS:g} s ({'kept' if kept else 'NOT KEPT'})")


if __name__ == "__main__":
    main()
