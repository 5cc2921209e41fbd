"""Files for a small project, and judges who answer all that they are asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from html import unescape
from typing import Any

import pytest

from ringtrue.cli import main

RUN = "".join(
    f"{query} Q0 {doc} {rank} {10 - rank} bm25\n"
    for query in ("q1", "q2")
    for rank, doc in enumerate(("a", "b", "c", "d"), start=1)
)
TOPICS = "query,text\nq1,wind at sea\nq2,bees at home\n"
DOCUMENTS = "doc,title,text\n" + "".join(f"{doc},Title of {doc},Text of {doc} & more\n" for doc in "abcdt")
TRAPS = "query,doc,label\nq1,t,0\nq2,t,0\n"
PAIRS = "query,left,right\nq1,a,b\nq1,b,c\nq2,a,c\n"
"""The texts of the files."""

SETTINGS = {
    "judges": "2", "task_size": "10", "traps": "2", "traps_needed": "2", "failed_traps": "flag", "minutes": "30",
    "lease_minutes": "30", "shortcuts": "on", "together": "on", "completion_answered": "100",
    "completion_unsure": "25", "completion_seconds": "0",
}  # fmt: skip
FORM = SETTINGS | {"title": "Sea & bees", "name": "", "scale": "binary", "grades": "", "guidelines": "", "depth": "10"}

Files = list[tuple[str, tuple[str, bytes, str]]]


def files(**texts: str | bytes) -> Files:
    """Files as a browser sends them, by field; a field `ask2` is a second file of `ask`."""
    made = []
    for name, text in texts.items():
        content = text.encode() if isinstance(text, str) else text
        field = name.rstrip("0123456789")
        ending = {"ask": "run", "documents": "csv", "topics": "csv", "trap_file": "csv"}.get(field, "csv")
        made.append((field, (f"{name}.{ending}", content, "application/octet-stream")))
    return made


def whole() -> Files:
    """All files of the small project."""
    return files(ask=RUN, topics=TOPICS, documents=DOCUMENTS, trap_file=TRAPS)


def send_new(owner: Any, sent: Files, **changed: str | None) -> Any:
    """Fill in the form for a new project; a field of None is not sent."""
    owner.get("/projects/new")
    form = {name: value for name, value in (FORM | changed).items() if value is not None}
    return owner.post("/projects/new", form | owner.hidden(), files=sent)


def judge_all(judge: Any, project: str, choose: Callable[[str], str], queue: str | None = None) -> int:
    """Answer every question of the tasks that there are, and hand them in; `choose` sees the page."""
    count = 0
    page = judge.begin(project, queue)
    while page.status_code == 200 and 'name="task"' in page.text:
        if 'name="assignment"' not in page.text:
            page = judge.send(f"/p/{project}/hand-in")
            assert page.status_code == 303, page.text
            page = judge.begin(project, queue)
            continue
        fields = judge.hidden() | {"kind": "answer", "answer": choose(page.text)}
        answer = judge.post(f"/p/{project}/answer", fields)
        assert answer.status_code == 303, answer.text
        page = judge.get(answer.headers["location"], follow_redirects=True)
        count += 1
    return count


def said(page: Any) -> str:
    """The words of a page."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


def beside(page: Any, field: str) -> str:
    """What stands beside a field as its problem."""
    found = re.search(rf'id="{field}-problem"[^>]*>([^<]*)<', page.text)
    return unescape(found[1]) if found else ""


def link_in(page: Any, kind: str) -> str:
    """The path of a link that is shown once."""
    found = re.search(rf'value="http://ringtrue.test(/{kind}/[^"?]+)"', page.text)
    assert found is not None, page.text
    return found[1]


def ringtrue(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """What a command answers."""
    capsys.readouterr()
    with suppress(SystemExit):
        main([*words, "--json"])
    printed = capsys.readouterr()
    assert printed.out, printed.err
    return json.loads(printed.out)


def title_shown(page: str) -> str:
    """The letter of the document that a judge sees."""
    found = re.search(r"Title of (\w)", page)
    assert found is not None
    return found[1]
