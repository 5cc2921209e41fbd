"""The labels and votes that are work: without slips, and without traps, which are easier than the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ringtrue.errors import TableError
from ringtrue.formatting.phrases import counted
from ringtrue.judges.votes.scale import slips
from ringtrue.tables import Judgments, Preferences

if TYPE_CHECKING:
    from ringtrue.report.inputs import Material

__all__ = ["are_most", "labels_given", "labels_of_work", "votes_of_work"]

MOST = 0.5  # of the labels: traps that are more than this are no traps among other work


def labels_given(material: Material) -> tuple[Judgments | None, tuple[str, ...]]:
    """All labels but slips, such as a 10 on a scale of 0 to 3, and those below 0, which say that nobody judged.

    With a word on these; None where there are no labels.
    """
    labels = material.labels
    if labels is None:
        return None, ()
    judged = labels.frame.filter(pl.col("label") >= 0)
    left = labels.frame.height - judged.height
    if not judged.height:
        raise TableError("every label is below 0, which says 'not judged': nothing can be told of the judges")
    notes = [f"{counted(left, 'label')} below 0 ('not judged') left out"] if left else []
    if stray := slips(judged["label"]):
        judged = judged.filter(~pl.col("label").is_in(list(stray)))
        told = ", ".join(f"{label} ({n:,} time{'s' * (n > 1)})" for label, n in stray.items())
        notes.append(f"labels that look like slips are left out: {told}")
    return Judgments(judged) if notes else labels, tuple(notes)


def labels_of_work(material: Material) -> tuple[Judgments | None, tuple[str, ...]]:
    """The labels without slips and without traps, and a word on these."""
    labels, notes = labels_given(material)
    traps = material.traps
    if labels is None or not isinstance(traps, Judgments) or are_most(traps, labels):
        return labels, notes
    kept = _without(labels.frame, traps.frame, ["query", "doc"])
    return Judgments(kept), (*notes, *_told(labels.frame.height - kept.height, "label"))


def votes_of_work(material: Material) -> tuple[Preferences | None, tuple[str, ...]]:
    """The votes without those on traps, whichever of the two documents stood left, and a word on these."""
    votes, traps = material.preferences, material.traps
    if votes is None or not isinstance(traps, Preferences):
        return votes, ()
    turned = traps.frame.select("query", left="right", right="left")
    both = pl.concat([traps.frame.select("query", "left", "right"), turned])
    kept = _without(votes.frame, both, ["query", "left", "right"])
    if not kept.height:
        return votes, ()
    return Preferences(kept), _told(votes.frame.height - kept.height, "vote")


def are_most(traps: Judgments, labels: Judgments) -> bool:
    """Whether most labels are of traps: these are then gold, and leaving them out would leave little."""
    return _without(labels.frame, traps.frame, ["query", "doc"]).height < MOST * labels.frame.height


def _without(frame: pl.DataFrame, known: pl.DataFrame, on: list[str]) -> pl.DataFrame:
    return frame.join(known.select(on).unique(), on=on, how="anti", maintain_order="left")


def _told(left: int, what: str) -> tuple[str, ...]:
    return (f"{counted(left, what)} of traps left out: they are easier than the rest",) if left else ()
