"""Scores → comparisons: which pairs, on which queries, adjusted for which family, with which doubts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

import ringtrue as rt
from ringtrue.errors import MismatchError, UsageError
from ringtrue.evaluation.significance import Adjust, Family, Test, compare, compare_by, differences, largest_differences
from ringtrue.evaluation.significance.adjustment import benjamini_hochberg, holm
from ringtrue.evaluation.significance.compare import presence_matrix, require_shared_queries, select_run_pairs
from ringtrue.messages import Note
from strategies import scores_of, wilcoxon_by_scipy

HOLM_3 = "Holm over the 3 pairs"
HOLM_5 = "Holm over the 5 pairs"
HOLM_12 = "Holm over the 12 comparisons"
ONE_COMPARISON = "nothing to adjust for, with one comparison"
ONE_OF_EACH = "nothing to adjust for, with one comparison of each measure"
EXACT_PERMUTATION = "permutation test (exact: all sign flips)"
HOLM_GROUPS = "Holm over the 6 pairs in 2 groups"
HOLM_666 = "Holm over the 666 pairs of each measure"

TESTS = get_args(Test)
PAIRED = [test for test in TESTS if test != "welch"]
ALL_MEASURES = ("nDCG@10", "AP", "P@10", "RR")


def random_scores(runs: int = 4, queries: int = 30, measures: Sequence[str] = ("AP",), seed: int = 0) -> rt.Scores:
    """Runs of which each is a little better than the one before."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(0, 1, queries)
    return scores_of(
        {
            measure: {f"run{i}": 1 / (1 + np.exp(hard - 0.25 * i + rng.normal(0, 0.7, queries))) for i in range(runs)}
            for measure in measures
        }
    )


def pairs_of(found: rt.Comparisons) -> list[tuple[str, str]]:
    return [(one.a, one.b) for one in found]


def p_of(found: rt.Comparisons) -> np.ndarray:
    return np.array([one.p_value for one in found])


def adjusted_of(found: rt.Comparisons) -> np.ndarray:
    return np.array([one.p_adjusted for one in found])


def test_all_pairs_are_compared_in_the_order_of_the_runs() -> None:
    assert pairs_of(compare(random_scores(3))) == [("run0", "run1"), ("run0", "run2"), ("run1", "run2")]


@pytest.mark.parametrize("baselines", ["run1", ["run1"], ("run1", "run1"), iter(["run1"])])
def test_with_a_baseline_every_other_run_is_compared_with_it(baselines) -> None:
    found = compare(random_scores(4), baselines=baselines)
    assert pairs_of(found) == [("run0", "run1"), ("run2", "run1"), ("run3", "run1")]
    assert found.family == HOLM_3


def test_with_several_baselines_each_run_meets_each_and_these_meet_each_other() -> None:
    found = compare(random_scores(4), baselines=["run3", "run0"])
    assert pairs_of(found) == [
        ("run1", "run3"), ("run1", "run0"), ("run2", "run3"), ("run2", "run0"), ("run3", "run0"),
    ]  # fmt: skip
    assert found.family == HOLM_5


def test_the_difference_is_a_minus_b_and_wins_are_where_a_is_ahead() -> None:
    one = compare(scores_of({"AP": {"a": [0.9, 0.5, 0.3, 0.3], "b": [0.1, 0.4, 0.4, 0.3]}}))[0]
    assert (one.a, one.b) == ("a", "b")
    assert one.difference.value == pytest.approx(0.2)
    assert (one.wins, one.ties, one.losses) == (2, 1, 1)


def test_a_comparison_does_not_change_with_the_runs_around_it() -> None:
    scores = random_scores(6)
    two = rt.Scores(scores.frame.filter(pl.col("run").is_in(["run1", "run4"])))
    for test in TESTS:
        around, alone = (compare(one, test=test, resamples=300, adjust="none") for one in (scores, two))
        among = next(one for one in around if (one.a, one.b) == ("run1", "run4"))
        plain, expected = (
            [one.p_value, one.difference.value, one.difference.low, one.difference.high] for one in (among, alone[0])
        )
        assert plain == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("adjust", ["holm", "bh", "none", "tukey"])
def test_every_measure_is_a_family_of_its_own(adjust: Adjust) -> None:
    scores = random_scores(4, measures=["AP", "RR"])
    found = compare(scores, adjust=adjust, resamples=300)
    assert [one.measure for one in found] == ["AP"] * 6 + ["RR"] * 6
    for measure, part in (("AP", found[:6]), ("RR", found[6:])):
        alone = compare(rt.Scores(scores.frame.filter(pl.col("measure") == measure)), adjust=adjust, resamples=300)
        assert [one.p_adjusted for one in part] == [one.p_adjusted for one in alone]
    assert "of each measure" in found.family


@pytest.mark.slow
def test_all_measures_can_be_one_family() -> None:
    scores = random_scores(4, measures=["AP", "RR"])
    found = compare(scores, family="all")
    np.testing.assert_allclose(adjusted_of(found), multipletests(p_of(found), method="holm")[1], rtol=1e-10)
    assert found.family == HOLM_12
    found = compare(scores, family="all", adjust="bh")
    np.testing.assert_allclose(adjusted_of(found), stats.false_discovery_control(p_of(found)), rtol=1e-10)


@pytest.mark.parametrize("test", TESTS)
def test_holm_and_bh_are_applied_to_the_p_of_each_test(test: Test) -> None:
    scores = random_scores(5)
    by_holm, by_bh, by_none = (compare(scores, test=test, adjust=a, resamples=300) for a in ("holm", "bh", "none"))
    np.testing.assert_array_equal(p_of(by_holm), p_of(by_none))
    np.testing.assert_array_equal(adjusted_of(by_holm), holm(p_of(by_holm)))
    np.testing.assert_array_equal(adjusted_of(by_bh), benjamini_hochberg(p_of(by_bh)))
    np.testing.assert_array_equal(adjusted_of(by_none), p_of(by_none))
    assert (adjusted_of(by_holm) >= p_of(by_holm)).all()


@pytest.mark.parametrize(
    ("adjust", "words"),
    [
        ("holm", "Holm over the 6 pairs"),
        ("bh", "Benjamini–Hochberg over the 6 pairs"),
        ("tukey", "randomised Tukey HSD (300 resamples, a test of its own) over the 6 pairs"),
        ("none", "not adjusted; were all runs equal, about 0.3 of the 6 pairs would look decided"),
    ],
)
def test_the_family_and_the_adjustment_are_always_stated(adjust: Adjust, words: str) -> None:
    assert compare(random_scores(4), adjust=adjust, resamples=300).family == words


@pytest.mark.parametrize("adjust", ["holm", "bh", "none"])
def test_one_comparison_needs_no_adjusting(adjust: Adjust) -> None:
    found = compare(random_scores(2), adjust=adjust)
    assert found.family == ONE_COMPARISON
    assert found[0].p_adjusted == found[0].p_value
    of_two = compare(random_scores(2, measures=["AP", "RR"]), adjust=adjust)
    assert of_two.family == ONE_OF_EACH


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({}, "paired t test"),
        ({"test": "permutation"}, "permutation test (10,000 resamples)"),
        ({"test": "permutation", "queries": 14}, EXACT_PERMUTATION),
        ({"test": "bootstrap", "resamples": 300}, "bootstrap (300 resamples, BCa)"),
        ({"test": "sign"}, "exact sign test"),
        ({"test": "sign", "mid_p": True}, "exact sign test, mid-p"),
        ({"test": "wilcoxon"}, "Wilcoxon's signed-rank test"),
        ({"test": "welch"}, "Welch's t test, unpaired"),
    ],
)
def test_the_test_is_always_stated(how: dict, words: str) -> None:
    queries = how.pop("queries", 15)
    found = compare(random_scores(2, queries), **how)
    assert found.test == words
    assert found[0].test == how.get("test", "t")


def test_tukeys_adjustment_is_wider_than_the_permutation_test_and_follows_the_difference() -> None:
    found = compare(random_scores(5), test="permutation", adjust="tukey", resamples=2_000)
    assert (adjusted_of(found) >= p_of(found) - 0.05).all()
    order = np.argsort([-abs(one.difference.value) for one in found])
    assert (np.diff(adjusted_of(found)[order]) >= 0).all()


@pytest.mark.parametrize(
    ("how", "code", "found"),
    [
        ({"test": "wilcoxn"}, "unknown-choice", "'wilcoxon'?"),
        ({"test": "anova"}, "unknown-choice", "t, permutation, bootstrap, sign, wilcoxon, welch"),
        ({"adjust": "holmes"}, "unknown-choice", "'holm'?"),
        ({"family": "al"}, "unknown-choice", "'all'?"),
        ({"level": 0}, "bad-level", "0.999999"),
        ({"level": 95}, "bad-level", "95"),
        ({"level": float("nan")}, "bad-level", "nan"),
        ({"resamples": 99}, "bad-resamples", "99"),
        ({"resamples": 10**8}, "bad-resamples", "100,000,000"),
        ({"mid_p": True}, "unused-parameter", "'t'"),
        ({"adjust": "tukey", "test": "welch"}, "tukey-of-unpaired", "Welch"),
        ({"adjust": "tukey", "test": "sign"}, "tukey-of-ranks", "sign"),
        ({"family": "all", "adjust": "tukey"}, "tukey-of-measures", "Tukey"),
        ({"baselines": "run9"}, "unknown-run", "'run9'"),
        ({"baselines": ["run0", "xyzzy"]}, "unknown-run", "run0, run1, run2"),
    ],
)
def test_a_question_put_wrongly_is_refused_with_the_near_miss(how: dict, code: str, found: str) -> None:
    with pytest.raises(UsageError) as refused:
        compare(random_scores(3), **how)
    assert (refused.value.code, refused.value.parameter) == (code, next(iter(how)))
    assert found in str(refused.value)


def test_one_run_cannot_be_compared() -> None:
    with pytest.raises(UsageError, match="'run0'") as refused:
        compare(random_scores(1))
    assert refused.value.code == "needs-two-runs"


def test_the_same_seed_gives_the_same_answer_and_another_nearly_the_same() -> None:
    scores = random_scores(3)
    for how in ({"test": "permutation"}, {"test": "bootstrap"}, {"adjust": "tukey"}):
        first, again, other = (compare(scores, **how, rng=np.random.default_rng(seed)) for seed in (1, 1, 2))
        assert first == again
        assert first != other
        np.testing.assert_allclose(adjusted_of(other), adjusted_of(first), atol=0.04)
    assert compare(scores, test="permutation") == compare(scores, test="permutation")


def test_the_level_is_that_of_the_intervals_and_of_the_decision() -> None:
    scores = scores_of({"AP": {"a": [0.1, 0.5, 0.3, 0.6, 0.2], "b": [0.0, 0.4, 0.25, 0.3, 0.2]}})
    loose, strict = compare(scores, level=0.9)[0], compare(scores, level=0.99)[0]
    assert loose.p_value == strict.p_value
    assert 0.01 < loose.p_value < 0.1
    assert (loose.decided, strict.decided) == (True, False)
    assert loose.difference.low > 0 > strict.difference.low


EVAL = {f"q{i}": {"d1": 1, "d2": 0} for i in range(8)}
FIRST, SECOND = {"d1": 2.0, "d2": 1.0}, {"d2": 2.0, "d1": 1.0}


def runs_with_holes() -> dict[str, dict[str, dict[str, float]]]:
    good = {f"q{i}": FIRST if i % 4 else SECOND for i in range(8)}
    poor = {f"q{i}": SECOND if i % 3 else FIRST for i in range(8)}
    return {
        "whole": good,
        "early": {query: good[query] for query in ("q0", "q1", "q2", "q3", "q4", "q5")},
        "late": {query: poor[query] for query in ("q2", "q3", "q4", "q5", "q6", "q7")},
    }


@pytest.mark.parametrize("test", PAIRED)
def test_with_queries_left_out_a_pair_is_compared_on_those_that_both_have(test: Test) -> None:
    runs = runs_with_holes()
    scores = rt.evaluate(runs, EVAL, "RR", missing="skip")
    found = {(one.a, one.b): one for one in compare(scores, test=test, resamples=200, adjust="none")}
    assert [one.difference.n for one in found.values()] == [6, 6, 4]
    for (a, b), one in found.items():
        shared = sorted(set(runs[a]) & set(runs[b]))
        by_themselves = {name: {query: runs[name][query] for query in shared} for name in (a, b)}
        labels = {query: EVAL[query] for query in shared}
        alone = compare(rt.evaluate(by_themselves, labels, "RR"), test=test, resamples=200)[0]
        assert json.dumps(alone.as_dict()) == json.dumps(one.as_dict())


def test_missing_queries_that_count_as_0_are_compared_as_0() -> None:
    found = compare(rt.evaluate(runs_with_holes(), EVAL, "RR", missing="zero"))
    assert [one.difference.n for one in found] == [8, 8, 8]
    whole, early = [0.5, 1, 1, 1, 0.5, 1, 1, 1], [0.5, 1, 1, 1, 0.5, 1, 0, 0]
    assert found[0].p_value == pytest.approx(stats.ttest_rel(whole, early).pvalue, rel=1e-10)
    assert (found[0].wins, found[0].ties) == (2, 6)


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_runs_that_share_no_query_are_refused_even_where_0_stands_for_what_is_missing(missing) -> None:
    runs = {"x": {"q0": FIRST, "q1": FIRST}, "y": {"q2": FIRST, "q3": SECOND, "q4": FIRST, "q5": FIRST, "q6": FIRST}}
    labels = {query: EVAL[query] for query in ("q0", "q1", "q2", "q3", "q4", "q5", "q6")}
    with pytest.raises(MismatchError, match=r"'x' lacks q2, q3, q4 .*'y' lacks q0, q1") as refused:
        compare(rt.evaluate(runs, labels, "RR", missing=missing))
    assert refused.value.code == "no-common-query"
    assert [hint.arguments for hint in refused.value.note.suggestions] == [{"test": "welch"}]


def test_few_shared_queries_are_told_with_what_each_run_lacks() -> None:
    runs = {
        "x": dict.fromkeys(("q0", "q1", "q2", "q3"), FIRST),
        "y": dict.fromkeys(("q3", "q4", "q5", "q6", "q7"), SECOND),
    }
    found = compare(rt.evaluate(runs, EVAL, "RR", missing="zero"))
    (note,) = found.notes
    assert note.code == "few-common-queries"
    assert all(part in note for part in ("1 of 8", "q4, q5, q6 and 1 more", "q0, q1, q2"))


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_welchs_test_compares_runs_over_different_queries_each_by_its_own(missing) -> None:
    rng = np.random.default_rng(3)
    labels = {f"q{i}": {"d1": 1} for i in range(30)}
    orders = [{f"d{j}": float(-abs(j - shift)) for j in range(1, 8)} for shift in rng.integers(1, 8, 30)]
    runs = {"x": {f"q{i}": orders[i] for i in range(12)}, "y": {f"q{i}": orders[i] for i in range(12, 30)}}
    scores = rt.evaluate(runs, labels, "RR", missing=missing)
    one = compare(scores, test="welch")[0]
    x, y = (scores.frame.filter(pl.col("run") == run, pl.col("query").is_in(list(runs[run])))["value"].to_numpy()
            for run in ("x", "y"))  # fmt: skip
    theirs = stats.ttest_ind(x, y, equal_var=False)
    assert one.p_value == pytest.approx(theirs.pvalue, rel=1e-10)
    interval = theirs.confidence_interval(0.95)
    assert [one.difference.low, one.difference.high] == pytest.approx([interval.low, interval.high], rel=1e-9)
    assert (one.wins, one.ties, one.losses) == (0, 0, 0)
    assert one.notes[0].code == "unpaired-queries"
    assert "12 of 'x', 18 of 'y'" in one.notes[0]


def test_tukeys_test_takes_the_queries_that_all_runs_have_and_says_how_many_it_leaves_out() -> None:
    found = compare(rt.evaluate(runs_with_holes(), EVAL, "RR", missing="skip"), adjust="tukey", resamples=300)
    (note,) = found.notes
    assert note.code == "queries-not-in-all-runs"
    assert " 4 " in note
    common = {name: {q: docs for q, docs in run.items() if q in ("q2", "q3", "q4", "q5")}
              for name, run in runs_with_holes().items()}  # fmt: skip
    labels = {query: EVAL[query] for query in ("q2", "q3", "q4", "q5")}
    alone = compare(rt.evaluate(common, labels, "RR"), adjust="tukey", resamples=300)
    np.testing.assert_array_equal(adjusted_of(found), adjusted_of(alone))


def test_tukeys_test_without_a_query_that_all_runs_have_is_refused() -> None:
    runs = {"x": {"q0": FIRST, "q1": FIRST}, "y": {"q1": FIRST, "q2": SECOND}, "z": {"q0": FIRST, "q2": FIRST}}
    labels = {query: EVAL[query] for query in ("q0", "q1", "q2")}
    with pytest.raises(MismatchError) as refused:
        compare(rt.evaluate(runs, labels, "RR", missing="skip"), adjust="tukey")
    assert refused.value.code == "no-common-query"
    assert [hint.arguments for hint in refused.value.note.suggestions] == [{"adjust": "holm"}]


def test_a_difference_that_is_not_decided_says_what_could_have_been_seen() -> None:
    one = compare(random_scores(2, 20))[0]
    assert not one.decided
    (note,) = one.notes
    assert note.code == "not-decided"
    assert all(f" {number:.3g} " in note for number in (20, one.detectable, abs(one.difference.value)))


def test_a_difference_that_is_decided_brings_no_doubt() -> None:
    one = compare(scores_of({"AP": {"a": [0.9, 0.8, 0.9, 0.7], "b": [0.1, 0.2, 0.1, 0.1]}}))[0]
    assert one.decided
    assert one.notes == ()


@pytest.mark.parametrize(
    ("how", "least"),
    [({"test": "sign"}, "0.12"), ({"test": "wilcoxon"}, "0.12"), ({"test": "permutation"}, "0.12"),
     ({"test": "sign", "mid_p": True}, "0.062")],
)  # fmt: skip
def test_a_test_that_could_not_decide_whatever_it_saw_says_so(how: dict, least: str) -> None:
    one = compare(scores_of({"AP": {"a": [0.9, 0.8, 0.9, 0.6], "b": [0.1, 0.2, 0.2, 0.1]}}), **how)[0]
    (note,) = one.notes
    assert note.code == "undecidable"
    assert f" {least} " in note


def test_too_few_resamples_for_the_family_are_told() -> None:
    values = np.random.default_rng(0).uniform(0, 0.1, (4, 30)) + np.arange(4)[:, None]
    scores = scores_of({"AP": {f"run{i}": row for i, row in enumerate(values)}})
    few = compare(scores, test="permutation", resamples=100)
    (note,) = few.notes
    assert note.code == "few-resamples"
    assert "100 resamples" in note
    assert "6 of 6" in note
    assert [hint.arguments for hint in note.suggestions] == [{"resamples": 120}]
    assert compare(scores, test="permutation", resamples=1_000).notes == ()


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("adjust", get_args(Adjust))
def test_identical_runs_are_never_told_apart(test: Test, adjust: Adjust) -> None:
    values = [0.1, 0.7, 0.4, 0.4, 0.9]
    scores = scores_of({"AP": {"a": values, "b": values}})
    if adjust != "tukey" or test in ("t", "permutation", "bootstrap"):
        one = compare(scores, test=test, adjust=adjust, resamples=200)[0]
        assert (one.p_value, one.p_adjusted) == pytest.approx((1, 1), rel=1e-12)
        assert not one.decided
        json.dumps(one.as_dict(), allow_nan=False)


def test_one_query_gives_p_1_and_the_reason() -> None:
    for test in PAIRED:
        one = compare(scores_of({"AP": {"a": [0.9], "b": [0.1]}}), test=test)[0]
        assert (one.p_value, one.p_adjusted, one.decided) == (1, 1, False)
        assert [note.code for note in one.notes] == ["single-query"]


KINDS = pl.DataFrame({"query": [f"q{i}" for i in range(30)], "kind": ["long", "short", "short"] * 10})


def test_groups_of_queries_are_compared_apart_and_adjusted_together() -> None:
    scores = random_scores(3)
    groups = compare_by(scores, KINDS, "kind")
    assert list(groups) == ["long", "short"]
    assert [one.difference.n for found in groups.values() for one in found] == [10, 10, 10, 20, 20, 20]
    p, adjusted = (np.concatenate([of(found) for found in groups.values()]) for of in (p_of, adjusted_of))
    np.testing.assert_array_equal(adjusted, holm(p))
    for kind, found in groups.items():
        of_kind = KINDS.filter(pl.col("kind") == kind)["query"].to_list()
        alone = compare(rt.Scores(scores.frame.filter(pl.col("query").is_in(of_kind))))
        np.testing.assert_array_equal(p_of(found), p_of(alone))
        assert found.family == HOLM_GROUPS


@pytest.mark.parametrize(("family", "size"), [("measure", 6), ("all", 12)])
def test_groups_of_several_measures_belong_to_the_family_that_was_asked_for(family: Family, size: int) -> None:
    groups = compare_by(random_scores(3, measures=["AP", "RR"]), KINDS, "kind", family=family)
    everything = [one for found in groups.values() for one in found]
    for measures in [["AP"], ["RR"]] if family == "measure" else [["AP", "RR"]]:
        part = [one for one in everything if one.measure in measures]
        assert len(part) == size
        np.testing.assert_array_equal([one.p_adjusted for one in part], holm(np.array([one.p_value for one in part])))
    assert f"over the {size} pairs in 2 groups" in groups["long"].family


def test_groups_take_baselines_and_no_tukey() -> None:
    groups = compare_by(random_scores(3), KINDS, "kind", baselines="run2", adjust="bh")
    assert pairs_of(groups["short"]) == [("run0", "run2"), ("run1", "run2")]
    with pytest.raises(UsageError) as refused:
        compare_by(random_scores(3), KINDS, "kind", adjust="tukey")
    assert refused.value.code == "tukey-of-groups"
    assert [hint.arguments for hint in refused.value.note.suggestions] == [{"adjust": "holm"}, {"adjust": "bh"}]
    with pytest.raises(UsageError, match=r"'kind'\?") as refused:
        compare_by(random_scores(3), KINDS, "kindd")
    assert refused.value.code == "unknown-column"


def test_the_answer_can_be_walked_counted_and_asked_by_place() -> None:
    found = compare(random_scores(3))
    assert len(found) == 3
    assert list(found)[1] is found[1]
    assert found[-1].b == "run2"


@pytest.fixture(scope="module")
def dl19(data: Path) -> rt.Scores:
    runs = [rt.read_run(path) for path in sorted((data / "dl19/runs").glob("*.run"))]
    return rt.evaluate(runs, rt.read_judgments(data / "dl19/human.qrels"), ALL_MEASURES)


@pytest.fixture(scope="module")
def values(dl19: rt.Scores) -> dict[str, dict[str, np.ndarray]]:
    """measure → run → the values in the order of the queries."""
    return {
        str(measure): {str(run): of_run.sort("query")["value"].to_numpy()
                       for (run,), of_run in part.group_by("run", maintain_order=True)}
        for (measure,), part in dl19.frame.group_by("measure", maintain_order=True)
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.real
def test_all_pairs_of_dl19_by_four_measures_agree_with_scipy_and_statsmodels(dl19: rt.Scores, values) -> None:
    found = compare(dl19)
    assert len(found) == 2664
    assert found.family == HOLM_666
    for measure in ALL_MEASURES:
        part = [one for one in found if one.measure == measure]
        a, b = (np.array([values[measure][getattr(one, side)] for one in part]) for side in ("a", "b"))
        p = stats.ttest_rel(a, b, axis=1).pvalue
        p[(a == b).all(axis=1)] = 1
        np.testing.assert_allclose([one.p_value for one in part], p, rtol=0, atol=1e-10)
        by_holm = multipletests(p, method="holm")[1]
        np.testing.assert_allclose([one.p_adjusted for one in part], by_holm, rtol=0, atol=1e-10)
        np.testing.assert_allclose([one.difference.value for one in part], (a - b).mean(axis=1), atol=1e-12)
        d = np.where(np.abs(a - b) < 1e-12, 0, a - b)
        counts = np.stack([(d > 0).sum(axis=1), (d == 0).sum(axis=1), (d < 0).sum(axis=1)], axis=1)
        np.testing.assert_array_equal([(one.wins, one.ties, one.losses) for one in part], counts)
        decided = np.array([one.decided for one in part])
        np.testing.assert_array_equal(decided, by_holm < 0.05)


@pytest.mark.slow
@pytest.mark.real
def test_all_pairs_of_dl19_by_the_other_tests_agree_with_scipy(dl19: rt.Scores, values) -> None:
    scores = rt.Scores(dl19.frame.filter(pl.col("measure") == "nDCG@10"))
    by_rank, by_sign, unpaired = (compare(scores, test=test) for test in ("wilcoxon", "sign", "welch"))
    a, b = (np.array([values["nDCG@10"][getattr(one, side)] for one in by_rank]) for side in ("a", "b"))
    d = np.round(a - b, 12)
    for row, rank, sign, welch in zip(range(len(d)), by_rank, by_sign, unpaired, strict=True):
        if d[row].any():
            assert rank.p_value == pytest.approx(wilcoxon_by_scipy(d[row]), rel=1e-10)
            wins, losses = int((d[row] > 0).sum()), int((d[row] < 0).sum())
            assert sign.p_value == pytest.approx(stats.binomtest(wins, wins + losses).pvalue, rel=1e-10)
        theirs = stats.ttest_ind(a[row], b[row], equal_var=False).pvalue
        assert welch.p_value == pytest.approx(theirs, rel=1e-10)


def test_a_run_of_another_scale_does_not_round_the_others_away() -> None:
    small = {"a": [1e-7, 2e-7, 5e-7], "b": [2e-7, 1e-7, 1e-7]}
    alone = compare(scores_of({"DCG": small}), adjust="none")[0]
    among = compare(scores_of({"DCG": small | {"c": [1e6, 1e7, 1e6]}}), adjust="none")[0]
    assert (among.p_value, among.wins) == (alone.p_value, alone.wins)


@pytest.mark.parametrize("n", [5, 10, 40])
def test_tukeys_test_does_not_tell_apart_what_only_rounding_keeps_apart(n: int) -> None:
    one = compare(scores_of({"AP": {"a": [0.3] * n, "b": [0.1 + 0.2] * n}}), adjust="tukey")[0]
    assert (one.p_value, one.p_adjusted) == (1, 1)


def test_scores_without_a_common_query_are_refused_though_nobody_said_what_is_absent() -> None:
    with pytest.raises(MismatchError) as refused:
        compare(scores_of({"AP": {"a": [0.1, 0.2, None, None], "b": [None, None, 0.3, 0.4]}}))
    assert refused.value.code == "no-common-query"


@pytest.mark.parametrize("test", ["t", "welch"])
def test_a_measure_that_a_run_lacks_is_refused(test) -> None:
    scores = scores_of({"AP": {"a": [0.1, 0.2], "b": [0.3, 0.4]}, "RR": {"a": [0.1, 0.2]}})
    with pytest.raises(MismatchError, match="RR"):
        compare(scores, test=test)


def test_scores_of_nothing_are_refused() -> None:
    columns = {"run": pl.String, "query": pl.String, "measure": pl.String, "value": pl.Float64}
    with pytest.raises(UsageError) as refused:
        compare(rt.Scores(pl.DataFrame(schema=columns)))
    assert refused.value.code == "needs-two-runs"


def test_where_all_flips_were_tried_nobody_asks_for_more_resamples() -> None:
    values = np.random.default_rng(0).uniform(0, 0.1, (4, 6)) + np.arange(4)[:, None]
    found = compare(scores_of({"AP": {f"run{i}": row for i, row in enumerate(values)}}), test="permutation")
    assert found.test == EXACT_PERMUTATION
    assert found.notes == ()


def test_mid_p_holds_also_where_all_queries_differ_alike() -> None:
    one = compare(scores_of({"P@1": {"a": [1.0] * 5, "b": [0.0] * 5}}), test="sign", mid_p=True)[0]
    assert one.p_value == 2**-5


def test_wilcoxons_test_is_exact_where_few_queries_do_not_tie() -> None:
    steps = [0.1, 0.2, 0.3, 0.4, 0.5]
    runs = {"a": steps + [0.0] * 55, "b": [0.0] * 60, "c": steps + [0.0] * 54 + [0.01]}
    found = compare(scores_of({"AP": runs}), test="wilcoxon")
    assert found[0].p_value == 2**-4  # of five queries that do not tie; the normal approximation would say 0.043
    assert found[0].notes[0].code == "undecidable"
    assert " 0.062 " in found[0].notes[0]


def test_equal_differences_have_an_interval_without_width_and_a_doubt() -> None:
    one = compare(scores_of({"AP": {"a": [0.3, 0.4], "b": [0.2, 0.3]}}))[0]
    assert (one.difference.low, one.difference.high) == (0.1, 0.1)
    assert one.notes[0].code == "equal-values"
    assert "swapping" in one.notes[0]
    by_sign = compare(scores_of({"AP": {"a": [0.3, 0.4], "b": [0.2, 0.3]}}), test="sign")[0]
    assert "swapping" not in by_sign.notes[0]


def test_an_unpaired_run_that_varies_only_by_rounding_does_not_vary() -> None:
    one = compare(scores_of({"AP": {"a": [0.3, 0.1 + 0.2, 0.3], "b": [0.5, 0.5, 0.5]}}), test="welch")[0]
    assert one.p_value is None
    same = compare(scores_of({"AP": {"a": [0.3] * 3, "b": [0.1 + 0.2] * 3}}), test="welch")[0]
    assert same.p_value == 1


@pytest.mark.parametrize("test", ["sign", "wilcoxon"])
def test_the_run_that_a_test_speaks_for_need_not_have_the_higher_mean(test: Test) -> None:
    often, seldom = [0.4] * 26 + [0.0] * 4, [0.35] * 26 + [0.9] * 4
    one = compare(scores_of({"AP": {"often": often, "seldom": seldom}}), test=test)[0]
    assert (one.decided, one.ahead, one.better) == (True, "often", None)
    assert one.notes[0].code == "test-against-mean"
    assert "'often'" in one.notes[0]
    by_mean = compare(scores_of({"AP": {"often": often, "seldom": seldom}}))[0]
    assert by_mean.ahead == "seldom"


def test_a_run_is_better_where_the_test_and_the_mean_agree() -> None:
    one = compare(scores_of({"AP": {"a": [0.5, 0.6, 0.7, 0.8, 0.65], "b": [0.1, 0.2, 0.25, 0.3, 0.15]}}))[0]
    assert (one.ahead, one.better) == ("a", "a")
    assert compare(scores_of({"AP": {"a": [0.5, 0.6], "b": [0.5, 0.6]}}))[0].ahead is None


def test_comparisons_print_as_sentences_and_come_as_a_frame() -> None:
    runs = {f"run{i}": row for i, row in enumerate(np.random.default_rng(3).uniform(0, 1, (8, 10)))}
    found = compare(scores_of({"AP": runs}))
    lines = str(found).splitlines()
    assert len(lines) == 22
    assert lines[-2:] == ["… and 8 more", "p: paired t test; adjusted: Holm over the 28 pairs"]
    frame = found.frame
    assert frame.columns[:4] == ["measure", "a", "b", "difference"]
    assert frame.height == 28
    assert frame["difference"].to_list() == [one.difference.value for one in found]
    assert frame["p_adjusted"].to_list() == [one.p_adjusted for one in found]
    assert not set(frame.columns) & {"notes", "value"}


def test_groups_may_come_from_any_table_with_any_ids() -> None:
    values = np.random.default_rng(4).uniform(0, 1, (2, 6)).tolist()
    scores = rt.Scores(
        pl.DataFrame(
            [
                {"run": run, "query": str(100 + i), "measure": "AP", "value": value}
                for run, row in zip("ab", values, strict=True)
                for i, value in enumerate(row)
            ]
        )
    )
    table = {"qid": [100 + i for i in range(6)], "kind": ["x", "y"] * 3}
    by_dict = compare_by(scores, table, "kind")
    by_pandas = compare_by(scores, pd.DataFrame(table), "kind")
    assert list(by_dict) == ["x", "y"]
    assert [part[0].p_value for part in by_dict.values()] == [part[0].p_value for part in by_pandas.values()]


def test_fewer_than_six_queries_have_no_bootstrap_interval() -> None:
    five = {"a": [0.5, 0.6, 0.7, 0.8, 0.65], "b": [0.1, 0.2, 0.25, 0.3, 0.15]}
    one = compare(scores_of({"AP": five}), test="bootstrap")[0]
    assert (one.difference.low, one.difference.high, one.p_value, one.p_adjusted) == (None, None, None, None)
    assert [note.code for note in one.notes] == ["too-few-queries"]
    six = {run: [*row, 0.4] for run, row in five.items()}
    assert compare(scores_of({"AP": six}), test="bootstrap")[0].difference.low is not None


def test_one_pair_is_not_adjusted_by_tukey_either() -> None:
    one = compare(scores_of({"AP": {"a": [0.5, 0.6, 0.7], "b": [0.1, 0.2, 0.9]}}), adjust="tukey")
    assert one[0].p_adjusted == one[0].p_value
    assert one.family == ONE_COMPARISON


SCORES = scores_of(
    {
        "AP": {"new": [0.1, 0.5, 0.3, None, 0.4], "old": [0.2, 0.1, 0.3, 0.9, 0.3]},
        "RR": {"new": [1.0, 0.5], "old": [0.5, 0.5]},
    }
)


def test_the_queries_that_both_runs_have_are_shown_the_largest_difference_first() -> None:
    table = differences(SCORES, "new", "old", "AP")
    assert table.columns == ["query", "a", "b", "difference"]
    assert table["query"].to_list() == ["q1", "q4", "q2", "q0"]
    assert table["difference"].to_list() == pytest.approx([0.4, 0.1, 0, -0.1])
    assert table.row(0)[1:3] == (0.5, 0.1)


def test_queries_that_differ_alike_keep_their_order() -> None:
    table = differences(scores_of({"AP": {"a": [0.5, 0.7, 0.6], "b": [0.5, 0.7, 0.6]}}), "a", "b")
    assert table["query"].to_list() == ["q0", "q1", "q2"]


def test_the_other_way_round_is_the_same_upside_down() -> None:
    there, back = differences(SCORES, "new", "old", "AP"), differences(SCORES, "old", "new", "AP")
    assert back["query"].to_list() == there["query"].to_list()[::-1]
    assert back["difference"].to_list() == [-value for value in there["difference"].to_list()[::-1]]


def test_the_differences_are_those_of_the_comparison() -> None:
    one = next(one for one in compare(SCORES, adjust="none") if one.measure == "AP")
    table = differences(SCORES, one.a, one.b, "AP")
    assert table.height == one.difference.n
    assert table["difference"].mean() == pytest.approx(one.difference.value)


@pytest.mark.parametrize(
    ("words", "code", "parameter", "found"),
    [
        (("new", "old"), "several-measures", "measure", "AP, RR"),
        (("nwe", "old", "AP"), "unknown-run", "a", "'new'?"),
        (("new", "xyzzy", "AP"), "unknown-run", "b", "new, old"),
        (("new", "old", "MAP"), "unknown-measure", "measure", "'AP'?"),
    ],
)
def test_what_is_not_in_the_scores_is_refused_with_the_near_miss(
    words: tuple[str, ...], code: str, parameter: str, found: str
) -> None:
    with pytest.raises(UsageError) as refused:
        differences(SCORES, *words)
    assert (refused.value.code, refused.value.parameter) == (code, parameter)
    assert found in refused.value.text


@given(st.lists(st.integers(-3, 3), max_size=12), st.integers(1, 4))
def test_those_that_moved_most_are_the_ends_of_the_table_and_never_ties(moves: list[int], most: int) -> None:
    ordered = sorted(moves, reverse=True)
    table = pl.DataFrame(
        {"query": [f"q{i}" for i in range(len(ordered))], "difference": ordered},
        schema={"query": pl.String, "difference": pl.Float64},
    )
    ahead, behind = largest_differences(table, most)
    assert ahead["difference"].to_list() == [value for value in ordered if value > 0][:most]
    assert behind["difference"].to_list() == sorted(value for value in ordered if value < 0)[:most]


def test_rounding_is_no_movement() -> None:
    table = differences(scores_of({"AP": {"a": [0.3, 0.5], "b": [0.1 + 0.2, 0.1]}}), "a", "b")
    assert table["difference"].to_list() == [0.4, 0]
    assert largest_differences(table)[1].height == 0


RUNS = ["bm25", "dense", "mixed", "random"]


@pytest.mark.parametrize(
    ("baselines", "pairs"),
    [
        ([], [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]),
        (["bm25"], [(1, 0), (2, 0), (3, 0)]),
        (["random"], [(0, 3), (1, 3), (2, 3)]),
        (["random", "bm25"], [(1, 3), (1, 0), (2, 3), (2, 0), (3, 0)]),
        (["bm25", "bm25"], [(1, 0), (2, 0), (3, 0)]),
        (RUNS, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]),
    ],
)
def test_all_pairs_or_each_run_against_each_baseline(baselines: list[str], pairs: list[tuple[int, int]]) -> None:
    assert [tuple(pair) for pair in select_run_pairs(RUNS, baselines).tolist()] == pairs


@pytest.mark.parametrize("count", [2, 3, 37])
def test_every_pair_is_there_once(count: int) -> None:
    pairs = select_run_pairs([f"run{i}" for i in range(count)], []).tolist()
    assert len({frozenset(pair) for pair in pairs}) == len(pairs) == count * (count - 1) // 2


def test_one_run_makes_no_pair() -> None:
    with pytest.raises(UsageError, match="'bm25'") as refused:
        select_run_pairs(["bm25"], [])
    assert refused.value.code == "needs-two-runs"


@pytest.mark.parametrize(("baseline", "found"), [("bm52", "'bm25'?"), ("xyzzy", "bm25, dense")])
def test_an_unknown_baseline_brings_the_near_miss_or_the_names(baseline: str, found: str) -> None:
    with pytest.raises(UsageError) as refused:
        select_run_pairs(RUNS, ["dense", baseline])
    assert refused.value.code == "unknown-run"
    assert found in refused.value.text


def test_a_run_has_a_query_unless_the_scores_say_that_it_lacks_it() -> None:
    scores = scores_of({"AP": {"x": [0.1, 0, 0.3], "y": [0.1, 0.2, 0.3]}}, absent={"x": ["q1", "q9"], "z": ["q0"]})
    np.testing.assert_array_equal(presence_matrix(scores, scores.cube()), [[True, False, True], [True, True, True]])


def shared(lacking: dict[str, list[str]], queries: int = 6) -> list[Note]:
    scores = scores_of({"AP": {run: [0.5] * queries for run in ("x", "y", "z")}}, absent=lacking)
    cube = scores.cube()
    return require_shared_queries(cube, presence_matrix(scores, cube), select_run_pairs(cube.runs, []))


def test_runs_over_the_same_queries_bring_no_word() -> None:
    assert shared({}) == []
    assert shared({run: ["q0", "q1", "q2", "q3", "q4"] for run in ("x", "y", "z")}) == []


def test_half_of_the_queries_shared_is_enough_to_keep_silent() -> None:
    assert shared({"x": ["q0", "q1", "q2"]}) == []


def test_the_note_on_few_shared_queries_says_what_each_run_lacks() -> None:
    (note,) = shared({"x": ["q0", "q1", "q2", "q3"], "z": ["q0", "q1", "q2"]})
    assert note.code == "few-common-queries"
    assert all(part in note for part in ("'x' and 'y'", "2 of 6", "'x' lacks q0, q1, q2", "'y' lacks none"))


def test_of_many_pairs_that_share_few_queries_the_worst_is_told_and_the_others_counted() -> None:
    (note,) = shared({"x": ["q0", "q1", "q2", "q3"], "z": ["q4"]})
    assert ("'x' and 'z'" in note, "1 of 6" in note) == (True, True)
    assert "of 3 pairs, 2" in note


def test_runs_without_a_common_query_are_refused_and_told_what_each_lacks() -> None:
    with pytest.raises(MismatchError, match=r"q0, q1, 'y' lacks q2, q3, q4") as refused:
        shared({"x": ["q0", "q1"], "y": ["q2", "q3", "q4", "q5"]})
    assert refused.value.code == "no-common-query"


def test_where_gains_and_losses_cancel_no_difference_was_seen() -> None:
    runs = {"new": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"a": 1.0}}}
    runs["old"] = {"q1": runs["new"]["q2"], "q2": runs["new"]["q1"], "q3": {"a": 1.0}}
    scores = rt.evaluate(runs, {query: {"a": 1} for query in runs["new"]}, "RR")
    (note,) = rt.compare(scores)[0].notes
    assert (note.code, " none " in note) == ("not-decided", True)
