"""Where a gold sample does not stand for the documents that are asked about."""

from __future__ import annotations

import numpy as np
import pytest

from gold.correction.worlds import world
from ringtrue.errors import InputError
from ringtrue.evaluation.measures import parse, parse_all
from ringtrue.gold.correction.validity import require_drawn_for, require_representative, withhold_if_unrepresentative
from ringtrue.stats.results import Estimate

TOLD = Estimate(value=0.5, se=0.1, low=0.3, high=0.7, level=0.95, n=40, method="difference", notes=("as it was",))


def test_a_sample_for_single_runs_serves_everything() -> None:
    for comparing in (True, False):
        require_drawn_for([], parse("DCG@10"), comparing=comparing)


@pytest.mark.parametrize(
    ("drawn", "serves", "refused"),
    [
        ("P@10", ["P@10", "CG@10", "P(rel=2)@10"], ["P@5", "DCG@10", "RBP"]),
        ("DCG@10", ["DCG@10", "P@10", "P@5", "DCG@3"], ["DCG@20", "RBP"]),
        ("RBP", ["RBP", "DCG@1000", "P@5"], []),
        ("P@10,DCG@5", ["P@10", "P@5", "DCG@5"], ["DCG@10", "P@20"]),
    ],
)
def test_a_sample_to_compare_by_one_measure_serves_those_that_need_no_other_document(
    drawn: str, serves: list[str], refused: list[str]
) -> None:
    by = parse_all(drawn.split(","))
    for measure in serves:
        require_drawn_for(by, parse(measure), comparing=True)
        with pytest.raises(InputError, match="what the runs share had no chance: single runs need a sample of their"):
            require_drawn_for(by, parse(measure), comparing=False)
    for measure in refused:
        with pytest.raises(InputError, match="no chance: compare by "):
            require_drawn_for(by, parse(measure), comparing=True)


def test_a_sample_with_other_probabilities_than_it_has_is_refused() -> None:
    asked = world(3, runs=2, queries=40, docs=12, length=8, whole=True).asked("P@8")
    every = np.arange(len(asked.pool))
    drawn = every[np.random.default_rng(1).random(len(every)) < 0.4]
    require_representative(asked.pool, asked.sample(drawn, 0.4), np.full(len(every), True))
    for wrong in (0.2, 0.8):
        with pytest.raises(InputError, match=f"the gold sample stands for .*% of the {len(every)} documents"):
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
        assert found.notes[0].startswith(f"the gold sample stands for {share:.0%} of these documents")


def test_without_a_label_nothing_is_corrected() -> None:
    none = Estimate(value=0.5, se=0.1, low=0.3, high=0.7, level=0.95, n=0, method="difference")
    found = withhold_if_unrepresentative(none, 1.0, 0.0, where="on what the two do not share")
    assert (found.value, found.notes) == (None, ("no gold label is on what the two do not share: nothing corrects it",))
