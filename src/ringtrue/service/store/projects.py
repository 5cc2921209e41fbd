"""Projects, and what is to be judged in them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, case, delete, func, insert, select, update

from ringtrue.errors import ConflictError, NotFoundError, UsageError
from ringtrue.service.store import schema
from ringtrue.service.store.dialects import analyze_tables, dialect_insert
from ringtrue.service.store.records import Project, Queue, Scale, Settings
from ringtrue.service.store.schema import upload

if TYPE_CHECKING:
    import numpy as np
    from sqlalchemy import Connection, Row, Table


PROJECT_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
FLIPPED = {"left": "right", "right": "left"}  # an answer when the two documents change sides
CHUNK = 2_000

Rows = Iterable[Mapping[str, Any]]
parse_scale = lru_cache(maxsize=256)(Scale.from_json)
parse_settings = lru_cache(maxsize=256)(Settings.from_json)

# Asked at every request: made once.
PROJECT_BY_NAME = select(schema.project).where(schema.project.c.name == bindparam("project_name"))


def create_project(
    connection: Connection, *, name: str, title: str, scale: Scale, settings: Settings, guidelines: str = "", now: float
) -> Project:
    """A new project without items; its name stands in addresses and must be new."""
    if not PROJECT_NAME.fullmatch(name):
        raise UsageError(f"a project's name has small letters, digits and hyphens, 63 at most; found '{name}'")
    if connection.execute(select(schema.project.c.id).where(schema.project.c.name == name)).first():
        raise ConflictError(f"there is a project '{name}' already; choose another name")
    if settings.active and scale.kind != "preference":
        raise UsageError("only pairs can be chosen as votes arrive; choose the preference scale, or switch it off")
    row = connection.execute(
        insert(schema.project)
        .values(
            name=name,
            title=title.strip() or name,
            guidelines=guidelines,
            scale=scale.to_json(),
            settings=settings.to_json(),
            created=now,
        )
        .returning(*schema.project.c)
    ).one()
    return _project_from_row(row)


def load_projects(connection: Connection) -> list[Project]:
    """All projects, the newest first."""
    return [
        _project_from_row(row)
        for row in connection.execute(select(schema.project).order_by(schema.project.c.id.desc()))
    ]


def get_project_by_name(connection: Connection, name: str) -> Project:
    """The project with this name."""
    row = connection.execute(PROJECT_BY_NAME, {"project_name": name}).first()
    if row is None:
        raise NotFoundError(f"there is no project '{name}'")
    return _project_from_row(row)


def get_project_by_id(connection: Connection, project: int) -> Project:
    """The project with this number."""
    row = connection.execute(select(schema.project).where(schema.project.c.id == project)).first()
    if row is None:
        raise NotFoundError(f"there is no project {project}")
    return _project_from_row(row)


def change_project(
    connection: Connection,
    project: int,
    *,
    title: str | None = None,
    guidelines: str | None = None,
    settings: Settings | None = None,
) -> Project:
    """Change what is given; a new number of judges holds for every item, but takes no answer away."""
    before = get_project_by_id(connection, project)
    changes: dict[str, Any] = {}
    if title is not None:
        changes["title"] = title.strip() or before.name
    if guidelines is not None:
        changes["guidelines"] = guidelines
    if settings is not None:
        if settings.active != before.settings.active:
            raise UsageError("whether pairs are chosen as votes arrive is decided when a project is made")
        changes["settings"] = settings.to_json()
        if settings.judges != before.settings.judges and not settings.active:
            _set_wanted_judges(connection, project, before.settings.judges, settings.judges)
    if changes:
        connection.execute(update(schema.project).where(schema.project.c.id == project).values(**changes))
    return get_project_by_id(connection, project)


def close_project(connection: Connection, project: int, closed: float | None) -> None:
    """Give out no more tasks from this time on, or open the project again."""
    connection.execute(update(schema.project).where(schema.project.c.id == project).values(closed=closed))


def delete_project(connection: Connection, project: int) -> None:
    """Delete a project and all that was collected in it."""
    get_project_by_id(connection, project)
    connection.execute(delete(schema.project).where(schema.project.c.id == project))


def add_queries(connection: Connection, project: int, rows: Rows) -> int:
    """Queries by name, with text, description and narrative; one that is there is brought up to date."""
    return _upsert_rows(connection, schema.query, project, rows, ("text", "description", "narrative"))


def add_documents(connection: Connection, project: int, rows: Rows) -> int:
    """Documents by name, with title, url, snippet and text; one that is there is brought up to date."""
    return _upsert_rows(connection, schema.document, project, rows, ("title", "url", "snippet", "text"))


def add_items(
    connection: Connection,
    project: Project,
    rows: Rows,
    *,
    queue: Queue | str,
    wanted: int | None,
    rng: np.random.Generator,
) -> int:
    """What is to be judged: a query and a doc each, and an `other` for pairs; answers how many are new.

    A query or document that is not there is made without text; an item that is there keeps its answers. The order is
    drawn by lot, with the documents of a query together where the project says so. `expected` is a trap's answer.
    """
    items = _resolve_items(connection, project, rows, queue)
    before = connection.execute(
        select(func.count(), func.max(schema.item.c.position)).where(schema.item.c.project == project.id)
    ).one()
    for place, item in enumerate(_shuffle_items(items, rng, together=project.settings.together)):
        item |= {"asked": wanted, "wanted": wanted, "given": 0, "position": (before[1] or 0.0) + 1.0 + place}
    insertion = dialect_insert(connection, schema.item)
    for chunk in _chunks(items):
        connection.execute(insertion.on_conflict_do_nothing(), chunk)
    if len(items) >= CHUNK:
        analyze_tables(connection)
    after = connection.execute(select(func.count()).where(schema.item.c.project == project.id)).scalar_one()
    return int(after - before[0])


def request_votes(connection: Connection, project: Project, rows: Rows, *, rng: np.random.Generator) -> int:
    """One more judge for each pair: a new item, or one more wanted of one that is there."""
    pairs = _resolve_items(connection, project, rows, "main")
    last_position = connection.execute(
        select(func.max(schema.item.c.position)).where(schema.item.c.project == project.id)
    ).scalar_one()
    item = schema.item
    for place, pair in enumerate(_shuffle_items(pairs, rng, together=project.settings.together)):
        increment = connection.execute(
            update(item)
            .where(
                item.c.project == project.id,
                item.c.queue == "main",
                item.c.query == pair["query"],
                item.c.doc == pair["doc"],
                item.c.other == pair["other"],
            )
            .values(asked=item.c.asked + 1, wanted=item.c.wanted + 1)
        )
        if not increment.rowcount:
            connection.execute(
                insert(item).values(**pair, asked=1, wanted=1, given=0, position=(last_position or 0.0) + 1.0 + place)
            )
    return len(pairs)


def _set_wanted_judges(connection: Connection, project: int, before: int, judges: int) -> None:
    """Ask for another number of judges; who has an item keeps it, and `wanted` falls when it is given back."""
    item = schema.item
    connection.execute(
        update(item)
        .where(item.c.project == project, item.c.queue == "main", item.c.asked == before)
        .values(asked=judges, wanted=case((item.c.given > judges, item.c.given), else_=judges))
    )


def _project_from_row(row: Row[Any]) -> Project:
    return Project(
        id=row.id,
        name=row.name,
        title=row.title,
        guidelines=row.guidelines,
        scale=parse_scale(row.scale),
        settings=parse_settings(row.settings),
        created=row.created,
        closed=row.closed,
    )


def _resolve_items(connection: Connection, project: Project, rows: Rows, queue: str) -> list[dict[str, Any]]:
    """The rows with numbers for names, and the documents of a pair in the order of their names."""
    items = [dict(row) for row in rows]
    for row in items:
        if (row.get("other") is None) != (project.scale.kind == "graded"):
            expected_docs = "one document" if project.scale.kind == "graded" else "two documents"
            raise UsageError(
                f"an item of this project has {expected_docs}; found query '{row['query']}', doc '{row['doc']}'"
            )
        if row.get("expected") is not None:
            project.scale.require_answer(str(row["expected"]))
        if row.get("other") is not None and row["doc"] > row["other"]:
            row["doc"], row["other"] = row["other"], row["doc"]
            row["expected"] = FLIPPED.get(row.get("expected") or "", row.get("expected"))
        if row["doc"] == row.get("other"):
            raise UsageError(f"a pair needs two different documents; query '{row['query']}' has '{row['doc']}' twice")
    queries = _get_or_create_ids(connection, schema.query, project.id, (row["query"] for row in items))
    docs = _get_or_create_ids(
        connection,
        schema.document,
        project.id,
        (name for row in items for name in (row["doc"], row.get("other")) if name is not None),
    )
    return [
        {
            "project": project.id,
            "queue": queue,
            "query": queries[row["query"]],
            "doc": docs[row["doc"]],
            "other": None if row.get("other") is None else docs[row["other"]],
            **{name: row.get(name) for name in ("expected", "design", "prob", "extra")},
        }
        for row in items
    ]


def _shuffle_items(items: list[dict[str, Any]], rng: np.random.Generator, *, together: bool) -> list[dict[str, Any]]:
    shuffled = [items[index] for index in rng.permutation(len(items))]
    if not together:
        return shuffled
    query_order = {query: index for index, query in enumerate(dict.fromkeys(item["query"] for item in shuffled))}
    return sorted(shuffled, key=lambda item: query_order[item["query"]])


def _get_or_create_ids(connection: Connection, table: Table, project: int, names: Iterable[str]) -> dict[str, int]:
    """The number of each name; a name that is not there is added."""
    distinct_names = dict.fromkeys(names)
    ids = _load_ids(connection, table, project)
    missing = [{"project": project, "name": name} for name in distinct_names if name not in ids]
    for chunk in _chunks(missing):
        connection.execute(insert(table), chunk)
    return _load_ids(connection, table, project) if missing else ids


def _load_ids(connection: Connection, table: Table, project: int) -> dict[str, int]:
    rows = connection.execute(select(table.c.name, table.c.id).where(table.c.project == project))
    return {row[0]: row[1] for row in rows}


def _upsert_rows(connection: Connection, table: Table, project: int, rows: Rows, columns: tuple[str, ...]) -> int:
    insertion = dialect_insert(connection, table)
    upsert = insertion.on_conflict_do_update(
        index_elements=["project", "name"], set_={name: getattr(insertion.excluded, name) for name in columns}
    )
    count = 0
    for chunk in _chunks(rows):
        columns_by_name = {row["name"]: {name: row.get(name) for name in columns} for row in chunk}
        connection.execute(
            upsert, [{"project": project, "name": name, **values} for name, values in columns_by_name.items()]
        )
        count += len(chunk)
    return count


def _chunks(rows: Rows) -> Iterator[list[Any]]:
    remaining = iter(rows)
    while chunk := list(islice(remaining, CHUNK)):
        yield chunk


# Letters that Unicode does not take apart into a plain one and a mark.
TRANSLITERATIONS = str.maketrans(
    {"ø": "o", "æ": "ae", "œ": "oe", "ß": "ss", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i", "ħ": "h", "ŋ": "n"}
)


def slugify(text: str, max_length: int) -> str:
    """A text in small letters a to z, digits and hyphens; nothing where it has none of them.

    Examples:
        >>> slugify("Smørrebrød & Größe", 60), slugify("李", 60)
        ('smorrebrod-grosse', '')
    """
    ascii_text = (
        unicodedata.normalize("NFKD", text.lower().translate(TRANSLITERATIONS)).encode("ascii", "ignore").decode()
    )
    return re.sub(r"[^a-z0-9]+", "-", ascii_text).strip("-")[:max_length].rstrip("-")


HEAD_BYTES = 64  # bytes of a file that a list shows, to tell its size when unpacked


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that is kept with a project: how large it is in the database, and its first bytes there."""

    id: int
    kind: str
    name: str
    size: int
    head: bytes
    time: float


def add_upload(connection: Connection, project: int, *, kind: str, name: str, content: bytes, now: float) -> int:
    """Keep a file; answers its number."""
    insertion = insert(upload).values(project=project, kind=kind, name=name, content=content, time=now)
    return int(connection.execute(insertion.returning(upload.c.id)).scalar_one())


def load_uploads(connection: Connection, project: int) -> list[Upload]:
    """The files of a project, without what is in them, in the order in which they came."""
    rows = connection.execute(
        select(
            upload.c.id,
            upload.c.kind,
            upload.c.name,
            func.length(upload.c.content).label("size"),
            func.substr(upload.c.content, 1, HEAD_BYTES).label("head"),
            upload.c.time,
        )
        .where(upload.c.project == project)
        .order_by(upload.c.id)
    )
    return [Upload(**{**row._mapping, "head": bytes(row.head)}) for row in rows]


def get_upload(connection: Connection, project: int, upload_id: int) -> tuple[str, str, bytes]:
    """The kind and the name of a file, and what is in it."""
    row = connection.execute(
        select(upload.c.kind, upload.c.name, upload.c.content).where(
            upload.c.project == project, upload.c.id == upload_id
        )
    ).first()
    if row is None:
        raise NotFoundError(f"there is no file {upload_id} in this project")
    return row.kind, row.name, bytes(row.content)


def delete_upload(connection: Connection, project: int, upload_id: int) -> None:
    """Keep a file no longer."""
    connection.execute(delete(upload).where(upload.c.project == project, upload.c.id == upload_id))


def load_upload_contents(connection: Connection, project: int, kind: str) -> list[tuple[str, bytes]]:
    """The names and contents of all files of a kind, in the order in which they came."""
    rows = connection.execute(
        select(upload.c.name, upload.c.content)
        .where(upload.c.project == project, upload.c.kind == kind)
        .order_by(upload.c.id)
    )
    return [(row.name, bytes(row.content)) for row in rows]
