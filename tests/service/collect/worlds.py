"""Files to make projects of, and judges who answer as somebody says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ringtrue.service.collect import UploadedFile
from ringtrue.service.collect.project_setup import ProjectSetup, make_project
from ringtrue.service.store import PREFERENCE, Answer, Scale, Settings, Store
from ringtrue.service.store.answers import record_answer, submit_task
from ringtrue.service.store.records import Project, ShownQuestion
from ringtrue.service.store.tasks import get_or_create_task, load_next_question

NOW = 1_700_000_000.0
GRADED = Scale.graded("Not relevant", "Related", "Relevant")
QUERIES, DOCS = [f"q{at}" for at in range(6)], [f"d{at}" for at in range(8)]
Says = Callable[[ShownQuestion], str]


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def given(name: str, text: str) -> UploadedFile:
    return UploadedFile(name=name, content=text.encode())


def truth(query: str, doc: str) -> int:
    """What a perfect judge says."""
    return (3 * int(query[1:]) + 5 * int(doc[1:])) % 7 % 3


def run_file(name: str, seed: int) -> UploadedFile:
    """A run of every document for every query; the better ones tend to come first."""
    lines = []
    draws = rng(seed)
    for query in QUERIES:
        scores = {doc: truth(query, doc) + 2 * draws.random() for doc in DOCS}
        ranked = sorted(DOCS, key=lambda doc: -scores[doc])
        lines += [f"{query} Q0 {doc} {rank} {scores[doc]:.4f} {name}" for rank, doc in enumerate(ranked, start=1)]
    return given(f"{name}.run", "\n".join(lines) + "\n")


def runs() -> list[UploadedFile]:
    return [run_file("bm25", 1), run_file("dense", 2)]


def topics() -> UploadedFile:
    return given("topics.tsv", "".join(f"{query}\twhat is {query}\n" for query in QUERIES))


def documents() -> UploadedFile:
    return given(
        "docs.jsonl", "".join(f'{{"doc": "{doc}", "title": "T {doc}", "text": "about {doc}"}}\n' for doc in DOCS)
    )


def settings(**changes: Any) -> Settings:
    return Settings(**({"judges": 2, "task_size": 12, "traps": 0, "traps_needed": 0, "minutes": None} | changes))


def graded(store: Store, *, name: str = "graded", ask: Any = None, **changes: Any) -> ProjectSetup:
    """A project of labels from two runs, with all their texts."""
    files = {key: changes.pop(key) for key in ("topics", "documents", "depth") if key in changes}
    files["traps"] = changes.pop("known", None)
    files = {"topics": topics(), "documents": [documents()], "depth": 8} | files
    return make_project(
        store, name=name, title="Graded", scale=GRADED, settings=settings(**changes),
        ask=runs() if ask is None else ask, now=NOW, rng=rng(), **files,
    )  # fmt: skip


def pairs(store: Store, *, name: str = "pairs", ask: Any = None, **changes: Any) -> ProjectSetup:
    """A project of pairs."""
    files = {key: changes.pop(key) for key in ("topics", "documents", "depth") if key in changes}
    files["traps"] = changes.pop("known", None)
    return make_project(
        store, name=name, title="Pairs", scale=PREFERENCE, settings=settings(**changes),
        ask=[runs()[0]] if ask is None else ask, now=NOW, rng=rng(), **({"depth": 4} | files),
    )  # fmt: skip


def right(shown: ShownQuestion) -> str:
    """What a perfect judge says, of a document or of a pair."""
    left = truth(shown.query, shown.left.name)
    if shown.right is None:
        return str(left)
    other = truth(shown.query, shown.right.name)
    return "left" if left > other else "right" if other > left else "both_good" if left else "both_bad"


def account(store: Store, handle: str) -> int:
    from ringtrue.service.store.accounts import create_account

    return store.write(lambda c: create_account(c, kind="named", name=handle, handle=handle, now=NOW))


def judge_all(
    store: Store, project: Project, who: int, says: Says | Mapping[str, str] = right, *, queue: str = "main",
    tasks: int | None = None, now: float = NOW + 60, seconds: float = 4.0,
) -> int:  # fmt: skip
    """Take tasks and answer them until nothing is left; how many answers were given."""
    answers = done = 0
    draws = rng(who)

    def work(connection: Any) -> int | None:
        task = get_or_create_task(connection, project, who, queue=queue, now=now, rng=draws)
        if task is None:
            return None
        while (shown := load_next_question(connection, task.id, who)) is not None:
            said = says(shown) if callable(says) else says.get(shown.left.name, right(shown))
            answer = Answer(answer=said, seconds=seconds) if said != "unsure" else Answer(kind="unsure", reason="why")
            record_answer(connection, who, shown.assignment, shown.version, answer, now=now + 4)
        submit_task(connection, who, task.id, now=now)
        return task.size

    while (tasks is None or done < tasks) and (given := store.write(work)) is not None:
        answers += given
        done += 1
    return answers
