"""What naming, counting and logging a request costs: CPU microseconds, over an application that answers at once.

python -m benchmarks.request_overhead [--requests 20000]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

REQUESTS, TURNS = 20_000, 5
HEADERS = [(b"host", b"judge.example.org"), (b"cookie", b"x" * 120), (b"x-request-id", b"7f3a4c5e6b8d9f00")]


async def answer(_scope: dict[str, Any], _receive: object, send: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
    """Answer without doing anything."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def measure(app: Any, requests: int) -> float:
    """CPU microseconds a request; the least of some turns."""
    from ringtrue.service.web.metrics import RequestMetrics

    server = SimpleNamespace(base_url="https://judge.example.org", metrics=RequestMetrics())
    common = {
        "type": "http",
        "app": SimpleNamespace(state=SimpleNamespace(server=server)),
        "headers": HEADERS,
        "method": "POST",
        "route": SimpleNamespace(path="/p/{project}/answer"),
        "state": {"account": 12},
    }

    async def send(_message: dict[str, Any]) -> None:
        pass

    turns = []
    for _ in range(TURNS):
        started = time.process_time()
        for _ in range(requests):
            await app(dict(common), None, send)
        turns.append((time.process_time() - started) / requests * 1e6)
    return min(turns)


def main() -> None:
    """Prints a line for each way."""
    from ringtrue.service.web.request_logs import RequestLogMiddleware, configure_logging

    parser = argparse.ArgumentParser(prog="python -m benchmarks.request_overhead", description="What a request costs.")
    parser.add_argument("--requests", type=int, default=REQUESTS)
    requests = parser.parse_args().requests
    bare = asyncio.run(measure(answer, requests))
    ways: tuple[tuple[str, Any], ...] = (("id and metrics", None), ("and a line of text", "text"), ("and JSON", "json"))
    for name, log_format in ways:
        logging.getLogger().handlers.clear()
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
            configure_logging(log_format)
            microseconds = asyncio.run(measure(RequestLogMiddleware(answer), requests)) - bare
        print(f"{name}: {microseconds:.1f} µs a request")


if __name__ == "__main__":
    main()
