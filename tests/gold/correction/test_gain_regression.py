"""The gold gain of a document predicted from the gold labels of others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from statsmodels.regression.linear_model import OLS

from gold.correction.worlds import Asked, World, left_out, world
from ringtrue.gold.correction.gain_regression import (
    INTERCEPT_PENALTY,
    LEVEL_PENALTY,
    POPULARITY_PENALTY,
    QUERY_PENALTY,
    RUN_PENALTY,
    SLOPE_PENALTY,
    build_predictors,
    fit_gains,
)

SEEDS = st.integers(0, 2**32 - 1)


def some(seed: int) -> Asked:
    return world(seed, queries=3, docs=5, length=4).asked("DCG")


def test_predictors_by_hand() -> None:
    runs = {"x": {"q0": {"d0": 2.0, "d1": 1.0}}, "y": {"q0": {"d1": 2.0, "d2": 1.0}}}
    bronze = {"q0": {"d0": 1, "d1": 0, "d2": 1}}
    asked = World(runs=runs, bronze=bronze, gold=bronze).asked("P@2")
    found = build_predictors(asked.pool)
    popular = np.log([1, 2, 1])
    popular = (popular - popular.mean()) / popular.std()
    second = 1 / np.log2(3)
    low, high = -2 / np.sqrt(2), 1 / np.sqrt(2)  # labels 1, 0, 1 have mean 2/3 and standard deviation √2/3
    rows = [  # all, levels 0 and 1, how many runs for each level, the two runs, the query, its slope
        [1, 0, 1, 0, popular[0], 1 / np.sqrt(2), 0, 1, high],
        [1, 1, 0, popular[1], 0, second / np.sqrt(2), 1 / np.sqrt(2), 1, low],
        [1, 0, 1, 0, popular[2], 0, second / np.sqrt(2), 1, high],
    ]
    assert found.values.toarray().tolist() == [pytest.approx(row) for row in rows]
    assert found.penalty.tolist() == [
        INTERCEPT_PENALTY,
        LEVEL_PENALTY,
        LEVEL_PENALTY,
        POPULARITY_PENALTY,
        POPULARITY_PENALTY,
        RUN_PENALTY,
        RUN_PENALTY,
        QUERY_PENALTY,
        SLOPE_PENALTY,
    ]


def test_a_document_without_a_bronze_label_has_no_part_in_the_slope_of_its_query() -> None:
    run = {"q0": {"d0": 3.0, "d1": 2.0, "d2": 1.0}, "q1": {"d0": 1.0}}
    gold = {query: dict.fromkeys(docs, 0) for query, docs in run.items()}
    asked = World(runs={"r": run}, bronze={"q0": {"d0": 3, "d1": 1}, "q1": {"d9": 0}}, gold=gold).asked("P@3")
    slopes = build_predictors(asked.pool).values.toarray()[:, -2:]
    rows = {doc: slopes[place].tolist() for place, doc in enumerate(asked.pool.docs.rows())}
    assert rows["q0", "d2"] == rows["q1", "d0"] == [0, 0]
    assert rows["q0", "d0"] == pytest.approx([np.sqrt(2), 0])  # 1 above the mean of 3 and 1; standard deviation √½
    assert rows["q0", "d1"] == pytest.approx([-np.sqrt(2), 0])


def test_documents_that_all_runs_show_alike_are_not_told_apart_by_it() -> None:
    asked = world(1, runs=1, queries=2, docs=4, length=4, whole=True).asked("P@4")
    popular = build_predictors(asked.pool).values.toarray()[:, 1 + len(asked.pool.levels) :][
        :, : len(asked.pool.levels)
    ]
    assert not popular.any()


def test_one_label_predicts_another_document_by_what_they_share() -> None:
    # One run, one query, one bronze level: the kernel of documents at ranks 1 and 2, by the penalties.
    asked = World(runs={"r": {"q0": {"d0": 2.0, "d1": 1.0}}}, bronze={"q0": {"d0": 1, "d1": 1}},
                       gold={"q0": {"d0": 1, "d1": 0}}).asked("CG@2")  # fmt: skip
    fit = fit_gains(asked.known, np.array([0]), np.array([1.0]))
    same, other = 1000 + 5 + 2 + 0.25, 1000 + 5 + 2 / np.log2(3) + 0.25
    assert fit.predict(asked.known, np.array([1.0])).tolist() == pytest.approx([0, other / (same + 1)])
    assert fit.leverage.tolist() == pytest.approx([same / (same + 1)])


@settings(max_examples=30)
@given(SEEDS)
def test_leaving_one_out_by_the_closed_form_is_fitting_anew_without_it(seed: int) -> None:
    asked = some(seed)
    sample = asked.some(np.random.default_rng(seed))
    gains = asked.gains[sample.positions]
    fit = fit_gains(asked.known, sample.positions, gains)
    anew = left_out(asked, sample, gains)
    assert fit.predict(asked.known, gains).tolist() == pytest.approx(anew.tolist(), abs=1e-7)
    assert fit.loo_residual.tolist() == pytest.approx((gains - anew[sample.positions]).tolist(), abs=1e-7)
    assert (fit.leverage > 0).all()
    assert (fit.leverage < 1).all()


@settings(max_examples=30)
@given(SEEDS)
def test_statsmodels_fits_the_same_with_a_row_more_for_each_penalty(seed: int) -> None:
    asked = some(seed)
    sample = asked.some(np.random.default_rng(seed))
    gains, held = asked.gains[sample.positions], np.diag(np.sqrt(asked.known.penalty))
    rows = asked.known.values.toarray()[sample.positions]
    told = OLS(np.concatenate([gains, np.zeros(len(held))]), np.vstack([rows, held])).fit()
    fit = fit_gains(asked.known, sample.positions, gains)
    assert fit.residual.tolist() == pytest.approx(told.resid[: len(gains)].tolist(), abs=1e-7)
    assert fit.leverage.tolist() == pytest.approx(told.get_influence().hat_matrix_diag[: len(gains)].tolist(), abs=1e-7)
    assert (fit.operator @ gains).tolist() == pytest.approx(fit.coefficients.tolist())


@settings(max_examples=30)
@given(SEEDS, st.floats(-5, 5), st.floats(-3, 3))
def test_predictions_are_linear_in_the_gains_and_follow_a_shift_of_all_of_them(
    seed: int, shift: float, scale: float
) -> None:
    asked = some(seed)
    sample = asked.some(np.random.default_rng(seed), least=3)
    gains = asked.gains[sample.positions]
    plain, moved = (
        fit_gains(asked.known, sample.positions, told).predict(asked.known, told)
        for told in (gains, scale * gains + shift)
    )
    # All but a thousandth of a label of the shift is taken up by the predictor that all documents have.
    assert moved.tolist() == pytest.approx((scale * plain + shift).tolist(), abs=0.01 * max(abs(shift), 1))


def test_gold_labels_of_one_level_say_nothing_apart_about_another() -> None:
    runs, bronze = {"r": {"q0": {"d0": 3.0, "d1": 2.0, "d2": 1.0}}}, {"q0": {"d0": 1, "d1": 1, "d2": 0}}
    asked = World(runs=runs, bronze=bronze, gold={"q0": {"d0": 2, "d1": 0, "d2": 0}}).asked("CG@3")
    fit = fit_gains(asked.known, np.array([0, 1]), np.array([2.0, 0.0]))
    assert len(fit.used) < asked.known.values.shape[1]
    assert 0 < fit.predict(asked.known, np.array([2.0, 0.0]))[2] < 2


@settings(max_examples=20)
@given(SEEDS)
def test_the_order_of_the_gold_labels_says_nothing(seed: int) -> None:
    asked = some(seed)
    rng = np.random.default_rng(seed)
    sample = asked.some(rng)
    gains, order = asked.gains[sample.positions], rng.permutation(len(sample))
    one, other = (
        fit_gains(asked.known, sample.positions, gains),
        fit_gains(asked.known, sample.positions[order], gains[order]),
    )
    assert other.loo_residual.tolist() == pytest.approx(one.loo_residual[order].tolist(), abs=1e-9)
    assert other.predict(asked.known, gains[order]).tolist() == pytest.approx(
        one.predict(asked.known, gains).tolist(), abs=1e-9
    )
