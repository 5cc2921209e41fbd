"""What the labels are, whole numbers, words in an order or combinations of columns, and gold as one more of them."""

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
from ringtrue.formatting.phrases import format_count
from ringtrue.judges.votes import Outside, Repeats, Votes, align_with_gold, make_votes
from ringtrue.messages import Note, Suggestion
from ringtrue.tables import Judgments
from ringtrue.tables.columns import COLUMN_ALIASES, find_free_name, make_frame, suggest_columns

LevelNames: TypeAlias = Sequence[str] | Mapping[str, Sequence[str]] | None
INTEGER = r"^-?\d+$"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Levels:
    """The levels from the lowest to the top, their names, and the whole numbers that stand for them in judgments.

    `top` says which levels count as the top, `lowest` which are worth nothing; `words` are the words, if they are some.
    """

    names: tuple[str, ...]
    labels: tuple[int, ...]
    top: NDArray[np.bool_]
    lowest: NDArray[np.bool_]
    words: tuple[str, ...] | None = None


def read_votes_on_levels(
    table: object, *, levels: LevelNames, top: str | None, scale: Sequence[int] | None, outside: Outside
) -> tuple[Votes, Levels]:
    """The votes in a table, with its labels as levels.

    `levels` are the words that the labels are, from the lowest to the top; or by column, and then every combination is
    a level, whose top is that of all columns, or of the one that `top` names. In a combination the last column decides
    what is lowest, as [Demeester14] has it: a page that is worth nothing is not saved by its snippet.

    Examples:
        >>> table = {"doc": ["a", "a"], "judge": ["x", "y"], "snippet": ["Maybe", "Sure"], "page": ["Non", "Key"]}
        >>> scales = {"snippet": ["Maybe", "Sure"], "page": ["Non", "Key"]}
        >>> votes, levels = read_votes_on_levels(table, levels=scales, top=None, scale=None, outside="refuse")
        >>> levels.names, votes.label.tolist(), levels.top.tolist(), levels.lowest.tolist()
        (('Maybe/Non', 'Maybe/Key', 'Sure/Non', 'Sure/Key'), [0, 3], [False, False, False, True],
         [True, False, True, False])
    """
    if levels is None:
        votes = make_votes(table, scale=scale, outside=outside)
        if top is not None:
            raise UsageError(
                "top-without-levels",
                f"top '{top}' names one of several columns, whose levels are not given",
                parameter="top",
                suggestions=[Suggestion("names them, the lowest first", levels={top: "…"})],
            )
        return votes, _numeric_levels(votes)
    if scale is not None:
        raise UsageError(
            "levels-and-scale", "levels define which labels there are; leave the scale out", parameter="scale"
        )
    if isinstance(table, Votes):
        raise UsageError("levels-of-votes", "levels are words in a table; give the table", parameter="levels")
    frame = table.frame if isinstance(table, Judgments) else make_frame(table)
    if isinstance(levels, Mapping):
        return _combine_levels(frame, levels, top)
    if top is not None:
        raise UsageError(
            "top-of-one-column", f"top '{top}' names one of several columns, and the levels are of one", parameter="top"
        )
    exact_names = {name: name for name in frame.columns}
    column_by_spelling = {name.lower(): name for name in reversed(frame.columns)} | exact_names
    column = next((column_by_spelling[name] for name in COLUMN_ALIASES["label"] if name in column_by_spelling), None)
    if column is None:
        raise TableError(
            "missing-column",
            f"a table of judgments needs a column 'label' (also known as {', '.join(COLUMN_ALIASES['label'])}); found "
            f"{', '.join(frame.columns)}",
            columns=["label"],
            suggestions=suggest_columns("label", frame.columns),
        )
    return _combine_levels(frame, {column: levels}, None)


def _numeric_levels(votes: Votes) -> Levels:
    position = np.arange(len(votes.labels))
    return Levels(
        names=tuple(map(str, votes.labels)), labels=votes.labels, top=position == position.max(), lowest=position == 0
    )


def _combine_levels(frame: pl.DataFrame, levels: Mapping[str, Sequence[str]], top: str | None) -> tuple[Votes, Levels]:
    if top is not None and top not in levels:
        near = did_you_mean(top, levels) or "; there is " + ", ".join(levels)
        raise UsageError(
            "unknown-column", f"no levels of a column '{top}', whose top should count{near}", parameter="top"
        )
    for column, words in levels.items():
        if column not in frame.columns:
            near = did_you_mean(column, frame.columns) or "; there is " + ", ".join(frame.columns)
            raise UsageError("unknown-column", f"no column '{column}' to take levels from{near}", parameter="levels")
        _require_levels(words)
    codes_per_column = [encode_levels(frame[column], words) for column, words in levels.items()]
    unjudged = pl.Series(np.any([(codes < 0).to_numpy() for codes in codes_per_column], axis=0))
    level_codes = np.zeros(frame.height, dtype=np.int64)
    for codes, words in zip(codes_per_column, levels.values(), strict=True):
        level_codes = level_codes * len(words) + codes.to_numpy()
    label_aliases = {name.lower() for name in COLUMN_ALIASES["label"]}
    other_columns = [name for name in frame.columns if name.lower() not in label_aliases]
    judged = frame.select(*other_columns, pl.Series("label", level_codes, dtype=pl.Int32)).filter(~unjudged)
    if not judged.height:
        raise TableError("nothing-judged", "every label is below 0, which means 'not judged'")
    names = list(product(*levels.values()))
    is_highest = np.array([[name[i] == words[-1] for i, words in enumerate(levels.values())] for name in names])
    top_column = list(levels).index(top) if top is not None else None
    last_words = list(levels.values())[-1]
    single_words = tuple(str(word) for word in last_words) if len(levels) == 1 else None
    labels: Sequence[int] = range(len(names))
    if single_words and all(re.fullmatch(INTEGER, word) for word in single_words):
        labels = [int(word) for word in last_words]
    resolved = Levels(
        names=tuple("/".join(map(str, name)) for name in names),
        labels=tuple(labels),
        top=np.asarray(is_highest.all(axis=1) if top_column is None else is_highest[:, top_column]),
        lowest=np.array([name[-1] == last_words[0] for name in names]),
        words=single_words,
    )
    votes = make_votes(judged, scale=range(len(names)))
    left_out = frame.height - judged.height
    note = Note("unjudged-labels", f"{format_count(left_out, 'label')} below 0 ('not judged') left out")
    return (replace(votes, notes=(*votes.notes, note)) if left_out else votes), resolved


def _require_levels(words: Sequence[str]) -> None:
    if isinstance(words, str) or len(words) < 2:
        expected = "levels are two or more, from the lowest to the top, such as Non,Rel,Key"
        raise UsageError("too-few-levels", f"{expected}; found '{words}'", parameter="levels")
    if duplicates := [word for word in words if list(words).count(word) > 1]:
        raise UsageError("repeated-level", f"level '{duplicates[0]}' is named twice", parameter="levels")
    if empty := [word for word in words if not str(word).strip()]:
        raise UsageError("unnamed-level", f"levels have names, and one is '{empty[0]}'", parameter="levels")


def encode_levels(column: pl.Series, words: Sequence[str]) -> pl.Series:
    """Each cell as the position of its level, −1 for numbers below 0, which say that it was not judged.

    Examples:
        >>> encode_levels(pl.Series("label", ["Key", "Non", "-2"]), ["Non", "Rel", "Key"]).to_list()
        [2, 0, -1]
    """
    if column.dtype.is_float() and (column.round(0) == column).all():
        column = column.cast(pl.Int64)
    text = column.cast(pl.String).str.strip_chars().fill_null("")
    names = pl.Series([str(word).strip() for word in words])
    unjudged = text.str.contains(r"^-\d+$") & ~text.is_in(names.implode())
    codes = text.replace_strict(names, pl.Series(range(len(words)), dtype=pl.Int32), default=None)
    codes = codes.set(unjudged, -1)
    unknown = codes.is_null()
    if unknown.any():
        row = int(unknown.arg_true()[0])
        expected = ", ".join(map(str, words))
        near = did_you_mean(text[row], map(str, words)) if text[row] else ""
        cell = f"'{text[row]}'" if text[row] else "an empty cell"
        raise TableError(
            "unknown-level",
            f"expected one of the levels {expected} in column '{column.name}', found {cell}"
            f"{near or '; name every level, the lowest first'}",
            subject=f"row {row + 1}",
        )
    return codes


def add_gold_as_judge(votes: Votes, gold: object, levels: Levels, *, repeats: Repeats | None = None) -> Votes:
    """The votes and gold's; `gold` is a table, or a column that came along.

    Gold is a judge like others: where it has several labels for a document, `repeats` says which of them count, and
    without a word they are refused.

    Examples:
        >>> table = {"doc": ["a", "a"], "judge": ["x", "y"], "label": [0, 1], "gold": [1, None]}
        >>> votes, levels = read_votes_on_levels(table, levels=None, top=None, scale=None, outside="refuse")
        >>> more = add_gold_as_judge(votes, "gold", levels)
        >>> more.judges, more.label.tolist()
        (('x', 'y', 'gold'), [0, 1, 1])
    """
    gold_votes = _gold_from_column(votes, gold, levels) if isinstance(gold, str) else _gold_from_table(gold, levels)
    if unknown := sorted(set(gold_votes.labels) - set(votes.labels)):
        raise TableError(
            "gold-outside-labels",
            f"gold says {unknown[0]}, and no judge does",
            suggestions=[Suggestion("declares all the labels there are", scale=...)],
        )
    gold_votes = replace(
        gold_votes.widen_scale(votes.labels), judges=("gold",), judge=np.zeros(gold_votes.size, dtype=np.int32)
    )
    gold_votes = _deduplicate_gold(gold_votes, repeats)
    # Refuses gold of other documents, and several labels for one where nobody said which counts.
    align_with_gold(votes, gold_votes if repeats is None else gold_votes.resolve_repeats("first"))
    gold_votes = gold_votes if repeats is None else gold_votes.resolve_repeats(repeats)
    positions = votes.items.with_row_index("position")
    gold_items = gold_votes.items.join(positions, on=votes.items.columns, how="left", maintain_order="left")
    item = gold_items["position"].cast(pl.Int32).fill_null(-1).to_numpy()[gold_votes.item]
    matched = item >= 0
    return votes.with_judge(find_free_name("gold", votes.judges), item[matched], gold_votes.label[matched])


def _deduplicate_gold(gold: Votes, repeats: Repeats | None) -> Votes:
    """Each of gold's labels of a document once: a column says the same in every row of it."""
    keys = gold.item.astype(np.int64) * len(gold.labels) + gold.label
    rows = np.zeros(gold.size, dtype=bool)
    if repeats == "first":
        rows[np.unique(keys, return_index=True)[1]] = True
    else:
        rows[gold.size - 1 - np.unique(keys[::-1], return_index=True)[1]] = True
    return gold.keep(rows)


def _gold_from_column(votes: Votes, name: str, levels: Levels) -> Votes:
    if name not in votes.others.columns:
        columns = votes.others.columns
        near = did_you_mean(name, columns) or f"; there is {', '.join(columns) or 'none'}"
        raise UsageError(
            "unknown-column",
            f"no column '{name}' beside the labels to take gold from{near}",
            parameter="gold_as_judge",
            suggestions=[Suggestion("takes it from a table of its own", gold_as_judge=...)],
        )
    cells = votes.others[name]
    filled = cells.is_not_null() & (cells.cast(pl.String) != "")
    rows = votes.items[votes.item].with_columns(cells.alias("label")).filter(filled)
    if not rows.height:
        raise TableError("empty-column", f"column '{name}' is empty: there is no gold", columns=[name])
    return _gold_from_table(rows, levels)


def _gold_from_table(gold: object, levels: Levels) -> Votes:
    if levels.words is None or isinstance(gold, Votes):
        return make_votes(gold)
    if not isinstance(gold, pl.DataFrame) or "label" not in gold.columns:
        raise UsageError(
            "gold-in-words",
            "with levels that are words, gold is a column of the labels; name it",
            parameter="gold_as_judge",
        )
    return make_votes(gold.with_columns(label=encode_levels(gold["label"], levels.words)))
