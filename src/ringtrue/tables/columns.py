"""Any frame, dictionary or list of records → a Polars frame: which column is which, and does it hold what it should?

Every package of the field has its own word for a query. The first name found wins, so that a PyTerrier
frame, which has both `qid` and the query's text in `query`, is read by its `qid`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import polars as pl

from ringtrue.errors import TableError, did_you_mean
from ringtrue.messages import Suggestion

Column = Literal[
    "query", "doc", "score", "label", "judge", "left", "right", "winner", "prob", "stratum", "design", "time",
    "seconds", "batch",
]  # fmt: skip

COLUMN_ALIASES: dict[Column, tuple[str, ...]] = {
    "query": ("qid", "query_id", "q_id", "query-id", "topic_id", "query", "topic"),
    "doc": ("docno", "doc_id", "doc-id", "corpus-id", "corpus_id", "doc", "docid", "document", "pid", "item", "task"),
    "score": ("score", "sim", "similarity"),
    "label": ("label", "relevance", "rel", "grade", "rating", "judgment", "judgement", "truth"),
    "judge": ("judge", "worker", "assessor", "annotator", "rater", "worker_id", "iteration", "iter"),
    "left": ("left", "a", "doc_a", "left_doc", "model_a", "model_x"),
    "right": ("right", "b", "doc_b", "right_doc", "model_b", "model_y"),
    "winner": ("winner", "preferred"),
    "prob": ("prob",),
    "stratum": ("stratum",),
    "design": ("design",),
    "time": ("time", "timestamp"),
    "seconds": ("seconds", "duration", "work_time"),
    "batch": ("batch", "hit", "hit_id", "assignment"),
}

INT32 = range(-(2**31), 2**31)
# labels that say that a document was not judged
UNJUDGED_WORDS = (
    *("", "?", "-", "na", "n/a", "nan", "null", "skip", "skipped"),
    *("unsure", "can't tell", "cant tell", "cannot tell"),
)
MAX_LISTED = 8  # columns that a message lists
REPLACED_SUFFIX = "_before"  # ends the name of a column where another was named to take its place


def make_frame(data: object, *, nested: Column | None = None, reader: str | None = "read_run") -> pl.DataFrame:
    """Any table-like thing as a Polars frame: Polars, pandas, Arrow, columns in a dictionary, records.

    `nested` says what the numbers of a dictionary of dictionaries are, as pytrec_eval has them; `reader` is the public
    function that would read such a table from a file, for those who give a path.

    Examples:
        >>> make_frame({"qid": ["q1"], "docno": ["d1"]}).columns
        ['qid', 'docno']
        >>> make_frame({"q1": {"d1": 2, "d2": 0}}, nested="label").rows()
        [('q1', 'd1', 2), ('q1', 'd2', 0)]
    """
    if isinstance(data, pl.DataFrame):
        return data
    if nested and isinstance(data, Mapping) and data and all(isinstance(docs, Mapping) for docs in data.values()):
        data = {
            "query": [query for query, docs in data.items() for _ in docs],
            "doc": [doc for docs in data.values() for doc in docs],
            nested: [number for docs in data.values() for number in docs.values()],
        }
    try:
        if isinstance(data, pl.LazyFrame):
            return data.collect()
        if hasattr(data, "iloc") and hasattr(data, "columns"):
            return _frame_from_pandas(data)
        if hasattr(data, "__arrow_c_stream__") or isinstance(data, Mapping | list):
            return pl.DataFrame(data, strict=False, infer_schema_length=None)
        if isinstance(data, Iterable) and not isinstance(data, str | bytes):
            return pl.DataFrame(list(data), strict=False, infer_schema_length=None)
    except (TypeError, ValueError, OverflowError, RecursionError, pl.exceptions.PolarsError) as cause:
        reason = (str(cause).splitlines() or [""])[0]
        raise TableError("not-a-table", f"no table can be made of this {type(data).__name__}: {reason}") from cause
    raise TableError(
        "not-a-table",
        f"expected a table (Polars, pandas or Arrow frame, dictionary, list of records), found {type(data).__name__}",
        suggestions=[Suggestion("reads one from a file", function=reader)] if reader else (),
    )


def _frame_from_pandas(table: Any) -> pl.DataFrame:
    """Without pyarrow; what pandas holds for missing (NaN, NA, NaT) is missing here too."""
    if table.columns.has_duplicates:
        name = str(table.columns[table.columns.duplicated()][0])
        raise TableError("duplicate-column", f"column '{name}' stands there twice; keep one", columns=[name])
    columns = {str(name): table[name] for name in table.columns}
    for name, column in columns.items():
        if column.isna().any():
            columns[name] = column.astype(object).where(column.notna(), None)
    return pl.DataFrame({name: pl.Series(column.tolist(), strict=False) for name, column in columns.items()})


def rename_columns(
    frame: pl.DataFrame,
    *,
    required: Iterable[Column],
    optional: Iterable[Column] = (),
    extra_aliases: Mapping[Column, tuple[str, ...]] | None = None,
    table_kind: str,
) -> pl.DataFrame:
    """Give the columns our names; those we need come first, all others follow as they are.

    `extra_aliases` adds names that mean a column in this kind of table only, as `score` is BEIR's word for a label.

    Examples:
        >>> frame = pl.DataFrame({"docno": ["d1"], "qid": [7], "system": ["bm25"]})
        >>> rename_columns(frame, required=["query", "doc"], table_kind="run").columns
        ['query', 'doc', 'system']
    """
    required, optional = list(required), list(optional)
    spelling = {name.lower(): name for name in reversed(frame.columns)} | {name: name for name in frame.columns}
    columns_by_name: dict[str, Column] = {}
    missing: dict[Column, tuple[str, ...]] = {}
    for column in [*required, *optional]:
        aliases = COLUMN_ALIASES[column] + (extra_aliases or {}).get(column, ())
        name = next(
            (spelling[name] for name in aliases if name in spelling and spelling[name] not in columns_by_name), None
        )
        if name is not None:
            columns_by_name[name] = column
        elif column in required:
            missing[column] = aliases
    if missing:
        raise _missing_columns_error(missing, frame.columns, table_kind)
    new_names = set(columns_by_name.values())
    others = {name: name for name in frame.columns if name not in columns_by_name}
    for name in new_names & others.keys():
        others[name] = find_free_name(f"{name}_text", others)
    return frame.select(
        *(
            pl.col(name).alias(column)
            for name, column in sorted(columns_by_name.items(), key=lambda pair: [*required, *optional].index(pair[1]))
        ),
        *(pl.col(name).alias(new_name) for name, new_name in others.items()),
    )


def _missing_columns_error(
    missing: Mapping[Column, tuple[str, ...]], columns: Sequence[str], table_kind: str
) -> TableError:
    needed = [f"a column '{column}' (also known as {', '.join(aliases)})" for column, aliases in missing.items()]
    listed = ", ".join(needed[:-1]) + " and " * (len(needed) > 1) + needed[-1]
    near = next(filter(None, (did_you_mean(column, columns) for column in missing)), "")
    return TableError(
        "missing-column",
        f"a {table_kind} table needs {listed}; found {', '.join(columns) or 'no column'}{near}",
        columns=missing,
    )


def suggest_columns(column: Column, others: Iterable[str]) -> list[Suggestion]:
    """What to do where no column has one of the names we know: the one that is nearly so called, or any other.

    Examples:
        >>> print(*suggest_columns("judge", ["jugde", "url"]))
        columns={'judge': 'jugde'} takes 'jugde' for it
        >>> print(*suggest_columns("query", ["prompt", "url", "seconds"]))
        columns={'query': 'NAME'} says which one it is, such as prompt, url
        >>> suggest_columns("query", [])
        []
    """
    from difflib import get_close_matches

    known_names = {name for aliases in COLUMN_ALIASES.values() for name in aliases}
    candidates = [
        name for name in others if name not in COLUMN_ALIASES and name.removesuffix(REPLACED_SUFFIX) not in known_names
    ]
    if not candidates:
        return []
    # Short names are near to anything.
    own_names = [column, *(name for name in COLUMN_ALIASES[column] if len(name) > 4)]
    if near := [near_miss for name in own_names for near_miss in get_close_matches(name, candidates, n=1, cutoff=0.7)]:
        return [Suggestion(f"takes '{near[0]}' for it", columns={column: near[0]})]
    listed = ", ".join(candidates[:MAX_LISTED]) + ", …" * (len(candidates) > MAX_LISTED)
    return [Suggestion(f"says which one it is, such as {listed}", columns={column: "NAME"})]


def find_free_name(name: str, used: Iterable[str]) -> str:
    """The name, or if a column has it already, the name with a number."""
    used = set(used)
    return next(
        candidate for candidate in (name, *(f"{name}_{n}" for n in range(2, len(used) + 3))) if candidate not in used
    )


def require_schema(frame: pl.DataFrame, schema: Mapping[str, type[pl.DataType]], *, table_name: str, hint: str) -> None:
    """Refuse a frame that lacks one of these columns, has it in another type, or leaves a cell of it empty."""
    for name, dtype in schema.items():
        found_dtype = frame.schema.get(name)
        if found_dtype != dtype:
            raise TableError(
                "missing-column" if found_dtype is None else "bad-column-type",
                f"{table_name} needs a column '{name}' of type {dtype.__name__}, "
                f"found {found_dtype or ', '.join(frame.columns)}; {hint}",
                columns=[name],
            )
        if frame[name].null_count():
            raise _empty_cell_error(frame[name].is_null(), name)


def first_row(bad: pl.Series) -> str:
    """The first row that is so, as what a message is about."""
    return f"row {int(bad.arg_true()[0]) + 1}"


def _empty_cell_error(bad: pl.Series, column: str, extent: str = "") -> TableError:
    return TableError(
        "empty-cell",
        f"column '{column}' is empty{extent}; every row needs a value",
        subject=first_row(bad),
        columns=[column],
    )


def parse_ids(frame: pl.DataFrame, column: Column) -> pl.Series:
    """A column of ids as text: whole numbers are ids too; nothing may be missing or empty."""
    series = frame[column]
    if series.dtype.is_float():
        integers = series.cast(pl.Int64, strict=False)
        if not (integers.cast(pl.Float64) == series).all():
            bad = (integers.cast(pl.Float64) != series).fill_null(value=True)
            raise TableError(
                "bad-id",
                f"expected an id in column '{column}', found {series.filter(bad)[0]!r}",
                subject=first_row(bad),
                columns=[column],
            )
        series = integers
    if series.dtype != pl.String:
        series = _cast_column(series, pl.String, "ids")
    bad = series.is_null() | (series == "")
    if bad.any():
        raise _empty_cell_error(bad, column)
    return series


def _cast_column(series: pl.Series, dtype: type[pl.String | pl.Float64], expected: str) -> pl.Series:
    """The values as text or numbers; those that are neither become null, a whole column of them is refused."""
    refused = series.dtype.is_nested() or (expected == "numbers" and series.dtype.is_temporal())
    try:
        if not refused:
            return series.cast(dtype, strict=False)
    except pl.exceptions.PolarsError:
        pass
    raise TableError(
        "bad-column-type",
        f"expected {expected}, found {series.dtype.base_type()}",
        subject=f"column '{series.name}'",
        columns=[series.name],
    )


def parse_numbers(frame: pl.DataFrame, column: Column) -> pl.Series:
    """A column of finite 64-bit numbers."""
    series = _cast_column(frame[column], pl.Float64, "numbers")
    bad = ~series.is_finite().fill_null(value=False)
    if bad.any():
        cell = frame[column].filter(bad)[0]
        if cell is None or cell == "":
            n_empty = frame[column].is_null().sum() or bad.sum()
            raise _empty_cell_error(bad, column, extent=f" in {n_empty:,} of {len(bad):,} rows")
        grades = "; labels are grades such as 0, 1, 2: put numbers in place of words" if column == "label" else ""
        raise TableError(
            "bad-label" if column == "label" else "bad-number",
            f"expected a finite number in column '{column}', found {cell!r}{grades}",
            subject=first_row(bad),
            columns=[column],
            suggestions=[Suggestion("takes words", function="disagree", levels=...)] if column == "label" else (),
        )
    return series


def blank_to_unjudged(frame: pl.DataFrame) -> pl.DataFrame:
    """Empty labels, and words such as "can't tell", as the label −1, *not judged*, with the word in a column reason.

    Examples:
        >>> blank_to_unjudged(pl.DataFrame({"doc": ["a", "b", "c"], "label": ["2", None, "can't tell"]})).rows()
        [('a', '2', None), ('b', '-1', 'blank'), ('c', '-1', "can't tell")]
    """
    labels = frame["label"]
    if not (labels.dtype == pl.String or labels.null_count()):
        return frame
    text = labels.cast(pl.String, strict=False).fill_null("").str.strip_chars()
    unjudged = text.str.to_lowercase().str.replace_all("’", "'").str.replace_all("_", " ").is_in(UNJUDGED_WORDS)
    if not unjudged.any():
        return frame
    reason = pl.select(pl.when(unjudged).then(pl.when(text == "").then(pl.lit("blank")).otherwise(text))).to_series()
    if "reason" in frame.columns:
        reason = pl.select(pl.coalesce(frame["reason"].cast(pl.String, strict=False), reason)).to_series()
    filled = pl.select(pl.when(unjudged).then(pl.lit("-1")).otherwise(text)).to_series()
    return frame.with_columns(label=filled, reason=reason)


def parse_labels(frame: pl.DataFrame, column: Column) -> pl.Series:
    """A column of grades: whole numbers of 32 bits; `2.0` is one too."""
    series = parse_numbers(frame, column)
    bad = (series.round(0) != series) | (series < INT32.start) | (series >= INT32.stop)
    if bad.any():
        raise TableError(
            "bad-label",
            f"expected a whole number of 32 bits in column '{column}', found {frame[column].filter(bad)[0]!r}",
            subject=first_row(bad),
            columns=[column],
        )
    return series.cast(pl.Int32)
