"""The labels and votes that are work, without slips and easy traps; and whether all judges are on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ringtrue.errors import TableError
from ringtrue.formatting.phrases import format_count
from ringtrue.judges.votes.scale import find_stray_labels
from ringtrue.report.sections.number_phrases import join_names
from ringtrue.tables import Judgments, Preferences

if TYPE_CHECKING:
    from ringtrue.report.inputs import ReportInputs

TRAP_MAJORITY = 0.5  # of the labels: traps that are more than this are no traps among other work
EXPECTED_TOP_LABELS = 10  # labels of a grade that a judge should have given by now


def labels_without_slips(inputs: ReportInputs) -> tuple[Judgments | None, tuple[str, ...]]:
    """All labels but slips, such as a 10 on a scale of 0 to 3, and those below 0, which say that nobody judged.

    With a word on these; None where there are no labels.
    """
    labels = inputs.labels
    if labels is None:
        return None, ()
    judged = labels.frame.filter(pl.col("label") >= 0)
    negative_count = labels.frame.height - judged.height
    if not judged.height:
        raise TableError("every label is below 0, which says 'not judged': nothing can be told of the judges")
    notes = [f"{format_count(negative_count, 'label')} below 0 ('not judged') left out"] if negative_count else []
    if slip_counts := find_stray_labels(judged["label"]):
        judged = judged.filter(~pl.col("label").is_in(list(slip_counts)))
        listing = ", ".join(f"{label} ({n:,} time{'s' * (n > 1)})" for label, n in slip_counts.items())
        notes.append(f"labels that look like slips are left out: {listing}")
    return Judgments(judged) if notes else labels, tuple(notes)


def labels_without_traps(inputs: ReportInputs) -> tuple[Judgments | None, tuple[str, ...]]:
    """The labels without slips and without traps, and a word on these."""
    labels, notes = labels_without_slips(inputs)
    traps = inputs.traps
    if labels is None or not isinstance(traps, Judgments) or traps_dominate(traps, labels):
        return labels, notes
    without_traps = _anti_join(labels.frame, traps.frame, ["query", "doc"])
    return Judgments(without_traps), (*notes, *_trap_note(labels.frame.height - without_traps.height, "label"))


def votes_without_traps(inputs: ReportInputs) -> tuple[Preferences | None, tuple[str, ...]]:
    """The votes without those on traps, whichever of the two documents stood left, and a word on these."""
    votes, traps = inputs.preferences, inputs.traps
    if votes is None or not isinstance(traps, Preferences):
        return votes, ()
    swapped = traps.frame.select("query", left="right", right="left")
    trap_pairs = pl.concat([traps.frame.select("query", "left", "right"), swapped])
    without_traps = _anti_join(votes.frame, trap_pairs, ["query", "left", "right"])
    if not without_traps.height:
        return votes, ()
    return Preferences(without_traps), _trap_note(votes.frame.height - without_traps.height, "vote")


def traps_dominate(traps: Judgments, labels: Judgments) -> bool:
    """Whether most labels are of traps: these are then gold, and leaving them out would leave little."""
    return _anti_join(labels.frame, traps.frame, ["query", "doc"]).height < TRAP_MAJORITY * labels.frame.height


def _anti_join(frame: pl.DataFrame, excluded: pl.DataFrame, on: list[str]) -> pl.DataFrame:
    return frame.join(excluded.select(on).unique(), on=on, how="anti", maintain_order="left")


def _trap_note(trap_count: int, noun: str) -> tuple[str, ...]:
    return (f"{format_count(trap_count, noun)} of traps left out: they are easier than the rest",) if trap_count else ()


def scale_notes(labels: Judgments) -> tuple[str, ...]:
    """A word on judges who never give the highest label, though others would have given it ten times on their share.

    Examples:
        >>> table = {"doc": [*range(60)] * 2, "judge": ["ann"] * 60 + ["bob"] * 60, "label": [0, 1] * 30 + [0, 2] * 30}
        >>> scale_notes(Judgments.of(table, needs_query=False))[0].partition(': ')[0]
        'ann never says 2, which others do'
    """
    frame = labels.frame.filter(pl.col("label") >= 0)
    if not frame.height:
        return ()
    top = int(frame["label"].to_numpy().max())
    per_judge = frame.group_by("judge", maintain_order=True).agg(n=pl.len(), top=(pl.col("label") == top).sum())
    if per_judge.height < 2:
        return ()
    top_by_others, labels_by_others = pl.col("top").sum() - pl.col("top"), pl.col("n").sum() - pl.col("n")
    never_top = per_judge.filter(
        (pl.col("top") == 0) & (pl.col("n") * top_by_others / labels_by_others >= EXPECTED_TOP_LABELS)
    )["judge"].to_list()
    if not never_top:
        return ()
    names, verb = join_names(never_top), "says" if len(never_top) == 1 else "say"
    doubt = "are all judges on one scale? If not, numbers that compare them mislead"
    return (f"{names} never {verb} {top}, which others do: {doubt}",)
