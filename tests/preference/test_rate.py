"""What `rate` answers, and what it says is doubtful."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy.stats import kendalltau, mannwhitneyu

import ringtrue as rt
from preference.random_votes import preferences, random_votes
from ringtrue.errors import InputError, MismatchError, UsageError
from ringtrue.preference.gold_agreement import auc
from ringtrue.preference.matches import Matches
from ringtrue.preference.rating_methods import RatingSettings
from ringtrue.preference.results import label_by_gaps, label_by_quantiles, label_by_thresholds
from strategies import examples


def test_documents_that_no_chain_joins_are_named() -> None:
    found = rt.rate(preferences([("q", "a", "b", "a"), ("q", "c", "d", "c"), ("r", "a", "b", "b")]))
    (note,) = [note for note in found.notes if "cannot be compared" in note]
    assert "the 2 groups 'a', 'b' | 'c', 'd'" in note
    assert found.groups() == {"q": [["a", "b"], ["c", "d"]]}
    with pytest.raises(UsageError) as refused:
        found.chance("a", "d", query="q")
    assert refused.value.code == "unconnected-documents"
    assert "'a' and 'd'" in refused.value.text
    assert found.chances(query="q").select("a", "b").rows() == [("a", "b"), ("c", "d")]


def test_votes_on_traps_are_left_out() -> None:
    frame = preferences([("a", "b", "a"), ("x", "y", "x"), ("b", "a", "a")]).frame
    found = rt.rate(rt.Preferences(frame.with_columns(trap=pl.Series(["false", "TRUE", None]))))
    assert found.frame["doc"].to_list() == ["a", "b"]
    assert found.notes[0].code == "votes-on-traps"
    assert found.notes[0].startswith("1 vote ")
    assert found.notes[0].suggestions[0].function == "judge_quality"
    with pytest.raises(InputError) as refused:
        rt.rate(rt.Preferences(frame.with_columns(trap=True)))
    assert refused.value.code == "only-traps"


def test_chances_follow_from_ratings_on_every_scale() -> None:
    votes = random_votes(1, votes=200)
    points = rt.rate(votes, method="elo", scale=400)
    best, worst = points.frame.row(0, named=True), points.frame.row(-1, named=True)
    expected = 1 / (1 + 10 ** ((worst["rating"] - best["rating"]) / 400))
    assert points.chance(best["doc"], worst["doc"]) == pytest.approx(expected)
    odds = rt.rate(votes)
    table = odds.chances()
    assert table.height == 28
    assert (table["chance"] >= 0.5).all()
    one = table.row(5, named=True)
    assert odds.chance(one["a"], one["b"]) == pytest.approx(one["chance"])
    assert odds.chance(one["b"], one["a"]) == pytest.approx(1 - one["chance"])
    with pytest.raises(UsageError) as refused:
        rt.rate(votes, method="win-rate").chance("d0", "d1")
    assert refused.value.code == "no-chance-of-a-win"


def test_with_a_model_of_ties_chances_have_ties() -> None:
    found = rt.rate(
        preferences([("a", "b", "a"), ("a", "b", "tie"), ("a", "b", "tie"), ("a", "b", "b")]), ties="davidson"
    )
    assert found.chances().row(0, named=True)["tie"] == pytest.approx(0.5, abs=1e-5)
    assert found.settings["nu"] == pytest.approx(2, abs=1e-4)
    assert rt.rate(preferences([("a", "b", "tie")])).chances()["tie"].to_list() == [None]


def test_glicko_gives_no_interval_that_cannot_be_defended() -> None:
    votes = random_votes(2, votes=300)
    once, again = rt.rate(votes, method="glicko"), rt.rate(votes, method="glicko", variance=175**2, passes=3)
    for found, why in ((once, "intervals from it hold too seldom"), (again, "counts every vote again")):
        assert found.frame["low"].null_count() == found.frame.height
        assert any(why in note for note in found.notes)
    assert once.frame["se"].null_count() == 0
    assert again.frame["se"].null_count() == again.frame.height


def test_a_ridge_that_decides_everything_has_no_intervals() -> None:
    found = rt.rate(random_votes(2, votes=300), ridge=25)
    assert found.frame["low"].null_count() == found.frame.height
    (note,) = [note for note in found.notes if note.code == "strong-ridge"]
    assert "ridge of 25 " in note
    assert note.suggestions[0].arguments == {"ridge": 0.25}


def spread_out(quality: float) -> rt.Preferences:
    """Four votes on every pair of twelve documents, whose quality goes from minus this number to this number."""
    rng, at = np.random.default_rng(0), np.linspace(-quality, quality, 12)
    rows = [
        (f"d{i}", f"d{j}", "left" if rng.random() < 1 / (1 + np.exp(at[j] - at[i])) else "right")
        for i in range(12) for j in range(i + 1, 12) for _ in range(4)
    ]  # fmt: skip
    return preferences(rows)


def test_documents_far_from_the_others_are_said_to_be_held_back() -> None:
    far, near = rt.rate(spread_out(6)), rt.rate(spread_out(1))
    (note,) = [note for note in far.notes if note.code == "held-back-by-ridge"]
    assert "ridge of 0.25 " in note
    assert note.suggestions[0].arguments == {"ridge": 0.05}
    assert "held-back-by-ridge" not in [note.code for note in near.notes]


def test_how_far_the_ridge_draws_documents_is_about_what_a_smaller_one_gives_back() -> None:
    votes = Matches.of(spread_out(3))
    small, usual = (RatingSettings(ridge=ridge).rate_votes(votes) for ridge in (0.2, 0.25))
    assert usual.shrinkage is not None
    assert usual.errors is not None
    given_back = np.abs(small.ratings - usual.ratings)
    assert (usual.shrinkage * usual.errors / 5).tolist() == pytest.approx(given_back.tolist(), rel=0.3, abs=0.01)


def test_votes_that_are_all_ties_rate_all_alike() -> None:
    votes = preferences([("a", "b", "tie"), ("b", "c", "tie"), ("a", "c", "tie")])
    found = rt.rate(votes, ties="davidson")
    assert found.frame["rating"].to_list() == [0, 0, 0]
    assert found.frame["doc"].to_list() == ["a", "b", "c"]


def test_documents_with_the_same_votes_have_the_same_rating_and_label() -> None:
    rows = [("hub", f"d{i}", winner) for i in range(7) for winner in ("hub", "hub", f"d{i}")]
    found = rt.rate(preferences(rows))
    leaves = found.frame.filter(pl.col("doc") != "hub")
    assert leaves["rating"].n_unique() == 1
    assert leaves["doc"].to_list() == sorted(leaves["doc"])
    assert found.labels(quantiles=[0.5]).frame.filter(pl.col("doc") != "hub")["label"].n_unique() == 1


def test_votes_of_named_judges_and_of_nobody_go_together() -> None:
    rows = [("q", "a", "b", "a", "ann"), ("q", "a", "b", "a", "0"), ("q", "b", "a", "a", "0")]
    assert rt.rate(preferences(rows)).votes == 3


@pytest.mark.parametrize(("word", "left"), [("1.0", 1), (" TRUE", 1), ("y", 1), ("0", 2), ("", 2), ("no", 2)])
def test_traps_are_told_in_many_words(word: str, left: int) -> None:
    frame = preferences([("a", "b", "a"), ("a", "b", "a")]).frame
    assert rt.rate(rt.Preferences(frame.with_columns(trap=pl.Series(["false", word])))).votes == left


def test_a_word_that_is_neither_true_nor_false_is_no_trap() -> None:
    frame = preferences([("a", "b", "a"), ("a", "b", "a")]).frame
    with pytest.raises(InputError) as refused:
        rt.rate(rt.Preferences(frame.with_columns(trap=pl.lit("maybe"))))
    assert refused.value.code == "bad-trap-word"
    assert "found 'maybe'" in refused.value.text


def test_open_rows_of_a_table_are_left_out() -> None:
    table = {"left": ["a", "b"], "right": ["b", "c"], "winner": ["a", None], "judge": ["ann", None]}
    assert rt.rate(table).votes == 1


def test_groups_are_numbered_from_the_largest_and_ranked_by_themselves() -> None:
    rows = [("x", "y", "x"), ("a", "b", "a"), ("b", "c", "b"), ("x", "y", "x")]
    frame = rt.rate(preferences(rows)).frame
    assert frame.select("doc", "group").rows() == [("a", 1), ("b", 1), ("c", 1), ("x", 2), ("y", 2)]
    assert frame["ahead"].is_null().to_list() == [False, False, True, False, True]


def test_documents_that_cannot_be_compared_are_not_held_against_each_other() -> None:
    rows = [("q", "a", "b", "a"), ("q", "c", "d", "c")]
    apart = rt.rate(preferences(rows), gold={"q": {"a": 1, "b": 1, "c": 0, "d": 0}})
    assert apart.auc == {"q": None, "all": None}
    assert apart.tau == {"q": None, "all": None}
    within = rt.rate(preferences(rows), gold={"q": {"a": 1, "b": 0, "c": 0, "d": 1}})
    assert within.auc == {"q": 0.5, "all": 0.5}


def test_a_query_called_like_the_mean_is_refused() -> None:
    with pytest.raises(MismatchError) as refused:
        rt.rate(preferences([("all", "a", "b", "a")]), gold={"all": {"a": 1, "b": 0}})
    assert refused.value.code == "reserved-query"


def test_a_method_that_rates_all_alike_has_a_tau_of_zero() -> None:
    found = rt.rate(preferences([("q", "a", "b", "tie")]), gold={"q": {"a": 1, "b": 0}})
    assert found.tau == {"q": 0.0, "all": 0.0}


def test_passes_tell_how_many_pairs_changed_places() -> None:
    found = rt.rate(random_votes(3, votes=300, queries=2), method="elo", passes=6)
    told = found.as_dict()["passes"]
    assert [one["pass"] for one in told] == [2, 3, 4, 5, 6]
    assert all(0 <= one["inverted"] <= 1 for one in told)
    assert found.passes is not None
    assert found.passes["query"].n_unique() == 2
    assert rt.rate(random_votes(3)).as_dict()["passes"] == []


def test_em_takes_the_word_of_good_judges() -> None:
    good = [("q", f"d{i}", f"d{j}", f"d{i}", f"good{g}") for i in range(6) for j in range(i + 1, 6) for g in range(3)]
    liar = [("q", f"d{i}", f"d{j}", f"d{j}", f"liar{g}") for i in range(6) for j in range(i + 1, 6) for g in range(2)]
    found = rt.rate(preferences(good + liar), em=True)
    assert found.frame["doc"].to_list() == [f"d{i}" for i in range(6)]
    assert found.method == "bradley-terry+em"
    (note,) = [note for note in found.notes if note.code == "no-interval-after-em"]
    assert note.suggestions[0].arguments == {"by_judge": "sensitivity"}
    plain = rt.rate(preferences(good + liar))
    assert found.frame["rating"][0] > plain.frame["rating"][0]


def test_gold_says_how_well_relevant_documents_are_told_from_others() -> None:
    votes = preferences([("q", "a", "b", "a"), ("q", "b", "c", "b"), ("q", "a", "c", "a"), ("r", "x", "y", "x")])
    gold = {"q": {"a": 1, "b": 0, "c": 1}, "s": {"a": 1}}
    found = rt.rate(votes, gold=gold)
    assert found.auc == {"q": 0.5, "r": None, "all": 0.5}
    notes = {note.code: note for note in found.notes}
    assert notes["documents-without-gold"].startswith("2 of 5 ")
    assert notes["queries-without-votes"].startswith("1 query ")
    with pytest.raises(MismatchError) as refused:
        rt.rate(votes, gold={"t": {"z": 1}})
    assert refused.value.code == "gold-unlabelled"


@examples(50)
@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=30))
def test_the_area_is_mann_and_whitneys(cases: list[tuple[int, bool]]) -> None:
    ratings, relevant = np.array([float(rating) for rating, _ in cases]), np.array([yes for _, yes in cases])
    found = auc(ratings, relevant)
    if relevant.all() or not relevant.any():
        assert found is None
    else:
        u = mannwhitneyu(ratings[relevant], ratings[~relevant]).statistic
        assert found == pytest.approx(u / relevant.sum() / (~relevant).sum())


def test_tau_is_kendalls() -> None:
    votes = random_votes(8, votes=200)
    gold = {"q0": {f"d{i}": i // 2 for i in range(8)}}
    found = rt.rate(votes, gold=gold)
    ratings = dict(found.frame.select("doc", "rating").rows())
    expected = kendalltau([ratings[f"d{i}"] for i in range(8)], [i // 2 for i in range(8)]).statistic
    assert found.tau is not None
    assert found.tau["q0"] == pytest.approx(expected)


def test_ratings_become_labels_query_by_query() -> None:
    found = rt.rate(random_votes(9, queries=2, votes=300))
    labels = found.labels(quantiles=[0.5]).frame
    for (_, rows), (_, rated) in zip(
        labels.group_by("query", maintain_order=True), found.frame.group_by("query", maintain_order=True), strict=True
    ):
        assert rows["label"].sum() == rows.height // 2
        assert rows["doc"].to_list() == rated["doc"].to_list()
        assert rows["label"].is_sorted(descending=True)
    with pytest.raises(UsageError) as refused:
        found.labels(quantiles=[0.5], gaps=2)
    assert refused.value.code == "not-one-cut"


@examples(60)
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30), st.integers(2, 5))
def test_cut_labels_never_turn_the_order_round(ratings: list[float], labels: int) -> None:
    values = np.array(ratings)
    for cut in (
        label_by_gaps(values, labels),
        label_by_quantiles(values, [0.3, 0.8]),
        label_by_thresholds(values, [-1, 0.5]),
    ):
        order = np.argsort(values, kind="stable")
        assert (np.diff(cut[order]) >= 0).all()
        for value in set(ratings):
            assert len(set(cut[values == value].tolist())) == 1
    assert label_by_gaps(values, labels).max() <= labels - 1
    assert label_by_gaps(values, labels).max() == min(labels, len(set(ratings))) - 1


@pytest.mark.parametrize(
    ("settings_", "code", "parameter"),
    [
        ({"method": "elp"}, "unknown-choice", "method"),
        ({"method": "elo", "by_judge": "crowd-bt"}, "unused-parameter", "by_judge"),
        ({"method": "elo", "ties": "davidson"}, "unused-parameter", "ties"),
        ({"em": True, "by_judge": "crowd-bt"}, "conflicting-parameters", "em"),
        ({"passes": 3}, "unused-parameter", "passes"),
        ({"method": "elo", "passes": 0}, "out-of-range", "passes"),
        ({"ridge": 0}, "out-of-range", "ridge"),
        ({"method": "elo", "k": math.nan}, "out-of-range", "k"),
        ({"method": "win-rate", "balance": 2}, "out-of-range", "balance"),
        ({"interval": "bootstrap", "em": True}, "conflicting-parameters", "interval"),
        ({"level": 1}, "bad-level", "level"),
        ({"ridge": "a"}, "bad-number", "ridge"),
        ({"method": "elo", "passes": 1.5}, "not-a-whole-number", "passes"),
        ({"rng": 3}, "bad-rng", "rng"),
        ({"interval": "bootstrap", "resamples": 5}, "out-of-range", "resamples"),
    ],
)
def test_what_does_not_go_together_is_refused(settings_: dict[str, object], code: str, parameter: str) -> None:
    with pytest.raises(UsageError) as refused:
        rt.rate(random_votes(0, judges=2), repeats="all", **settings_)
    assert (refused.value.code, refused.value.parameter) == (code, parameter)


@pytest.mark.slow
def test_votes_are_foretold_by_others() -> None:
    votes = random_votes(10, votes=600, judges=4)
    found = rt.compare_ratings(votes, folds=5, repeats="all", rng=np.random.default_rng(0))
    scores = {name: one.held_out for name, one in found.methods.items()}
    assert list(scores) == ["win-rate", "elo", "glicko", "elo+em", "glicko+em", "bradley-terry", "bradley-terry+em",
                            "crowd-bt", "sensitivity"]  # fmt: skip
    assert all(one is not None and 0.6 < one.accuracy < 0.9 for one in scores.values())
    assert scores["win-rate"].log_loss is None
    assert scores["bradley-terry"].log_loss < math.log(2)


def test_the_log_loss_by_hand() -> None:
    votes = preferences([("a", "b", "a"), ("a", "b", "a"), ("a", "b", "tie"), ("a", "b", "b")])
    found = rt.compare_ratings(votes, folds=4, methods=["bradley-terry"]).methods["bradley-terry"].held_out
    frame, losses = votes.frame, []
    for row in range(4):
        others = rt.rate(rt.Preferences(frame.filter(pl.int_range(4) != row)))
        chance, score = others.chance("a", "b"), {"left": 1, "right": 0, "tie": 0.5}[frame["winner"][row]]
        losses.append(-score * math.log(chance) - (1 - score) * math.log(1 - chance))
    assert found is not None
    assert found.log_loss == pytest.approx(np.mean(losses))
    assert found.accuracy == pytest.approx(1 / 3)  # without a vote for a, both are alike: half right, twice


def test_methods_that_weigh_judges_are_left_out_where_there_is_one() -> None:
    found = rt.compare_ratings(random_votes(0), folds=2)
    assert list(found.methods) == ["win-rate", "elo", "glicko", "bradley-terry"]
    assert "one-judge" in [note.code for note in found.notes]
    with pytest.raises(UsageError) as refused:
        rt.compare_ratings(random_votes(0), folds=2, methods=["crowd-bt"])
    assert refused.value.code == "one-judge"
    with pytest.raises(UsageError) as refused:
        rt.compare_ratings(random_votes(0))
    assert refused.value.code == "no-criterion"


@pytest.mark.real
def test_on_cast_every_method_finds_the_graded_documents_better_than_chance(data: Path) -> None:
    votes = rt.read_preferences(data / "cast19" / "TREC-CAsT-2019.pref")
    table = pl.read_csv(
        data / "cast19" / "TREC-CAsT-2019.qrels", separator=" ", has_header=False,
        new_columns=["query", "_", "doc", "label"],
    )  # fmt: skip
    gold = rt.Judgments.of(table.filter(pl.col("label") < 10).select("query", "doc", pl.col("label").cast(pl.Int32)))
    found = rt.compare_ratings(votes, gold=gold, rel=3)
    auc = {name: one.auc["all"] for name, one in found.methods.items() if one.auc}
    assert all(value is not None and value > 0.5 for value in auc.values())
