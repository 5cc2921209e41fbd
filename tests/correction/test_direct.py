"""P@k by bronze label."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.correction import BronzeScore, Rates
from ringtrue.correction.direct import share_by_label
from ringtrue.correction.share import share_by_bronze_label

COUNTS = st.integers(0, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
SHARES = st.floats(0, 1)


def test_by_hand() -> None:
    # P = 3.5/5, Q = 0.5/3: half of each, and a quarter of each variance P(1−P)/5 and Q(1−Q)/3.
    value, variance = share_by_label(0.5, 0.01, (3, 4), (0, 2))
    assert float(value) == pytest.approx((0.7 + 1 / 6) / 2)
    assert float(variance) == pytest.approx((0.7 - 1 / 6) ** 2 * 0.01 + (0.7 * 0.3 / 5 + 1 / 6 * 5 / 6 / 3) / 4)


def test_the_calculator_says_the_same() -> None:
    # 43 of 59 relevant and 67 of 84 others: 60 that bronze calls relevant, 43 of them are, and 16 of the other 83.
    score = BronzeScore(mean=0.42, sd=0.4, queries=10278)
    told = share_by_bronze_label(score, Rates(relevant=(43, 59), nonrelevant=(67, 84)))
    value, variance = share_by_label(0.42, score.variance, (43, 60), (16, 83))
    assert (told.value, told.se) == pytest.approx((float(value), float(variance) ** 0.5))


def test_few_labels_that_agree_do_not_look_certain() -> None:
    value, variance = share_by_label(1.0, 0.0, (5, 5), (0, 0))
    assert float(value) == pytest.approx(5.5 / 6)
    assert float(variance) == pytest.approx(5.5 / 6 * 0.5 / 6 / 6)


def test_where_gold_saw_everything_the_share_is_what_it_saw() -> None:
    value, variance = share_by_label(0.5, 0.0, (5, 5), (1, 5), missed=0.0, judged=(1.0, 1.0))
    assert (float(value), float(variance)) == (pytest.approx(0.6), 0)


def test_where_gold_saw_a_part_only_the_rest_is_estimated() -> None:
    # 5 of 10 documents that bronze calls relevant were seen, and all are: the other five are by 5.5/6.
    value, _ = share_by_label(1.0, 0.0, (5, 5), (0, 0), judged=(0.5, 0.0))
    assert float(value) == pytest.approx((5 + 5 * 5.5 / 6) / 10)


@given(SHARES, COUNTS, COUNTS, SHARES, SHARES)
def test_a_share_is_a_share_and_its_variance_at_most_that_of_one_label(
    j: float, above: tuple[int, int], below: tuple[int, int], missed: float, judged: float
) -> None:
    value, variance = share_by_label(j, 0.0, above, below, missed=missed, judged=(judged, judged))
    assert -1e-12 <= float(value) <= 1 + 1e-12
    assert 0 <= float(variance) <= 0.25


@given(SHARES, st.floats(0, 0.1), COUNTS, COUNTS)
def test_calling_good_bad_and_bad_good_turns_the_share_around(
    j: float, variance: float, above: tuple[int, int], below: tuple[int, int]
) -> None:
    one = share_by_label(j, variance, above, below)
    turned = share_by_label(j, variance, (above[1] - above[0], above[1]), (below[1] - below[0], below[1]))
    assert float(turned[0]) == pytest.approx(1 - float(one[0]))
    assert float(turned[1]) == pytest.approx(float(one[1]))
    swapped = share_by_label(1 - j, variance, below, above)
    assert [float(part) for part in swapped] == pytest.approx([float(part) for part in one])


def test_several_runs_at_once() -> None:
    value, variance = share_by_label([0.4, 0.6], 0.0, ([1, 2], [2, 3]), ([0, 1], [4, 5]))
    apart = [share_by_label(0.4, 0.0, (1, 2), (0, 4)), share_by_label(0.6, 0.0, (2, 3), (1, 5))]
    assert np.array([value, variance]).T.tolist() == [pytest.approx([float(part) for part in one]) for one in apart]
