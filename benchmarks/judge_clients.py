"""Judges who answer as fast as the server lets them, each over a connection that stays open.

    echo '{"port": 8000, "way": "pages", …}' | python -m benchmarks.judge_clients

A process of its own: it reads a `Shift` as JSON, and prints a `Report` as JSON when the time is over or it is told to
end by SIGTERM.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import signal
import sys
import time
from collections.abc import Awaitable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeVar

T = TypeVar("T")
Way = Literal["pages", "api", "whole"]
ANSWERS = ("0", "1", "2")
# Not `since`: by it the server knows that nobody can have seen a question that is answered within 60 ms.
FIELD = re.compile(rb'name="(task|assignment|version)" value="([^"]*)"')
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
LOCATION = re.compile(rb"\r\nlocation: *([^\r]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """Who judges where, for how long. A judge of the pages is a cookie and a csrf word, one of the API a token.

    Tenacious judges wait for a server that is gone, and send again what was not acknowledged.
    """

    port: int
    project: str
    judges: list[list[str]]
    seconds: float
    way: Way
    tenacious: bool = False


@dataclass(slots=True, kw_only=True)
class Report:
    """What happened: seconds that each request took, what the server acknowledged (assignment, version, answer)."""

    seconds: float = 0.0
    cpu: float = 0.0
    open_task: list[float] = field(default_factory=list)
    next_item: list[float] = field(default_factory=list)
    submit: list[float] = field(default_factory=list)
    kept: list[tuple[int, int, str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    reconnected: int = 0


class GoneError(Exception):
    """The server closed the connection, or does not listen."""


class Line(asyncio.Protocol):
    """One connection: a request at a time, answered by its head and body."""

    def __init__(self) -> None:
        self.waiting: asyncio.Future[tuple[bytes, bytes]] | None = None
        self.came = b""
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.came += data
        end = self.came.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self.came[: end + 2]
        length = LENGTH.search(head)
        whole = end + 4 + (int(length[1]) if length else 0)
        if len(self.came) >= whole and self.waiting is not None:
            body, self.came = self.came[end + 4 : whole], self.came[whole:]
            waiting, self.waiting = self.waiting, None
            waiting.set_result((head, body))

    def connection_lost(self, _: Exception | None) -> None:
        if self.waiting is not None:
            self.waiting.set_exception(GoneError())
            self.waiting = None
        self.transport = None

    async def ask(self, request: bytes) -> tuple[bytes, bytes]:
        if self.transport is None:
            raise GoneError
        self.waiting = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return await self.waiting


class Judge:
    """One of the judges at work."""

    def __init__(self, shift: Shift, report: Report, who: list[str], end: float) -> None:
        self.shift, self.report, self.end = shift, report, end
        self.line = Line()
        self.by_lot = random.Random(who[0])
        credentials = f"cookie: {who[0]}" if shift.way == "pages" else f"authorization: Bearer {who[0]}"
        self.head = f"host: 127.0.0.1:{shift.port}\r\n{credentials}\r\n"
        self.csrf = who[-1]

    async def work(self) -> None:
        try:
            await {"pages": self.by_pages, "api": self.by_api, "whole": self.by_whole_tasks}[self.shift.way]()
        except GoneError:
            if not self.shift.tenacious:
                self.report.errors.append("the server closed the connection")
        except Exception as error:
            self.report.errors.append(repr(error))

    async def by_pages(self) -> None:
        page = await self.timed(self.report.open_task, self.begin())
        while time.perf_counter() < self.end:
            form = {name.decode(): value.decode() for name, value in FIELD.findall(page)}
            if "assignment" in form:
                answer = self.by_lot.choice(ANSWERS)
                sent = form | {"csrf": self.csrf, "kind": "answer", "answer": answer}
                answered = self.ask("POST", f"/p/{self.shift.project}/answer", sent, expected=303)
                head, _ = await self.timed(self.report.submit, answered)
                self.report.kept.append((int(form["assignment"]), int(form["version"]) + 1, answer))
                page = await self.timed(self.report.next_item, self.get(_location(head)))
            elif b"/hand-in" in page:
                sent = {"csrf": self.csrf, "task": form["task"]}
                await self.ask("POST", f"/p/{self.shift.project}/hand-in", sent, expected=303)
                page = await self.timed(self.report.open_task, self.begin())
            else:
                return  # nothing is left

    async def begin(self) -> bytes:
        """Press the button that begins a task; the first question, or that nothing is left."""
        head, page = await self.ask(
            "POST", f"/p/{self.shift.project}/judge", {"csrf": self.csrf}, expected=303, or_=200
        )
        return await self.get(_location(head)) if LOCATION.search(head) else page

    async def by_api(self) -> None:
        root = "/api/v1"
        tasks = f"{root}/projects/{self.shift.project}/tasks"
        step = await self.timed(self.report.open_task, self.json("POST", tasks, {"queue": "main"}))
        while time.perf_counter() < self.end and step["task"] is not None:
            task, question = step["task"]["id"], step["question"]
            if question is None:
                await self.json("POST", f"{root}/tasks/{task}/hand-in", {})
                step = await self.timed(self.report.open_task, self.json("POST", tasks, {"queue": "main"}))
                continue
            answer = self.by_lot.choice(ANSWERS)
            said = {"assignment": question["assignment"], "version": question["version"], "answer": answer}
            step = await self.timed(self.report.submit, self.json("POST", f"{root}/tasks/{task}/answers", said))
            self.report.kept.append((question["assignment"], question["version"] + 1, answer))

    async def by_whole_tasks(self) -> None:
        tasks = f"/api/v1/projects/{self.shift.project}/whole-tasks"
        while time.perf_counter() < self.end:
            whole = await self.timed(self.report.open_task, self.json("POST", tasks, {"queue": "main"}))
            if whole["task"] is None:
                return
            said = [
                {"assignment": one["assignment"], "version": one["version"], "answer": self.by_lot.choice(ANSWERS)}
                for one in whole["questions"]
            ]
            submitted = self.json("POST", f"/api/v1/whole-tasks/{whole['task']['id']}", {"answers": said})
            await self.timed(self.report.submit, submitted)
            self.report.kept += [(one["assignment"], one["version"] + 1, one["answer"]) for one in said]

    async def timed(self, seconds: list[float], request: Awaitable[T]) -> T:
        begun = time.perf_counter()
        answer = await request
        seconds.append(time.perf_counter() - begun)
        return answer

    async def get(self, path: str) -> bytes:
        return (await self.ask("GET", path, None, expected=200))[1]

    async def json(self, method: str, path: str, sent: dict[str, Any]) -> Any:
        return json.loads((await self.ask(method, path, sent, expected=200))[1])

    async def ask(
        self, method: str, path: str, sent: dict[str, Any] | None, *, expected: int, or_: int | None = None
    ) -> tuple[bytes, bytes]:
        body, kind = b"", ""
        if sent is not None and self.shift.way != "pages":
            body, kind = json.dumps(sent).encode(), "content-type: application/json\r\n"
        elif sent is not None:
            body = "&".join(f"{name}={_quoted(value)}" for name, value in sent.items()).encode()
            kind = "content-type: application/x-www-form-urlencoded\r\n"
        length = "" if sent is None else f"content-length: {len(body)}\r\n"
        request = f"{method} {path} HTTP/1.1\r\n{self.head}{kind}{length}\r\n".encode() + body
        head, came = await self.insist(request)
        status = int(head[9:12])
        if status == 201:
            status = 200
        if status not in (expected, or_):
            raise RuntimeError(f"{method} {path}: {status} {came[:300]!r}")
        return head, came

    async def insist(self, request: bytes) -> tuple[bytes, bytes]:
        while True:
            try:
                if self.line.transport is None:
                    loop = asyncio.get_running_loop()
                    try:
                        _, self.line = await loop.create_connection(Line, "127.0.0.1", self.shift.port)
                    except OSError:
                        raise GoneError from None
                return await self.line.ask(request)
            except GoneError:
                if not self.shift.tenacious or time.perf_counter() > self.end:
                    raise
                self.report.reconnected += 1
                await asyncio.sleep(0.02)


def _location(head: bytes) -> str:
    found = LOCATION.search(head)
    assert found is not None, head
    return found[1].decode()


def _quoted(value: str) -> str:
    return value if value.isalnum() else "".join(one if one.isalnum() else f"%{ord(one):02X}" for one in value)


async def _work(shift: Shift) -> Report:
    report = Report()
    begun = time.perf_counter()
    judges = [Judge(shift, report, who, begun + shift.seconds) for who in shift.judges]

    def go_home() -> None:
        for judge in judges:
            judge.end = 0.0

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, go_home)
    await asyncio.gather(*(judge.work() for judge in judges))
    report.seconds = time.perf_counter() - begun
    report.cpu = time.process_time()
    return report


def main() -> None:
    shift = Shift(**json.load(sys.stdin))
    try:
        import uvloop

        report = uvloop.run(_work(shift))
    except ModuleNotFoundError:
        report = asyncio.run(_work(shift))
    json.dump(asdict(report), sys.stdout)


if __name__ == "__main__":
    main()
