"""A project from files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from ringtrue.errors import MismatchError
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note
from ringtrue.service.collect.inputs import ItemsToJudge, read_items, read_traps
from ringtrue.service.collect.texts import iter_document_rows, read_document_texts, read_topic_rows
from ringtrue.service.collect.uploads import (
    UploadedFile,
    as_csv_file,
    register_documents_file,
    require_unpacked_size,
    store_file,
)
from ringtrue.service.store.items import add_documents, add_items, add_queries, request_votes
from ringtrue.service.store.progress import count_missing_texts
from ringtrue.service.store.projects import create_project

if TYPE_CHECKING:
    import numpy as np
    from sqlalchemy import Connection

    from ringtrue.service.store import Scale, Settings, Store
    from ringtrue.service.store.records import Project


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectSetup:
    """What files brought into a project: new items and traps, queries and documents with texts, and every doubt."""

    project: Project
    items: int
    queries: int
    documents: int
    traps: int
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _ProjectFiles:
    """All that files say, read before anything is written."""

    to_judge: ItemsToJudge | None
    topics: list[dict[str, Any]]
    documents: list[pl.DataFrame]
    traps: list[dict[str, Any]]
    files: tuple[tuple[str, UploadedFile], ...]
    listed: tuple[UploadedFile, ...]
    notes: tuple[Note, ...]


def make_project(
    store: Store,
    *,
    name: str,
    title: str,
    scale: Scale,
    settings: Settings,
    guidelines: str = "",
    ask: Sequence[UploadedFile] = (),
    topics: UploadedFile | None = None,
    documents: Sequence[UploadedFile] = (),
    traps: UploadedFile | None = None,
    depth: int = 10,
    now: float,
    rng: np.random.Generator,
) -> ProjectSetup:
    """Make a project from files: what is to be judged, what queries and documents say, and known answers.

    `ask` are runs, which are pooled at `depth`, or a pool, a judged table, or pairs. All files but the documents are
    kept, since their texts are. Nothing is made where a file cannot be used.
    """
    project_files = _read_project_files(ask, topics, documents, traps, scale, settings, depth=depth, rng=rng)
    with store.transaction() as connection:
        project = create_project(
            connection, name=name, title=title, scale=scale, settings=settings, guidelines=guidelines, now=now
        )
        return _store_project_files(connection, project, project_files, now=now, rng=rng)


def extend_project(
    store: Store,
    project: Project,
    *,
    ask: Sequence[UploadedFile] = (),
    topics: UploadedFile | None = None,
    documents: Sequence[UploadedFile] = (),
    traps: UploadedFile | None = None,
    depth: int = 10,
    now: float,
    rng: np.random.Generator,
) -> ProjectSetup:
    """Add to a project what files say; what is there already keeps its answers, and texts are brought up to date."""
    project_files = _read_project_files(
        ask, topics, documents, traps, project.scale, project.settings, depth=depth, rng=rng
    )
    with store.transaction() as connection:
        return _store_project_files(connection, project, project_files, now=now, rng=rng)


def _read_project_files(
    ask: Sequence[UploadedFile],
    topics: UploadedFile | None,
    documents: Sequence[UploadedFile],
    traps: UploadedFile | None,
    scale: Scale,
    settings: Settings,
    *,
    depth: int,
    rng: np.random.Generator,
) -> _ProjectFiles:
    require_unpacked_size([*ask, *documents, *(file for file in (topics, traps) if file is not None)])
    notes: list[Note] = []
    to_judge = read_items(ask, scale, settings, depth=depth, rng=rng) if ask else None
    trap_rows = read_traps(traps, scale, notes.append) if traps is not None else []
    queries = read_topic_rows(topics, notes.append) if topics is not None else []
    wanted_docs = pl.Series("doc", [], dtype=pl.String)
    if to_judge is not None:
        trap_docs = [row[side] for row in trap_rows for side in ("doc", "other") if row.get(side)]
        wanted_docs = pl.concat([to_judge.docs, pl.Series("doc", trap_docs, dtype=pl.String)]).unique()
        asked_queries = set(to_judge.items["query"]) | {row["query"] for row in trap_rows}
        if topics is not None and not asked_queries & {row["name"] for row in queries}:
            raise MismatchError(
                "none-asked-about",
                f"none of its {len(queries):,} topics is asked about: the first is '{queries[0]['name']}', and asked "
                f"is '{to_judge.items['query'][0]}'; do both use the same ids?",
                file=topics.name,
            )
    texts = read_document_texts(documents, wanted_docs, notes.append)
    if to_judge is not None and to_judge.texts is not None:
        texts.insert(0, to_judge.texts.rename({"doc": "name"}))
    kept_files = list(to_judge.files) if to_judge else []
    if topics is not None:
        kept_files.append(("topics", topics))
    if traps is not None:
        kept_files.append(("traps", as_csv_file(traps.name, _traps_as_sent(trap_rows, scale))))
    return _ProjectFiles(
        to_judge=to_judge,
        topics=queries,
        documents=texts,
        traps=trap_rows,
        files=tuple(kept_files),
        listed=tuple(documents),
        notes=(*(to_judge.notes if to_judge else ()), *notes),
    )


def _traps_as_sent(traps: list[dict[str, Any]], scale: Scale) -> pl.DataFrame:
    """Traps as a file has them."""
    graded = scale.kind == "graded"
    names = {"expected": "label"} if graded else {"doc": "left", "other": "right", "expected": "winner"}
    return pl.DataFrame(traps, infer_schema_length=None).rename(names)


def _store_project_files(
    connection: Connection, project: Project, project_files: _ProjectFiles, *, now: float, rng: np.random.Generator
) -> ProjectSetup:
    add_queries(connection, project.id, project_files.topics)
    documents = sum(
        add_documents(connection, project.id, iter_document_rows(frame)) for frame in project_files.documents
    )
    items = traps = 0
    if project_files.to_judge is not None:
        rows = project_files.to_judge.items.iter_rows(named=True)
        if project.settings.active:
            items = request_votes(connection, project, rows, rng=rng)
        else:
            items = add_items(connection, project, rows, queue="main", wanted=project.settings.judges, rng=rng)
    if project_files.traps:
        traps = add_items(connection, project, project_files.traps, queue="trap", wanted=None, rng=rng)
    for kind, file in project_files.files:
        store_file(connection, project.id, file, kind=kind, now=now)
    for file in project_files.listed:
        register_documents_file(connection, project.id, file, now=now)
    return ProjectSetup(
        project=project,
        items=items,
        queries=len(project_files.topics),
        documents=documents,
        traps=traps,
        notes=(*project_files.notes, *_setup_notes(connection, project, project_files)),
    )


def _setup_notes(connection: Connection, project: Project, project_files: _ProjectFiles) -> list[Note]:
    """What a judge would miss."""
    notes = []
    missing = count_missing_texts(connection, project.id)
    if missing.queries:
        notes.append(
            Note(
                "queries-without-text",
                f"{format_count(missing.queries, 'query')} of {missing.all_queries:,} {_has_or_have(missing.queries)} "
                f"no text",
            )
        )
    if missing.documents:
        notes.append(
            Note(
                "documents-without-text",
                f"{format_count(missing.documents, 'document')} of {missing.all_documents:,} that are asked about "
                f"{_has_or_have(missing.documents)} no text: judges see the id alone",
            )
        )
    traps_per_task = project.settings.traps
    if project_files.to_judge is not None and traps_per_task and not project_files.traps:
        notes.append(Note("no-traps-yet", "there are no traps yet: tasks go without"))
    elif project_files.traps and not traps_per_task:
        notes.append(Note("traps-not-used", "traps were given, and the settings put none into a task"))
    elif project_files.traps and len(project_files.traps) < traps_per_task:
        notes.append(
            Note(
                "few-traps",
                f"{format_count(len(project_files.traps), 'trap')} for {traps_per_task} in a task: a judge meets each "
                f"of them once",
            )
        )
    return notes


def _has_or_have(count: int) -> str:
    return "has" if count == 1 else "have"
