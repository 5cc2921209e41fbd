"""Labels on a declared scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from ringtrue.errors import TableError, UsageError, did_you_mean
from ringtrue.tables.columns import INT32

__all__ = ["Outside", "on_scale", "slips"]

Outside: TypeAlias = Literal["refuse", "exclude", "clip"]
RARE, FEW = 0.01, 3  # share of the labels, and different ones, that may be slips


def on_scale(
    frame: pl.DataFrame, scale: Sequence[int] | None, outside: Outside
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows whose label is on the scale, or all of them moved to it, and what was done, in words.

    Without a scale, labels below 0 say that a document was not judged, and are left out.
    """
    if outside not in get_args(Outside):
        near = did_you_mean(outside, get_args(Outside)) or "; there is " + ", ".join(get_args(Outside))
        raise UsageError(f"no choice '{outside}' for labels outside the scale{near}")
    label = pl.col("label")
    if scale is None:
        if frame["label"].min() >= 0:  # type: ignore[operator]  # a table is never empty
            return frame, _slips(frame)
        kept = frame.filter(label >= 0)
        left = frame.height - kept.height
        if not kept.height:
            raise TableError("every label is below 0, which says 'not judged'; --scale declares such labels")
        note = f"{left:,} label{'s' * (left > 1)} below 0 ('not judged') left out; --scale declares such labels"
        return kept, (note, *_slips(kept))
    if len(set(scale)) < 2:
        raise UsageError(f"a scale needs two labels or more, found {', '.join(map(str, scale)) or 'none'}")
    if odd := [grade for grade in scale if grade not in INT32]:
        raise UsageError(f"a scale has labels of 32 bits, found {odd[0]}")
    fits = label.is_in(list(scale))
    stray = frame.filter(~fits)
    if not stray.height:
        return frame, ()
    found = stray.group_by("label", "judge", maintain_order=True).len().rows()
    said = ", ".join(f"{grade} by {judge}{f' ({n:,} times)' * (n > 1)}" for grade, judge, n in found[:4])
    said += ", …" * (len(found) > 4)
    on = ", ".join(map(str, sorted(scale)))
    what = f"{stray.height:,} label{'s' * (stray.height > 1)} outside the scale {on}: {said}"
    if outside == "refuse":
        raise TableError(
            f"{what}; --outside exclude leaves {'them' if stray.height > 1 else 'it'} out, "
            f"--outside clip moves {'them' if stray.height > 1 else 'it'} to the nearest label"
        )
    if outside == "exclude":
        if stray.height == frame.height:
            raise TableError(f"no label lies on the scale {on}: {said}; say --scale as the labels are")
        return frame.filter(fits), (f"{what}; left out",)
    grades = np.array(sorted(scale))
    given = frame["label"].to_numpy()
    nearest = grades[np.abs(given[:, None] - grades).argmin(axis=1)]
    return frame.with_columns(label=pl.Series(nearest, dtype=pl.Int32)), (f"{what}; moved to the nearest label",)


def slips(labels: pl.Series) -> dict[int, int]:
    """Labels that are rare and lie apart from all others, as a 7 or a 10 among 0 to 3, and how often each was given.

    Examples:
        >>> slips(pl.Series([0, 1, 2, 3] * 50 + [10]))
        {10: 1}
    """
    found = labels.value_counts(name="times").sort(labels.name)
    label, times = found[labels.name].to_numpy(), found["times"].to_numpy()
    run = np.concatenate([[0], np.cumsum(np.diff(label) > 1)])  # labels without a gap between them belong together
    stray = run != int(np.bincount(run, weights=times).argmax())
    if not stray.any() or times[stray].sum() > RARE * len(labels) or stray.sum() > FEW:
        return {}
    return dict(zip(label[stray].tolist(), times[stray].tolist(), strict=True))


def _slips(frame: pl.DataFrame) -> tuple[str, ...]:
    """A word about slips."""
    stray = slips(frame["label"])
    if not stray:
        return ()
    said = ", ".join(f"{one} ({n:,} time{'s' * (n > 1)})" for one, n in stray.items())
    usual = frame["label"].filter(~frame["label"].is_in(list(stray))).to_numpy()
    low, high = usual.min(), usual.max()
    return (f"most labels are {low} to {high}, and a few {said}: slips? --scale {low}-{high} would refuse them",)
