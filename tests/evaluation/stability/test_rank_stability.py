"""stability: whether a change of judge changes the order of the runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from string import ascii_letters

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats

import ringtrue as rt
from ringtrue.errors import MismatchError, UsageError
from ringtrue.evaluation.stability.rank_stability import align_scores
from ringtrue.messages import Note
from ringtrue.stats.rank_correlation import kendall_tau
from ringtrue.tables import Scores

Values = NDArray[np.float64]
# Two judges' values [judge, run, query]; tenths, so that ties are common.
worlds = st.tuples(st.just(2), st.integers(2, 5), st.integers(1, 6)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(0, 10).map(lambda tenths: tenths / 10))
)


def scored(values: Values, measure: str = "P@10", runs: str = ascii_letters) -> Scores:
    """Scores from an array [run, query]."""
    count, queries = values.shape
    frame = pl.DataFrame(
        {
            "run": np.repeat(list(runs[:count]), queries),
            "query": np.tile([f"q{query}" for query in range(queries)], count),
            "measure": [measure] * values.size,
            "value": values.ravel(),
        }
    )
    return Scores(frame.filter(pl.col("value").is_not_nan()))


def compared(a: Values, b: Values, *, resamples: int = 200, **settings) -> rt.Stability:
    return rt.stability(scored(a), scored(b), resamples=resamples, **settings)["P@10"]


def shares(answer: rt.Stability) -> Mapping[frozenset[str], float]:
    return {frozenset((flip.a, flip.b)): flip.share for flip in answer.flips}


def test_by_hand_where_every_resample_is_the_same() -> None:
    answer = compared(np.array([[0.9], [0.5], [0.1]]), np.array([[0.2], [0.6], [0.1]]))
    assert [(one.run, one.rank, one.versus_rank) for one in answer.standings] == [("a", 1, 2), ("b", 2, 1), ("c", 3, 3)]
    assert answer.tau == pytest.approx(1 / 3)
    assert answer.tau_ap == pytest.approx(2 / 2 * (0 / 1 + 2 / 2) - 1)
    assert answer.rbo == pytest.approx(0.9**3 + 0.1 * (0 + 0.9 * 1 + 0.81 * 1))
    assert answer.tau_range == pytest.approx((1 / 3, 1 / 3))
    assert [(flip.a, flip.b, flip.share, flip.flipped, flip.noise) for flip in answer.flips] == [
        ("a", "b", 1.0, True, 0.0),
        ("a", "c", 0.0, False, 0.0),
        ("b", "c", 0.0, False, 0.0),
    ]
    assert (answer.flips[0].difference, answer.flips[0].versus_difference) == pytest.approx((0.4, -0.4))
    assert answer.winners == (("a",), ("b",))
    assert (answer.winner_changes, answer.same_winner, answer.winner_noise) == (True, 0.0, 0.0)
    assert ("single-query", "P@10") in [(note.code, note.subject) for note in answer.notes]


def test_two_queries_by_hand() -> None:
    # By the first judge a is ahead by 0.3 and behind by 0.2: a resample of two draws reverses the order only when
    # it holds the second query twice (¼). The second judge has them the other way round.
    answer = compared(np.array([[0.5, 0.1], [0.2, 0.3]]), np.array([[0.1, 0.5], [0.3, 0.2]]), resamples=40_000)
    (pair,) = answer.flips
    assert pair.noise == pytest.approx(0.25, abs=0.01)
    assert pair.share == pytest.approx(0.5, abs=0.01)  # they agree only where both queries are drawn once
    assert (pair.flipped, answer.tau) == (False, 1.0)


def test_a_tie_by_one_judge_counts_half_and_by_both_nothing() -> None:
    a = np.array([[0.5], [0.5], [0.1]])
    b = np.array([[0.5], [0.5], [0.5]])
    found = shares(compared(a, b))
    assert found == {frozenset("ab"): 0.0, frozenset("ac"): 0.5, frozenset("bc"): 0.5}


def test_winners_that_tie_are_all_named_and_count_by_what_they_share() -> None:
    answer = compared(np.array([[0.5], [0.5], [0.1]]), np.array([[0.5], [0.2], [0.1]]))
    assert answer.winners == (("a", "b"), ("a",))
    assert (answer.winner_changes, answer.same_winner) == (False, 0.5)


def test_means_that_differ_by_rounding_alone_are_ties() -> None:
    # 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 to the last digit, and summed in another order it is.
    a = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.3, 0.1, 0.2]])
    answer = compared(a, a)
    assert [one.rank for one in answer.standings] == [1, 1, 1]
    assert answer.tau is None
    (note,) = (note for note in answer.notes if note.code == "all-runs-tied")
    assert ("first" in note, "second" in note) == (True, True)


def test_a_judge_who_ties_everything_leaves_tau_undefined_and_the_json_without_nan() -> None:
    answer = compared(np.array([[0.5, 0.2], [0.1, 0.2]]), np.zeros((2, 2)))
    assert (answer.tau, answer.tau_range, answer.tau_ap) == (None, None, pytest.approx(0))
    assert "tau undefined" in str(answer)
    plain = json.loads(json.dumps(answer.as_dict(), allow_nan=False))
    assert plain["tau"] is None
    assert plain["tau_range"] == {"low": None, "high": None, "level": 0.95}


def test_resamples_in_which_tau_is_undefined_are_told() -> None:
    # Where only the second query is drawn, the first judge ties the two.
    answer = compared(np.array([[0.5, 0.2], [0.1, 0.2]]), np.array([[0.5, 0.3], [0.1, 0.2]]), resamples=1000)
    assert answer.tau == 1
    (note,) = (note for note in answer.notes if note.code == "undefined-resamples")
    assert " 1000 " in note


@given(worlds)
def test_shares_are_shares_and_every_pair_stands_there_once(world: Values) -> None:
    answer = compared(*world, resamples=50)
    runs = world.shape[1]
    assert len(shares(answer)) == len(answer.flips) == runs * (runs - 1) // 2
    assert all(0 <= flip.share <= 1 and 0 <= flip.noise <= 1 for flip in answer.flips)
    assert all(flip.difference >= -1e-12 for flip in answer.flips)
    assert [flip.share for flip in answer.flips] == sorted((flip.share for flip in answer.flips), reverse=True)
    assert 0 <= answer.same_winner <= 1
    assert 0 <= answer.winner_noise <= 1


@given(worlds)
def test_swapping_the_judges_leaves_the_shares_tau_and_the_winners(world: Values) -> None:
    one, other = compared(*world, resamples=50), compared(*world[::-1], resamples=50)
    assert shares(one) == shares(other)
    assert (one.tau, one.tau_range, one.rbo) == (other.tau, other.tau_range, pytest.approx(other.rbo))
    assert tuple(map(set, one.winners)) == tuple(map(set, other.winners[::-1]))
    assert one.same_winner == pytest.approx(other.same_winner)


@given(worlds, st.randoms(use_true_random=False))
def test_the_order_in_which_the_runs_are_given_changes_nothing(world: Values, random) -> None:
    names = ascii_letters[: world.shape[1]]
    places = random.sample(range(len(names)), len(names))
    mixed = "".join(names[place] for place in places)
    one = rt.stability(scored(world[0]), scored(world[1]), resamples=50)["P@10"]
    first, second = scored(world[0][places], runs=mixed), scored(world[1][places], runs=mixed)
    assert rt.stability(first, second, resamples=50)["P@10"] == one


@given(worlds, st.floats(0.5, 2), st.floats(-1, 1))
def test_a_judge_who_is_generous_to_all_alike_changes_nothing(world: Values, scale: float, shift: float) -> None:
    answer = compared(world[0], world[0] * scale + shift, resamples=50)
    assert set(shares(answer).values()) == {0.0}
    assert answer.tau in (1.0, None)
    assert answer.same_winner == 1


@given(worlds)
def test_tau_is_scipys_on_the_means(world: Values) -> None:
    a, b = (judge.mean(axis=1).round(9) for judge in world)
    if len(set(a)) > 1 and len(set(b)) > 1:
        assert compared(*world, resamples=1).tau == pytest.approx(stats.kendalltau(a, b).statistic, abs=1e-12)


@given(worlds)
def test_the_shares_are_what_a_slow_loop_over_the_same_draws_counts(world: Values) -> None:
    a, b = world
    runs, queries = a.shape
    rng = np.random.default_rng(int(np.random.default_rng(5).integers(2**63)))
    apart, noise, versus_noise = np.zeros((3, runs, runs))
    signs = lambda means: np.sign((means[:, None] - means).round(9))  # noqa: E731
    for drawn in rng.integers(queries, size=(30, queries)):
        ours, theirs = signs(a[:, drawn].mean(axis=1)), signs(b[:, drawn].mean(axis=1))
        apart += np.abs(ours - theirs) / 2 / 30
        noise += np.abs(ours - signs(a.mean(axis=1))) / 2 / 30
        versus_noise += np.abs(theirs - signs(b.mean(axis=1))) / 2 / 30
    for flip in compared(a, b, resamples=30, rng=np.random.default_rng(5)).flips:
        here = ascii_letters.index(flip.a), ascii_letters.index(flip.b)
        assert (flip.share, flip.noise) == pytest.approx((apart[here], noise[here]))
        assert flip.versus_noise == pytest.approx(versus_noise[here])


def test_resamples_that_are_drawn_piece_by_piece_are_all_counted() -> None:
    # 435 pairs × 10,000 resamples are more than is held at once.
    a, b = np.random.default_rng(3).random((2, 30, 7))
    rng = np.random.default_rng(int(np.random.default_rng(5).integers(2**63)))
    draws = rng.integers(7, size=(10_000, 7))
    ours, theirs = (judge[:, draws].mean(axis=-1).T.round(12) for judge in (a, b))
    answer = compared(a, b, resamples=10_000, rng=np.random.default_rng(5))
    for flip in answer.flips[::20]:
        x, y = ascii_letters.index(flip.a), ascii_letters.index(flip.b)
        opposite = np.mean(np.abs(np.sign(ours[:, x] - ours[:, y]) - np.sign(theirs[:, x] - theirs[:, y]))) / 2
        assert flip.share == pytest.approx(opposite)
    assert answer.tau_range == pytest.approx(np.quantile(kendall_tau(ours, theirs), [0.025, 0.975]))
    assert answer.same_winner == pytest.approx(np.mean(ours.argmax(axis=1) == theirs.argmax(axis=1)))


def test_the_same_seed_gives_the_same_answer_and_every_measure_the_same_draws() -> None:
    world = np.random.default_rng(3).random((2, 4, 20))
    assert compared(*world) == compared(*world, rng=np.random.default_rng(0))
    assert compared(*world) != compared(*world, rng=np.random.default_rng(1))
    both = [
        Scores(pl.concat([scored(judge, "RR").frame, scored(judge, "P@10").frame]))  # the same values under two names
        for judge in world
    ]
    answers = rt.stability(*both, resamples=200)
    assert shares(answers["RR"]) == shares(answers["P@10"]) == shares(compared(*world))


def test_queries_where_a_run_has_no_value_are_left_out_and_counted() -> None:
    a = np.array([[0.9, 0.1, 0.5], [0.5, np.nan, 0.4]])
    answer = compared(a, np.nan_to_num(a))
    assert answer.queries == 2
    (note,) = (note for note in answer.notes if note.code == "queries-not-in-all-runs")
    assert (note.subject, "1 query" in note) == ("P@10", True)
    assert answer.standings[0].versus_mean == pytest.approx(0.7)


def test_no_query_with_a_value_for_every_run_is_an_error() -> None:
    a = np.array([[0.9, np.nan], [np.nan, 0.4]])
    with pytest.raises(MismatchError) as refused:
        compared(a, np.zeros((2, 2)))
    assert (refused.value.code, refused.value.note.subject) == ("no-common-query", "P@10")


def test_progress_counts_pairs_times_resamples() -> None:
    told: list[int] = []
    compared(*np.zeros((2, 4, 3)), resamples=70, progress=told.append)
    assert sum(told) == 70 * 6


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"resamples": 0}, "bad-resamples"),
        ({"level": 1}, "bad-level"),
        ({"level": 0}, "bad-level"),
        ({"persistence": 1}, "bad-persistence"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, float], code: str) -> None:
    with pytest.raises(UsageError) as refused:
        rt.stability(scored(np.zeros((2, 2))), scored(np.zeros((2, 2))), **settings)  # type: ignore[arg-type]
    assert (refused.value.code, refused.value.parameter) == (code, next(iter(settings)))


def test_the_rbo_of_the_reverse_order_is_told_since_few_runs_have_a_high_one() -> None:
    a = np.array([[0.9], [0.5], [0.1]])
    answer = compared(a, -a)
    assert answer.rbo == pytest.approx(answer.rbo_reversed) == pytest.approx(0.855)


def drawn_world(
    runs: int, queries: int, *, spread: float, judge: float, rng: np.random.Generator, truth: np.random.Generator
) -> tuple[Values, Values, float]:
    """Queries from a population whose means differ by `spread` and, between judges, by `judge`; and its tau."""
    means = truth.normal(0.5, spread, runs)
    others = means + truth.normal(0, judge, runs)
    hard, own = rng.normal(0, 0.15, queries), rng.normal(0, 0.2, (runs, queries))
    first = means[:, None] + hard + own
    second = others[:, None] + hard + 0.8 * own + rng.normal(0, 0.1, (runs, queries))
    return first, second, float(kendall_tau(means, others))


@pytest.mark.simulation
def test_two_judges_of_pure_noise_differ_on_half_of_the_pairs() -> None:
    rng = np.random.default_rng(7)
    found = [
        flip.share for _ in range(40) for flip in compared(*rng.normal(size=(2, 5, 30)), resamples=500).flips
    ]  # fmt: skip
    assert np.mean(found) == pytest.approx(0.5, abs=0.03)


@pytest.mark.simulation
def test_a_judge_who_really_turns_a_pair_round_is_told_from_few_queries() -> None:
    rng = np.random.default_rng(8)
    base, ahead = rng.normal(0, 0.1, (2, 200)), np.array([[0.1], [0.0]])
    turned = compared(base + ahead, base + ahead[::-1], resamples=1000).flips[0]
    assert (turned.flipped, turned.share > 0.99, turned.noise < 0.01) == (True, True, True)
    close = compared(base, base + rng.normal(0, 0.02, base.shape), resamples=1000).flips[0]
    assert close.share < close.noise


@pytest.mark.simulation
def test_noise_is_how_often_another_sample_of_queries_reverses_the_order() -> None:
    # A difference of one standard error is reversed with probability Φ(−1) = 0.159 by the normal approximation.
    rng, queries = np.random.default_rng(9), 400
    difference = rng.normal(size=queries)
    difference = (difference - difference.mean()) / difference.std() + 1 / np.sqrt(queries)
    pair = np.stack([difference, np.zeros(queries)])
    assert compared(pair, pair, resamples=20_000).flips[0].noise == pytest.approx(stats.norm.cdf(-1), abs=0.01)


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("runs", "queries", "spread", "judge", "least", "most"),
    [
        (5, 50, 0.05, 0.05, 0.95, 1.00),  # few runs: it holds the truth nearly always
        (20, 50, 0.05, 0.0, 0.0, 0.05),  # judges who order all queries alike: never, tau can only fall
        (37, 50, 0.2, 0.02, 0.0, 0.10),  # many runs, a good judge: hardly ever
        (37, 500, 0.2, 0.02, 0.6, 0.93),  # and ten times the queries do not mend it
    ],
)
def test_the_range_of_tau_is_no_confidence_interval(
    runs: int, queries: int, spread: float, judge: float, least: float, most: float
) -> None:
    rng, held = np.random.default_rng(0), []
    for _ in range(100):
        a, b, truth = drawn_world(
            runs, queries, spread=spread, judge=judge, rng=rng, truth=np.random.default_rng(0)
        )  # fmt: skip
        low, high = compared(a, b, resamples=300, rng=rng).tau_range or (2, 2)
        held.append(low <= truth <= high)
    assert least <= np.mean(held) <= most


@pytest.mark.slow
@pytest.mark.real
def test_all_37_runs_of_dl19_by_people_and_by_a_model(data: Path) -> None:
    runs = [rt.read_run(path) for path in sorted((data / "dl19/runs").glob("*.run"))]
    people, model = (
        rt.evaluate(runs, rt.read_judgments(data / "dl19" / name), "nDCG@10")
        for name in ("human.qrels", "llm-umbrela_gpt4.qrels")
    )
    answer = rt.stability(people, model, resamples=1000)["nDCG@10"]
    a, b = ([table.means()[run.name]["nDCG@10"].value for run in runs] for table in (people, model))
    assert (len(answer.standings), answer.queries) == (37, 43)
    assert answer.tau == pytest.approx(stats.kendalltau(a, b).statistic, abs=1e-12)
    assert answer.tau_ap == pytest.approx(slow_tau_ap(a, b), abs=1e-12)
    assert answer.rbo == pytest.approx(slow_rbo(a, b), abs=1e-12)
    assert (round(answer.tau or 0, 4), round(answer.tau_ap, 4), round(answer.rbo, 4)) == (0.8498, 0.7950, 0.8646)
    assert answer.winners == (("idst_bert_p1",), ("idst_bert_p1",))


def slow_tau_ap(reference: list[float], other: list[float]) -> float:
    """No ties; the definition, word by word."""
    order = sorted(range(len(other)), key=lambda run: -other[run])
    right = [np.mean([reference[above] > reference[run] for above in order[:i]]) for i, run in enumerate(order) if i]
    return float(2 * np.mean(right) - 1)


def slow_rbo(a: list[float], b: list[float], p: float = 0.9) -> float:
    """No ties; the agreement at each depth, and 1 for all depths beyond the last."""
    tops = [sorted(range(len(order)), key=lambda run: -order[run]) for order in (a, b)]
    agreement = [len(set(tops[0][:d]) & set(tops[1][:d])) / d for d in range(1, len(a) + 1)] + [1.0] * 2000
    return float((1 - p) * sum(p**d * alike for d, alike in enumerate(agreement)))


def test_a_judge_whose_winner_hangs_on_few_queries_is_not_sure_of_it() -> None:
    # Two queries: a wins the first by 2, b the second by 1. Of four draws of two, one holds only the second.
    a = np.array([[1.0, 0.0], [0.0, 0.5]])
    answer = compared(a, a, resamples=40_000)
    assert answer.winner_noise == pytest.approx(0.25, abs=0.01)
    assert answer.same_winner == 1


RUNS = {"a": {"q1": {"d1": 2.0, "d2": 1.0}}, "b": {"q1": {"d2": 2.0, "d1": 1.0}}}


def table(*rows: tuple[str, str, str, float]) -> Scores:
    return Scores(pl.DataFrame(list(rows), schema=["run", "query", "measure", "value"], orient="row"))


def square(runs: str, queries: str, measure: str = "AP") -> Scores:
    return table(*((run, query, measure, 0.5) for run in runs for query in queries))


def test_runs_and_queries_of_one_judge_alone_are_not_used_and_named() -> None:
    notes: list[Note] = []
    runs, values = align_scores(square("abcx", "12345"), square("cbay", "562"), notes)
    assert runs == ["a", "b", "c"]
    assert values["AP"][0].shape == (3, 2)
    assert [(note.code, note.text.split(": ")[1]) for note in notes] == [
        ("unshared-runs", "x"),
        ("unshared-runs", "y"),
        ("unshared-queries", "1, 3, 4"),
        ("unshared-queries", "6"),
    ]


def test_values_stand_in_the_same_order_for_both() -> None:
    one = table(("a", "q1", "AP", 0.1), ("a", "q2", "AP", 0.2), ("b", "q1", "AP", 0.3), ("b", "q2", "AP", 0.4))
    two = table(("b", "q2", "AP", 0.4), ("b", "q1", "AP", 0.3), ("a", "q2", "AP", 0.2), ("a", "q1", "AP", 0.1))
    runs, values = align_scores(one, two, [])
    assert runs == ["a", "b"]
    assert values["AP"][0].tolist() == values["AP"][1].tolist() == [[0.1, 0.2], [0.3, 0.4]]


def test_what_a_run_lacks_is_nan() -> None:
    one = table(("a", "q1", "AP", 0.1), ("b", "q2", "AP", 0.4))
    _, values = align_scores(one, one, [])
    assert np.isnan(values["AP"][0]).tolist() == [[False, True], [True, False]]


def test_a_measure_finds_its_twin_with_another_rel() -> None:
    one = rt.evaluate(RUNS, {"q1": {"d1": 3, "d2": 1}}, "P(rel=2)@1, P(rel=3)@1, RR")
    two = rt.evaluate(RUNS, {"q1": {"d1": 1, "d2": 0}}, "P@1, RR")
    notes: list[Note] = []
    _, values = align_scores(one, two, notes)
    assert list(values) == ["P(rel=2)@1", "P(rel=3)@1", "RR"]
    assert values["P(rel=2)@1"][1].tolist() == [[1.0], [0.0]]
    note = next(note for note in notes if note.code == "different-rel")
    assert ("P(rel=2)@1" in note, " P@1 " in note) == (True, True)


def test_a_measure_of_one_judge_alone_is_not_used_and_named() -> None:
    one, two = (
        Scores(pl.concat([square("ab", "12", measure).frame for measure in measures]))
        for measures in (("AP", "P(rel=2)@5", "home-made"), ("AP", "P(rel=1)@5", "P(rel=3)@5", "RR"))
    )
    notes: list[Note] = []
    _, values = align_scores(one, two, notes)
    assert list(values) == ["AP"]
    assert [(note.code, note.text.split()[0]) for note in notes] == [
        ("unshared-measure", "P(rel=2)@5"),
        ("unshared-measure", "home-made"),
        ("unshared-measure", "P(rel=1)@5"),
        ("unshared-measure", "P(rel=3)@5"),
        ("unshared-measure", "RR"),
    ]


@pytest.mark.parametrize(
    ("one", "two", "code", "found"),
    [
        (square("ab", "12"), square("cd", "12"), "no-common-run", "a, b.*c, d"),
        (square("ab", "12"), square("ab", "34"), "no-common-query", "1, 2.*3, 4"),
        (square("ab", "12"), square("ab", "12", "RR"), "no-common-measure", "AP.*RR"),
    ],
)
def test_nothing_in_common_is_an_error_that_names_both(one: Scores, two: Scores, code: str, found: str) -> None:
    with pytest.raises(MismatchError, match=found) as refused:
        align_scores(one, two, [])
    assert refused.value.code == code


def test_one_run_has_no_order() -> None:
    with pytest.raises(UsageError, match="'a'") as refused:
        align_scores(square("ab", "12"), square("ac", "12"), [])
    assert refused.value.code == "needs-two-runs"
