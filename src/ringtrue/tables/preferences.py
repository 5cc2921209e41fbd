"""Preferences: which of two documents a judge found better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self, TypeVar

import numpy as np
import polars as pl

from ringtrue.errors import TableError, did_you_mean
from ringtrue.tables.columns import NAMES, frame_from, identifiers, rename, require_schema
from ringtrue.tables.judgments import NO_JUDGE, Judgments

__all__ = ["OUTCOMES", "WORDS", "Outcome", "Preferences", "first_fault", "joined"]

T = TypeVar("T", Judgments, "Preferences")
Outcome = Literal["left", "right", "tie", "both_good", "both_bad"]
SCHEMA = dict.fromkeys(("query", "left", "right", "judge", "winner"), pl.String)
OUTCOMES: tuple[Outcome, ...] = ("left", "right", "tie", "both_good", "both_bad")
WORDS: dict[str, Outcome] = {  # in capitals or not, and with a blank or a hyphen for _
    **dict.fromkeys(NAMES["left"], "left"),
    **dict.fromkeys(NAMES["right"], "right"),
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
        require_schema(self.frame, SCHEMA, what="Preferences", instead="`Preferences.of` takes other names and types")
        if not self.frame.height:
            raise TableError("there is no preference here")

    @classmethod
    def of(cls, data: object, *, answered_only: bool = False) -> Self:
        """Preferences from any frame or dictionary of columns with the usual names.

        Other words for an outcome, such as `Left`, `draw` or `model_a`, are understood where no document is called
        so. A row without a winner is refused, or left out where `answered_only` says that some may still be open.
        """
        if isinstance(data, cls):
            return data
        frame = rename(
            frame_from(data, reader="read_preferences"),
            required=["left", "right", "winner"],
            optional=["query", "judge", "time", "seconds", "batch"],
            what="preferences",
        )
        answered = _filled(frame["winner"])
        if answered_only and "judge" in frame.columns:
            frame = _who_answered(frame, answered)
        for missing in {"query", "judge"} - set(frame.columns):
            frame = frame.with_columns(pl.lit(NO_JUDGE).alias(missing))
        frame = frame.with_columns(identifiers(frame, column) for column in ("query", "left", "right", "judge"))
        place = np.arange(frame.height)
        if answered_only:
            frame, place = frame.filter(answered), place[answered.to_numpy()]
            if len(answered) and not frame.height:
                raise TableError(
                    f"no pair has a winner yet: expected {', '.join(OUTCOMES)} or a doc id in the column 'winner', "
                    f"found only empty cells; fill in some"
                )
        frame = _understood(frame.with_columns(identifiers(frame, "winner")))
        if (fault := first_fault(frame)) is not None:
            raise TableError(f"row {place[fault[0]] + 1}: {fault[1]}")
        said = pl.col("winner")
        frame = frame.with_columns(
            winner=pl.when(said == pl.col("left"))
            .then(pl.lit("left"))
            .when(said == pl.col("right"))
            .then(pl.lit("right"))
            .otherwise(said)
        )
        first = ["query", "left", "right", "judge", "winner"]
        return cls(frame.select(*first, *(name for name in frame.columns if name not in first)))


def joined(tables: Sequence[T]) -> T:
    """All the rows of several tables of a kind, one after another; a column that one of them lacks is empty there.

    Examples:
        >>> one = Preferences.of({"left": ["a"], "right": ["b"], "winner": ["a"]})
        >>> joined([one, one]).frame.height
        2
    """
    if len(tables) == 1:
        return tables[0]
    try:
        return replace(tables[0], frame=pl.concat([one.frame for one in tables], how="diagonal_relaxed"))
    except pl.exceptions.PolarsError as error:
        reason = (str(error).splitlines() or ["unknown"])[0]
        raise TableError(f"the tables do not fit together: {reason}; leave further columns out") from error


def first_fault(frame: pl.DataFrame) -> tuple[int, str] | None:
    """The first row of left, right and winner that is no preference, and why; None where all of them are.

    Examples:
        >>> first_fault(pl.DataFrame({"left": ["d1"], "right": ["d1"], "winner": ["tie"]}))
        (0, "document 'd1' is compared with itself")
    """
    left, right, said = pl.col("left"), pl.col("right"), pl.col("winner")
    doubtful = said.is_in(OUTCOMES) & (((said == left) & (said != "left")) | ((said == right) & (said != "right")))
    unknown = ~said.is_in(OUTCOMES) & (said != left) & (said != right)
    bad = frame.select((left == right) | doubtful | unknown).to_series().arg_true()
    if not len(bad):
        return None
    row = int(bad[0])
    one, other, winner = frame.select("left", "right", "winner").row(row)
    if one == other:
        return row, f"document '{one}' is compared with itself"
    if winner in OUTCOMES:
        return row, f"does the winner '{winner}' mean a document or an outcome? Rename the document"
    hint = did_you_mean(winner, [*OUTCOMES, *(doc for doc in (one, other) if doc.lower() == winner.lower())])
    if winner.removeprefix("-").isdecimal():
        hint = "; a number may mean either side: put a word in its place"
    return row, f"expected a winner of {', '.join(OUTCOMES)}, '{one}' or '{other}', found '{winner}'{hint}"


def _filled(cells: pl.Series) -> pl.Series:
    """Which cells have something in them; blanks alone are nothing."""
    if cells.dtype != pl.String:
        return cells.is_not_null()
    return (cells.str.strip_chars(" \t") != "").fill_null(value=False)


def _who_answered(frame: pl.DataFrame, answered: pl.Series) -> pl.DataFrame:
    """The same with judges of answers only: who will answer the rest is open, and where nobody is named, nobody is."""
    named = frame["judge"].filter(answered & _filled(frame["judge"]))
    if not len(named):
        return frame.drop("judge")
    return frame.with_columns(judge=pl.when(answered).then(pl.col("judge")).otherwise(pl.lit(named[0])))


def _understood(frame: pl.DataFrame) -> pl.DataFrame:
    """Other words for an outcome in our own words, where no document of the table is called so."""
    said = pl.col("winner")
    clear = said.is_in(OUTCOMES) | (said == pl.col("left")) | (said == pl.col("right"))
    odd = frame.filter(~clear)["winner"].unique().to_list()
    meant = {word: WORDS[plain] for word in odd if (plain := _plain(word)) in WORDS}
    if not meant:
        return frame
    docs = set(pl.concat([frame["left"], frame["right"]]).str.to_lowercase().unique())
    meant = {word: outcome for word, outcome in meant.items() if word.strip().lower() not in docs}
    return frame.with_columns(winner=pl.when(clear).then(said).otherwise(said.replace(meant)))


def _plain(word: str) -> str:
    return word.strip().lower().replace(" ", "_").replace("-", "_")
