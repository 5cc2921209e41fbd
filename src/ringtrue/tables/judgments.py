"""Judgments: every judge's word about every document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

import polars as pl

from ringtrue.errors import DuplicateError, TableError, UsageError, did_you_mean
from ringtrue.messages import Suggestion
from ringtrue.tables.columns import (
    Column,
    blank_to_unjudged,
    first_row,
    make_frame,
    parse_ids,
    parse_labels,
    parse_numbers,
    rename_columns,
    require_schema,
)
from ringtrue.tables.groups import first_duplicate, group_rows

NO_JUDGE = NO_QUERY = "0"
SCHEMA = {"query": pl.String, "doc": pl.String, "judge": pl.String, "label": pl.Int32}
OPTIONAL_COLUMNS: tuple[Column, ...] = ("judge", "prob", "stratum", "design", "time", "seconds", "batch")


@dataclass(frozen=True, slots=True, eq=False)
class Judgments:
    """Labels: `frame` has the columns query, doc, judge and label, and any others that came with them.

    Several judges may label one document, and one judge may label it again. A negative label says that the
    document was seen but not judged, as in trec_eval. Where nothing names the judge, it is '0'.

    Examples:
        >>> judgments = Judgments.of({"q1": {"d1": 2, "d2": 0}})
        >>> judgments.frame.rows()
        [('q1', 'd1', '0', 2), ('q1', 'd2', '0', 0)]
    """

    frame: pl.DataFrame

    def __post_init__(self) -> None:
        require_schema(self.frame, SCHEMA, table_name="Judgments", hint="`Judgments.of` takes other names and types")
        if not self.frame.height:
            raise TableError("no-judgments", "the table has no judgment")

    @classmethod
    def of(cls, data: object, *, needs_query: bool = True, allow_blank: bool = False) -> Self:
        """Judgments from a dictionary of dictionaries, or from any frame with the usual column names.

        Where judges are asked about and nothing is searched, a table may do without queries (`needs_query=False`):
        all its documents then belong to the query '0'. With `allow_blank`, an empty label and words such as
        "can't tell" say that a document was not judged, and a column reason has the word.
        """
        if isinstance(data, cls):
            return data
        source = make_frame(data, nested="label", reader="read_judgments")
        # BEIR and ranx call a label score, and can be told from a run by their names for the ids.
        frame = rename_columns(
            source,
            required=["query", "doc", "label"] if needs_query else ["doc", "label"],
            optional=OPTIONAL_COLUMNS if needs_query else ("query", *OPTIONAL_COLUMNS),
            extra_aliases={"label": ("score",)} if {"corpus-id", "corpus_id", "q_id"} & set(source.columns) else {},
            table_kind="judgments",
        )
        if allow_blank:
            frame = blank_to_unjudged(frame)
        if "query" not in frame.columns:
            frame = frame.with_columns(query=pl.lit(NO_QUERY))
        columns = [parse_ids(frame, "query"), parse_ids(frame, "doc"), parse_labels(frame, "label")]
        columns.append(
            parse_ids(frame, "judge")
            if "judge" in frame.columns
            else pl.Series("judge", [NO_JUDGE]).new_from_index(0, frame.height)
        )
        if "prob" in frame.columns:
            columns.append(_parse_probabilities(frame))
        frame = frame.with_columns(columns)
        leading = ["query", "doc", "judge", "label"]
        return cls(frame.select(*leading, *(name for name in frame.columns if name not in leading)))

    @property
    def judges(self) -> tuple[str, ...]:
        """Who judged, in order of appearance."""
        return tuple(self.frame["judge"].unique(maintain_order=True).to_list())

    def by(self, judge: str) -> Self:
        """One judge's labels alone."""
        if judge not in self.judges:
            listed = ", ".join(self.judges[:5]) + (", …" if len(self.judges) > 5 else "")
            raise UsageError(
                "unknown-judge",
                f"no judge '{judge}' here, only {listed}{did_you_mean(judge, self.judges)}",
                parameter="judge",
            )
        return type(self)(self.frame.filter(pl.col("judge") == judge))

    def without_repeats(self, keep: Literal["first", "last"]) -> Self:
        """Each judge's first or last label of a document, where one labelled it again.

        Examples:
            >>> again = Judgments.of({"query": ["q", "q"], "doc": ["d", "d"], "judge": ["a", "a"], "label": [0, 2]})
            >>> again.without_repeats("last").frame["label"].to_list()
            [2]
        """
        return type(self)(self.frame.unique(["query", "doc", "judge"], keep=keep, maintain_order=True))

    def require_one_label_each(self) -> None:
        """Refuse judgments in which a document has several labels: a measure needs exactly one."""
        frame, groups = group_rows(self.frame)
        duplicate = first_duplicate(groups, frame["doc"])
        if duplicate is None:
            return
        query, doc = duplicate
        rows = frame.filter((pl.col("query") == query) & (pl.col("doc") == doc))
        listed = ", ".join(f"{label} by {judge}" for judge, label in rows.select("judge", "label").rows()[:4])
        listed += ", …" if rows.height > 4 else ""
        same_judge = rows["judge"].n_unique() == 1
        one_label = Suggestion("makes one label of them", function="aggregate")
        average = Suggestion("averages over the judges", judges="average")
        raise DuplicateError(
            "repeated-label" if same_judge else "several-judges",
            f"document '{doc}' of query '{query}' has {rows.height} labels ({listed}), and one is needed",
            table="judgments",
            query=query,
            doc=doc,
            judge=rows["judge"][0] if same_judge else None,
            suggestions=() if same_judge else [one_label, average],
        )


def _parse_probabilities(frame: pl.DataFrame) -> pl.Series:
    series = parse_numbers(frame, "prob")
    bad = (series <= 0) | (series > 1)
    if bad.any():
        raise TableError(
            "bad-probability",
            f"expected a probability above 0 and up to 1 in 'prob', found {series.filter(bad)[0]}",
            subject=first_row(bad),
            columns=["prob"],
        )
    return series
