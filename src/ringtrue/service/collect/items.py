"""What is to be judged: from runs, a pool, a judged table or a file of pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from ringtrue.errors import FormatError, InputError, TableError, UsageError
from ringtrue.evaluation.pooling import pool
from ringtrue.files import read_judgments, read_run, recognise_kind
from ringtrue.files.formats import TABLE_FORMATS, recognise_format
from ringtrue.files.read import derive_run_name
from ringtrue.files.tabular import read_table
from ringtrue.formatting.phrases import format_count
from ringtrue.preference import choose_pairs
from ringtrue.preference.candidates import Candidates
from ringtrue.service.collect.inputs import trap_mask
from ringtrue.service.collect.uploads import UploadedFile, as_csv_file, open_source
from ringtrue.tables.column_aliases import COLUMN_ALIASES, rename_columns
from ringtrue.tables.columns import parse_ids

if TYPE_CHECKING:
    import numpy as np

    from ringtrue.files.byte_source import Source
    from ringtrue.preference import PairChoice
    from ringtrue.service.store import Scale, Settings
    from ringtrue.tables import Run

ItemSource: TypeAlias = Literal["run", "pool", "judgments", "pairs"]
CANDIDATES = "candidates.csv"  # what pairs are chosen from, the likeliest first
TEXT_COLUMNS = ("title", "url", "snippet", "text")  # columns of a pool that say what a document is
SOURCE_NAMES: dict[ItemSource, str] = {"run": "runs", "pool": "a pool", "judgments": "judgments", "pairs": "pairs"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ItemsToJudge:
    """What files ask for: `items` has query and doc, and for pairs other; `docs` names every document in them.

    `texts` are what a pool says of its documents, `files` what should be kept and as what.
    """

    items: pl.DataFrame
    docs: pl.Series
    texts: pl.DataFrame | None = None
    files: tuple[tuple[str, UploadedFile], ...] = ()
    notes: tuple[str, ...] = field(default=())


def read_items(
    files: Sequence[UploadedFile], scale: Scale, settings: Settings, *, depth: int, rng: np.random.Generator
) -> ItemsToJudge:
    """What is to be judged, by files that are told apart by what is in them.

    Runs are pooled at `depth`. In a project of pairs, a run or a pool gives the documents, and pairs of them are
    chosen: the first for active projects, the published design for others.
    """
    if depth < 1:
        raise UsageError(f"a pool needs a depth of at least 1, found {depth}")
    notes: list[str] = []
    kinds = [_recognise_item_source(file) for file in files]
    if len(set(kinds)) > 1 or (len(files) > 1 and kinds[0] != "run"):
        file_list = ", ".join(f"{file.name} ({SOURCE_NAMES[kind]})" for file, kind in zip(files, kinds, strict=True))
        raise UsageError(f"several files can be put together only if all are runs; found {file_list}")
    kind, texts = kinds[0], None
    if kind == "pairs":
        if scale.kind == "graded":
            raise FormatError(f"{files[0].name}: these are pairs, and this project asks for labels of single documents")
        if settings.active:
            raise UsageError(
                f"{files[0].name}: these are pairs, and this project chooses its own; give a run or a pool"
            )
        items = _read_pairs(files[0], settings.judges, notes.append)
        docs = pl.concat([items["doc"], items["other"]])
        pairs_file = as_csv_file(files[0].name, items.rename({"doc": "left", "other": "right"}))
        return ItemsToJudge(items=items, docs=docs.unique(), files=(("pairs", pairs_file),), notes=tuple(notes))
    if kind == "run":
        runs = read_runs(files, notes.append)
        documents = pool(runs, depth=depth).select("query", "doc")
        docs = pl.concat([run.docs for run in runs])
    elif kind == "judgments":
        documents = read_judgments(open_source(files[0]), note=notes.append).frame.select("query", "doc")
        documents = documents.unique(maintain_order=True)
        docs = documents["doc"]
        notes.append(f"{files[0].name}: its documents are asked about; to count its labels too, import them")
    else:
        documents, texts = _read_pool(files[0])
        docs = documents["doc"]
    kept_files = tuple((kind, as_csv_file(file.name, documents) if kind == "judgments" else file) for file in files)
    if scale.kind == "graded":
        return ItemsToJudge(items=documents, docs=docs.unique(), texts=texts, files=kept_files, notes=tuple(notes))
    if kind == "run":  # the order of one run, and of several that of their pool
        documents = Candidates.of(runs, depth=depth).docs
    pair_choice = choose_pairs(
        documents,
        design="active" if settings.active else "seed",
        votes=None if settings.active else settings.judges,
        budget=None,
        rng=rng,
    )
    candidates_file = UploadedFile(name=CANDIDATES, content=documents.write_csv().encode())
    return ItemsToJudge(
        items=normalise_pairs(pair_choice.frame, once=not settings.active),
        docs=docs.unique(),
        texts=texts,
        files=(*kept_files, ("candidates", candidates_file)),
        notes=(*notes, *pair_choice.notes, _pair_choice_note(pair_choice, settings)),
    )


def _pair_choice_note(pair_choice: PairChoice, settings: Settings) -> str:
    """How pairs were chosen; tasks are made of them later, as long as this project's are."""
    pairs, queries = format_count(pair_choice.pairs, "pair"), format_count(pair_choice.queries, "query")
    if settings.active:
        return (
            f"the first {pairs} of {queries} were chosen; more follow as votes arrive, for one judge at a time, and a "
            f"pair whose order is open is asked about again"
        )
    return (
        f"{pairs} of {queries} were chosen by the published design, for {format_count(settings.judges, 'judge')} each"
    )


def read_runs(files: Sequence[UploadedFile], note: Callable[[str], None] = lambda _: None) -> list[Run]:
    """The runs, by the names of their files; two of one name are told apart by a number."""
    runs: list[Run] = []
    for file in files:
        name = derive_run_name(file.name)
        used_names = [run.name for run in runs]
        name = next(
            candidate
            for candidate in (name, *(f"{name}-{number}" for number in range(2, len(files) + 2)))
            if candidate not in used_names
        )
        runs.append(read_run(open_source(file), note=note).called(name))
    return runs


def normalise_pairs(frame: pl.DataFrame, *, once: bool = True) -> pl.DataFrame:
    """Pairs as query, doc and other, the lesser name first; without traps, each once or as often as it is asked.

    Examples:
        >>> normalise_pairs(pl.DataFrame({"query": ["q", "q"], "left": ["b", "a"], "right": ["a", "b"]})).rows()
        [('q', 'a', 'b')]
    """
    left, right = pl.col("left"), pl.col("right")
    pairs = frame.filter(~trap_mask(frame)).select(
        "query", doc=pl.min_horizontal(left, right), other=pl.max_horizontal(left, right)
    )
    return pairs.unique(maintain_order=True) if once else pairs


def _recognise_item_source(file: UploadedFile) -> ItemSource:
    """What a file holds, of what can be asked about."""
    source = open_source(file)
    try:
        table_kind = recognise_kind(source)
    except FormatError as error:
        raise FormatError(
            str(error).replace("; say what it is with --as", "; expected a run, a pool or pairs")
        ) from error
    if table_kind == "run" or table_kind == "judgments":
        return table_kind
    if table_kind == "preferences":
        return "pairs"
    columns = {name.lower() for name in _read_named_table(source).columns} if has_named_columns(source) else set()
    if (
        columns & set(COLUMN_ALIASES["left"])
        and columns & set(COLUMN_ALIASES["right"])
        and columns & set(COLUMN_ALIASES["query"])
    ):
        return "pairs"
    if columns & set(COLUMN_ALIASES["query"]) and columns & set(COLUMN_ALIASES["doc"]):
        return "pool"
    raise FormatError(
        f"{file.name}: this looks like {table_kind}; expected what is to be judged: runs, a pool with the columns "
        f"query and doc, or pairs with query, left and right"
    )


def has_named_columns(source: Source) -> bool:
    """Whether a file is a table with named columns."""
    try:
        return recognise_format(source, "topics") in TABLE_FORMATS
    except FormatError:
        return False


def _read_named_table(source: Source, note: Callable[[str], None] = lambda _: None) -> pl.DataFrame:
    return read_table(source, recognise_format(source, "topics"), note=note)


def _read_pool(file: UploadedFile) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """The documents of a pool, in its order, and what it says of them."""
    try:
        frame = rename_columns(_read_named_table(open_source(file)), required=["query", "doc"], table_kind="pool")
        frame = frame.with_columns(parse_ids(frame, "query"), parse_ids(frame, "doc"))
    except TableError as error:
        raise TableError(f"{file.name}: {error}") from error
    text_columns = [name for name in TEXT_COLUMNS if name in frame.columns]
    texts = frame.select("doc", *text_columns).unique("doc", maintain_order=True) if text_columns else None
    return frame.select("query", "doc").unique(maintain_order=True), texts


def _read_pairs(file: UploadedFile, judges: int, note: Callable[[str], None]) -> pl.DataFrame:
    """The pairs of a file, those with a winner too; traps among them have answers that are not here."""
    source = open_source(file)
    try:
        if has_named_columns(source):
            frame = rename_columns(
                _read_named_table(source, note), required=["query", "left", "right"], table_kind="pairs"
            )
            frame = frame.with_columns(parse_ids(frame, name) for name in ("query", "left", "right"))
        else:
            from ringtrue.files import read_preferences

            frame = read_preferences(source, note=note).frame
    except TableError as error:
        raise TableError(str(error) if str(error).startswith(file.name) else f"{file.name}: {error}") from error
    self_pairs = frame.filter(pl.col("left") == pl.col("right"))
    if self_pairs.height:
        raise TableError(
            f"{file.name}: document '{self_pairs['left'][0]}' of query '{self_pairs['query'][0]}' is paired with itself"
        )
    requested = normalise_pairs(frame, once=False)
    if requested.height < frame.height:
        note(
            f"{file.name}: {format_count(frame.height - requested.height, 'trap')} left out; give their answers as "
            f"traps"
        )
    pairs = requested.unique(maintain_order=True)
    if not pairs.height:
        raise InputError(f"{file.name}: there is no pair in it to ask about")
    if requested.height > pairs.height:
        note(
            f"{file.name}: it asks {requested.height:,} times about {format_count(pairs.height, 'pair')}; here "
            f"{judges} judges are asked about each"
        )
    return pairs
