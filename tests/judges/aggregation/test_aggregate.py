"""aggregate: many judges, one label; and what is said about odd input."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from ringtrue.errors import DuplicateError, TableError, UsageError
from ringtrue.judges.aggregation import METHODS, Prior, aggregate
from ringtrue.judges.votes import Votes, make_votes
from strategies import examples, judged

MODELS = ["dawid-skene", "one-coin", "mace"]
methods = st.sampled_from(METHODS)
LABELS = {
    "query": ["q"] * 9,
    "doc": ["d1"] * 3 + ["d2"] * 3 + ["d3"] * 3,
    "judge": ["ann", "bob", "cat"] * 3,
    "label": [2, 2, 1, 0, 0, 0, 1, 1, 2],
}


def flat(answer: rt.Aggregation) -> str:
    return json.dumps(answer.as_dict(), allow_nan=False)


@examples(40)
@given(judged(), methods)
def test_every_answer_is_whole_and_has_no_nan(votes: Votes, method: Any) -> None:
    answer = aggregate(votes, method=method, repeats="all")
    assert answer.items.height == len(answer.probabilities) == votes.items.height
    assert answer.items["votes"].sum() == votes.size
    assert set(answer.items["label"]) <= set(votes.labels)
    assert sum(answer.class_shares.values()) == pytest.approx(1)
    assert [one.judge for one in answer.judges] == list(votes.judges)
    assert sum(one.labels for one in answer.judges) == votes.size
    flat(answer)
    for one in answer.judges:
        if one.accuracy.value is not None:
            assert one.accuracy.low <= one.accuracy.value + 1e-12
            assert one.accuracy.high >= one.accuracy.value - 1e-12


@examples(40)
@given(judged(), methods, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing(votes: Votes, method: Any, random: Any) -> None:
    rows = [(*votes.items.row(i), votes.judges[j], votes.labels[k])
            for i, j, k in zip(votes.item, votes.judge, votes.label, strict=True)]  # fmt: skip
    answers = []
    for some in (rows, random.sample(rows, len(rows))):
        frame = pl.DataFrame(some, schema=["query", "doc", "judge", "label"], orient="row")
        answers.append(aggregate(frame, method=method, repeats="all", max_iterations=50).items.sort("query", "doc"))
    assert answers[0]["probability"].to_list() == pytest.approx(answers[1]["probability"].to_list(), abs=1e-6)


@given(judged(), st.sampled_from(["majority", "mean", "median"]))
def test_a_vote_where_all_agree_gives_what_they_say(votes: Votes, method: Any) -> None:
    counts = votes.counts()
    alone = Votes(
        items=votes.items, judges=votes.judges, labels=votes.labels, item=votes.item, judge=votes.judge,
        label=counts.argmax(axis=1).astype(np.int32)[votes.item], others=votes.others,
    )  # fmt: skip
    answer = aggregate(alone, method=method, repeats="all")
    said = np.array(votes.labels)[counts.argmax(axis=1)].tolist()
    assert answer.items["label"].to_list() == said
    assert answer.items["probability"].to_list() == [1] * len(said)


def test_the_keys_of_the_json_stand_in_the_order_of_the_contract() -> None:
    plain = json.loads(flat(aggregate(LABELS)))
    assert list(plain)[:6] == ["items", "method", "class_shares", "objective", "log_likelihood", "judges"]
    assert plain["items"] == 3
    assert list(plain["class_shares"]) == ["0", "1", "2"]
    assert list(plain["judges"][0]) == ["judge", "labels", "accuracy", "confusion", "rates"]
    assert plain["judges"][0]["confusion"]["rows"] == "truth"


def test_the_labels_are_judgments_for_evaluate() -> None:
    one = aggregate(LABELS, method="majority")
    assert one.judgments().frame.rows() == [("q", "d1", "0", 2), ("q", "d2", "0", 0), ("q", "d3", "0", 1)]
    scores = rt.evaluate({"q": {"d2": 2.0, "d1": 1.0}}, one.judgments(), "RR")
    assert scores.means()["run"]["RR"].value == 0.5
    assert one.frame.columns == ["query", "doc", "label", "probability", "p_0", "p_1", "p_2", "votes"]
    mean = aggregate(LABELS, method="mean").frame
    assert mean.columns == ["query", "doc", "label", "probability", "p_0", "p_1", "p_2", "votes", "value"]


def test_preferences_are_aggregated_pair_by_pair() -> None:
    votes = {"query": ["q"] * 3, "left": ["a", "b", "a"], "right": ["b", "a", "b"], "judge": [*"xyz"],
             "winner": ["left", "right", "right"]}  # fmt: skip
    answer = aggregate(votes, method="majority")
    assert answer.items.rows() == [("q", "a", "b", 1, pytest.approx(2 / 3), 3)]
    with pytest.raises(UsageError) as refused:
        answer.judgments()
    assert refused.value.code == "not-for-preferences"


@pytest.mark.parametrize("method", METHODS)
def test_one_judge_gets_the_labels_back_with_a_note(method: Any) -> None:
    table = {"item": [1, 2, 3], "worker": ["x"] * 3, "label": [0, 1, 1]}
    answer = aggregate(table, method=method)
    assert answer.items["label"].to_list() == [0, 1, 1]
    assert "one-judge" in [note.code for note in answer.notes]
    assert (answer.judges[0].accuracy.value, answer.objective) == (None, ())
    flat(answer)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [None, [0, 1, 2]])
@pytest.mark.parametrize("prior", [None, Prior()])
def test_everybody_the_same_label_is_fine(method: Any, scale: list[int] | None, prior: Prior | None) -> None:
    table = {"item": [1, 1, 2, 2], "worker": [*"abab"], "label": [1, 1, 1, 1]}
    answer = aggregate(table, method=method, scale=scale, prior=prior)
    assert answer.items["label"].to_list() == [1, 1]
    assert answer.class_shares[1] == pytest.approx(1, abs=1e-3)
    assert all(one.accuracy.value == pytest.approx(1, abs=1e-3) for one in answer.judges)
    flat(answer)


def test_gold_outside_what_the_judges_said_widens_the_scale() -> None:
    answer = aggregate(LABELS, gold={"query": ["q"], "doc": ["d1"], "label": [3]})
    assert answer.labels == (0, 1, 2, 3)
    assert answer.items["label"][0] == 3
    assert answer.gold == 1


@pytest.mark.parametrize("method", MODELS)
def test_gold_teaches_who_is_right(method: Any) -> None:
    # Two careless judges outvote a careful one; gold for half of the items tells them apart.
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=200)
    careless = [rng.integers(3, size=200) for _ in range(2)]
    table = {"item": [*range(200)] * 3, "worker": ["a"] * 200 + ["b"] * 200 + ["c"] * 200,
             "label": np.concatenate([truth, *careless]).tolist()}  # fmt: skip
    answer = aggregate(table, method=method, gold={"item": [*range(100)], "label": truth[:100].tolist()})
    assert (answer.items["label"].to_numpy()[100:] == truth[100:]).mean() > 0.98


@pytest.mark.parametrize("method", MODELS)
def test_a_start_where_it_ended_stays_there(method: Any) -> None:
    rng = np.random.default_rng(1)
    said = np.where(rng.random(400) < 0.7, np.tile(np.arange(100) % 3, 4), rng.integers(3, size=400))
    table = {"item": [*range(100)] * 4, "worker": np.repeat([*"abcd"], 100).tolist(), "label": said.tolist()}
    first = aggregate(table, method=method, tolerance=1e-9)
    again = aggregate(table, method=method, start=first)
    assert again.iterations <= 2 < first.iterations
    assert again.probabilities == pytest.approx(first.probabilities, abs=1e-6)
    assert again.objective[0] == pytest.approx(first.objective[-1])


def test_a_start_helps_with_new_items_of_known_judges() -> None:
    known = {"item": [*range(60)] * 3, "worker": np.repeat([*"abc"], 60).tolist(),
             "label": [*([0, 1] * 30), *([0, 1] * 30), *([1, 0] * 30)]}  # fmt: skip
    first = aggregate(known)
    # c, who always says the opposite, and a alone on a new item: a vote is a tie.
    new = {"item": ["n", "n"], "worker": ["a", "c"], "label": [1, 0]}
    assert aggregate(new, start=first, max_iterations=1).items["label"].to_list() == [1]
    assert aggregate(new, method="majority").ties == 1


def test_a_start_that_knows_nothing_here_is_told() -> None:
    other = aggregate({"item": [1, 1], "worker": ["x", "y"], "label": [0, 1]})
    assert "unusable-start" in [note.code for note in aggregate(LABELS, start=other).notes]
    same = aggregate({"item": [1, 1, 1], "worker": ["x", "y", "z"], "label": [0, 1, 2]})
    assert "unusable-start" in [note.code for note in aggregate(LABELS, start=same).notes]
    with pytest.raises(UsageError) as refused:
        aggregate(LABELS, method="majority", start=same)
    assert refused.value.code == "start-of-a-vote"


def test_a_start_without_a_prior_that_calls_the_new_votes_impossible_still_starts() -> None:
    first = aggregate({"item": [1, 1, 2, 2], "worker": [*"abab"], "label": [0, 0, 1, 1]}, prior=None)
    new = aggregate({"item": [3, 3, 4, 4], "worker": [*"abab"], "label": [0, 1, 1, 0]}, prior=None, start=first)
    assert np.isfinite(new.probabilities).all()


def test_too_few_iterations_are_told() -> None:
    answer = aggregate(LABELS, max_iterations=1)
    assert not answer.converged
    (note,) = [note for note in answer.notes if note.code == "not-converged"]
    assert "1 iteration" in note
    assert note.suggestions[0].arguments == {"max_iterations": ...}


def test_a_model_that_one_judge_misleads_is_told() -> None:
    # One judge says 1 of everything; each item has one more label, by one of twenty who are right more often than not.
    # With one accuracy for each judge, the 300 labels of the first are best explained if everything is 1.
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=300)
    rows = [(item, "lazy", 1) for item in range(300)]
    rows += [(item, f"w{rng.integers(20)}", int(truth[item] if rng.random() < 0.5 else rng.integers(3)))
             for item in range(300)]  # fmt: skip
    table = {"item": [r[0] for r in rows], "worker": [r[1] for r in rows], "label": [r[2] for r in rows]}
    answer = aggregate(table, method="one-coin")
    assert answer.class_shares[1] > 0.95
    (note,) = [note for note in answer.notes if note.code == "shares-unlike-votes"]
    assert note.suggestions[0].arguments == {"method": "majority"}


def test_items_without_a_vote_are_left_out_with_a_note() -> None:
    votes = make_votes(LABELS)
    some = votes.keep(votes.item != 1)
    for method in METHODS:
        answer = aggregate(some, method=method)
        assert answer.items["doc"].to_list() == ["d1", "d3"]
        assert "unlabelled-items" in [note.code for note in answer.notes]


def test_a_judge_left_without_a_vote_has_no_accuracy() -> None:
    votes = make_votes(LABELS)
    some = votes.keep(votes.judge != 2)
    for method in METHODS:
        cat = aggregate(some, method=method).judges[2]
        assert (cat.labels, cat.accuracy.value) == (0, None)
        assert cat.accuracy.notes


def test_repeats_are_refused_until_somebody_chooses() -> None:
    table = {"item": [1, 1, 1], "worker": [*"aab"], "label": [0, 1, 1]}
    with pytest.raises(DuplicateError) as refused:
        aggregate(table)
    assert refused.value.code == "repeated-labels"
    assert aggregate(table, method="majority", repeats="last").items["votes"].to_list() == [2]
    assert aggregate(table, method="majority", repeats="all").items["votes"].to_list() == [3]


@pytest.mark.parametrize(
    ("settings", "code", "found"),
    [
        ({"method": "dawid"}, "unknown-choice", "'dawid-skene'?"),
        ({"ties": "middle"}, "unknown-choice", "found 'middle'"),
        ({"max_iterations": 0}, "out-of-range", "found 0"),
        ({"tolerance": -1}, "out-of-range", "found -1"),
    ],
)
def test_what_makes_no_sense_is_refused(settings: Any, code: str, found: str) -> None:
    with pytest.raises(UsageError) as refused:
        aggregate(LABELS, **settings)
    assert (refused.value.code, {refused.value.parameter}) == (code, set(settings))
    assert found in refused.value.text


def test_a_level_that_no_interval_has_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        aggregate(LABELS, level=1.5)
    assert (refused.value.code, refused.value.parameter) == ("bad-level", "level")


def test_labels_outside_the_scale_are_refused_or_left_out() -> None:
    with pytest.raises(TableError) as refused:
        aggregate(LABELS, scale=[0, 1])
    assert refused.value.code == "labels-outside-scale"
    assert aggregate(LABELS, scale=[0, 1], outside="exclude").labels == (0, 1)


def test_a_prior_has_no_negative_counts() -> None:
    with pytest.raises(UsageError) as refused:
        Prior(diagonal=-1)
    assert refused.value.code == "out-of-range"


def test_progress_is_told_of_every_iteration() -> None:
    told: list[int] = []
    answer = aggregate(LABELS, progress=told.append)
    assert told == [9 * 3] * answer.iterations
