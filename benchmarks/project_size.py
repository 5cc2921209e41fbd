"""Does a large project cost more than a small one? Judges' requests and owners' pages at several sizes.

    python -m benchmarks.project_size [--items 10000,200000,1000000] [--database both]

`ringtrue serve` as a real process for each size, one request at a time. The sizes take turns, so that a busy moment of
the machine hits them more or less alike. CPU is that of the server and its database; wall times hold while nothing else
runs.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from benchmarks.large_project import PROJECT, Credentials, LargeProject, make_large_project
from benchmarks.servers import Serving, cpu_seconds, running_postgresql
from benchmarks.service import DATABASES, latency

SIZES = (10_000, 200_000, 1_000_000)
JUDGES_AT_WORK = 20
ROUNDS = 3
MOST_RATIO = 1.2  # CPU of a judge's request in the largest project for that in the smallest
MOST_SECONDS = 2.0  # wall time of an owner's page
# Not `since`: by it the server knows that nobody can have seen a question that is answered within 60 ms.
FORM_FIELD = re.compile(r'name="(task|assignment|version)" value="([^"]*)"')
API = f"/api/v1/projects/{PROJECT}"
PAGES = {
    "progress": f"/p/{PROJECT}",
    "people": f"/p/{PROJECT}/people",
    "quality": f"/p/{PROJECT}/quality",
    "disagreements": f"/p/{PROJECT}/adjudicate",
    "gold": f"/p/{PROJECT}/gold",
    "exports": f"/p/{PROJECT}/exports",
    "files": f"/p/{PROJECT}/files",
    "settings": f"/p/{PROJECT}/settings",
}
ROUTES = {
    "progress": f"{API}/progress",
    "progress by query": f"{API}/progress/queries",
    "progress by judge": f"{API}/progress/judges",
    "people": f"{API}/people",
    "quality": f"{API}/quality",
    "disagreements": f"{API}/disagreements",
    "verdicts": f"{API}/verdicts",
    "failed tasks": f"{API}/failed-tasks",
    "1,000 answers": f"{API}/judgments",
    "the last answers": f"{API}/judgments?after=LAST",
    "kinds of exports": f"{API}/exports",
}
FILES = {"every label": f"{API}/exports/csv", "one label each": f"{API}/exports/csv?which=one"}


@dataclass(slots=True)
class Cost:
    """Requests of one kind: the seconds that each took, and CPU seconds of all together."""

    seconds: list[float] = field(default_factory=list)
    cpu: float = 0.0

    @property
    def cpu_each(self) -> float:
        """CPU seconds of a request."""
        return self.cpu / len(self.seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A server with a project of some size, and what requests to it have cost so far."""

    items: int
    project: LargeProject
    port: int
    processes: list[int]
    costs: dict[str, Cost] = field(default_factory=dict)

    @contextmanager
    def measured(self, kind: str) -> Iterator[list[float]]:
        """Count the CPU of all requests that are made meanwhile; the seconds of each are put into the list."""
        cost = self.costs.setdefault(kind, Cost())
        before = cpu_seconds(self.processes)
        yield cost.seconds
        cost.cpu += cpu_seconds(self.processes) - before


class Client:
    """Somebody's connection to a site, which stays open."""

    def __init__(self, site: Site, who: Credentials) -> None:
        self.site, self.who = site, who
        self.connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=600)

    def page(self, method: str, path: str, taken: list[float], **form: str) -> tuple[str, str]:
        """A page, and where it sends the browser to."""
        headers = {"cookie": self.who.cookie, "content-type": "application/x-www-form-urlencoded"}
        body = urlencode(form | {"csrf": self.who.csrf}) if method == "POST" else None
        return self._ask(method, path, taken, body, headers)

    def api(self, method: str, path: str, taken: list[float], body: dict[str, Any] | None = None) -> str:
        """What the API answers."""
        headers = {"authorization": f"Bearer {self.who.token}", "content-type": "application/json"}
        return self._ask(method, path, taken, None if body is None else json.dumps(body), headers)[0]

    def _ask(
        self, method: str, path: str, taken: list[float], body: str | None, headers: dict[str, str]
    ) -> tuple[str, str]:
        begun = time.perf_counter()
        self.connection.request(method, path, body, headers)
        response = self.connection.getresponse()
        content = response.read().decode()
        taken.append(time.perf_counter() - begun)
        if response.status >= 400:
            raise RuntimeError(f"{method} {path}: {response.status} {content[:500]}")
        return content, response.headers.get("location", "")


def judge_by_pages(site: Site) -> None:
    """A task of each judge, page by page, all judges side by side."""
    clients = [Client(site, judge) for judge in site.project.judges[:JUDGES_AT_WORK]]
    with site.measured("pages: open a task") as taken:
        opened = [client.page("POST", f"/p/{PROJECT}/judge", taken)[1] for client in clients]
    with site.measured("pages: show the first question") as taken:
        pages = [client.page("GET", path, taken)[0] for client, path in zip(clients, opened, strict=True)]
    while at_work := [number for number, page in enumerate(pages) if 'name="assignment"' in page]:
        sent = {}
        with site.measured("pages: record an answer") as taken:
            for number in at_work:
                form = dict(FORM_FIELD.findall(pages[number])) | {"kind": "answer", "answer": "1"}
                sent[number] = clients[number].page("POST", f"/p/{PROJECT}/answer", taken, **form)[1]
        with site.measured("pages: show the next question") as taken:
            for number, path in sent.items():
                pages[number] = clients[number].page("GET", path, taken)[0]
    with site.measured("pages: hand in") as taken:
        for client, page in zip(clients, pages, strict=True):
            client.page("POST", f"/p/{PROJECT}/hand-in", taken, task=dict(FORM_FIELD.findall(page))["task"])


def judge_by_api(site: Site) -> None:
    """A task of each judge by the API, where an answer brings the next question."""
    clients = [Client(site, judge) for judge in site.project.judges[:JUDGES_AT_WORK]]
    with site.measured("API: open a task") as taken:
        steps = [json.loads(client.api("POST", f"{API}/tasks", taken, {"queue": "main"})) for client in clients]
    while any(step["question"] for step in steps):  # tasks may be of different lengths
        with site.measured("API: record an answer") as taken:
            steps = [
                _answer(client, step, taken) if step["question"] else step
                for client, step in zip(clients, steps, strict=True)
            ]
    with site.measured("API: hand in") as taken:
        for client, step in zip(clients, steps, strict=True):
            client.api("POST", f"/api/v1/tasks/{step['task']['id']}/hand-in", taken, {})


def _answer(client: Client, step: dict[str, Any], taken: list[float]) -> dict[str, Any]:
    answer = {name: step["question"][name] for name in ("assignment", "version")} | {"answer": "1"}
    following: dict[str, Any] = json.loads(
        client.api("POST", f"/api/v1/tasks/{step['task']['id']}/answers", taken, answer)
    )
    return following


def look_at_everything(site: Site) -> None:
    """The owner's pages, the routes of the API that have the same numbers, and files."""
    owner = Client(site, site.project.owner)
    for name, path in PAGES.items():
        with site.measured(f"page: {name}") as taken:
            owner.page("GET", path, taken)
    last = str(site.project.answers)
    for kind, paths in (("route", ROUTES), ("file", FILES)):
        for name, path in paths.items():
            with site.measured(f"{kind}: {name}") as taken:
                owner.api("GET", path.replace("LAST", last), taken)


@contextmanager
def running_sites(kind: str, sizes: Sequence[int]) -> Iterator[list[Site]]:
    """A server and a database for each size."""
    with ExitStack() as stack:
        if kind == "sqlite":
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="ringtrue-size-"))
            urls = [f"sqlite:///{folder}/{items}.db" for items in sizes]
        else:
            postgresql = stack.enter_context(running_postgresql())
            urls = [postgresql.url(postgresql.create()) for _ in sizes]
        sites = []
        for url, items in zip(urls, sizes, strict=True):
            project = make_large_project(url, items)
            server = stack.enter_context(Serving(url))
            assert server.process is not None
            processes = [server.process.pid]
            if kind != "sqlite" and postgresql.process is not None:
                processes.append(postgresql.process.pid)
            sites.append(Site(items=items, project=project, port=server.port, processes=processes))
        yield sites


def measure(kind: str, sizes: Sequence[int], *, rounds: int = ROUNDS) -> list[Site]:
    """All requests at every size, the sizes in turn; what they cost is with each site."""
    with running_sites(kind, sizes) as sites:
        for number in range(rounds + 1):
            for site in sites:
                judge_by_pages(site)
                judge_by_api(site)
                look_at_everything(site)
                if not number:  # the first requests compile statements and fill caches
                    site.costs.clear()
        return sites


def table(sites: Sequence[Site], kinds: Sequence[str], promise: str) -> Iterator[str]:
    """Lines of a table: CPU and wall times at each size, and CPU in the largest for that in the smallest."""
    yield f"{'milliseconds':<30}" + "".join(f"{site.items:>15,} items" + " " * 7 for site in sites)
    yield f"{'':<30}" + "     CPU     p50     p95    " * len(sites) + " CPU ratio"
    for kind in kinds:
        cells = ""
        for site in sites:
            cost = site.costs[kind]
            wall = latency(cost.seconds)
            assert wall is not None
            cells += "".join(f"{1000 * seconds:>8.1f}" for seconds in (cost.cpu_each, wall.p50, wall.p95)) + " " * 4
        yield f"{kind:<30}{cells}{_ratio(sites, kind):>10.2f}{_verdict(sites, kind, promise)}"


def _ratio(sites: Sequence[Site], kind: str) -> float:
    smallest, largest = sites[0].costs[kind], sites[-1].costs[kind]
    return largest.cpu_each / smallest.cpu_each if smallest.cpu else float("nan")


def _verdict(sites: Sequence[Site], kind: str, promise: str) -> str:
    if promise == "flat":
        return f"  at most {MOST_RATIO:g} ({'kept' if _ratio(sites, kind) <= MOST_RATIO else 'NOT KEPT'})"
    wall = latency(sites[-1].costs[kind].seconds)
    kept = wall is not None and wall.p50 < MOST_SECONDS
    return f"  less than {MOST_SECONDS:g} s ({'kept' if kept else 'NOT KEPT'})" if promise == "soon" else ""


def main() -> None:
    """Ends with an error when a request fails, never because of a timing."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.project_size", description="Does size cost?")
    parser.add_argument("--items", default=",".join(map(str, SIZES)), help="sizes of projects, the smallest first")
    parser.add_argument("--database", choices=[*DATABASES, "both"], default="both")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    sizes = [int(size) for size in given.items.split(",")]
    for kind in DATABASES if given.database == "both" else [given.database]:
        begun = time.perf_counter()
        sites = measure(kind, sizes, rounds=given.rounds)
        print(f"\n{DATABASES[kind]}, {given.rounds} rounds, {time.perf_counter() - begun:,.0f} s")
        for promise, prefixes in (("flat", ("pages: ", "API: ")), ("soon", ("page: ", "route: ")), ("", ("file: ",))):
            kinds = [name for name in sites[0].costs if name.startswith(prefixes)]
            print("\n".join(table(sites, kinds, promise)), flush=True)


if __name__ == "__main__":
    main()
