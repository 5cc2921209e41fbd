"""Methods and designs on the same votes: who finds the good documents."""

from __future__ import annotations

import numpy as np
import pytest

from ringtrue.errors import UsageError
from ringtrue.evaluation.measures import parse
from ringtrue.preference.pair_designs import choose_seed_pairs
from ringtrue.preference.rating_methods import RatingSettings
from ringtrue.simulation.studies.rating_designs import (
    METHODS,
    MIN_STEP,
    _score_ratings,
    estimate_group_steps,
    make_rating_settings,
    score_designs,
)
from ringtrue.simulation.worlds.compared_topics import PreferenceWorld, simulate_topics

SMALL = PreferenceWorld(topics=4, docs=20)


def test_scores_are_those_of_evaluate() -> None:
    import ringtrue as rt

    rng = np.random.default_rng(5)
    topics = simulate_topics(SMALL, rng)
    votes = topics.collect_votes(topics.unvoted, choose_seed_pairs(topics.unvoted, votes=4, budget=None, rng=rng), rng)
    how = RatingSettings(interval="none")
    ours = _score_ratings(topics, votes, how, rng.random(80))
    docs = votes.docs
    run = rt.Run.of(docs.with_columns(score=how.rate_votes(votes).ratings), name="bt")
    gold = rt.Judgments.of(docs.with_columns(label=topics.grade))
    theirs = rt.evaluate(run, gold, ["AUC", "nDCG(dcg=exp-log2)@10"])
    assert parse("nDCG(dcg=exp-log2)@10")
    found = [theirs.means()["bt"][name].value for name in theirs.means()["bt"]]
    assert ours == pytest.approx(found)


def test_k_start_scale_and_passes_reach_the_methods() -> None:
    ways = make_rating_settings(k=8, start=0, scale=400, variance=9, ridge=1, balance=1, passes=3)
    assert tuple(ways) == METHODS
    assert (ways["elo"].k, ways["elo"].start, ways["elo"].scale, ways["elo"].passes) == (8, 0, 400, 3)
    assert (ways["glicko"].variance, ways["crowd-bt"].ridge, ways["win-rate"].balance) == (9, 1, 1)


@pytest.mark.slow
def test_all_designs_spend_the_same_votes_and_the_same_seed_gives_the_same() -> None:
    ways = {"bradley-terry": make_rating_settings()["bradley-terry"]}
    designs = ("seed", "random", "swiss", "active")
    one, again = (
        score_designs(np.random.default_rng(2), SMALL, methods=ways, designs=designs, shares=(0.5, 1), replications=2)
        for _ in "ab"
    )
    full = 4 * (15 + 5 * 14)
    assert [(x.design, x.share) for x in one] == [(design, share) for design in designs for share in (0.5, 1)]
    for x, y in zip(one, again, strict=True):
        assert x.share * full - 4 < x.votes <= x.share * full
        assert (x.ndcg == y.ndcg).all()


@pytest.mark.slow
def test_steps_are_paired_differences_by_hand() -> None:
    found = score_designs(np.random.default_rng(2), SMALL, replications=3)
    by_name = {one.method: one for one in found}
    (_, auc, ndcg), *_, (name, last, _) = estimate_group_steps(found)
    apart = by_name["elo"].auc - by_name["win-rate"].auc
    assert auc.value == pytest.approx(apart.mean())
    assert auc.se == pytest.approx(apart.std(ddof=1) / np.sqrt(3))
    assert ndcg.value == pytest.approx((by_name["elo"].ndcg - by_name["win-rate"].ndcg).mean())
    assert name == "crowd-bt and sensitivity over elo+em"
    both = (by_name["crowd-bt"].auc + by_name["sensitivity"].auc) / 2
    assert last.value == pytest.approx((both - by_name["elo+em"].auc).mean())


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"replications": 1}, "study-too-small"),
        ({"votes": 13}, "crew-too-small"),
        ({"shares": (0.5, 1.5)}, "not-a-share"),
    ],
)
def test_studies_that_make_no_sense_are_refused(settings: dict[str, object], code: str) -> None:
    with pytest.raises(UsageError) as refused:
        score_designs(np.random.default_rng(0), **settings)  # type: ignore[arg-type]
    assert refused.value.code == code


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("guess", "oppose", "replications"), [(0.2, 0.05, 4), pytest.param(0.4, 0.1, 6, marks=pytest.mark.study)]
)
def test_methods_stand_in_their_groups(guess: float, oppose: float, replications: int) -> None:
    world = PreferenceWorld(random=guess, adversarial=oppose)
    steps = estimate_group_steps(score_designs(np.random.default_rng(7), world, replications=replications))
    for _, auc, ndcg in steps[:2]:
        assert auc.value > 0.005  # twice as much in the long run: room for chance
        assert ndcg.value > 0.02
    for one in steps[2][1:]:  # to rate judges together with documents is at least as good
        assert one.value > -MIN_STEP / 2


@pytest.mark.simulation
@pytest.mark.study
def test_a_quarter_of_the_votes_is_enough_where_they_are_asked_well() -> None:
    # Honest workers: over 20 replications .977 with a quarter of the votes, .957 for the published design with all.
    world = PreferenceWorld(initial=2.0, random=0, adversarial=0)
    ways = {"bradley-terry": make_rating_settings()["bradley-terry"]}
    designs, shares = ("seed", "random", "active"), (0.25, 1)
    found = {
        (one.design, one.share): one.ndcg
        for one in score_designs(
            np.random.default_rng(3), world, methods=ways, designs=designs, shares=shares, replications=3
        )
    }
    assert (found["active", 0.25] - found["seed", 1]).mean() > 0
    assert (found["active", 0.25] - found["random", 0.25]).mean() > 0.1
    assert (found["active", 1] - found["seed", 1]).mean() > 0
