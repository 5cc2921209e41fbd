"""The three shapes of a judge's matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from ringtrue.judges.aggregation.judge_models import DawidSkene, Mace, OneCoin, Prior

MODELS = [DawidSkene, OneCoin, Mace]
priors = st.builds(Prior, diagonal=st.floats(0, 5), cell=st.floats(0, 5))
counted = st.tuples(st.integers(1, 3), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, (shape[0], shape[1], shape[1]), elements=st.floats(0, 50))
)


@given(counted, priors, st.sampled_from(MODELS))
def test_what_is_said_given_the_truth_sums_to_one(counts: np.ndarray, prior: Prior, kind: Any) -> None:
    model, wide = kind(prior=prior), counts.shape[1]
    neutral = np.tile((np.eye(wide) + 1 / wide) / 2, (len(counts), 1, 1))
    rates = model.rates(model.fit(counts, model.parameters(neutral)), wide)
    assert rates.shape == counts.shape
    assert (rates >= 0).all()
    assert rates.sum(axis=1) == pytest.approx(1)


@given(counted, priors, st.sampled_from(MODELS))
def test_parameters_come_back_from_the_rates(counts: np.ndarray, prior: Prior, kind: Any) -> None:
    model, wide = kind(prior=prior), counts.shape[1]
    neutral = np.tile((np.eye(wide) + 1 / wide) / 2, (len(counts), 1, 1))
    rates = model.rates(model.fit(counts, model.parameters(neutral)), wide)
    if wide > 1:
        assert model.rates(model.parameters(rates), wide) == pytest.approx(rates)


def test_a_judge_without_labels_has_what_the_prior_says() -> None:
    none = np.zeros((1, 3, 3))
    old = np.array([[0.5, 1 / 6, 1 / 6, 1 / 6]])
    assert DawidSkene(prior=Prior()).fit(none, none)[0, :, 0] == pytest.approx([3 / 5, 1 / 5, 1 / 5])
    coin = OneCoin(prior=Prior())
    assert coin.rates(coin.fit(none, none), 3)[0, :, 0] == pytest.approx([3 / 5, 1 / 5, 1 / 5])
    assert Mace(prior=Prior()).fit(none, old)[0] == pytest.approx([2 / 5, 1 / 5, 1 / 5, 1 / 5])
    nothing = Prior(diagonal=0, cell=0)
    assert DawidSkene(prior=nothing).fit(none, none)[0, :, 0] == pytest.approx([1 / 3] * 3)
