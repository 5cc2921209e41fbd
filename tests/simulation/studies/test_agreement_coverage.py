"""Worlds of judges who agree as far as they are known to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ringtrue as rt
from ringtrue.errors import UsageError
from ringtrue.judges.votes import Votes
from ringtrue.simulation import AgreementCoverage, coverage_of_agreement, judged_labels


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def alpha(votes: Votes) -> float:
    return rt.agree(votes, resamples=0).overall["alpha_ordinal"].value or 0.0


def test_a_world_has_the_size_that_was_asked_for() -> None:
    votes = judged_labels(rng(), queries=6, docs=4, judges=5, missing=0, prevalence=(1, 1))
    assert (votes.items.height, votes.items["query"].n_unique(), votes.size) == (24, 6, 120)
    assert (votes.judges, votes.labels) == (("j1", "j2", "j3", "j4", "j5"), (0, 1))
    assert votes.clusters()[2] == "queries"
    assert not votes.find_repeats().any()


def test_without_queries_every_document_is_drawn_by_itself() -> None:
    votes = judged_labels(rng(), queries=None, docs=30, missing=0)
    assert (votes.items.height, votes.items["query"].n_unique(), votes.clusters()[2]) == (30, 1, "items")


def test_the_share_of_missing_labels_is_the_one_asked_for() -> None:
    votes = judged_labels(rng(), queries=200, docs=10, missing=0.3)
    assert votes.size / (200 * 10 * 3) == pytest.approx(0.7, abs=0.02)


def test_less_noise_makes_judges_agree_more_and_the_last_is_the_kindest() -> None:
    clear, usual, noisy = (judged_labels(rng(), queries=300, docs=10, noise=noise) for noise in (0.0, 0.5, 1.5))
    assert alpha(clear) > 0.999 > alpha(usual) > alpha(noisy) > 0
    means = [usual.label[usual.judge == judge].mean() for judge in range(3)]
    assert means == sorted(means)


def test_queries_differ_in_what_they_have() -> None:
    votes = judged_labels(rng(), queries=100, docs=30, missing=0, noise=0)
    query = votes.clusters()[0][votes.item]
    means = np.bincount(query, weights=votes.label) / np.bincount(query)
    assert means.std() > 3 * votes.label.std() / np.sqrt(90)  # far more than chance among ninety labels would give


def test_rare_grades_are_rare() -> None:
    votes = judged_labels(rng(), queries=300, docs=10, noise=0, prevalence=(3.0, 0.2))
    assert (votes.label == 1).mean() == pytest.approx(0.2 / 3.2, abs=0.02)


@pytest.mark.slow
def test_the_same_seed_makes_the_same_world_and_the_same_study() -> None:
    one, two = (judged_labels(rng(), queries=5, docs=5) for _ in range(2))
    np.testing.assert_array_equal(one.label, two.label)
    first, second = (coverage_of_agreement(rng(), queries=5, docs=5, replications=3, resamples=20) for _ in range(2))
    assert first == second


@pytest.mark.slow
def test_a_study_tells_every_coefficient_and_has_the_textbook_for_kappa_alone() -> None:
    found = coverage_of_agreement(rng(), queries=5, docs=5, replications=5, resamples=20)
    assert set(found) == {"agreement", "overlap", "fleiss_kappa", "alpha_nominal", "alpha_ordinal", "alpha_interval",
                          "alpha_ratio", "scott_pi", "ac1", "conger", "brennan_prediger", "kappa"}  # fmt: skip
    assert [name for name, one in found.items() if one.textbook is not None] == ["kappa"]
    assert all(0 <= share <= 1 for one in found.values() for share in (one.given, one.percentile, one.none))


@pytest.mark.simulation
def test_an_interval_that_promises_more_holds_more_often() -> None:
    half, sure = (
        coverage_of_agreement(rng(), queries=10, docs=5, replications=60, resamples=100, level=level)
        for level in (0.5, 0.99)
    )
    for name, one in half.items():
        assert 0.2 < one.given < 0.8 < sure[name].given
        assert one.percentile < sure[name].percentile


@pytest.mark.slow
def test_judges_who_hardly_differ_leave_kappa_without_an_interval_and_that_is_counted() -> None:
    found = coverage_of_agreement(rng(), queries=None, docs=10, noise=0.1, replications=30, resamples=50)
    assert found["alpha_nominal"].none > 0.5
    assert found["agreement"].none == 0  # a share always has one


@pytest.mark.slow
def test_the_truth_is_that_of_a_large_world() -> None:
    found = coverage_of_agreement(rng(), queries=10, docs=10, replications=1, resamples=20)
    large = rt.agree(judged_labels(np.random.default_rng(8), queries=10_000, docs=10), resamples=0)
    for name in ("agreement", "alpha_ordinal", "conger", "ac1"):
        assert found[name].truth == pytest.approx(large.overall[name].value, abs=0.01)
    (kappa,) = [pair.kappa.value for pair in large.pairs if (pair.a, pair.b) == ("j1", "j2")]
    assert found["kappa"].truth == pytest.approx(kappa, abs=0.01)


@pytest.mark.parametrize(
    "odd", [{"queries": 1}, {"docs": 0}, {"judges": 1}, {"missing": 1.0}, {"missing": -0.1}, {"noise": -1.0}]
)
def test_a_world_that_cannot_be_is_refused(odd: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as refused:
        judged_labels(rng(), **({"queries": 5, "docs": 5} | odd))
    assert refused.value.code == "world-too-small"


@pytest.mark.parametrize("odd", [{"replications": 0}, {"resamples": 1}])
def test_a_study_that_cannot_be_is_refused(odd: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as refused:
        coverage_of_agreement(rng(), **({"queries": 5, "docs": 5, "replications": 1} | odd))
    assert refused.value.code == "study-too-small"


def test_a_coverage_is_a_value() -> None:
    one = AgreementCoverage(truth=0.5, given=0.95, percentile=0.9)
    assert (one.textbook, one.none) == (None, 0)
