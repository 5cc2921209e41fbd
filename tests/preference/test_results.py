"""Ratings → labels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ringtrue.errors import UsageError
from ringtrue.preference.results import label_by_gaps, label_by_quantiles, label_by_thresholds

RATINGS = st.lists(st.floats(-5, 5), min_size=1, max_size=20).map(np.array)


@given(RATINGS, st.integers(2, 5))
def test_a_higher_rating_has_no_lower_label(ratings: np.ndarray, labels: int) -> None:
    order = np.argsort(ratings)
    for found in (
        label_by_thresholds(ratings, [-1, 0, 2]),
        label_by_quantiles(ratings, [0.3, 0.8]),
        label_by_gaps(ratings, labels),
    ):
        assert (np.diff(found[order]) >= 0).all()


@given(RATINGS, st.integers(2, 5))
def test_gaps_give_as_many_labels_as_ratings_allow(ratings: np.ndarray, labels: int) -> None:
    assert len(np.unique(label_by_gaps(ratings, labels))) == min(labels, len(np.unique(ratings)))


@pytest.mark.parametrize(
    ("thresholds", "code", "found"),
    [
        ([], "no-cut", "none"),
        ([1, 0], "unordered-cuts", "1, 0"),
        ([math.nan], "bad-number", "nan"),
        ([0, math.inf], "bad-number", "0, inf"),
    ],
)
def test_thresholds_that_cut_nothing_are_refused(thresholds: list[float], code: str, found: str) -> None:
    with pytest.raises(UsageError) as refused:
        label_by_thresholds(np.zeros(2), thresholds)
    assert (refused.value.code, refused.value.parameter) == (code, "thresholds")
    assert refused.value.text.endswith(f"found {found}")


@pytest.mark.parametrize("quantiles", [[0], [1], [0.5, 1.5]])
def test_quantiles_lie_between_0_and_1(quantiles: list[float]) -> None:
    with pytest.raises(UsageError) as refused:
        label_by_quantiles(np.zeros(2), quantiles)
    assert (refused.value.code, refused.value.parameter) == ("out-of-range", "quantiles")
