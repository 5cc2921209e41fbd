"""What the labels are: whole numbers, words in an order, or the combinations of two columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import TableError, UsageError, did_you_mean
from ringtrue.judges.votes import Outside, Votes, votes_of
from ringtrue.tables import Judgments
from ringtrue.tables.columns import NAMES, frame_from

__all__ = ["Levels", "LevelsAsked", "coded", "votes_on_levels"]

LevelsAsked: TypeAlias = Sequence[str] | Mapping[str, Sequence[str]] | None
WHOLE = r"^-?\d+$"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Levels:
    """The levels from the lowest to the top, their names, and the whole numbers that stand for them in judgments.

    `top` says which levels count as the top, `lowest` which are worth nothing; `asked` are the words, if they are some.
    """

    names: tuple[str, ...]
    labels: tuple[int, ...]
    top: NDArray[np.bool_]
    lowest: NDArray[np.bool_]
    asked: tuple[str, ...] | None = None


def votes_on_levels(
    data: object, *, levels: LevelsAsked, top: str | None, scale: Sequence[int] | None, outside: Outside
) -> tuple[Votes, Levels]:
    """The votes in a table, with its labels as levels.

    `levels` are the words that the labels are, from the lowest to the top; or by column, and then every combination is
    a level, whose top is that of all columns, or of the one that `top` names. In a combination the last column decides
    what is lowest, as [Demeester14] has it: a page that is worth nothing is not saved by its snippet.

    Examples:
        >>> table = {"doc": ["a", "a"], "judge": ["x", "y"], "snippet": ["Maybe", "Sure"], "page": ["Non", "Key"]}
        >>> asked = {"snippet": ["Maybe", "Sure"], "page": ["Non", "Key"]}
        >>> votes, found = votes_on_levels(table, levels=asked, top=None, scale=None, outside="refuse")
        >>> found.names, votes.label.tolist(), found.top.tolist(), found.lowest.tolist()
        (('Maybe/Non', 'Maybe/Key', 'Sure/Non', 'Sure/Key'), [0, 3], [False, False, False, True],
         [True, False, True, False])
    """
    if levels is None:
        votes = votes_of(data, scale=scale, outside=outside)
        if top is not None:
            raise UsageError(f"top '{top}' names one of several columns; say their levels first (--levels {top}=…)")
        return votes, _of_numbers(votes)
    if scale is not None:
        raise UsageError("levels say which labels there are; leave the scale out")
    if isinstance(data, Votes):
        raise UsageError("levels are words in a table; give the table")
    frame = data.frame if isinstance(data, Judgments) else frame_from(data)
    if isinstance(levels, Mapping):
        return _combined(frame, levels, top)
    if top is not None:
        raise UsageError(f"top '{top}' names one of several columns, and the levels are of one")
    spelled = {name.lower(): name for name in reversed(frame.columns)} | {name: name for name in frame.columns}
    column = next((spelled[name] for name in NAMES["label"] if name in spelled), None)
    if column is None:
        raise TableError(
            f"a table of judgments needs a column 'label' (also known as {', '.join(NAMES['label'])}); found "
            f"{', '.join(frame.columns)}. Rename the one that is meant, or say `--columns label=NAME`"
        )
    return _combined(frame, {column: levels}, None)


def _of_numbers(votes: Votes) -> Levels:
    place = np.arange(len(votes.labels))
    return Levels(names=tuple(map(str, votes.labels)), labels=votes.labels, top=place == place.max(), lowest=place == 0)


def _combined(frame: pl.DataFrame, levels: Mapping[str, Sequence[str]], top: str | None) -> tuple[Votes, Levels]:
    if top is not None and top not in levels:
        near = did_you_mean(top, levels) or "; there is " + ", ".join(levels)
        raise UsageError(f"no levels of a column '{top}', whose top should count{near}")
    for column, words in levels.items():
        if column not in frame.columns:
            near = did_you_mean(column, frame.columns) or "; there is " + ", ".join(frame.columns)
            raise UsageError(f"no column '{column}' to take levels from{near}")
        _require_levels(words)
    positions = [coded(frame[column], words) for column, words in levels.items()]
    unjudged = pl.Series(np.any([(some < 0).to_numpy() for some in positions], axis=0))
    place = np.zeros(frame.height, dtype=np.int64)
    for some, words in zip(positions, levels.values(), strict=True):
        place = place * len(words) + some.to_numpy()
    known = {name.lower() for name in NAMES["label"]}
    others = [name for name in frame.columns if name.lower() not in known]
    kept = frame.select(*others, pl.Series("label", place, dtype=pl.Int32)).filter(~unjudged)
    if not kept.height:
        raise TableError("every label is below 0, which says 'not judged'")
    names = list(product(*levels.values()))
    highest = np.array([[name[at] == words[-1] for at, words in enumerate(levels.values())] for name in names])
    chosen = list(levels).index(top) if top is not None else None
    last = list(levels.values())[-1]
    alone = tuple(str(word) for word in last) if len(levels) == 1 else None
    numbers = [int(word) for word in last] if alone and all(re.fullmatch(WHOLE, word) for word in alone) else None
    found = Levels(
        names=tuple("/".join(map(str, name)) for name in names),
        labels=tuple(numbers or range(len(names))),
        top=np.asarray(highest.all(axis=1) if chosen is None else highest[:, chosen]),
        lowest=np.array([name[-1] == last[0] for name in names]),
        asked=alone,
    )
    votes = votes_of(kept, scale=range(len(names)))
    left = frame.height - kept.height
    note = f"{left:,} label{'s' * (left > 1)} below 0 ('not judged') left out"
    return (replace(votes, notes=(*votes.notes, note)) if left else votes), found


def _require_levels(words: Sequence[str]) -> None:
    if isinstance(words, str) or len(words) < 2:
        raise UsageError(f"levels are two or more, from the lowest to the top, such as Non,Rel,Key; found '{words}'")
    if twice := [word for word in words if list(words).count(word) > 1]:
        raise UsageError(f"level '{twice[0]}' is named twice")
    if empty := [word for word in words if not str(word).strip()]:
        raise UsageError(f"levels have names, and one is '{empty[0]}'")


def coded(column: pl.Series, words: Sequence[str]) -> pl.Series:
    """Each cell as the position of its level, −1 for numbers below 0, which say that it was not judged.

    Examples:
        >>> coded(pl.Series("label", ["Key", "Non", "-2"]), ["Non", "Rel", "Key"]).to_list()
        [2, 0, -1]
    """
    if column.dtype.is_float() and (column.round(0) == column).all():
        column = column.cast(pl.Int64)
    text = column.cast(pl.String).str.strip_chars().fill_null("")
    names = pl.Series([str(word).strip() for word in words])
    unjudged = text.str.contains(r"^-\d+$") & ~text.is_in(names.implode())
    places = text.replace_strict(names, pl.Series(range(len(words)), dtype=pl.Int32), default=None)
    places = places.set(unjudged, -1)
    bad = places.is_null()
    if bad.any():
        row = int(bad.arg_true()[0])
        known = ", ".join(map(str, words))
        near = did_you_mean(text[row], map(str, words)) if text[row] else ""
        what = f"'{text[row]}'" if text[row] else "an empty cell"
        raise TableError(
            f"row {row + 1}: expected one of the levels {known} in column '{column.name}', found {what}"
            f"{near or '; name every level, the lowest first'}"
        )
    return places
