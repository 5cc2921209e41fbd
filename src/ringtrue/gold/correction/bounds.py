"""How far what nobody knows could move an interval: gold labels that were lost, documents that could not be drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.evaluation.measures import FloatArray
from ringtrue.gold.correction.results import Bounds, JointEstimate

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array


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
    _fits: list[JointEstimate] = field(default_factory=list)

    def bounds(self, contrasts: FloatArray, level: float, *, least_se: FloatArray | float = 0.0) -> list[Bounds]:
        """The lowest and the highest end of each row's interval, over all that the unknown gains may be.

            low = Σ_judged c_i g_i + Σ_lost min(c_i g) + Σ_unseen min(W_i g) − z s

        `contrasts` has a row for each run, or difference of runs. c are what the gains of the sample add to the value,
        which is linear in them; s is the larger of the standard errors with every lost label at its least and at its
        most, and no less than `least_se`.
        """
        # What is out of reach does not count in the fit, and is added at its least and at its most.
        unseen = contrasts @ self.weights[:, ~self.in_frame].toarray()
        variances = np.max([joint.contrast_variances(contrasts) for joint in self._extreme_fits()], axis=0)
        errors = np.maximum(np.sqrt(np.maximum(variances, 0.0)), least_se)
        half_widths = self._extreme_fits()[0].quantile(level) * errors
        coefficients = contrasts @ np.asarray(self._extreme_fits()[0].coefficients)
        judged = coefficients[:, ~self.lost] @ self.gains[~self.lost]
        low, high = judged - half_widths, judged + half_widths
        for parts in (coefficients[:, self.lost], unseen):
            low += np.minimum(parts * self.least, parts * self.most).sum(axis=1)
            high += np.maximum(parts * self.least, parts * self.most).sum(axis=1)
        return [Bounds(low=float(one), high=float(other)) for one, other in zip(low, high, strict=True)]

    def _extreme_fits(self) -> list[JointEstimate]:
        """The values with every lost label at its least, and at its most."""
        if not self._fits:
            seen = self.weights.multiply(self.in_frame.astype(np.float64)).tocsr()
            extremes = (self.least, self.most) if self.lost.any() else (self.least,)
            self._fits.extend(self.fit(seen, np.where(self.lost, gain, self.gains)) for gain in extremes)
        return self._fits
