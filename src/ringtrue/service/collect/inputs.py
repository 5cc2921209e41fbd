"""What files say: what is to be judged, and which questions have a known answer.

What is to be judged comes from runs, a pool, a judged table or a file of pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl

from ringtrue.errors import FormatError, InputError, TableError, UsageError
from ringtrue.evaluation.inputs import pool
from ringtrue.files import read_judgments, read_preferences, read_run, recognise_kind
from ringtrue.files.formats import TABLE_FORMATS, recognise_format
from ringtrue.files.read import derive_run_name
from ringtrue.files.tabular import NoteHandler, read_table
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note
from ringtrue.preference import choose_pairs
from ringtrue.preference.pair_designs import Candidates
from ringtrue.service.collect.texts import DOC_PARTS
from ringtrue.service.collect.uploads import UploadedFile, as_csv_file, open_source
from ringtrue.service.store.records import swap_sides
from ringtrue.tables.columns import COLUMN_ALIASES, parse_ids, rename_columns

if TYPE_CHECKING:
    import numpy as np

    from ringtrue.files.byte_source import Source
    from ringtrue.preference import PairChoice
    from ringtrue.service.store import Scale, Settings
    from ringtrue.tables import Run

ItemSource: TypeAlias = Literal["run", "pool", "judgments", "pairs"]
CANDIDATES = "candidates.csv"  # what pairs are chosen from, the likeliest first
SOURCE_NAMES: dict[ItemSource, str] = {"run": "runs", "pool": "a pool", "judgments": "judgments", "pairs": "pairs"}
TRUE_WORDS = ("true", "1", "yes")  # what the column trap says of one


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ItemsToJudge:
    """What files ask for: `items` has query and doc, and for pairs other; `docs` names every document in them.

    `texts` are what a pool says of its documents, `files` what should be kept and as what.
    """

    items: pl.DataFrame
    docs: pl.Series
    texts: pl.DataFrame | None = None
    files: tuple[tuple[str, UploadedFile], ...] = ()
    notes: tuple[Note, ...] = field(default=())


def read_items(
    files: Sequence[UploadedFile], scale: Scale, settings: Settings, *, depth: int, rng: np.random.Generator
) -> ItemsToJudge:
    """What is to be judged, by files that are told apart by what is in them.

    Runs are pooled at `depth`. In a project of pairs, a run or a pool gives the documents, and pairs of them are
    chosen: the first for active projects, the published design for others.
    """
    if depth < 1:
        raise UsageError("bad-depth", f"a pool needs a depth of at least 1, found {depth}", parameter="depth")
    notes: list[Note] = []
    kinds = [_recognise_item_source(file) for file in files]
    if len(set(kinds)) > 1 or (len(files) > 1 and kinds[0] != "run"):
        file_list = ", ".join(f"{file.name} ({SOURCE_NAMES[kind]})" for file, kind in zip(files, kinds, strict=True))
        raise UsageError("mixed-files", f"several files can be put together only if all are runs; found {file_list}")
    kind, texts = kinds[0], None
    if kind == "pairs":
        if scale.kind == "graded":
            raise FormatError(
                "other-kind",
                "these are pairs, and this project asks for labels of single documents",
                file=files[0].name,
            )
        if settings.active:
            raise UsageError(
                "pairs-are-chosen",
                "these are pairs, and this project chooses its own; give a run or a pool",
                file=files[0].name,
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
        notes.append(
            Note(
                "labels-not-imported",
                "its documents are asked about; to count its labels too, import them",
                subject=files[0].name,
            )
        )
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
    candidates_file = as_csv_file(CANDIDATES, documents)
    return ItemsToJudge(
        items=normalise_pairs(pair_choice.frame, once=not settings.active),
        docs=docs.unique(),
        texts=texts,
        files=(*kept_files, ("candidates", candidates_file)),
        notes=(*notes, *pair_choice.notes, _pair_choice_note(pair_choice, settings)),
    )


def read_runs(files: Sequence[UploadedFile], note: NoteHandler = lambda _: None) -> list[Run]:
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


def read_traps(file: UploadedFile, scale: Scale, note: NoteHandler) -> list[dict[str, Any]]:
    """Questions with a known answer: query, doc and label, or pairs with a winner that a judge can choose."""
    require_kind(file, scale, "query, doc and label" if scale.kind == "graded" else "query, left, right and winner")
    if scale.kind == "graded":
        frame = read_judgments(open_source(file), note=note).frame
        rows = frame.select("query", "doc", expected=pl.col("label").cast(pl.String)).to_dicts()
    else:
        frame = read_preferences(open_source(file), note=note).frame
        rows = frame.select("query", doc="left", other="right", expected="winner").to_dicts()
    scale_answers = [label.value for label in scale.labels]
    answer_by_item: dict[tuple[str, ...], str] = {}
    for row_number, row in enumerate(rows):
        if row["expected"] not in scale_answers:
            raise InputError(
                "unknown-answer",
                f"a judge cannot answer '{row['expected']}' here, only {', '.join(scale_answers)}; give the trap "
                f"another answer, or choose a scale that has this one",
                file=file.name,
                line=find_line_number(file, row_number),
            )
        docs = (row["doc"], row.get("other") or "")
        item_key = (row["query"], *sorted(docs))
        answer = swap_sides(row["expected"], list(docs) != sorted(docs))
        if answer_by_item.setdefault(item_key, answer) != answer:
            raise InputError(
                "trap-with-two-answers",
                f"the trap of query '{row['query']}' and document '{row['doc']}' stands there with two answers; "
                f"keep one",
                file=file.name,
                line=find_line_number(file, row_number),
            )
    return rows


def trap_mask(frame: pl.DataFrame) -> pl.Series:
    """Which rows of a table are said to be traps, by its column of that name."""
    if "trap" not in frame.columns:
        return pl.Series("trap", [False]).new_from_index(0, frame.height)
    return frame["trap"].cast(pl.String).str.to_lowercase().is_in(TRUE_WORDS).fill_null(value=False)


def find_line_number(file: UploadedFile, row: int) -> int:
    """The line of a file on which a row stands, counted as a spreadsheet does: from 1, the names of columns too.

    Examples:
        >>> find_line_number(UploadedFile(name="a.csv", content=b"query,doc,label\\nq,d,1\\n"), 0)
        2
        >>> find_line_number(UploadedFile(name="a.qrels", content=b"q 0 d 1\\n"), 0)
        1
    """
    source = open_source(file)
    file_format = recognise_format(source, "preferences" if recognise_kind(source) == "preferences" else "judgments")
    return row + (2 if file_format in ("csv", "tsv") else 1)


def require_kind(file: UploadedFile, scale: Scale, columns: str | None = None) -> None:
    """Refuse labels where preferences are meant, and the other way round; `columns` names what is needed."""
    try:
        found_kind = recognise_kind(open_source(file))
    except FormatError:  # reading it says what is wrong
        return
    wanted_kind = "judgments" if scale.kind == "graded" else "preferences"
    if found_kind != wanted_kind and found_kind in ("judgments", "preferences", "run"):
        usual_columns = (
            "query, doc, judge and label" if scale.kind == "graded" else "query, left, right, judge and winner"
        )
        raise FormatError(
            "other-kind",
            f"this looks like {'a run' if found_kind == 'run' else found_kind}, and this project has {wanted_kind}: "
            f"expected {columns or usual_columns}",
            file=file.name,
        )


def _pair_choice_note(pair_choice: PairChoice, settings: Settings) -> Note:
    """How pairs were chosen; tasks are made of them later, as long as this project's are."""
    pairs, queries = format_count(pair_choice.pairs, "pair"), format_count(pair_choice.queries, "query")
    if settings.active:
        return Note(
            "first-pairs-chosen",
            f"the first {pairs} of {queries} were chosen; more follow as votes arrive, for one judge at a time, and a "
            f"pair whose order is open is asked about again",
        )
    return Note(
        "pairs-chosen",
        f"{pairs} of {queries} were chosen by the published design, for {format_count(settings.judges, 'judge')} each",
    )


def _recognise_item_source(file: UploadedFile) -> ItemSource:
    """What a file holds, of what can be asked about."""
    source = open_source(file)
    try:
        table_kind = recognise_kind(source)
    except FormatError as error:
        if error.code != "unknown-content":
            raise
        expected = f"{error.text}; expected a run, a pool or pairs"
        raise error.with_note(error.note.changed(text=expected, suggestions=())) from error
    if table_kind == "run" or table_kind == "judgments":
        return table_kind
    if table_kind == "preferences":
        return "pairs"
    columns = {name.lower() for name in _read_named_table(source).columns} if _has_named_columns(source) else set()
    if (
        columns & set(COLUMN_ALIASES["left"])
        and columns & set(COLUMN_ALIASES["right"])
        and columns & set(COLUMN_ALIASES["query"])
    ):
        return "pairs"
    if columns & set(COLUMN_ALIASES["query"]) and columns & set(COLUMN_ALIASES["doc"]):
        return "pool"
    raise FormatError(
        "other-kind",
        f"this looks like {table_kind}; expected what is to be judged: runs, a pool with the columns query and doc, or "
        f"pairs with query, left and right",
        file=file.name,
    )


def _has_named_columns(source: Source) -> bool:
    """Whether a file is a table with named columns."""
    try:
        return recognise_format(source, "topics") in TABLE_FORMATS
    except FormatError:
        return False


def _read_named_table(source: Source, note: NoteHandler = lambda _: None) -> pl.DataFrame:
    return read_table(source, recognise_format(source, "topics"), note=note)


def _read_pool(file: UploadedFile) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """The documents of a pool, in its order, and what it says of them."""
    try:
        frame = rename_columns(_read_named_table(open_source(file)), required=["query", "doc"], table_kind="pool")
        frame = frame.with_columns(parse_ids(frame, "query"), parse_ids(frame, "doc"))
    except TableError as error:
        raise error.found_in(file.name) from error
    text_columns = [name for name in DOC_PARTS if name in frame.columns]
    texts = frame.select("doc", *text_columns).unique("doc", maintain_order=True) if text_columns else None
    return frame.select("query", "doc").unique(maintain_order=True), texts


def _read_pairs(file: UploadedFile, judges: int, note: NoteHandler) -> pl.DataFrame:
    """The pairs of a file, those with a winner too; traps among them have answers that are not here."""
    source = open_source(file)
    try:
        if _has_named_columns(source):
            frame = rename_columns(
                _read_named_table(source, note), required=["query", "left", "right"], table_kind="pairs"
            )
            frame = frame.with_columns(parse_ids(frame, name) for name in ("query", "left", "right"))
        else:
            frame = read_preferences(source, note=note).frame
    except TableError as error:
        raise error.found_in(file.name) from error
    self_pairs = frame.filter(pl.col("left") == pl.col("right"))
    if self_pairs.height:
        raise TableError(
            "self-comparison",
            f"document '{self_pairs['left'][0]}' of query '{self_pairs['query'][0]}' is paired with itself",
            file=file.name,
        )
    requested = normalise_pairs(frame, once=False)
    if requested.height < frame.height:
        traps = format_count(frame.height - requested.height, "trap")
        note(Note("traps-left-out", f"{traps} left out; give their answers as traps", subject=file.name))
    pairs = requested.unique(maintain_order=True)
    if not pairs.height:
        raise InputError("no-pairs", "there is no pair in it to ask about", file=file.name)
    if requested.height > pairs.height:
        note(
            Note(
                "pairs-repeated",
                f"it asks {requested.height:,} times about {format_count(pairs.height, 'pair')}; here {judges} judges "
                f"are asked about each",
                subject=file.name,
            )
        )
    return pairs
