"""P@k by bronze label."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ringtrue.gold.correction import BronzeScore, Rates
from ringtrue.gold.correction.post_stratified import is_too_few, post_stratified_share, run_precision
from ringtrue.gold.correction.proportion import correct_share_by_label
from ringtrue.gold.designs import Population

COUNTS = st.integers(0, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
SHARES = st.floats(0, 1)


def test_by_hand() -> None:
    # P = 3.5/5, Q = 0.5/3: half of each, and a quarter of each variance P(1−P)/5 and Q(1−Q)/3.
    value, variance = post_stratified_share(0.5, 0.01, (3, 4), (0, 2))
    assert float(value) == pytest.approx((0.7 + 1 / 6) / 2)
    assert float(variance) == pytest.approx((0.7 - 1 / 6) ** 2 * 0.01 + (0.7 * 0.3 / 5 + 1 / 6 * 5 / 6 / 3) / 4)


def test_the_calculator_says_the_same() -> None:
    # 43 of 59 relevant and 67 of 84 others: 60 that bronze calls relevant, 43 of them are, and 16 of the other 83.
    score = BronzeScore(mean=0.42, sd=0.4, queries=10278)
    told = correct_share_by_label(score, Rates(relevant=(43, 59), nonrelevant=(67, 84)))
    value, variance = post_stratified_share(0.42, score.variance, (43, 60), (16, 83))
    assert (told.value, told.se) == pytest.approx((float(value), float(variance) ** 0.5))


def test_few_labels_that_agree_do_not_look_certain() -> None:
    value, variance = post_stratified_share(1.0, 0.0, (5, 5), (0, 0))
    assert float(value) == pytest.approx(5.5 / 6)
    assert float(variance) == pytest.approx(5.5 / 6 * 0.5 / 6 / 6)


def test_where_gold_saw_everything_the_share_is_what_it_saw() -> None:
    value, variance = post_stratified_share(0.5, 0.0, (5, 5), (1, 5), missed=(0.0, 0.0), judged=(1.0, 1.0))
    assert (float(value), float(variance)) == (pytest.approx(0.6), 0)


def test_where_gold_saw_a_part_only_the_rest_is_estimated() -> None:
    # 5 of 10 documents that bronze calls relevant were seen, and all are: the other five are by 5.5/6.
    value, _ = post_stratified_share(1.0, 0.0, (5, 5), (0, 0), judged=(0.5, 0.0))
    assert float(value) == pytest.approx((5 + 5 * 5.5 / 6) / 10)


@given(SHARES, COUNTS, COUNTS, SHARES, SHARES)
def test_a_share_is_a_share_and_its_variance_at_most_that_of_one_label(
    j: float, above: tuple[int, int], below: tuple[int, int], missed: float, judged: float
) -> None:
    value, variance = post_stratified_share(j, 0.0, above, below, missed=(missed, missed), judged=(judged, judged))
    assert -1e-12 <= float(value) <= 1 + 1e-12
    assert 0 <= float(variance) <= 0.25


@given(SHARES, st.floats(0, 0.1), COUNTS, COUNTS)
def test_calling_good_bad_and_bad_good_turns_the_share_around(
    j: float, variance: float, above: tuple[int, int], below: tuple[int, int]
) -> None:
    one = post_stratified_share(j, variance, above, below)
    turned = post_stratified_share(j, variance, (above[1] - above[0], above[1]), (below[1] - below[0], below[1]))
    assert float(turned[0]) == pytest.approx(1 - float(one[0]))
    assert float(turned[1]) == pytest.approx(float(one[1]))
    swapped = post_stratified_share(1 - j, variance, below, above)
    assert [float(part) for part in swapped] == pytest.approx([float(part) for part in one])


def test_several_runs_at_once() -> None:
    value, variance = post_stratified_share([0.4, 0.6], 0.0, ([1, 2], [2, 3]), ([0, 1], [4, 5]))
    apart = [post_stratified_share(0.4, 0.0, (1, 2), (0, 4)), post_stratified_share(0.6, 0.0, (2, 3), (1, 5))]
    assert np.array([value, variance]).T.tolist() == [pytest.approx([float(part) for part in one]) for one in apart]


def top(seed: int, *, docs: int = 60, queries: int = 6) -> dict[str, np.ndarray]:
    """A pool of which a run shows most, with gold labels of some documents and a probability for each."""
    rng = np.random.default_rng(seed)
    prob = rng.uniform(0.2, 0.9, docs)
    sampled = np.flatnonzero(rng.random(docs) < prob)
    return {
        "shown": rng.random(docs) < 0.8,
        "bronze_relevant": rng.random(docs) < 0.5,
        "query": np.arange(docs) % queries,
        "sampled": sampled,
        "relevant": rng.random(len(sampled)) < 0.5,
        "prob": prob[sampled],
    }


def asked(pool: dict[str, np.ndarray], population: Population = "these") -> tuple[float, float]:
    return run_precision(**pool, k=10, queries=6, population=population)


def test_weighted_labels_by_hand() -> None:
    # Three of four documents are called relevant. Labels with w = 4 (relevant) and 2 (not) are worth n = 6²/20 = 1.8,
    # of which 1.2 are relevant: P = 1.7/2.8, and of two documents of three 1.2/1.8 stands. Nothing is known of the
    # fourth: Q = ½. Gold missed (4·3 + 2·1)/20 of what is above.
    found = run_precision(
        np.full(4, True),
        np.arange(4) < 3,
        np.array([0, 0, 1, 1]),
        np.array([0, 1]),
        np.array([True, False]),
        np.array([0.25, 0.5]),
        k=2,
        queries=2,
        population="these",
    )
    p = 1.7 / 2.8
    above = p + 2 / 3 * (1.2 / 1.8 - p)
    variance = 0.75**2 * 0.7 * p * (1 - p) / 2.8 + 0.25**2 * 0.25
    assert found == (pytest.approx(0.75 * above + 0.25 * 0.5), pytest.approx(variance**0.5))


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 1), st.sampled_from(["these", "like-these"]))
def test_equal_probabilities_are_plain_counts(seed: int, chance: float, population: Population) -> None:
    pool = top(seed)
    pool["prob"] = np.full(len(pool["sampled"]), chance)
    own = pool["shown"][pool["sampled"]]
    up, relevant = pool["bronze_relevant"][pool["sampled"]][own], pool["relevant"][own]
    sides = [pool["shown"] & pool["bronze_relevant"], pool["shown"] & ~pool["bronze_relevant"]]
    filled = pool["shown"].sum() / 60
    per_query = np.array([(sides[0] & (pool["query"] == q)).sum() / 10 for q in range(6)])
    (above, below) = ((int(relevant[side].sum()), int(side.sum())) for side in (up, ~up))
    value, variance = post_stratified_share(
        sides[0].sum() / pool["shown"].sum(),
        0.0 if population == "these" else per_query.var(ddof=1) / 6 / filled**2,
        above,
        below,
        missed=tuple(1 - chance if population == "these" and n else 1.0 for _, n in (above, below)),
        judged=(above[1] / max(sides[0].sum(), 1), below[1] / max(sides[1].sum(), 1)),
    )
    assert asked(pool, population) == (pytest.approx(float(value) * filled),
                                       pytest.approx(float(variance) ** 0.5 * filled, abs=1e-7))  # fmt: skip


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 1))
def test_labels_that_stand_for_different_numbers_are_worth_fewer(seed: int, chance: float) -> None:
    """Never surer than as many equal ones."""
    pool = top(seed)
    pool["relevant"] = np.arange(len(pool["sampled"])) < 0  # all agree, whatever they weigh
    equal = pool | {"prob": np.full(len(pool["sampled"]), chance)}
    assert asked(pool, "like-these")[1] >= asked(equal, "like-these")[1] - 1e-12


@given(st.integers(0, 2**32 - 1), st.sampled_from(["these", "like-these"]))
def test_relevant_and_other_documents_are_treated_alike(seed: int, population: Population) -> None:
    pool = top(seed)
    value, se = asked(pool, population)
    turned, same = asked(pool | {"relevant": ~pool["relevant"]}, population)
    filled = pool["shown"].sum() / 60
    assert (turned, same) == (pytest.approx(filled - value), pytest.approx(se))
    assert 0 <= value <= filled


def test_where_gold_saw_the_whole_top_nothing_is_left_to_chance() -> None:
    pool = top(1)
    pool |= {"sampled": np.arange(60), "relevant": np.arange(60) % 7 == 0, "prob": np.ones(60)}
    value, se = asked(pool)
    assert (value, se) == (pytest.approx((pool["shown"] & pool["relevant"]).sum() / 60), 0)


def labels(*counts: tuple[int, bool, bool], prob: float = 0.5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """So many labels, each relevant or not, called so or not."""
    many = [number for number, *_ in counts]
    return (np.repeat([relevant for _, relevant, _ in counts], many),
            np.repeat([called for *_, called in counts], many), np.full(sum(many), prob))  # fmt: skip


def test_few_labels_of_a_kind_are_few_on_one_side_or_in_all() -> None:
    assert is_too_few(*labels((9, True, True), (90, False, False)))
    assert is_too_few(*labels((90, True, True), (9, False, True)))
    # Enough of either, but bronze is wrong on three only: how often it is so rests on these.
    assert is_too_few(*labels((50, True, True), (50, False, False), (3, False, True)))
    assert not is_too_few(*labels((50, True, True), (50, False, False), (10, False, True), (10, True, False)))


def test_labels_that_were_sure_to_be_drawn_leave_nothing_to_chance() -> None:
    never_wrong = (50, True, True), (50, False, False)
    assert is_too_few(*labels(*never_wrong))
    assert not is_too_few(*labels(*never_wrong, prob=1.0))


def test_one_label_that_stands_for_many_is_few() -> None:
    relevant, called, prob = labels((40, True, True), (20, False, True), (40, False, False), (20, True, False))
    assert not is_too_few(relevant, called, prob)
    prob[45] = 0.01
    assert is_too_few(relevant, called, prob)
