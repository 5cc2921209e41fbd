"""The simulated collection: known truth, and a judge who is wrong in a known way."""

from __future__ import annotations

import numpy as np
import pytest

from ringtrue.errors import UsageError
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.simulation import simulate_collection


def world(seed: int, **settings: int):
    return simulate_collection(rng=np.random.default_rng(seed), **settings)


def test_the_same_seed_makes_the_same_world() -> None:
    one, two = world(3, queries=4), world(3, queries=4)
    assert one.gold.frame.equals(two.gold.frame)
    assert one.bronze.frame.equals(two.bronze.frame)
    assert all(a.frame.equals(b.frame) for a, b in zip(one.runs, two.runs, strict=True))


def test_both_judges_label_every_candidate_and_every_retrieved_document_is_one() -> None:
    made = world(1, queries=5, candidates=60)
    assert made.gold.frame.height == made.bronze.frame.height == 5 * 60
    judged = set(made.gold.frame.select("query", "doc").rows())
    assert all(set(run.frame.select("query", "doc").rows()) <= judged for run in made.runs)


def test_the_bronze_judge_errs_more_on_what_the_keyword_system_ranks_high() -> None:
    made = world(5, queries=200)
    keyword = next(run for run in made.runs if run.name == "keyword")
    both = made.gold.frame.join(made.bronze.frame, on=["query", "doc"], suffix="_bronze")
    wrong = both.filter(both["label"] == 0)
    in_top = wrong.join(keyword.ranked(10), on=["query", "doc"])
    assert (in_top["label_bronze"] > 0).mean() > 2 * (wrong["label_bronze"] > 0).mean()


@pytest.mark.simulation
def test_the_winner_by_bronze_labels_is_nearly_always_the_wrong_one() -> None:
    wrong = 0
    for seed in range(40):
        made = world(seed)
        best = {}
        for judge, labels in (("bronze", made.bronze), ("gold", made.gold)):
            means = evaluate(made.runs, labels, "nDCG@10").means()
            best[judge] = max(means, key=lambda run: means[run]["nDCG@10"].value)
        wrong += best["bronze"] != best["gold"]
    assert wrong >= 38


def test_a_world_too_small_is_refused() -> None:
    with pytest.raises(UsageError, match="needs a query and 50 candidates"):
        world(1, queries=0)
