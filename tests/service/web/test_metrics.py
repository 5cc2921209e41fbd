"""Numbers for Prometheus, and who gets them."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from benchmarks.servers import PostgreSQL, Serving

from ringtrue._version import __version__
from ringtrue.service.store import Store
from ringtrue.service.store.accounts import create_account
from ringtrue.service.store.sessions import issue_token
from ringtrue.service.web import metrics_page
from ringtrue.service.web.metrics import (
    BUCKETS,
    FOLDER_VARIABLE,
    HELP,
    ProcessNumbers,
    RequestMetrics,
    add_shared_numbers,
    render_metrics,
    share_numbers,
)
from ringtrue.service.web.metrics_page import share_metrics_between_processes
from service.web.programs import World, world

LINE = re.compile(r'(?P<name>[a-z_]+)(?:\{(?P<labels>(?:[a-z]+="[^"\\\n]*",?)*)\})? (?P<value>[0-9.e+-]+)')


@pytest.fixture
def here(web_store: Store) -> Iterator[World]:
    with world(web_store) as made:
        yield made


def parse(text: str) -> dict[str, float]:
    """Every sample by its name and labels; each line must be one, or a comment."""
    samples: dict[str, float] = {}
    for line in text.splitlines():
        if not line.startswith("# "):
            found = LINE.fullmatch(line)
            assert found is not None, line
            key = f"{found['name']}{{{found['labels']}}}" if found["labels"] else found["name"]
            assert key not in samples, line
            samples[key] = float(found["value"])
    return samples


def scrape(here: World, token: str | None) -> httpx.Response:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return here.runner.run(here.client.get("/metrics", headers=headers))


def numbers(**counters: float) -> ProcessNumbers:
    requests = RequestMetrics()
    requests.observe("/login", "GET", 200, 0.02)
    requests.observe("/login", "POST", 303, 0.3)
    requests.observe("/login", "POST", 401, 99.0)
    return ProcessNumbers(requests=requests, counters=counters, gauges={"ringtrue_writer_queue_length": 2})


def test_only_an_owners_token_that_may_read_opens_it(here: World) -> None:
    refused = scrape(here, None)
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert scrape(here, "guessed").status_code == 401
    assert scrape(here, here.program("Vera", "read", role="viewer").token).status_code == 403
    assert scrape(here, here.program("Odd", "judge", "manage", owner=True).token).status_code == 403
    assert scrape(here, here.program("Prometheus", "read", owner=True).token).status_code == 200


def test_requests_answers_tasks_and_the_database_are_counted_and_nobody_is_named(here: World) -> None:
    judge = here.judge("Jan Judge")
    opened = judge.post("/projects/news/tasks", {})
    question = opened["question"]
    answer = {"assignment": question["assignment"], "version": question["version"], "answer": "1"}
    judge.post(f"/tasks/{opened['task']['id']}/answers", answer)
    judge("GET", "/projects/s3cret")
    here.runner.run(here.client.request("BREW", "/s3cret/s3cret"))
    here.runner.run(here.client.get("/healthz"))
    text = scrape(here, here.owner().token).text
    samples = parse(text)
    assert samples[f'ringtrue_build_info{{version="{__version__}"}}'] == 1
    route = 'route="/api/v1/tasks/{task}/answers",method="POST"'
    assert samples[f'ringtrue_http_requests_total{{{route},status="200"}}'] == 1
    assert samples[f"ringtrue_http_request_duration_seconds_count{{{route}}}"] == 1
    assert samples['ringtrue_http_requests_total{route="unmatched",method="other",status="404"}'] == 1
    assert (samples["ringtrue_newest_answer_number"], samples["ringtrue_open_tasks"]) == (1, 1)
    assert samples["ringtrue_database_writable"] == 1
    assert samples["ringtrue_disk_free_bytes"] > 0
    pools = {f'ringtrue_pool_queue_length{{pool="{name}"}}' for name in ("readers", "heavy", "passwords")}
    assert {"ringtrue_writer_queue_length", *pools} <= samples.keys()
    assert not re.search("news|Jan|jan|s3cret", text)


def test_every_number_is_explained_once_and_before_it_comes() -> None:
    text = render_metrics(numbers(ringtrue_database_unavailable_total=1), {"ringtrue_open_tasks": None})
    assert "ringtrue_open_tasks" not in text
    for name in re.findall("^# TYPE (\\S+)", text, re.MULTILINE):
        assert name in HELP
        assert text.count(f"# TYPE {name} ") == 1
        assert text.index(f"# HELP {name} ") < text.index(f"# TYPE {name} ") < text.index(f"\n{name}")


def test_buckets_of_a_histogram_add_up() -> None:
    samples = parse(render_metrics(numbers(), {}))
    name = 'ringtrue_http_request_duration_seconds_{}{{route="/login",method="POST"{}}}'
    counts = [samples[name.format("bucket", f',le="{bound}"')] for bound in (*BUCKETS, "+Inf")]
    assert counts == [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2]
    assert samples[name.format("count", "")] == 2
    assert samples[name.format("sum", "")] == pytest.approx(99.3)


def test_a_name_in_a_label_cannot_break_out_of_it() -> None:
    requests = RequestMetrics()
    requests.observe('/a"b\\c\nd', "GET", 200, 0.1)
    text = render_metrics(ProcessNumbers(requests=requests, counters={}, gauges={}), {})
    assert r'route="/a\"b\\c\nd"' in text


def test_numbers_of_other_processes_are_added_and_gauges_of_those_that_ended_are_not(tmp_path: Path) -> None:
    share_numbers(numbers(ringtrue_database_unavailable_total=3).to_json(), tmp_path)
    (own,) = tmp_path.glob("*.json")
    for pid in (1, 2):
        (tmp_path / f"{pid}.json").write_bytes(own.read_bytes())
    os.utime(tmp_path / "2.json", (time.time() - 60, time.time() - 60))
    total = add_shared_numbers(numbers(ringtrue_database_unavailable_total=4), tmp_path)
    samples = parse(render_metrics(total, {}))
    assert samples["ringtrue_database_unavailable_total"] == 10
    assert samples["ringtrue_writer_queue_length"] == 4
    assert samples['ringtrue_http_requests_total{route="/login",method="POST",status="401"}'] == 3
    assert samples['ringtrue_http_request_duration_seconds_count{route="/login",method="POST"}'] == 6


def test_the_folder_of_a_server_that_was_killed_is_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics_page, "MEMORY_FOLDER", tmp_path)
    killed, running = tmp_path / "ringtrue-metrics-999999999-a", tmp_path / f"ringtrue-metrics-{os.getpid()}-a"
    killed.mkdir()
    running.mkdir()
    with share_metrics_between_processes():
        assert Path(os.environ[FOLDER_VARIABLE]).parent == tmp_path
        assert (killed.exists(), running.exists()) == (False, True)
    assert FOLDER_VARIABLE not in os.environ
    assert list(tmp_path.iterdir()) == [running]


@pytest.mark.slow
def test_several_processes_answer_with_the_numbers_of_all(postgresql: PostgreSQL) -> None:
    name = postgresql.create("migrated")

    def make(connection: Any) -> str:
        olga = create_account(connection, kind="named", name="Olga", owner=True, now=1.0)
        return issue_token(connection, olga, name="t", scopes=["read"], now=1.0, days=None)

    with Store.open(postgresql.url(name)) as store:
        token = store.write(make)
    asked = 40
    with Serving(postgresql.url(name), "--workers", "2") as server:
        address = f"http://127.0.0.1:{server.port}"
        for _ in range(asked):  # each by a connection of its own, so that both processes get some
            httpx.get(f"{address}/login", timeout=30)
        counted: set[float] = set()
        end = time.monotonic() + 30
        while counted != {asked} and time.monotonic() < end:
            time.sleep(0.5)
            counted = {_count_logins(address, token) for _ in range(6)}
        assert counted == {asked}
    postgresql.drop(name)


def _count_logins(address: str, token: str) -> float:
    text = httpx.get(f"{address}/metrics", headers={"Authorization": f"Bearer {token}"}, timeout=30).text
    return parse(text).get('ringtrue_http_requests_total{route="/login",method="GET",status="200"}', 0)


def test_numbers_are_put_into_words_on_the_loop_that_counts_them(
    here: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    threads: list[int] = []
    to_json = ProcessNumbers.to_json
    monkeypatch.setattr(ProcessNumbers, "to_json", lambda self: threads.append(threading.get_ident()) or to_json(self))
    here.runner.run(metrics_page.share_own_numbers(here.app.state.server))
    assert threads == [threading.get_ident()]
    assert list(tmp_path.glob("*.json"))
