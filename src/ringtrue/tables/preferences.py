"""Preferences: which of two documents a judge found better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self, TypeVar

import numpy as np
import polars as pl

from ringtrue.errors import TableError, did_you_mean
from ringtrue.messages import Note
from ringtrue.tables.columns import COLUMN_ALIASES, make_frame, parse_ids, rename_columns, require_schema
from ringtrue.tables.judgments import NO_JUDGE, Judgments

TableT = TypeVar("TableT", Judgments, "Preferences")
Outcome = Literal["left", "right", "tie", "both_good", "both_bad"]
SCHEMA = dict.fromkeys(("query", "left", "right", "judge", "winner"), pl.String)
OUTCOMES: tuple[Outcome, ...] = ("left", "right", "tie", "both_good", "both_bad")
OUTCOME_WORDS: dict[str, Outcome] = {  # in capitals or not, and with a blank or a hyphen for _
    **dict.fromkeys(COLUMN_ALIASES["left"], "left"),
    **dict.fromkeys(COLUMN_ALIASES["right"], "right"),
    **dict.fromkeys(("tie", "draw", "equal"), "tie"),
    "both_good": "both_good",
    **dict.fromkeys(("both_bad", "tie_(bothbad)"), "both_bad"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Preferences:
    """Pairwise judgments: `frame` has the columns query, left, right, judge and winner, and any others that came along.

    `winner` is `left`, `right`, `tie`, `both_good` or `both_bad`; a doc id is understood too, when it is one
    of the two. Where there is no query, all pairs belong to the query '0'.

    Examples:
        >>> pairs = Preferences.of({"query": ["q1"], "left": ["d1"], "right": ["d2"], "winner": ["d2"]})
        >>> pairs.frame.rows()
        [('q1', 'd1', 'd2', '0', 'right')]
    """

    frame: pl.DataFrame

    def __post_init__(self) -> None:
        require_schema(
            self.frame, SCHEMA, table_name="Preferences", hint="`Preferences.of` takes other names and types"
        )
        if not self.frame.height:
            raise TableError("no-preferences", "the table has no preference")

    @classmethod
    def of(cls, data: object, *, answered_only: bool = False) -> Self:
        """Preferences from any frame or dictionary of columns with the usual names.

        Other words for an outcome, such as `Left`, `draw` or `model_a`, are understood where no document is called
        so. A row without a winner is refused, or left out where `answered_only` says that some may still be open.
        """
        if isinstance(data, cls):
            return data
        frame = rename_columns(
            make_frame(data, reader="read_preferences"),
            required=["left", "right", "winner"],
            optional=["query", "judge", "time", "seconds", "batch"],
            table_kind="preferences",
        )
        answered = _is_filled(frame["winner"])
        if answered_only and "judge" in frame.columns:
            frame = _fill_open_judges(frame, answered)
        for missing in {"query", "judge"} - set(frame.columns):
            frame = frame.with_columns(pl.lit(NO_JUDGE).alias(missing))
        frame = frame.with_columns(parse_ids(frame, column) for column in ("query", "left", "right", "judge"))
        row_numbers = np.arange(frame.height)
        if answered_only:
            frame, row_numbers = frame.filter(answered), row_numbers[answered.to_numpy()]
            if len(answered) and not frame.height:
                raise TableError(
                    "no-winner",
                    f"no pair has a winner yet: expected {', '.join(OUTCOMES)} or a doc id in the column 'winner', "
                    f"found only empty cells; fill in some",
                    columns=["winner"],
                )
        frame = _translate_outcomes(frame.with_columns(parse_ids(frame, "winner")))
        if (fault := find_invalid_row(frame)) is not None:
            row, note = fault
            raise TableError.of(note.about(f"row {row_numbers[row] + 1}"))
        winner = pl.col("winner")
        frame = frame.with_columns(
            winner=pl.when(winner == pl.col("left"))
            .then(pl.lit("left"))
            .when(winner == pl.col("right"))
            .then(pl.lit("right"))
            .otherwise(winner)
        )
        leading = ["query", "left", "right", "judge", "winner"]
        return cls(frame.select(*leading, *(name for name in frame.columns if name not in leading)))


def concat_tables(tables: Sequence[TableT]) -> TableT:
    """All the rows of several tables of a kind, one after another; a column that one of them lacks is empty there.

    Examples:
        >>> votes = Preferences.of({"left": ["a"], "right": ["b"], "winner": ["a"]})
        >>> concat_tables([votes, votes]).frame.height
        2
    """
    if len(tables) == 1:
        return tables[0]
    try:
        return replace(tables[0], frame=pl.concat([table.frame for table in tables], how="diagonal_relaxed"))
    except pl.exceptions.PolarsError as cause:
        reason = (str(cause).splitlines() or ["unknown"])[0]
        raise TableError(
            "mismatched-columns", f"the tables do not fit together: {reason}; leave further columns out"
        ) from cause


def find_invalid_row(frame: pl.DataFrame) -> tuple[int, Note] | None:
    """The first row of left, right and winner that is no preference, and why; None where all of them are.

    Examples:
        >>> find_invalid_row(pl.DataFrame({"left": ["d1"], "right": ["d1"], "winner": ["tie"]}))
        (0, "document 'd1' is compared with itself")
    """
    left, right, winner = pl.col("left"), pl.col("right"), pl.col("winner")
    ambiguous = winner.is_in(OUTCOMES) & (
        ((winner == left) & (winner != "left")) | ((winner == right) & (winner != "right"))
    )
    unknown = ~winner.is_in(OUTCOMES) & (winner != left) & (winner != right)
    bad = frame.select((left == right) | ambiguous | unknown).to_series().arg_true()
    if not len(bad):
        return None
    row = int(bad[0])
    left_doc, right_doc, winner_cell = frame.select("left", "right", "winner").row(row)
    if left_doc == right_doc:
        return row, Note("self-comparison", f"document '{left_doc}' is compared with itself")
    if winner_cell in OUTCOMES:
        return row, Note(
            "ambiguous-winner", f"the winner '{winner_cell}' may be a document or an outcome; rename the document"
        )
    hint = did_you_mean(
        winner_cell, [*OUTCOMES, *(doc for doc in (left_doc, right_doc) if doc.lower() == winner_cell.lower())]
    )
    if winner_cell.removeprefix("-").isdecimal():
        hint = "; a number may mean either side: put a word in its place"
    expected = f"{', '.join(OUTCOMES)}, '{left_doc}' or '{right_doc}'"
    return row, Note("bad-winner", f"expected a winner of {expected}, found '{winner_cell}'{hint}")


def _is_filled(cells: pl.Series) -> pl.Series:
    """Which cells have something in them; blanks alone are nothing."""
    if cells.dtype != pl.String:
        return cells.is_not_null()
    return (cells.str.strip_chars(" \t") != "").fill_null(value=False)


def _fill_open_judges(frame: pl.DataFrame, answered: pl.Series) -> pl.DataFrame:
    """The same with judges of answers only: who will answer the rest is open, and where nobody is named, nobody is."""
    judges = frame["judge"].filter(answered & _is_filled(frame["judge"]))
    if not len(judges):
        return frame.drop("judge")
    return frame.with_columns(judge=pl.when(answered).then(pl.col("judge")).otherwise(pl.lit(judges[0])))


def _translate_outcomes(frame: pl.DataFrame) -> pl.DataFrame:
    """Other words for an outcome in our own words, where no document of the table is called so."""
    winner = pl.col("winner")
    is_clear = winner.is_in(OUTCOMES) | (winner == pl.col("left")) | (winner == pl.col("right"))
    unclear_words = frame.filter(~is_clear)["winner"].unique().to_list()
    outcomes = {word: OUTCOME_WORDS[key] for word in unclear_words if (key := _outcome_key(word)) in OUTCOME_WORDS}
    if not outcomes:
        return frame
    docs = set(pl.concat([frame["left"], frame["right"]]).str.to_lowercase().unique())
    outcomes = {word: outcome for word, outcome in outcomes.items() if word.strip().lower() not in docs}
    return frame.with_columns(winner=pl.when(is_clear).then(winner).otherwise(winner.replace(outcomes)))


def _outcome_key(word: str) -> str:
    return word.strip().lower().replace(" ", "_").replace("-", "_")
