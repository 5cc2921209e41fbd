"""The calculator for people who have only summary numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportions_ztest

import ringtrue as rt
from gold.refusals import codes, names, refuses
from ringtrue.errors import UsageError
from ringtrue.gold.correction.calculator import PoolCheck

FIRST = rt.BronzeScore(mean=0.6260, sd=0.414, queries=10278, k=3)
SECOND = rt.BronzeScore(mean=0.6385, sd=0.402, queries=20604, k=3)
RATES = rt.Rates(relevant=(43, 59), nonrelevant=(67, 84))
KEYS = ["raw", "corrected", "versus", "comparison", "judge", "direct", "check", "notes", "note_codes"]


def test_one_score_has_no_comparison() -> None:
    answer = rt.correct_score(FIRST, RATES)
    assert (answer.versus, answer.comparison, answer.direct) == (None, None, None)
    plain = json.loads(json.dumps(answer.as_dict(), allow_nan=False))
    assert list(plain) == KEYS
    assert plain["judge"]["youden"]["value"] == pytest.approx(0.5264326)
    assert str(answer) == "0.626 (95% CI 0.618 to 0.634) by bronze, corrected 0.80 (95% CI 0.66 to 1.00)"


def test_two_scores_of_one_judge_have_three_comparisons() -> None:
    answer = rt.correct_score(FIRST, RATES, versus=SECOND)
    assert answer.versus is not None
    assert answer.versus.corrected.value == pytest.approx(0.8284423, abs=5e-8)
    assert answer.comparison is not None
    assert {name: round(one.p_value or 0, 4) for name, one in answer.comparison.items()} == {
        "shared_judge": 0.0116, "independent": 0.8541, "naive": 0.0116,
    }  # fmt: skip
    plain = answer.as_dict()["comparison"]
    assert list(plain["shared_judge"]) == ["difference", "p_value", "test", "p_wald", "tipping_points"]  # type: ignore[index]
    assert list(plain["naive"]) == ["difference", "p_value", "test"]  # type: ignore[index]


def test_two_scores_of_two_judges_have_no_shared_judge() -> None:
    other = rt.Rates(relevant=(50, 60), nonrelevant=(60, 80))
    answer = rt.correct_score(FIRST, RATES, versus=SECOND, versus_rates=other)
    assert answer.comparison is not None
    assert list(answer.comparison) == ["independent", "naive"]
    assert answer.versus is not None
    assert answer.versus.judge["relevant"].value == pytest.approx(50 / 60)


def test_gold_labels_that_are_no_draw_from_these_documents_are_found_out() -> None:
    # The published sample: 42% against 63% in both rounds together.
    check = rt.correct_score(FIRST, RATES, versus=SECOND).check
    assert check is not None
    assert (check.sample, check.n, check.pool) == (60 / 143, 143, pytest.approx(0.634, abs=5e-4))
    assert check.p_value == pytest.approx(1e-7, rel=0.1)
    assert check.description.code == "sample-does-not-fit"
    assert names(check.description, "42%", "143", "63%", "p = 1e-07")
    assert check.description in rt.correct_score(FIRST, RATES, versus=SECOND).notes


@given(st.integers(1, 99), st.floats(0.05, 0.95))
def test_the_check_is_the_z_test_of_statsmodels(hits: int, pool: float) -> None:
    rates = rt.Rates(relevant=(hits, 100), nonrelevant=(50, 50))
    found = rt.correct_score(rt.BronzeScore(mean=pool, sd=0.1, queries=100), rates).check
    assert found is not None
    _, p = proportions_ztest(hits, 150, value=pool, prop_var=pool)
    assert found.p_value == pytest.approx(p, rel=1e-6, abs=1e-300)


def test_a_draw_that_fits_is_told_only_where_a_draw_was_claimed() -> None:
    score = rt.BronzeScore(mean=0.42, sd=0.4, queries=1000)
    quiet, claimed = (rt.correct_score(score, RATES, design=design) for design in (None, "pool_random"))  # type: ignore[arg-type]
    assert not {"sample-fits", "sample-does-not-fit"} & {*codes(quiet.notes)}
    assert "sample-fits" in codes(claimed.notes)
    assert claimed.direct is not None
    assert claimed.direct.value == pytest.approx(0.42 * 43.5 / 61 + 0.58 * 16.5 / 84)
    for elsewhere in ("external", "known"):
        assert rt.correct_score(score, RATES, design=elsewhere).check is None  # type: ignore[arg-type]


def test_a_certain_check_is_told_without_a_p_of_0() -> None:
    assert "(p < 1e-15)" in PoolCheck(sample=0.7, n=2000, pool=0.1, p_value=0.0).description


def test_a_score_of_1_says_nothing_about_a_draw() -> None:
    assert rt.correct_score(rt.BronzeScore(mean=1.0, queries=50, k=1), RATES).check is None


def test_the_raw_score_is_students_t_or_wilsons() -> None:
    raw = rt.correct_score(rt.BronzeScore(mean=0.5, sd=0.3, queries=20), RATES).raw
    half = stats.t(19).ppf(0.975) * 0.3 / np.sqrt(20)
    assert (raw.low, raw.high, raw.method) == (pytest.approx(0.5 - half), pytest.approx(0.5 + half), "t")
    assert rt.correct_score(rt.BronzeScore(mean=0.5, queries=20, k=1), RATES).raw.method == "wilson"
    alone = rt.correct_score(rt.BronzeScore(mean=0.5, sd=0.0, queries=1, k=10), RATES).raw
    assert (alone.low, codes(alone.notes)) == (None, ["single-query"])


def test_the_same_seed_gives_the_same_answer() -> None:
    one, two = (
        rt.correct_score(FIRST, RATES, versus=SECOND, interval="bayes", rng=np.random.default_rng(4)) for _ in range(2)
    )
    assert one.as_dict() == two.as_dict()


@pytest.mark.parametrize(
    ("settings", "code", "parameter"),
    [
        ({"versus_rates": RATES}, "no-second-score", "versus_rates"),
        ({"difference_sd": 0.1}, "no-second-score", "difference_sd"),
        ({"design": "pool"}, "unknown-design", "design"),
        ({"design": "extern"}, "unknown-design", "design"),
    ],
)
def test_a_question_that_lacks_something_is_refused(settings, code: str, parameter: str) -> None:
    with pytest.raises(UsageError) as refused:
        rt.correct_score(FIRST, RATES, **settings)
    assert (refused.value.code, refused.value.parameter) == (code, parameter)


def test_a_random_draw_without_counts_is_refused() -> None:
    with refuses(UsageError, "rates-without-counts"):
        rt.correct_score(FIRST, rt.Rates(relevant=0.9, nonrelevant=(67, 84)), design="pool_random")
