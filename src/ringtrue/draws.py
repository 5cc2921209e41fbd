"""Queries drawn anew: what every bootstrap begins with."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["query_counts"]


def query_counts(
    queries: int, resamples: int, *, batch: int, rng: np.random.Generator
) -> Iterator[NDArray[np.float64]]:
    """How often each query comes up when as many are drawn with replacement: resamples × queries, a batch at a time.

    Times the values and divided by the number of queries, a row gives a resampled mean.

    Examples:
        >>> (counts,) = query_counts(3, 2, batch=10, rng=np.random.default_rng(0))
        >>> counts.sum(axis=1).tolist()
        [3.0, 3.0]
    """
    for first in range(0, resamples, batch):
        size = min(batch, resamples - first)
        drawn = rng.integers(0, queries, (size, queries)) + queries * np.arange(size)[:, None]
        yield np.bincount(drawn.ravel(), minlength=size * queries).reshape(size, queries).astype(np.float64)
