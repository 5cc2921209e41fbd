"""Queries drawn anew: what every bootstrap begins with."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import UsageError


def require_generator(rng: object) -> None:
    """Refuse a source of randomness that is no generator of NumPy's; None stands for the usual one.

    Examples:
        >>> require_generator(3)
        Traceback (most recent call last):
        ringtrue.errors.UsageError: expected a numpy Generator as rng, such as np.random.default_rng(1), found int
    """
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise UsageError(
            f"expected a numpy Generator as rng, such as np.random.default_rng(1), found {type(rng).__name__}"
        )


def resample_query_counts(
    n_queries: int, resamples: int, *, batch: int, rng: np.random.Generator
) -> Iterator[NDArray[np.float64]]:
    """How often each query comes up when as many are drawn with replacement: resamples × queries, a batch at a time.

    Times the values and divided by the number of queries, a row gives a resampled mean.

    Examples:
        >>> (counts,) = resample_query_counts(3, 2, batch=10, rng=np.random.default_rng(0))
        >>> counts.sum(axis=1).tolist()
        [3.0, 3.0]
    """
    for first in range(0, resamples, batch):
        size = min(batch, resamples - first)
        draws = rng.integers(0, n_queries, (size, n_queries)) + n_queries * np.arange(size)[:, None]
        yield np.bincount(draws.ravel(), minlength=size * n_queries).reshape(size, n_queries).astype(np.float64)
