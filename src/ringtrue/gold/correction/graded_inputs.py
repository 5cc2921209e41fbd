"""Checked input of the graded correction: how bronze confuses the grades, and the lists it labelled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtrue.errors import InputError, UsageError
from ringtrue.messages import Note
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.intervals import normal_quantile

Array: TypeAlias = NDArray[np.float64]
MAX_CONDITION = 10.0  # beyond it, inverting magnifies noise too much
MIN_LABELS = 30  # for each gold label
PRIOR_LABELS = 2.0  # labels without knowledge, added to each row before asking whether the judge is better than chance
ROUNDING = 1e-9  # shares told with many digits may be off by less


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grades:
    """How bronze labels documents of each gold label, and what each gold label is worth.

    `matrix` has shares of bronze labels in rows of gold labels, `effective_n` how many gold labels each row is worth.
    """

    labels: tuple[int, ...]
    bronze_labels: tuple[int, ...]
    matrix: Array
    effective_n: Array
    gains: Array

    @classmethod
    def of(cls, gold: Confusion, gains: ArrayLike, bronze_labels: Sequence[int] | None = None) -> Grades:
        """Check the table and the gains; every gold label must occur in it.

        Examples:
            >>> table = Confusion(rows="gold", columns="bronze", labels=(0, 1), counts=np.array([[8, 2], [0, 0]]))
            >>> try:
            ...     Grades.of(table, [0, 1])
            ... except InputError as error:
            ...     print(error)
            gold label 1 never occurs in the gold sample, so nobody knows what bronze calls such documents; have gold
            judge some that may be 1, or merge 1 with another label in both scales
        """
        counts, gold_gains = np.asarray(gold.counts, dtype=np.float64), np.asarray(gains, dtype=np.float64)
        rows, columns = counts.shape
        same_labels = bronze_labels is None and rows == columns
        names = tuple(gold.labels) if same_labels else tuple(range(columns) if bronze_labels is None else bronze_labels)
        if len(gold.labels) != rows or len(names) != columns:
            raise UsageError(
                "matrix-shape",
                f"a confusion matrix of {rows} × {columns} needs as many gold and bronze labels, found "
                f"{len(gold.labels)} and {len(names)}",
                parameter="gold",
            )
        if gold_gains.shape != (rows,) or not np.isfinite(gold_gains).all():
            raise UsageError(
                "bad-label-gains",
                f"a gain is needed for each of the {rows} gold labels, found {gold_gains.tolist()}",
                parameter="gains",
            )
        if not np.isfinite(counts).all() or (counts < 0).any():
            raise InputError(
                "bad-counts", "counts of a confusion matrix are 0 or more; found a negative or missing one"
            )
        totals = counts.sum(axis=1)
        for label in np.array(gold.labels)[totals == 0]:
            raise InputError(
                "gold-label-never-occurs",
                f"gold label {label} never occurs in the gold sample, so nobody knows what bronze calls such "
                f"documents; have gold judge some that may be {label}, or merge {label} with another label in both "
                f"scales",
            )
        effective_n = totals if gold.worth is None else np.asarray(gold.worth, dtype=np.float64)
        if effective_n.shape != (rows,) or not (effective_n > 0).all():
            raise UsageError(
                "bad-worth",
                f"each row of a confusion matrix is worth more than 0 labels, found {effective_n.tolist()}",
                parameter="gold",
            )
        return cls(
            labels=tuple(gold.labels),
            bronze_labels=names,
            matrix=counts / totals[:, None],
            effective_n=effective_n,
            gains=gold_gains,
        )

    @property
    def size(self) -> str:
        """Such as `4 gold by 2 bronze labels`."""
        return f"{len(self.labels)} gold by {len(self.bronze_labels)} bronze labels"

    @property
    def undetermined(self) -> Note | None:
        """Why bronze labels cannot tell the shares of gold labels, however many there are; None where they can."""
        rank = int(np.linalg.matrix_rank(self.matrix, tol=ROUNDING))
        if rank == len(self.labels):
            return None
        if len(self.bronze_labels) < len(self.labels):
            return Note(
                "grades-undetermined",
                f"{len(self.bronze_labels)} bronze labels cannot tell {len(self.labels)} gold labels apart: many "
                f"shares of gold labels fit them equally well; merge gold labels, or use the difference estimator",
            )
        for row, label in enumerate(self.labels):
            for other_row in range(row):
                if np.allclose(self.matrix[row], self.matrix[other_row], rtol=0, atol=ROUNDING):
                    return Note(
                        "grades-undetermined",
                        f"the judge is no better than chance at telling gold labels {self.labels[other_row]} and "
                        f"{label} apart: it labels both alike, and every division between them fits; merge them, or "
                        f"use the difference estimator",
                    )
        return Note(
            "grades-undetermined",
            f"what the judge says of one gold label is a mixture of what it says of others (the confusion matrix of "
            f"{self.size} has rank {rank}), so that their shares cannot be determined; merge gold labels, or use the "
            f"difference estimator",
        )

    @property
    def why_not_inverted(self) -> str | None:
        """Why the matrix should not be inverted; None where it may.

        Examples:
            >>> counts = np.array([[30, 10], [2, 18]])
            >>> table = Confusion(rows="gold", columns="bronze", labels=(0, 1), counts=counts)
            >>> Grades.of(table, [0, 1]).why_not_inverted
            'gold label 1 has 20 gold labels, and inverting needs 30 of each'
        """
        if len(self.labels) != len(self.bronze_labels):
            return f"the confusion matrix of {self.size} is not square"
        few = [f"{label} has {n:.4g}" for label, n in zip(self.labels, self.effective_n, strict=True) if n < MIN_LABELS]
        if few:
            return f"gold label {', '.join(few)} gold labels, and inverting needs {MIN_LABELS} of each"
        condition = float(np.linalg.cond(self.matrix))
        if condition >= MAX_CONDITION:
            return (
                f"the confusion matrix has condition number {condition:.1f}, and inverting needs less than "
                f"{MAX_CONDITION:g}"
            )
        return None

    def why_uncorrectable(self, level: float) -> Note | None:
        """Why the judge may be no better than chance at what matters, the gains; None where it is better beyond doubt.

            s = Σ_g x_g (Cu)_g > z √V,    x = v − mean(v),    V = Σ_g x_g² ((Cu²)_g − (Cu)_g²) / (n_g + 2)

        u is what a bronze label is worth at its word, v. Each row is first nudged by 2 labels shared out evenly: with
        two labels this is the rule of Fieller's interval, z²(V_R' + V_N') < J'². On another scale bronze labels have
        no word, u = xC is the best that can be read into them, and z² the quantile of χ² with columns − 1 degrees of
        freedom, for so much can be read into chance.
        """
        if np.ptp(self.gains) <= ROUNDING * np.abs(self.gains).max():  # all are worth the same
            return None
        centred = self.gains - self.gains.mean()
        gains, centred = self.gains / np.abs(centred).max(), centred / np.abs(centred).max()
        matrix = (
            self.matrix
            + (1 / len(self.bronze_labels) - self.matrix) * (PRIOR_LABELS / (self.effective_n + PRIOR_LABELS))[:, None]
        )
        if self.labels == self.bronze_labels:
            label_values, threshold = gains, normal_quantile((1 + level) / 2)
        else:
            from scipy.special import chdtri

            label_values, threshold = centred @ matrix, math.sqrt(chdtri(len(self.bronze_labels) - 1, 1 - level))
        signal = float(centred @ matrix @ label_values)
        noise = float(
            centred**2 @ ((matrix @ label_values**2 - (matrix @ label_values) ** 2) / (self.effective_n + PRIOR_LABELS))
        )
        if signal > ROUNDING and signal > threshold * math.sqrt(max(noise, 0)):
            return None
        if signal <= ROUNDING:
            return Note(
                "judge-at-chance",
                "the judge is no better than chance: documents that are worth more to gold are not labelled higher by "
                "bronze; nothing can be corrected with such labels",
            )
        return Note(
            "judge-maybe-at-chance",
            f"the judge may be no better than chance: {self.effective_n.sum():.5g} gold labels leave open at a level "
            f"of {level * 100:g}% that bronze does not label documents higher that are worth more to gold; have gold "
            f"judge more",
        )

    def resample(self, size: int, rng: np.random.Generator) -> Array:
        """The matrix drawn anew `size` times, each row from what its gold labels leave possible."""
        matrices = np.broadcast_to(self.matrix, (size, *self.matrix.shape)).copy()
        finite = np.isfinite(self.effective_n)
        shape = self.matrix[finite] * self.effective_n[finite, None] + 1 / len(self.bronze_labels)
        rows = rng.standard_gamma(shape, (size, *shape.shape))
        matrices[:, finite] = rows / rows.sum(axis=2, keepdims=True)
        return matrices


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BronzeLists:
    """Bronze labels of ranked lists: `attention` is the sum of discounts at the ranks of each label, for each query.

    `shares_by_rank` are the shares of bronze labels at each of the `ranks` that hold a document.
    """

    attention: Array
    ranks: NDArray[np.int64]
    shares_by_rank: Array

    @property
    def queries(self) -> int:
        """How many lists there are."""
        return len(self.attention)

    @property
    def mean_attention(self) -> Array:
        """The attention that each bronze label gets, averaged over queries."""
        return np.asarray(self.attention.mean(axis=0))

    @classmethod
    def of(cls, labels: ArrayLike, discounts: ArrayLike, grades: Grades) -> BronzeLists:
        """Check positions of labels (queries × ranks) and discounts; no label may be unknown to the gold sample."""
        positions, rank_discounts = np.asarray(labels), np.asarray(discounts, dtype=np.float64)
        columns = len(grades.bronze_labels)
        if positions.ndim != 2 or not len(positions) or not np.issubdtype(positions.dtype, np.integer):
            raise UsageError(
                "bad-label-lists",
                f"labels are whole numbers, queries × ranks, with at least one query; found {positions.dtype} of shape "
                f"{positions.shape}",
                parameter="labels",
            )
        if (
            rank_discounts.shape != positions.shape[1:]
            or not np.isfinite(rank_discounts).all()
            or (rank_discounts < 0).any()
        ):
            raise UsageError(
                "bad-discounts",
                f"a discount of 0 or more is needed for each of the {positions.shape[1]} ranks, found "
                f"{rank_discounts.tolist()}",
                parameter="discounts",
            )
        if positions.size and not -1 <= positions.min() <= positions.max() < columns:
            raise UsageError(
                "bad-label-positions",
                f"positions of labels go from 0 to {columns - 1}, or are −1 where a list is shorter; found "
                f"{positions.min()} to {positions.max()}",
                parameter="labels",
            )
        query, rank = np.nonzero(positions >= 0)
        label = positions[query, rank].astype(np.int64)
        counts = np.bincount(label, minlength=columns)
        for position in np.flatnonzero((counts > 0) & (grades.matrix.sum(axis=0) == 0)):
            name = grades.bronze_labels[position]
            raise InputError(
                "bronze-label-without-gold",
                f"{counts[position]:,} documents have the bronze label {name}, which no document of the gold sample "
                f"has; have gold judge some of them, or merge {name} with another label",
            )
        attention = np.bincount(
            query * columns + label, weights=rank_discounts[rank], minlength=len(positions) * columns
        )
        by_rank = np.bincount(rank * columns + label, minlength=positions.shape[1] * columns).reshape(-1, columns)
        occupied = np.flatnonzero(by_rank.any(axis=1))
        return cls(
            attention=np.asarray(attention, dtype=np.float64).reshape(len(positions), columns),
            ranks=occupied + 1,
            shares_by_rank=by_rank[occupied] / by_rank[occupied].sum(axis=1, keepdims=True),
        )
