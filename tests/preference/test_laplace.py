"""Standard errors, against matrices written out in full, and intervals from votes drawn anew."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from preference.random_votes import preferences, random_votes
from ringtrue.preference import laplace
from ringtrue.preference.bradley_terry import OutcomeModel, fit_bradley_terry
from ringtrue.preference.judge_aware_ratings import fit_sensitivities
from ringtrue.preference.laplace import MatchInformation, covariance, standard_errors
from ringtrue.preference.matches import FloatArray, Matches
from ringtrue.preference.rating_fit import _distinct_votes, bootstrap_ratings, next_ranked
from strategies import examples


def in_full(
    votes: Matches, told: FloatArray, group: FloatArray, behind: FloatArray, ridge: float
) -> tuple[FloatArray, FloatArray]:
    """The inverse of the whole information matrix, and each contrast and lead written out."""
    docs = votes.docs.height
    matrix = ridge * np.eye(docs)
    for row in range(votes.size):
        steer = np.zeros(docs)
        steer[votes.first[row]], steer[votes.second[row]] = 1, -1
        matrix += told[row] * np.outer(steer, steer)
    inverse = np.linalg.inv(matrix)
    errors, leads = [], []
    for doc in range(docs):
        lead, contrast = np.zeros(docs), np.zeros(docs)
        lead[doc] += 1
        lead[behind[doc]] -= 1
        same = np.flatnonzero(group == group[doc])
        contrast[same] = -1 / len(same)
        contrast[doc] += 1
        leads.append(np.sqrt(lead @ inverse @ lead))
        errors.append(np.sqrt(contrast @ inverse @ contrast))
    return np.array(errors), np.array(leads)


@examples(20)
@given(st.integers(0, 10_000))
def test_standard_errors_are_those_of_the_whole_matrix(seed: int) -> None:
    votes = Matches.of(random_votes(seed, queries=2, votes=30), repeats="all")
    ratings, group = fit_bradley_terry(votes, ridge=0.25), votes.components()
    told = OutcomeModel().information(ratings[votes.first] - ratings[votes.second])
    behind = next_ranked(ratings, group, votes.docs["doc"])
    found = standard_errors(votes, MatchInformation(difference=told), group, behind, ridge=0.25)
    errors, leads = in_full(votes, told, group, behind, 0.25)
    assert found.judge is None
    assert found.rating.tolist() == pytest.approx(errors.tolist())
    assert found.lead.tolist() == pytest.approx(leads.tolist())


@pytest.mark.parametrize("seed", range(3))
def test_that_judges_are_estimated_too_is_counted_in(seed: int) -> None:
    votes = Matches.of(random_votes(seed, queries=3, judges=5, votes=150), repeats="all")
    found = fit_sensitivities(votes, ridge=0.25, outcome=OutcomeModel())
    group = votes.components()
    behind = next_ranked(found.ratings, group, votes.docs["doc"])
    errors = standard_errors(votes, found.information, group, behind, ridge=0.25)
    alone = standard_errors(votes, MatchInformation(difference=found.information.difference), group, behind, ridge=0.25)
    assert (errors.rating >= alone.rating - 1e-12).all()
    assert (errors.lead >= alone.lead - 1e-12).all()


def test_of_judges_who_have_each_pair_to_themselves_nothing_is_known() -> None:
    rows = [(f"q{i}", "a", "b", "a" if i % 3 else "b", f"j{i % 2}") for i in range(120)]
    found = rt.rate(preferences(rows), by_judge="sensitivity").judges
    assert [one.se for one in found.values()] == pytest.approx([1, 1], abs=0.2)  # the prior's
    assert [one.value for one in found.values()] == pytest.approx([1, 1], abs=0.1)


@pytest.mark.slow
def test_where_documents_are_known_judges_are_as_sure_as_in_a_plain_regression() -> None:
    rows = []
    rng = np.random.default_rng(0)
    for vote in range(12_000):
        left, right = rng.choice(4, 2, replace=False)
        judge = f"j{vote % 40}" if vote < 400 else "many"
        won = rng.random() < 1 / (1 + np.exp(right - left))
        rows.append(("q", f"d{left}", f"d{right}", "left" if won else "right", judge))
    votes = Matches.of(preferences(rows), repeats="all")
    found = fit_sensitivities(votes, ridge=0.25, outcome=OutcomeModel())
    group = votes.components()
    errors = standard_errors(
        votes, found.information, group, next_ranked(found.ratings, group, votes.docs["doc"]), ridge=0.25
    )
    apart = found.ratings[votes.first] - found.ratings[votes.second]
    told = apart**2 * OutcomeModel().information(found.judges[votes.judge] * apart)
    plain = 1 / np.sqrt(1 + np.bincount(votes.judge, weights=told))
    few = [place for place, name in enumerate(votes.judges) if name != "many"]
    assert errors.judge[few].tolist() == pytest.approx(plain[few].tolist(), rel=0.05)


def test_a_spread_of_many_judges_is_the_inverse_of_its_matrix() -> None:
    rng = np.random.default_rng(1)
    inverse, taken = 1 / rng.uniform(2, 4, 6), rng.normal(size=(6, 3)) / 4
    inner = np.linalg.inv(np.eye(3) - taken.T @ (taken * inverse[:, None]))
    whole = np.linalg.inv(np.diag(1 / inverse) - taken @ taken.T)
    found = laplace._JudgeCovariance(diagonal=inverse, factor=taken * inverse[:, None], core=inner)
    assert found.variances().tolist() == pytest.approx(np.diag(whole).tolist())
    moved = rng.normal(size=(4, 2))
    some = np.array([1, 4], dtype=np.int32)
    expected = np.diag(moved @ whole[np.ix_(some, some)] @ moved.T)
    assert found.variance_of_effects(some, moved).tolist() == pytest.approx(expected.tolist())


def test_the_error_of_a_pair_by_hand() -> None:
    # Two documents, n votes at chance p: the contrast to the mean is half the difference, whose information is
    # n p (1 − p) + ridge / 2.
    found = rt.rate(rt.Preferences.of({"left": ["a"] * 4, "right": ["b"] * 4, "winner": [*"aaab"]}))
    apart = found.frame["rating"][0] - found.frame["rating"][1]
    chance = 1 / (1 + np.exp(-apart))
    assert found.frame["se"][0] == pytest.approx(1 / np.sqrt(4 * chance * (1 - chance) + 0.125) / 2)


@pytest.mark.slow
def test_errors_from_random_signs_are_nearly_those_of_the_inverse(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = Matches.of(random_votes(1, docs=300, votes=4_000, judges=4), repeats="all")
    found = fit_sensitivities(votes, ridge=0.25, outcome=OutcomeModel())
    group = votes.components()
    behind = next_ranked(found.ratings, group, votes.docs["doc"])
    exact = standard_errors(votes, found.information, group, behind, ridge=0.25)
    monkeypatch.setattr(laplace, "MAX_DENSE_DOCS", 10)
    near = standard_errors(votes, found.information, group, behind, ridge=0.25)
    assert np.abs(near.rating / exact.rating - 1).max() < 0.12
    assert np.abs(near.rating / exact.rating - 1).mean() < 0.03
    assert np.isnan(near.lead).all()  # unknown, and never a guess
    assert near.judge.tolist() == pytest.approx(exact.judge.tolist(), rel=0.1)


@pytest.mark.parametrize("shape", ["chain", "star"])
def test_where_random_signs_say_too_little_there_is_no_interval(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplace, "MAX_DENSE_DOCS", 10)
    others = [(f"d{i}", f"d{i + 1}" if shape == "chain" else "hub") for i in range(200)]
    rows = [(one, other, winner) for one, other in others for winner in (one, other) * 25]
    found = rt.rate(preferences(rows))
    known = found.frame.drop_nulls("low")
    monkeypatch.setattr(laplace, "MAX_DENSE_DOCS", 2_000)
    exact = rt.rate(preferences(rows)).frame
    both = known.join(exact, on="doc")
    assert all(abs(one / other - 1) < 0.35 for one, other in both.select("se", "se_right").rows())
    told = any(
        note.startswith(f"no interval for {201 - known.height} of 201 documents ('") and "on long chains" in note
        for note in found.notes
    )
    assert told == (known.height < found.frame.height) == (shape == "chain")


def test_a_covariance_has_the_level_of_its_ridge() -> None:
    found = covariance(np.array([0, 1]), np.array([1, 2]), np.array([0.2, 0.3]), 3, ridge=0.5)
    assert found.sum(axis=1).tolist() == pytest.approx([2, 2, 2])  # the mean is only held by the ridge


def test_resampled_ratings_are_those_of_the_votes_that_were_drawn() -> None:
    votes = Matches.of(random_votes(2, votes=50), repeats="all")
    ratings = fit_bradley_terry(votes, ridge=0.25)
    drawn = bootstrap_ratings(
        votes, ratings, ridge=0.25, outcome=OutcomeModel(), resamples=3, rng=np.random.default_rng(7)
    )
    kinds, sizes = _distinct_votes(votes)
    again = np.random.default_rng(7).multinomial(50, sizes / 50, 3)
    for row, counts in zip(drawn, again, strict=True):
        own = fit_bradley_terry(kinds.keep(np.repeat(np.arange(kinds.size), counts)), ridge=0.25)
        assert row.tolist() == pytest.approx(own.tolist(), abs=2e-3)


def test_with_many_votes_both_kinds_of_interval_agree() -> None:
    votes = random_votes(4, votes=3_000, ties=0)
    laplace, bootstrap = (
        rt.rate(votes, interval=kind, resamples=400, rng=np.random.default_rng(1)).frame
        for kind in ("laplace", "bootstrap")
    )
    assert (bootstrap["se"] / laplace["se"]).to_list() == pytest.approx([1] * laplace.height, abs=0.15)
    assert bootstrap["ahead"][:-1].to_list() == pytest.approx(laplace["ahead"][:-1].to_list(), abs=0.1)
    assert bootstrap["ahead"][-1] is laplace["ahead"][-1] is None
    assert bootstrap["low"].to_list() == pytest.approx(laplace["low"].to_list(), abs=0.1)


def test_progress_adds_up_to_votes_times_resamples() -> None:
    told: list[int] = []
    rt.rate(random_votes(3, queries=2, votes=90), interval="bootstrap", resamples=120, progress=told.append)
    assert sum(told) == 90 * 120


def test_the_order_of_votes_and_sides_changes_no_bootstrap() -> None:
    frame = random_votes(5, votes=300).frame
    turned = {"left": "right", "right": "left"}
    other = frame.select(
        "query", pl.col("right").alias("left"), pl.col("left").alias("right"), "judge", pl.col("winner").replace(turned)
    ).reverse()
    one, two = (
        rt.rate(rt.Preferences(votes), interval="bootstrap", resamples=200).frame.sort("doc")
        for votes in (frame, other)
    )
    for column in ("rating", "low", "high", "ahead"):
        assert one[column].to_list() == pytest.approx(two[column].to_list(), abs=2e-3, nan_ok=True)


def test_two_documents_that_are_alike_are_each_ahead_half_of_the_time() -> None:
    votes = {"left": ["a"] * 40, "right": ["b"] * 40, "winner": [*"ab"] * 20}
    for kind in ("laplace", "bootstrap"):
        found = rt.rate(votes, interval=kind)
        assert found.frame["ahead"][0] == pytest.approx(0.5, abs=0.05)


def test_votes_drawn_anew_say_nothing_of_documents_that_always_win() -> None:
    votes = {"left": ["a"] * 40, "right": ["b"] * 40, "winner": ["a"] * 40}
    found = rt.rate(votes, interval="bootstrap")
    assert found.frame["low"].null_count() == 2
    (note,) = [note for note in found.notes if note.code == "no-bootstrap-interval"]
    assert "2 of 2 documents ('a', 'b'): 2 with 10 or more" in note
    assert [choice.arguments for choice in note.suggestions] == [{"interval": "laplace"}]


def test_documents_without_a_bootstrap_interval_are_counted_and_named_with_the_reason_and_what_to_do() -> None:
    rows = [("q1", *pair, winner) for pair in ("ab", "bc", "ac") for winner in pair * 5]  # 20 votes on each
    rows += [("q1", "d", "a", "a"), ("q2", "x", "y", "x"), ("q2", "x", "y", "y")] + [("q1", "e", "b", "e")] * 12
    votes = pl.DataFrame(rows, ["query", "left", "right", "winner"], orient="row")
    found = rt.rate(votes, interval="bootstrap", resamples=100)
    without = found.frame.filter(pl.col("low").is_null())
    assert set(without["doc"]) == {"d", "e", "x", "y"}
    (note,) = [note for note in found.notes if note.code == "no-bootstrap-interval"]
    assert " 4 of 7 documents ('" in note
    assert "of query 'q1'" in note
    assert " 1 more): 3 " in note
    assert " 1 with 10 " in note
    assert [choice.function for choice in note.suggestions] == ["choose_pairs", ""]
    assert rt.rate(votes).frame["low"].null_count() == 0  # as the note promises
    everything = votes.filter(pl.col("left").is_in(["a", "b"]), pl.col("right").is_in(["b", "c"]))
    assert not any("no interval" in note for note in rt.rate(everything, interval="bootstrap").notes)
