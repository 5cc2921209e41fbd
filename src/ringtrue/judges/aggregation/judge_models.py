"""How a judge errs: three shapes of the matrix of what is said given what is true.

Arrays of rates and counts are [judge, said, true]. A model says how its parameters follow from expected counts, and
the rates from the parameters; all else of the EM algorithm is the same for all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import UsageError

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """What is believed of a judge before the first label, as labels that count beside the real ones.

    `cell` of them for every label that could be said, and `diagonal` more for the right one: 1 and 2 say that a judge
    is more often right than wrong, and fade away as labels come in [Passonneau14].

    Examples:
        >>> Prior(diagonal=0, cell=0.5)
        Prior(diagonal=0, cell=0.5)
    """

    diagonal: float = 2.0
    cell: float = 1.0

    def __post_init__(self) -> None:
        if not (0 <= self.diagonal < np.inf and 0 <= self.cell < np.inf):
            raise UsageError(
                "out-of-range",
                f"a prior counts 0 or more labels on the diagonal and in each cell, found {self.diagonal:g} and "
                f"{self.cell:g}; 2 and 1 are usual",
                parameter="diagonal" if not 0 <= self.diagonal < np.inf else "cell",
            )


DEFAULT_PRIOR = Prior()


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorModel(ABC):
    """A shape of the judges' matrices, with a prior."""

    prior: Prior

    @abstractmethod
    def parameters(self, rates: FloatArray) -> FloatArray:
        """The parameters that come nearest to given rates."""

    @abstractmethod
    def fit(self, counts: FloatArray, old: FloatArray) -> FloatArray:
        """The parameters that explain expected counts best, or better than the old ones did."""

    @abstractmethod
    def rates(self, parameters: FloatArray, n_labels: int) -> FloatArray:
        """How often each judge says each of the `n_labels` labels where another is true."""

    @abstractmethod
    def pseudo_counts(self, n_labels: int) -> FloatArray:
        """What the prior adds to the counts of each parameter."""

    def log_prior(self, parameters: FloatArray, n_labels: int) -> float:
        """The logarithm of the prior, but for a constant: Σ pseudo-count · log parameter over all judges.

        A count of 0 adds nothing, not even where the parameter is 0.
        """
        pseudo = self.pseudo_counts(n_labels)
        is_counted = np.broadcast_to(pseudo > 0, parameters.shape)
        logs = np.log(parameters, out=np.zeros(parameters.shape), where=is_counted)
        return float((logs * pseudo).sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class DawidSkene(ErrorModel):
    """Every judge has a matrix of their own.

        π[j, k, l] ∝ N[j, k, l] + cell + diagonal·[k = l]    [Dawid79, Passonneau14]

    Where nothing tells how a judge labels a class, all labels are equally likely.

    Examples:
        >>> model = DawidSkene(prior=Prior())
        >>> model.fit(np.array([[[5.0, 0.0], [1.0, 0.0]]]), np.zeros(0)).round(3).tolist()
        [[[0.8, 0.25], [0.2, 0.75]]]
    """

    def parameters(self, rates: FloatArray) -> FloatArray:
        """The rates themselves."""
        return rates

    def fit(self, counts: FloatArray, old: FloatArray) -> FloatArray:  # noqa: ARG002 - all models share one signature
        """Shares of the counts, those of the prior included."""
        return _normalise_rows(counts + self.pseudo_counts(counts.shape[1]))

    def rates(self, parameters: FloatArray, n_labels: int) -> FloatArray:  # noqa: ARG002
        """The parameters themselves."""
        return parameters

    def pseudo_counts(self, n_labels: int) -> FloatArray:
        """The prior, in each cell of a matrix."""
        return self.prior.cell + self.prior.diagonal * np.eye(n_labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneCoin(ErrorModel):
    """Every judge has one accuracy, the same for all labels; errors are spread evenly over the others.

        a[j] ∝ Σ_k N[j, k, k] + diagonal + cell,    1 − a[j] ∝ Σ_{k≠l} N[j, k, l] + cell·(K − 1)

    The prior is that of one row of a matrix.

    Examples:
        >>> model = OneCoin(prior=Prior())
        >>> model.rates(model.fit(np.array([[[5.0, 0.0], [1.0, 0.0]]]), np.zeros(0)), 2).tolist()
        [[[0.8, 0.2], [0.2, 0.8]]]
    """

    def parameters(self, rates: FloatArray) -> FloatArray:
        """Each judge's mean on the diagonal, and the rest."""
        right = np.trace(rates, axis1=1, axis2=2) / rates.shape[1]
        return np.stack([right, 1 - right], axis=1)

    def fit(self, counts: FloatArray, old: FloatArray) -> FloatArray:  # noqa: ARG002
        """The shares of right and wrong labels."""
        right = np.trace(counts, axis1=1, axis2=2)
        wrong = counts.sum(axis=(1, 2)) - right
        return _normalise_rows(np.stack([right, np.maximum(wrong, 0)], axis=1) + self.pseudo_counts(counts.shape[1]))

    def rates(self, parameters: FloatArray, n_labels: int) -> FloatArray:
        """The accuracy on the diagonal, and the rest spread evenly."""
        if n_labels == 1:
            return np.ones((len(parameters), 1, 1))
        right, wrong = parameters[:, 0, None, None], parameters[:, 1, None, None] / (n_labels - 1)
        return np.where(np.eye(n_labels, dtype=bool), right, wrong)

    def pseudo_counts(self, n_labels: int) -> FloatArray:
        """Those of one row of a matrix, right and wrong."""
        return np.array([self.prior.diagonal + self.prior.cell, self.prior.cell * (n_labels - 1)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Mace(ErrorModel):
    """Every judge knows the label, or does not look and says one by habit.

        π[j, k, l] = φ[j, 0]·[k = l] + φ[j, l]    [Hovy13]

    φ[j, 0] is the chance that judge j knows, φ[j, l] that the judge says l without looking. A right label may be
    either, and is split between the two by the old φ. The prior counts `diagonal` labels known, and `cell` of each
    habit.

    Examples:
        >>> model = Mace(prior=Prior())
        >>> lazy = np.array([[[5.0, 4.0], [0.0, 1.0]]])
        >>> model.fit(lazy, np.array([[0.5, 0.25, 0.25]])).round(3).tolist()
        [[0.429, 0.476, 0.095]]
    """

    def parameters(self, rates: FloatArray) -> FloatArray:
        """Habits are what is said whatever is true; the rest is knowledge."""
        habits = rates.min(axis=2)
        return _normalise_rows(np.concatenate([np.maximum(1 - habits.sum(axis=1, keepdims=True), 0), habits], axis=1))

    def fit(self, counts: FloatArray, old: FloatArray) -> FloatArray:
        """One step up: right labels are split by the old parameters."""
        right = np.diagonal(counts, axis1=1, axis2=2)
        either = old[:, :1] + old[:, 1:]
        knowing = np.divide(right * old[:, :1], either, out=np.zeros(right.shape), where=either > 0)
        habits = counts.sum(axis=2) - knowing
        new = np.concatenate([knowing.sum(axis=1, keepdims=True), np.maximum(habits, 0)], axis=1)
        return _normalise_rows(new + self.pseudo_counts(counts.shape[1]))

    def rates(self, parameters: FloatArray, n_labels: int) -> FloatArray:
        """Habits for whatever is true, and knowledge on the diagonal."""
        return parameters[:, 1:, None] + parameters[:, 0, None, None] * np.eye(n_labels)

    def pseudo_counts(self, n_labels: int) -> FloatArray:
        """Those of knowing, and of each habit."""
        return np.array([self.prior.diagonal, *[self.prior.cell] * n_labels])


def _normalise_rows(counts: FloatArray) -> FloatArray:
    """Counts that sum to 1 along the second axis; even ones where there is nothing to count."""
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.full(counts.shape, 1 / counts.shape[1])
    np.divide(counts, totals, out=shares, where=totals > 0)
    return shares
