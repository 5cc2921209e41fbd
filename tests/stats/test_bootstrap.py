"""Queries drawn anew."""

from __future__ import annotations

import numpy as np
import pytest

from ringtrue.stats.bootstrap import resample_query_counts


@pytest.mark.parametrize(("resamples", "batch"), [(10, 3), (9, 3), (1, 5)])
def test_every_resample_holds_as_many_queries_as_there_are(resamples: int, batch: int) -> None:
    parts = list(resample_query_counts(7, resamples, batch=batch, rng=np.random.default_rng(1)))
    assert [len(part) for part in parts[:-1]] == [batch] * (len(parts) - 1)
    counts = np.concatenate(parts)
    assert counts.shape == (resamples, 7)
    assert (counts.sum(axis=1) == 7).all()


def test_each_query_comes_up_as_often_as_any_other_and_independently() -> None:
    (counts,) = resample_query_counts(5, 40_000, batch=40_000, rng=np.random.default_rng(2))
    np.testing.assert_allclose(counts.mean(axis=0), 1, atol=0.02)
    spread = np.cov(counts.T)  # multinomial: 1 − 1/n for each, −1/n between two
    np.testing.assert_allclose(spread, np.eye(5) - 1 / 5, atol=0.02)
