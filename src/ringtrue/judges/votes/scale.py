"""Labels on a declared scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from ringtrue.errors import TableError, UsageError, did_you_mean
from ringtrue.tables.columns import INT32

Outside: TypeAlias = Literal["refuse", "exclude", "clip"]
MAX_STRAY_SHARE, MAX_STRAY_LABELS = 0.01, 3  # share of the labels, and different ones, that may be slips


def apply_scale(
    frame: pl.DataFrame, scale: Sequence[int] | None, outside: Outside
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows whose label is on the scale, or all of them moved to it, and what was done, in words.

    Without a scale, labels below 0 say that a document was not judged, and are left out.
    """
    if outside not in get_args(Outside):
        suggestion = did_you_mean(outside, get_args(Outside)) or "; there is " + ", ".join(get_args(Outside))
        raise UsageError(f"no choice '{outside}' for labels outside the scale{suggestion}")
    label = pl.col("label")
    if scale is None:
        if frame["label"].min() >= 0:  # type: ignore[operator]  # a table is never empty
            return frame, _stray_label_note(frame)
        judged = frame.filter(label >= 0)
        n_excluded = frame.height - judged.height
        if not judged.height:
            raise TableError("every label is below 0, which says 'not judged'; --scale declares such labels")
        excluded = f"{n_excluded:,} label{'s' * (n_excluded > 1)} below 0 ('not judged') left out"
        note = f"{excluded}; --scale declares such labels"
        return judged, (note, *_stray_label_note(judged))
    if len(set(scale)) < 2:
        raise UsageError(f"a scale needs two labels or more, found {', '.join(map(str, scale)) or 'none'}")
    if too_large := [grade for grade in scale if grade not in INT32]:
        raise UsageError(f"a scale has labels of 32 bits, found {too_large[0]}")
    fits = label.is_in(list(scale))
    stray = frame.filter(~fits)
    if not stray.height:
        return frame, ()
    stray_labels = stray.group_by("label", "judge", maintain_order=True).len().rows()
    listed = ", ".join(f"{grade} by {judge}{f' ({n:,} times)' * (n > 1)}" for grade, judge, n in stray_labels[:4])
    listed += ", …" * (len(stray_labels) > 4)
    scale_text = ", ".join(map(str, sorted(scale)))
    finding = f"{stray.height:,} label{'s' * (stray.height > 1)} outside the scale {scale_text}: {listed}"
    if outside == "refuse":
        raise TableError(
            f"{finding}; --outside exclude leaves {'them' if stray.height > 1 else 'it'} out, "
            f"--outside clip moves {'them' if stray.height > 1 else 'it'} to the nearest label"
        )
    if outside == "exclude":
        if stray.height == frame.height:
            raise TableError(f"no label lies on the scale {scale_text}: {listed}; say --scale as the labels are")
        return frame.filter(fits), (f"{finding}; left out",)
    grades = np.array(sorted(scale))
    labels = frame["label"].to_numpy()
    nearest = grades[np.abs(labels[:, None] - grades).argmin(axis=1)]
    return frame.with_columns(label=pl.Series(nearest, dtype=pl.Int32)), (f"{finding}; moved to the nearest label",)


def find_stray_labels(labels: pl.Series) -> dict[int, int]:
    """Labels that are rare and lie apart from all others, as a 7 or a 10 among 0 to 3, and how often each was given.

    Examples:
        >>> find_stray_labels(pl.Series([0, 1, 2, 3] * 50 + [10]))
        {10: 1}
    """
    label_counts = labels.value_counts(name="times").sort(labels.name)
    label, times = label_counts[labels.name].to_numpy(), label_counts["times"].to_numpy()
    run = np.concatenate([[0], np.cumsum(np.diff(label) > 1)])  # labels without a gap between them belong together
    is_stray = run != int(np.bincount(run, weights=times).argmax())
    if not is_stray.any() or times[is_stray].sum() > MAX_STRAY_SHARE * len(labels) or is_stray.sum() > MAX_STRAY_LABELS:
        return {}
    return dict(zip(label[is_stray].tolist(), times[is_stray].tolist(), strict=True))


def _stray_label_note(frame: pl.DataFrame) -> tuple[str, ...]:
    """A word about slips."""
    stray = find_stray_labels(frame["label"])
    if not stray:
        return ()
    listed = ", ".join(f"{label} ({n:,} time{'s' * (n > 1)})" for label, n in stray.items())
    usual = frame["label"].filter(~frame["label"].is_in(list(stray))).to_numpy()
    low, high = usual.min(), usual.max()
    return (f"most labels are {low} to {high}, and a few {listed}: slips? --scale {low}-{high} would refuse them",)
