"""What there is to say about a file of labels alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl

from ringtrue.doctor.file_contents import LabelFile, Note, PairFile
from ringtrue.doctor.recognise import table_form
from ringtrue.doctor.roles import is_trap, is_trusted
from ringtrue.errors import TableError
from ringtrue.files import read_judgments
from ringtrue.files.formats import recognise
from ringtrue.files.source import Source
from ringtrue.files.tabular import read_table
from ringtrue.formatting.phrases import counted, first_few
from ringtrue.judges.votes import votes_of
from ringtrue.tables import Judgments
from ringtrue.tables.columns import NAMES, Column, identifiers, rename

__all__ = ["look_at_labels"]

HIGHEST_USUAL = 10  # grades of relevance end before it
MOST_BY_ONE = 0.5
ENOUGH = 10  # labels of a judge that let a habit show
UNNAMED = {"0", "Q0"}  # what stands in the place of a judge's name where there is none
SETTINGS = range(2, 21)  # values of a column that tells parts of a file apart


def look_at_labels(source: Source, note: Note) -> LabelFile | PairFile:
    """Read labels; those of a sample that still waits for them are documents to judge."""
    form = recognise(source, "judgments")
    told: list[str] = []
    try:
        judgments = read_judgments(source, form=form, needs_query=False, note=told.append)
    except TableError:
        if (waiting := _waiting(source)) is not None:
            return waiting
        raise
    for text in told:
        note(text.removeprefix(f"{source.shown}: "))
    frame = judgments.frame
    has_query = not any("no column names the query" in text for text in told)
    gold = {"prob", "design"} <= set(frame.columns)
    by_judge = frame.select("query", "doc", "judge").unique()
    shared = int(by_judge.group_by("query", "doc").len()["len"].gt(1).sum())
    again = frame.height - by_judge.height
    if form == "qrels-3" and frame["label"].min() == 1 and frame["label"].max() > HIGHEST_USUAL:  # type: ignore[operator]
        note("three fields a line: read as labels, and a run with ranks would look the same")
    _of_grades(judgments, note)
    if not gold and not is_trap(Path(source.path).name):
        _of_queries(frame, note)
    _of_judges(frame, note)
    _of_repeats(frame, again, note)
    if gold and "design" in frame.columns:
        _of_draw(frame, note)
    inside = next((name for name in _further(frame) if is_trusted(name) and _holds_grades(frame[name])), None)
    counts = _counts(frame, shared=shared, again=again)
    counts = counts if has_query else {name: value for name, value in counts.items() if name != "queries"}
    counts |= {"design": ", ".join(map(str, frame["design"].drop_nulls().unique().to_list()))} if gold else {}
    return LabelFile(
        path=source.path, kind="gold" if gold else "judgments", form=form, judgments=judgments, has_query=has_query,
        counts=counts, shared=shared, again=again, inside=inside,
    )  # fmt: skip


def _waiting(source: Source) -> PairFile | None:
    """A drawn sample, or a pool, of which no label, or not every label, is filled in."""
    form = table_form(source)
    frame = None if form is None else read_table(source, form)
    if form is None or frame is None or not {"query", "doc"} <= _ours(frame):
        return None
    label = next((name for name in frame.columns if name.lower() in NAMES["label"]), None)
    empty = frame.height if label is None else int(_empty(frame[label]).sum())
    drawn = {"prob", "design"} <= set(frame.columns)
    if not empty or (not drawn and empty < frame.height):
        return None
    frame = rename(frame, required=["query", "doc"], what="sample")
    docs = pl.DataFrame([identifiers(frame, "query"), identifiers(frame, "doc")])
    counts = {"documents": frame.height, "queries": docs["query"].n_unique(), "labelled": frame.height - empty}
    return PairFile(path=source.path, kind="sample" if drawn else "pool", form=form, counts=counts, docs=docs)


def _ours(frame: pl.DataFrame) -> set[Column]:
    names = {name.lower() for name in frame.columns}
    return {column for column, known in NAMES.items() if not names.isdisjoint(known)}


def _empty(cells: pl.Series) -> pl.Series:
    return cells.is_null() | (cells.cast(pl.String).str.strip_chars() == "")


def _counts(frame: pl.DataFrame, *, shared: int, again: int) -> dict[str, Any]:
    said = frame["label"].value_counts().sort("label")
    counts: dict[str, Any] = {
        "labels": frame.height,
        "queries": frame["query"].n_unique(),
        "documents": frame.select("query", "doc").n_unique(),
        "judges": frame["judge"].n_unique(),
        "shares": {str(label): count / frame.height for label, count in said.rows()},
        "by_several": shared,
        "repeated": again,
    }
    if counts["judges"] == 1:
        counts["judge"] = frame["judge"][0]
    if "time" in frame.columns and not frame["time"].dtype.is_nested():
        times = frame["time"].drop_nulls().cast(pl.String)
        counts |= {"from": times.min(), "to": times.max()} if len(times) else {}
    return counts


def _of_grades(judgments: Judgments, note: Note) -> None:
    frame = judgments.frame
    values = frame["label"].unique().sort().to_list()
    try:
        for text in votes_of(judgments).notes:
            note(re.sub(r"(; |(?<=\?) )--scale.*", "", text))
    except TableError as error:
        note(str(error).split(";")[0])
    if len(values) == 1:
        note(f"every label is {values[0]}: nothing tells one document from another")
    elif values[-1] > HIGHEST_USUAL:
        note(f"labels up to {values[-1]:,}: grades of relevance are small numbers such as 0 to 3; are these scores?")
    elif 0 not in values and len(values) > 1:
        lowest = min((value for value in values if value > 0), default=None)
        if lowest is not None:
            note(f"no label is 0: {lowest}, the lowest, counts as relevant too; --rel says from which label on")


def _of_queries(frame: pl.DataFrame, note: Note) -> None:
    judged = frame.filter(pl.col("label") >= 0)
    without = judged.group_by("query").agg(pl.col("label").max()).filter(pl.col("label") < 1)
    if without.height and judged["label"].n_unique() > 1 and judged["query"].n_unique() > 1:
        names = first_few(sorted(without["query"].to_list()))
        note(f"{counted(without.height, 'query')} without a relevant document, where most measures are 0: {names}")


def _of_judges(frame: pl.DataFrame, note: Note) -> None:
    by = frame.group_by("judge").agg(pl.len().alias("labels"), pl.col("label").n_unique().alias("different"))
    if by.height < 2:
        return
    most = by.sort("labels", "judge", descending=[True, False]).row(0, named=True)
    share = most["labels"] / frame.height
    if by.height > 2 and share > MOST_BY_ONE:
        note(f"'{most['judge']}' gave {share:.0%} of the labels: what is said of all judges is mostly about this one")
    same = by.filter((pl.col("different") == 1) & (pl.col("labels") >= ENOUGH))["judge"].sort().to_list()
    if same and frame["label"].n_unique() > 1:
        note(f"{counted(len(same), 'judge')} always gave the same label: {first_few(same)}")


def _of_repeats(frame: pl.DataFrame, again: int, note: Note) -> None:
    if not again:
        return
    said = frame.group_by("query", "doc", "judge").agg(pl.col("label").n_unique())["label"]
    unnamed = set(frame["judge"].unique()) <= UNNAMED
    parts = [name for name in _further(frame) if frame[name].n_unique() in SETTINGS and not is_trusted(name)]
    told = f"{counted(again, 'label')} {'repeats' if again == 1 else 'repeat'} a document that the judge had labelled"
    told += ", not always alike" if said.gt(1).any() else ", always alike"
    if parts:
        values = frame[parts[0]].cast(pl.String).unique(maintain_order=True).drop_nulls().to_list()
        told += f"; column {parts[0]} may tell parts that belong apart: --where {parts[0]}={values[0]}"
    elif unnamed:
        told += "; are there several judges, whom no column names?"
    note(told)


def _of_draw(frame: pl.DataFrame, note: Note) -> None:
    if "prob" in frame.columns and frame["prob"].null_count():
        note(f"{frame['prob'].null_count():,} labels have no probability in column prob")
    if frame.select("query", "doc").is_duplicated().any():
        note("a document was drawn twice: gold says one thing of each")


def _further(frame: pl.DataFrame) -> list[str]:
    """Columns beside ours."""
    ours = {"query", "doc", *NAMES}
    return [name for name in frame.columns if name not in ours and not frame[name].dtype.is_nested()]


def _holds_grades(cells: pl.Series) -> bool:
    numbers = cells.cast(pl.String).str.strip_chars().replace("", None).drop_nulls().cast(pl.Float64, strict=False)
    return bool(len(numbers)) and not numbers.null_count() and bool((numbers == numbers.round(0)).all())
