"""A project from files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from ringtrue.errors import MismatchError
from ringtrue.formatting.phrases import counted
from ringtrue.service.collect.inputs import document_rows, read_texts, read_traps, topic_rows
from ringtrue.service.collect.items import Asked, read_asked
from ringtrue.service.collect.plainly import plainly, without_options
from ringtrue.service.collect.uploads import GivenFile, as_table, keep, note_documents
from ringtrue.service.store.progress import missing_texts
from ringtrue.service.store.projects import add_documents, add_items, add_queries, ask_again, create_project

if TYPE_CHECKING:
    import numpy as np
    from sqlalchemy import Connection

    from ringtrue.service.store import Scale, Settings, Store
    from ringtrue.service.store.records import Project

__all__ = ["Made", "extend_project", "make_project"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What files brought into a project: new items and traps, queries and documents with texts, and every doubt."""

    project: Project
    items: int
    queries: int
    documents: int
    traps: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Read:
    """All that files say, read before anything is written."""

    asked: Asked | None
    topics: list[dict[str, Any]]
    documents: list[pl.DataFrame]
    traps: list[dict[str, Any]]
    files: tuple[tuple[str, GivenFile], ...]
    listed: tuple[GivenFile, ...]
    notes: tuple[str, ...]


@plainly()
def make_project(
    store: Store, *, name: str, title: str, scale: Scale, settings: Settings, guidelines: str = "",
    ask: Sequence[GivenFile] = (), topics: GivenFile | None = None, documents: Sequence[GivenFile] = (),
    traps: GivenFile | None = None, depth: int = 10, now: float, rng: np.random.Generator,
) -> Made:  # fmt: skip
    """Make a project from files: what is to be judged, what queries and documents say, and known answers.

    `ask` are runs, which are pooled at `depth`, or a pool, a judged table, or pairs. All files but the documents are
    kept, since their texts are. Nothing is made where a file cannot be used.
    """
    read = _read(ask, topics, documents, traps, scale, settings, depth=depth, rng=rng)
    with store.transaction() as connection:
        project = create_project(
            connection, name=name, title=title, scale=scale, settings=settings, guidelines=guidelines, now=now
        )
        return _put(connection, project, read, now=now, rng=rng)


@plainly()
def extend_project(
    store: Store, project: Project, *, ask: Sequence[GivenFile] = (), topics: GivenFile | None = None,
    documents: Sequence[GivenFile] = (), traps: GivenFile | None = None, depth: int = 10, now: float,
    rng: np.random.Generator,
) -> Made:  # fmt: skip
    """Add to a project what files say; what is there already keeps its answers, and texts are brought up to date."""
    read = _read(ask, topics, documents, traps, project.scale, project.settings, depth=depth, rng=rng)
    with store.transaction() as connection:
        return _put(connection, project, read, now=now, rng=rng)


def _read(
    ask: Sequence[GivenFile], topics: GivenFile | None, documents: Sequence[GivenFile], traps: GivenFile | None,
    scale: Scale, settings: Settings, *, depth: int, rng: np.random.Generator,
) -> _Read:  # fmt: skip
    notes: list[str] = []
    asked = read_asked(ask, scale, settings, depth=depth, rng=rng) if ask else None
    known = read_traps(traps, scale, notes.append) if traps is not None else []
    queries = topic_rows(topics, notes.append) if topics is not None else []
    wanted = pl.Series("doc", [], dtype=pl.String)
    if asked is not None:
        in_traps = [row[side] for row in known for side in ("doc", "other") if row.get(side)]
        wanted = pl.concat([asked.docs, pl.Series("doc", in_traps, dtype=pl.String)]).unique()
        named = set(asked.items["query"]) | {row["query"] for row in known}
        if topics is not None and not named & {row["name"] for row in queries}:
            raise MismatchError(
                f"{topics.name}: none of its {len(queries):,} topics is asked about: the first is "
                f"'{queries[0]['name']}', and asked is '{asked.items['query'][0]}'; do both use the same ids?"
            )
    texts = read_texts(documents, wanted, notes.append)
    if asked is not None and asked.texts is not None:
        texts.insert(0, asked.texts.rename({"doc": "name"}))
    sent = list(asked.files) if asked else []
    if topics is not None:
        sent.append(("topics", topics))
    if traps is not None:
        sent.append(("traps", as_table(traps.name, _as_given(known, scale))))
    every = (*(asked.notes if asked else ()), *notes)
    return _Read(
        asked=asked, topics=queries, documents=texts, traps=known, files=tuple(sent), listed=tuple(documents),
        notes=tuple(filter(None, map(without_options, every))),
    )  # fmt: skip


def _as_given(traps: list[dict[str, Any]], scale: Scale) -> pl.DataFrame:
    """Traps as a file has them."""
    graded = scale.kind == "graded"
    names = {"expected": "label"} if graded else {"doc": "left", "other": "right", "expected": "winner"}
    return pl.DataFrame(traps, infer_schema_length=None).rename(names)


def _put(connection: Connection, project: Project, read: _Read, *, now: float, rng: np.random.Generator) -> Made:
    add_queries(connection, project.id, read.topics)
    documents = sum(add_documents(connection, project.id, document_rows(frame)) for frame in read.documents)
    items = traps = 0
    if read.asked is not None:
        rows = read.asked.items.iter_rows(named=True)
        if project.settings.active:
            items = ask_again(connection, project, rows, rng=rng)
        else:
            items = add_items(connection, project, rows, queue="main", wanted=project.settings.judges, rng=rng)
    if read.traps:
        traps = add_items(connection, project, read.traps, queue="trap", wanted=None, rng=rng)
    for kind, file in read.files:
        keep(connection, project.id, file, kind=kind, now=now)
    for file in read.listed:
        note_documents(connection, project.id, file, now=now)
    return Made(
        project=project, items=items, queries=len(read.topics), documents=documents, traps=traps,
        notes=(*read.notes, *_doubts(connection, project, read)),
    )  # fmt: skip


def _doubts(connection: Connection, project: Project, read: _Read) -> list[str]:
    """What a judge would miss."""
    notes = []
    missing = missing_texts(connection, project.id)
    if missing.queries:
        notes.append(f"{counted(missing.queries, 'query')} of {missing.all_queries:,} {_have(missing.queries)} no text")
    if missing.documents:
        notes.append(
            f"{counted(missing.documents, 'document')} of {missing.all_documents:,} that are asked about "
            f"{_have(missing.documents)} no text: judges see the id alone"
        )
    usual = project.settings.traps
    if read.asked is not None and usual and not read.traps:
        notes.append("there are no traps yet: tasks go without")
    elif read.traps and not usual:
        notes.append("traps were given, and the settings put none into a task")
    elif read.traps and len(read.traps) < usual:
        notes.append(f"{counted(len(read.traps), 'trap')} for {usual} in a task: a judge meets each of them once")
    return notes


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
