"""trec_eval's prefs: documents in groups, each with a level; every two of different level are a preference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from ringtrue.errors import FormatError, TableError
from ringtrue.files.byte_source import Source
from ringtrue.files.formats import LAYOUTS
from ringtrue.files.whitespace_fields import find_lines
from ringtrue.files.write import note_lost_columns
from ringtrue.messages import Note
from ringtrue.preference.implied_preferences import LabelGroups, build_pair_table, keep_usable_labels
from ringtrue.tables import Judgments

LOST_LEVEL, WON_LEVEL = 1, 2  # level 0 would say that the document is not relevant, and may then not win elsewhere


def groups_to_pairs(frame: pl.DataFrame, source: Source) -> pl.DataFrame:
    """Every two documents of a group, in the order of the file, where their levels differ."""
    keys = ("query", "judge", "subgroup", "doc")
    duplicates = frame.filter(pl.struct(keys).is_duplicated())
    if duplicates.height:
        query, judge, subgroup, doc = duplicates.select(keys).row(0)
        layout = LAYOUTS["trec-prefs"]
        lines = find_lines(source, layout, query=query, judge=judge, subgroup=subgroup, doc=doc)
        raise FormatError(
            "duplicate-document",
            f"document '{doc}' stands twice in subgroup '{subgroup}' of query "
            f"'{query}' by '{judge}' (lines {', '.join(map(str, lines[:4]))}); keep one of them",
            file=source.display_name,
            line=lines[1],
        )
    left, right = LabelGroups.of(frame, keys[:3], "score").pairs()
    if not len(left):
        raise TableError("equal-levels", "no two documents of a group differ in level: there is no preference")
    return build_pair_table(frame, left, right, "score")


def pairs_to_groups(frame: pl.DataFrame, note: Callable[[Note], None]) -> pl.DataFrame:
    """Each pair as a group of two documents, the preferred one on the higher level; ties have no place there."""
    decided = frame.select("query", "left", "right", "judge", "winner")
    decided = decided.filter(pl.col("winner").is_in(["left", "right"])).with_row_index("subgroup")
    if not decided.height:
        raise TableError(
            "only-ties", "trec-prefs has no place for ties, and there is nothing else here; write csv instead"
        )
    if ties := frame.height - decided.height:
        note(Note("lost-ties", f"trec-prefs has no place for ties: {ties:,} pair{'s' * (ties > 1)} left out"))
    note_lost_columns(frame, ("query", "left", "right", "judge", "winner"), "trec-prefs", note)
    if (cycle := _find_cycle(decided)) is not None:
        query, judge = cycle
        text = (
            f"trec_eval refuses a judge's preferences that contradict each other or run in circles, as those of "
            f"'{judge}' on query '{query}' do"
        )
        note(Note("circular-preferences", text))
    sides = [
        decided.select(
            "query",
            "judge",
            "subgroup",
            pl.col(side).alias("doc"),
            pl.when(pl.col("winner") == side).then(WON_LEVEL).otherwise(LOST_LEVEL).alias("level"),
        )
        for side in ("left", "right")
    ]
    return pl.concat(sides).sort("subgroup", maintain_order=True)


def labels_to_groups(judgments: Judgments, note: Callable[[Note], None]) -> pl.DataFrame:
    """All documents of a query that one judge labelled as one group, with the labels as levels.

    Nothing is lost, while pairs would be many more lines. A label of 0 is a level of 0, which says not relevant.
    """
    frame = keep_usable_labels(judgments).frame
    left_out = judgments.frame.height - frame.height
    if left_out:
        text = f"trec-prefs has no place for labels below 0 ('not judged'): {left_out:,} left out"
        note(Note("lost-unjudged", text))
    note_lost_columns(frame, ("query", "doc", "judge", "label"), "trec-prefs", note)
    return frame.select("query", "judge", pl.lit("0").alias("subgroup"), "doc", pl.col("label").alias("level"))


def _find_cycle(decided: pl.DataFrame) -> tuple[str, str] | None:
    """A query and a judge who in the end prefers a document to itself, over one step or many; None if nobody does."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    left = decided.select(pl.struct("query", "judge", doc="left")).to_series()
    right = decided.select(pl.struct("query", "judge", doc="right")).to_series()
    nodes = pl.concat([left, right]).unique(maintain_order=True)
    node_index = nodes.to_frame("node").with_row_index("place")
    left_node, right_node = (
        side.to_frame("node").join(node_index, on="node", how="left", maintain_order="left")["place"].to_numpy()
        for side in (left, right)
    )
    left_won = (decided["winner"] == "left").to_numpy()
    edges = np.where(left_won, left_node, right_node), np.where(left_won, right_node, left_node)
    graph = coo_array((np.ones(len(left_won)), edges), shape=(len(nodes), len(nodes)))
    component = connected_components(graph, connection="strong")[1]
    in_cycle = np.flatnonzero(component[left_node] == component[right_node])
    if not len(in_cycle):
        return None
    query, judge = decided.select("query", "judge").row(int(in_cycle[0]))
    return query, judge
