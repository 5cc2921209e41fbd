"""Whether a sample stands for the documents that are asked about."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gold.correction.worlds import World, large, world
from gold.refusals import codes, names, refuses
from ringtrue.errors import InputError
from ringtrue.gold.correction.gold_sample import GoldSample
from ringtrue.gold.correction.validity import require_representative, sample_coverage, withhold_if_unrepresentative
from ringtrue.messages import Note
from ringtrue.stats.results import Estimate
from strategies import examples

SEEDS = st.integers(0, 2**32 - 1)


@examples(30)
@given(SEEDS)
def test_what_a_sample_stands_for_by_loops(seed: int) -> None:
    asked = world(seed).asked("DCG@4")
    sample = asked.some(np.random.default_rng(seed))
    shares, sure = sample_coverage(asked.weights, sample)
    weights = asked.weights.toarray()
    for run in range(len(weights)):
        found = sum(weights[run, doc] / prob for doc, prob in zip(sample.positions, sample.prob, strict=True))
        squares = sum(
            (1 - prob) * (weights[run, doc] / prob) ** 2
            for doc, prob in zip(sample.positions, sample.prob, strict=True)
        )
        if (sample.prob < 1).any():  # what chance left out is no less than that
            drawn = set(sample.positions.tolist())
            squares = max(squares, sum(weights[run, doc] ** 2 for doc in range(weights.shape[1]) if doc not in drawn))
        share = found / weights[run].sum()
        assert shares[run] == pytest.approx(share)
        if found == 0:
            assert sure[run] == 0
        elif squares:
            # A sample that has half of what it should have shows half of its error.
            error = np.sqrt(squares) / min(share, 1)
            assert sure[run] == pytest.approx(abs(found - weights[run].sum()) / error)


def test_a_sample_stands_for_itself_and_for_nothing_else() -> None:
    asked = large()
    every = np.arange(len(asked.pool))
    shares, sure = sample_coverage(asked.weights, asked.sample(every, 1.0))
    assert (shares.tolist(), sure.tolist()) == (pytest.approx([1, 1]), [0, 0])
    shares, sure = sample_coverage(asked.weights, asked.sample(every[:50], 1.0))
    assert (shares < 1).all()
    assert np.isinf(sure).all()
    assert np.isinf(sample_coverage(asked.weights, asked.sample(every[:-1], 1.0))[1]).any()  # a single one is missing
    nothing = asked.weights[[0]] - asked.weights[[0]]
    shares, sure = sample_coverage(nothing, asked.sample(every[:50], 0.5))
    assert (shares.tolist(), sure.tolist()) == ([1], [0])


def test_what_a_sample_stands_for_by_hand() -> None:
    # Four documents that weigh ¼ each; two were drawn with ½ where it should be four halves: all of it.
    here = World(runs={"r": {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}}, bronze={"q": dict.fromkeys("abcd", 1)},
                 gold={"q": dict.fromkeys("abcd", 1)})  # fmt: skip
    asked = here.asked("P@4")
    for places, share, off in (([0, 1], 1, 0), ([0], 0.5, 2), ([0, 1, 2], 1.5, 2), ([], 0, 0)):
        # The labels say ±√(n · ½ · 2²) documents, or ±√(what was not drawn); what stands for half of them, twice that.
        error = np.sqrt(max(len(places) * 0.5 * 4, 4 - len(places))) / min(share or 1, 1) if places else 0
        shares, sure = sample_coverage(asked.weights, asked.sample(places, 0.5))
        assert (shares[0], sure[0]) == pytest.approx((share, off / error if error else 0))


@examples(30)
@given(SEEDS, st.floats(0.1, 1))
def test_a_sample_that_lost_a_part_of_its_labels_is_no_surer_than_the_draw_it_came_from(seed: int, kept: float) -> None:
    asked = world(seed, queries=6, whole=True).asked("P@5")
    sample = asked.some(np.random.default_rng(seed), least=4)
    some = max(1, int(kept * len(sample)))
    less = GoldSample(positions=sample.positions[:some], labels=sample.labels[:some], prob=sample.prob[:some])
    shares, sure = sample_coverage(asked.weights, less)
    drawn = asked.weights[:, less.positions].toarray() / less.prob
    plain = np.sqrt((drawn**2 * (1 - less.prob)).sum(axis=1))
    whole = np.asarray(asked.weights.sum(axis=1)).ravel()
    for run in range(len(shares)):
        if plain[run]:
            assert sure[run] <= abs(shares[run] - 1) * whole[run] / plain[run] + 1e-9


@pytest.mark.simulation
def test_a_nearly_complete_draw_stands_for_its_runs() -> None:
    asked, rng = large(runs=2, queries=5), np.random.default_rng(3)
    prob = np.where(rng.random(len(asked.pool)) < 0.8, 1.0, 0.6)
    for _ in range(200):
        shares, off = sample_coverage(asked.weights, asked.sample(np.flatnonzero(rng.random(len(prob)) < prob), prob))
        assert not ((off > 4) & (abs(shares - 1) > 0.1)).any()


CAVEAT = Note("few-gold", "as it was")


TOLD = Estimate(value=0.5, se=0.1, low=0.3, high=0.7, level=0.95, n=40, method="difference", notes=(CAVEAT,))


def test_a_sample_with_other_probabilities_than_it_has_is_refused() -> None:
    asked = world(3, runs=2, queries=40, docs=12, length=8, whole=True).asked("P@8")
    every = np.arange(len(asked.pool))
    drawn = every[np.random.default_rng(1).random(len(every)) < 0.4]
    require_representative(asked.pool, asked.sample(drawn, 0.4), np.full(len(every), True))
    for wrong in (0.2, 0.8):
        with refuses(InputError, "sample-does-not-fit", len(every)):
            require_representative(asked.pool, asked.sample(drawn, wrong), np.full(len(every), True))


@pytest.mark.parametrize(
    ("share", "sure", "kept"),
    [
        (1.0, 0.0, True),
        (0.5, 3.9, True),
        (0.95, 9.0, True),
        (0.5, 4.1, False),
        (1.5, 4.1, False),
        (0.99, np.inf, False),
    ],
)
def test_a_value_is_kept_unless_the_sample_is_far_off_and_surely(share: float, sure: float, kept: bool) -> None:
    found = withhold_if_unrepresentative(TOLD, share, sure)
    if kept:
        assert found == TOLD
    else:
        assert (found.value, found.se, found.low, found.high, found.n) == (None, None, None, None, 40)
        assert found.notes[0].code == "sample-does-not-fit"
        assert names(found.notes[0], f"{share:.0%}")


def test_without_a_label_nothing_is_corrected() -> None:
    none = Estimate(value=0.5, se=0.1, low=0.3, high=0.7, level=0.95, n=0, method="difference")
    found = withhold_if_unrepresentative(none, 1.0, 0.0, where="on what the two do not share")
    assert (found.value, codes(found.notes)) == (None, ["too-few-gold"])
