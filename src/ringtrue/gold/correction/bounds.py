"""How far what nobody knows could move an interval: gold labels that were lost, documents that could not be drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.evaluation.measures import FloatArray
from ringtrue.gold.correction.results import Bounds, JointEstimate

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array
MAX_BOUNDED_PAIRS = 200  # pairs of runs: each is fitted twice, and more would take minutes


def unseen_shares(weights: csr_array, in_frame: NDArray[np.bool_]) -> FloatArray:
    """How much of each row's weight lies on documents that the sample could not draw: Σ_unseen |W| / Σ |W|.

    Examples:
        >>> from scipy.sparse import csr_array
        >>> unseen_shares(csr_array([[0.5, 0.5, 0.0], [0.0, 0.5, -0.5]]), np.array([True, True, False])).tolist()
        [0.0, 0.5]
    """
    magnitudes = abs(weights)
    totals = np.asarray(magnitudes.sum(axis=1)).ravel()
    unseen = np.asarray(magnitudes @ (~in_frame).astype(np.float64)).ravel()
    shares: FloatArray = np.divide(unseen, totals, out=np.zeros(len(totals)), where=totals > 0)
    return shares


@dataclass(frozen=True, kw_only=True, eq=False)
class UnknownGains:
    """Gains that are not known: of `lost` labels of a sample, and of documents not `in_frame`, each from least to most.

    `gains` are those of the sample, the lost ones with it, whatever they are there. `fit(weights, gains)` gives the
    values of the runs by the difference estimator.
    """

    weights: csr_array
    gains: FloatArray
    lost: NDArray[np.bool_]
    in_frame: NDArray[np.bool_]
    least: float
    most: float
    fit: Callable[[csr_array, FloatArray], JointEstimate]

    def bounds(
        self, contrasts: FloatArray, level: float, *, least_half_widths: FloatArray | None = None
    ) -> list[Bounds]:
        """The low end of each row's interval with all that is unknown at its worst, and the high end at its best.

            low = Σ_judged c_i g_i + Σ_lost min(c_i g) + Σ_unseen min(W_i g) − z s

        `contrasts` has a row for each run, or difference of runs. c are what the gains of the sample add to the value,
        which is linear in them. What is out of reach does not count in the fit, and is added at its least or at its
        most. s is the standard error of a difference with each lost gain as it stands in the sum; of a run, the larger
        of those with all of them at their least and at their most, which is nearly the same and takes two fits in all.
        """
        coefficients = contrasts @ self._coefficients
        unseen = contrasts @ self.weights[:, ~self.in_frame].toarray()
        ends = []
        for sign in (-1.0, 1.0):
            fills = [self._extreme_gains(sign * row) for row in coefficients]
            half_widths = self._quantile(level) * np.array(
                [self._standard_error(row, fill) for row, fill in zip(contrasts, fills, strict=True)]
            )
            if least_half_widths is not None:
                half_widths = np.maximum(half_widths, least_half_widths)
            values = np.array([row @ fill for row, fill in zip(coefficients, fills, strict=True)])
            extreme = np.maximum(sign * unseen * self.least, sign * unseen * self.most).sum(axis=1)
            ends.append(values + sign * (half_widths + extreme))
        return [Bounds(low=float(low), high=float(high)) for low, high in zip(*ends, strict=True)]

    def _standard_error(self, contrast: FloatArray, fill: FloatArray) -> float:
        is_run = np.count_nonzero(contrast) == 1
        joints = self._extreme_fits if is_run or not self.lost.any() else [self.fit(self._seen_weights, fill)]
        variances = [float(joint.contrast_variances(contrast[None])[0]) for joint in joints]
        return float(np.sqrt(max(0.0, *variances)))

    def _quantile(self, level: float) -> float:
        return self._extreme_fits[0].quantile(level)

    @cached_property
    def _extreme_fits(self) -> list[JointEstimate]:
        """The values of the runs with every lost gain at its least, and at its most."""
        extremes = (self.least, self.most) if self.lost.any() else (self.least,)
        return [self.fit(self._seen_weights, np.where(self.lost, gain, self.gains)) for gain in extremes]

    @cached_property
    def _seen_weights(self) -> csr_array:
        return self.weights.multiply(self.in_frame.astype(np.float64)).tocsr()

    @cached_property
    def _coefficients(self) -> FloatArray:
        """What the gain of each label adds to each run: the same whatever the gains are."""
        return np.asarray(self._extreme_fits[0].coefficients)

    def _extreme_gains(self, coefficients: FloatArray) -> FloatArray:
        """The gains with the lost ones such that a sum with these coefficients is as large as it can be."""
        return np.where(self.lost, np.where(coefficients > 0, self.most, self.least), self.gains)
