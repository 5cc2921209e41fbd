"""Which column is which: the names by which tables of the field know a query, a doc, a judge, a label.

Every package of the field has its own word for a query. The first name found wins, so that a PyTerrier
frame, which has both `qid` and the query's text in `query`, is read by its `qid`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import polars as pl

from ringtrue.errors import TableError, did_you_mean

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

MAX_LISTED = 8  # columns that a message lists
REPLACED_SUFFIX = "_before"  # ends the name of a column where another was named to take its place


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


def suggest_column(column: Column, others: Iterable[str]) -> str:
    """What to do where no column has one of the names we know, as the end of a sentence: which others there are.

    Examples:
        >>> suggest_column("judge", ["jugde", "url"])
        "; did you mean 'jugde'? Then say `--columns judge=jugde`"
        >>> suggest_column("query", ["prompt", "url", "seconds"])
        '; if it is one of prompt, url, say `--columns query=NAME`'
        >>> suggest_column("query", [])
        ''
    """
    from difflib import get_close_matches

    known_names = {name for aliases in COLUMN_ALIASES.values() for name in aliases}
    candidates = [
        name for name in others if name not in COLUMN_ALIASES and name.removesuffix(REPLACED_SUFFIX) not in known_names
    ]
    if not candidates:
        return ""
    # Short names are near to anything.
    own_names = [column, *(name for name in COLUMN_ALIASES[column] if len(name) > 4)]
    if near_misses := [
        near_miss for name in own_names for near_miss in get_close_matches(name, candidates, n=1, cutoff=0.7)
    ]:
        return f"; did you mean '{near_misses[0]}'? Then say `--columns {column}={near_misses[0]}`"
    listed = ", ".join(candidates[:MAX_LISTED]) + ", …" * (len(candidates) > MAX_LISTED)
    return f"; if it is {'one of ' * (len(candidates) > 1)}{listed}, say `--columns {column}=NAME`"


def find_free_name(name: str, used: Iterable[str]) -> str:
    """The name, or if a column has it already, the name with a number."""
    used = set(used)
    return next(
        candidate for candidate in (name, *(f"{name}_{n}" for n in range(2, len(used) + 3))) if candidate not in used
    )


def _missing_columns_error(
    missing: Mapping[Column, tuple[str, ...]], columns: Sequence[str], table_kind: str
) -> TableError:
    needed = [f"a column '{column}' (also known as {', '.join(aliases)})" for column, aliases in missing.items()]
    listed = ", ".join(needed[:-1]) + " and " * (len(needed) > 1) + needed[-1]
    suggestion = next(filter(None, (did_you_mean(column, columns) for column in missing)), ".")
    meant = "the one that is" if len(missing) == 1 else "those that are"
    assignments = ",".join(f"{column}=NAME" for column in missing)
    return TableError(
        f"a {table_kind} table needs {listed}; found {', '.join(columns) or 'no column'}{suggestion} "
        f"Rename {meant} meant, or say `--columns {assignments}`"
    )
