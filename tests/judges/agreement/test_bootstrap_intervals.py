"""Intervals from resamples, and what is said where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ringtrue.judges.agreement.bootstrap_intervals import (
    AgreementSettings,
    BootstrapDraws,
    EstimateContext,
    choose_resampling_groups,
    make_estimates,
)
from ringtrue.judges.votes import make_votes
from ringtrue.messages import Note
from ringtrue.stats.intervals import t_quantile, wilson
from ringtrue.stats.results import Estimate

SHAPE = EstimateContext(level=0.95, unit="queries", undefined=lambda name, case: Note("undefined", f"{name}, {case}"))


def estimate(
    value: float, resampled: list[float] | None, *, name: str = "kappa", items: int = 50, clusters: int = 20
) -> Estimate:
    again = {} if resampled is None else {name: np.array(resampled)[:, None]}
    draws = BootstrapDraws(
        values={name: np.array([value])}, resampled=again, items=np.array([items]), clusters=np.array([clusters])
    )
    (found,) = make_estimates(draws, SHAPE)
    return found[name]


def test_an_interval_by_hand() -> None:
    # With 50 items the scale is log(1.01 − c); two resamples, so that their standard deviation is |difference| / √2.
    found = estimate(0.5, [0.51, 0.01])
    wider = np.sqrt(20 / 19)
    stretch = t_quantile(0.975, 19) * wider * np.log(2) / np.sqrt(2)
    assert found.se == pytest.approx(wider * 0.5 / np.sqrt(2))
    assert found.low == pytest.approx(1.01 - 0.51 * np.exp(stretch))
    assert found.high == pytest.approx(1.01 - 0.51 * np.exp(-stretch))
    assert (found.n, found.method, found.notes) == (50, "bootstrap over queries", ())


def test_without_resamples_there_is_a_value_and_no_interval() -> None:
    found = estimate(0.5, None)
    assert (found.value, found.se, found.low, found.high, found.method) == (0.5, None, None, None, "no interval asked")


def test_an_undefined_value_is_none_with_the_reason() -> None:
    found = estimate(np.nan, [np.nan, 0.5])
    assert (found.value, found.se, found.low, found.high) == (None, None, None, None)
    assert found.notes == (SHAPE.undefined("kappa", 0),)


def test_one_cluster_has_no_interval() -> None:
    found = estimate(0.5, [0.5, 0.4, 0.6], clusters=1)
    assert (found.value, found.low, found.high) == (0.5, None, None)
    assert [note.code for note in found.notes] == ["too-few-clusters"]


@pytest.mark.parametrize("value", [1.0, 2 / 3, 0.1])
def test_resamples_that_are_all_alike_tell_nothing_about_a_kappa_and_leave_a_share_wilsons_interval(
    value: float,
) -> None:
    # Not exactly alike: rounding must not pass for certainty.
    resampled = [value * (1 + 1e-16 * place) for place in range(7)]
    kappa, share = estimate(value, resampled), estimate(value, resampled, name="agreement")
    assert (kappa.low, kappa.high, [note.code for note in kappa.notes]) == (None, None, ["constant-resamples"])
    low, high = wilson(value, 20)
    assert (share.low, share.high) == (pytest.approx(low), pytest.approx(high))
    assert share.notes == kappa.notes
    assert (share.low or 0) < value <= (share.high or 0)


def test_few_clusters_are_told() -> None:
    (note,) = estimate(0.5, [0.4, 0.6], clusters=9).notes
    assert note.code == "few-clusters"
    assert "9 queries" in note
    assert estimate(0.5, [0.4, 0.6], clusters=10).notes == ()


def test_resamples_without_a_value_are_left_out_and_told_where_they_are_many() -> None:
    usual = [0.4, 0.6] * 10
    assert estimate(0.5, [*usual, np.nan]).notes == ()
    found = estimate(0.5, [*usual, np.nan, np.nan])
    assert [note.code for note in found.notes] == ["undefined-resamples"]
    assert "9%" in found.notes[0]
    assert found.low == pytest.approx(estimate(0.5, usual).low)


def test_a_single_resample_with_a_value_gives_no_interval() -> None:
    found = estimate(0.5, [0.4, np.nan, np.nan])
    assert (found.se, found.low, found.high) == (None, None, None)
    assert found.notes


values = st.floats(-3, 1)


@given(values, st.lists(values, min_size=2, max_size=20), st.integers(2, 40), st.sampled_from(["kappa", "overlap"]))
def test_an_interval_holds_its_value_and_stays_on_the_scale(
    value: float, resampled: list[float], clusters: int, name: str
) -> None:
    if name == "overlap":
        value, resampled = max(value, 0.0), [max(one, 0.0) for one in resampled]
    found = estimate(value, resampled, name=name, clusters=clusters)
    if found.low is None or found.high is None:
        assert found.notes
        return
    assert found.low - 1e-12 <= value <= found.high <= 1
    assert found.low >= (0 if name == "overlap" else -1 if value >= -1 else -np.inf)


@given(st.lists(st.floats(0, 0.9), min_size=3, max_size=20, unique=True), st.floats(0.5, 0.98))
def test_a_higher_level_and_fewer_clusters_make_intervals_wider(resampled: list[float], level: float) -> None:
    def width(level: float, clusters: int) -> float:
        draws = BootstrapDraws(values={"ac1": np.array([0.4])}, resampled={"ac1": np.array(resampled)[:, None]},
                      items=np.array([50]), clusters=np.array([clusters]))  # fmt: skip
        shape = EstimateContext(level=level, unit="items", undefined=lambda *_: "")
        (found,) = make_estimates(draws, shape)
        one = found["ac1"]
        return (one.high or 0) - (one.low or 0)

    assert width(level, 20) <= width(0.99, 20)
    assert width(level, 20) <= width(level, 5)


def test_cases_are_kept_apart() -> None:
    draws = BootstrapDraws(
        values={"kappa": np.array([0.5, np.nan, 0.2])},
        resampled={"kappa": np.array([[0.4, 0.1, 0.2], [0.6, np.nan, 0.2]])},
        items=np.array([50, 40, 30]),
        clusters=np.array([20, 20, 20]),
    )
    first, second, third = (found["kappa"] for found in make_estimates(draws, SHAPE))
    assert first == estimate(0.5, [0.4, 0.6])
    assert (second.n, second.notes) == (40, (SHAPE.undefined("kappa", 1),))
    assert (third.value, third.low) == (0.2, None)


def drawing(resamples: int = 10) -> AgreementSettings:
    return AgreementSettings(
        relevant=np.array([False, True]), resamples=resamples, level=0.95, rng=np.random.default_rng(0),
        progress=lambda _: None,
    )  # fmt: skip


def test_few_queries_are_drawn_as_they_are() -> None:
    votes = make_votes({"query": [*"ppqr"], "doc": [*"abcd"], "judge": ["x"] * 4, "label": [0, 1, 0, 1]})
    group, groups, drawn = choose_resampling_groups(votes, drawing())
    assert (group.tolist(), groups, drawn) == ([0, 0, 1, 2], 3, "queries")


def test_many_items_are_drawn_in_groups_of_equal_size() -> None:
    votes = make_votes({"doc": [*range(5_001)], "label": [number % 2 for number in range(5_001)]})
    group, groups, drawn = choose_resampling_groups(votes, drawing())
    sizes = np.bincount(group)
    assert (groups, drawn, len(sizes)) == (2_000, "items", 2_000)
    assert set(sizes.tolist()) == {2, 3}


def test_items_of_a_query_stay_together_in_a_group() -> None:
    queries = np.repeat(np.arange(3_000), 2)
    votes = make_votes({"query": queries, "doc": np.arange(6_000), "label": np.arange(6_000) % 2})
    group, groups, _ = choose_resampling_groups(votes, drawing())
    assert groups == 2_000
    assert (group[::2] == group[1::2]).all()


def test_with_very_many_labels_there_are_fewer_groups() -> None:
    votes = make_votes({"doc": [*range(1_000)], "label": [number % 200 for number in range(1_000)]})
    assert choose_resampling_groups(votes, drawing())[1] == 500


def test_where_nothing_is_drawn_all_are_one_group() -> None:
    votes = make_votes({"doc": [*range(9)], "label": [0, 1, 1] * 3})
    group, groups, drawn = choose_resampling_groups(votes, drawing(resamples=0))
    assert (set(group.tolist()), groups, drawn) == ({0}, 1, "items")
