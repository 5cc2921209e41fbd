"""Traps: who passes, which batches are accepted, and how often luck is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import ringtrue as rt
from ringtrue.errors import DuplicateError, MismatchError, UsageError
from ringtrue.judges.quality.traps import chance_accepted, required_passes

LABELS = {
    "query": ["q"] * 8,
    "doc": list("abcdabcd"),
    "judge": ["x"] * 4 + ["y"] * 4,
    "label": [1, 0, 1, 1, 0, 1, 0, 1],
    "batch": [1, 1, 2, 2, 1, 1, 2, 2],
}
TRAPS = {"query": ["q"] * 3, "doc": list("abc"), "label": [1, 0, 1]}


@given(st.integers(1, 40), st.integers(1, 9), st.integers(0, 9), st.floats(0.05, 0.95))
def test_luck_is_binomial(n: int, least: int, more: int, guess: float) -> None:
    rule = (least, least + more)
    assert chance_accepted(n, rule, guess) == pytest.approx(
        stats.binom.sf(required_passes(n, rule) - 1, n, guess), abs=1e-9
    )


def test_two_of_five_lets_81_of_100_coin_flippers_through_and_four_of_five_19() -> None:
    assert (chance_accepted(5, (2, 5), 0.5), chance_accepted(5, (4, 5), 0.5)) == (0.8125, 0.1875)


def test_passes_and_batches_by_hand() -> None:
    quality = rt.judge_quality(LABELS, traps=TRAPS)
    x, y = (one.traps for one in quality)
    assert x is not None
    assert y is not None
    assert (x.passed, x.n, x.accepted, x.batches, x.rate.value) == (3, 3, 2, 2, 1.0)
    assert (y.passed, y.n, y.accepted, y.batches) == (0, 3, 0, 2)
    assert x.guessing == pytest.approx((0.75 + 0.5) / 2)  # two traps need one, one trap needs one
    notes = {note.code: note for note in quality.notes}
    assert notes["refused-batches"].startswith("2 of 4 ")
    assert "81% of batches" in notes["accept-rule"]
    assert notes["accept-rule"].suggestions[0].arguments == {"accept": (4, 5)}


def test_without_a_column_batch_all_of_a_judges_work_is_one() -> None:
    table = {name: column for name, column in LABELS.items() if name != "batch"}
    assert [one.traps.batches for one in rt.judge_quality(table, traps=TRAPS) if one.traps] == [1, 1]


def test_trap_items_do_not_count_for_the_consensus_but_do_for_gold() -> None:
    quality = rt.judge_quality(LABELS, traps=TRAPS)
    assert [one.consensus_accuracy.n for one in quality] == [1, 1]
    assert [one.gold_accuracy.n for one in rt.judge_quality(LABELS, traps=TRAPS, gold=TRAPS) if one.gold_accuracy] == [
        3,
        3,
    ]


def test_a_pair_is_passed_by_the_same_winner_on_whichever_side() -> None:
    table = {
        "query": ["q", "q"], "left": ["a", "b"], "right": ["b", "a"], "judge": ["x", "y"], "winner": ["left", "left"],
    }  # fmt: skip
    trap = {"query": ["q"], "left": ["b"], "right": ["a"], "winner": ["right"]}
    assert [one.traps.passed for one in rt.judge_quality(table, traps=trap) if one.traps] == [1, 0]


def test_a_judge_who_met_no_trap_is_named() -> None:
    table = {"item": ["a", "b", "a"], "judge": ["x", "y", "z"], "label": [1, 1, 0]}
    quality = rt.judge_quality(table, traps={"item": ["a"], "label": [1]})
    assert quality["y"].traps is not None
    assert (quality["y"].traps.n, quality["y"].traps.rate.value, quality["y"].traps.guessing) == (0, None, None)
    (note,) = [note for note in quality.notes if note.code == "judges-without-traps"]
    assert note.startswith("y ")


def test_traps_that_fit_nothing_are_refused() -> None:
    with pytest.raises(MismatchError) as refused:
        rt.judge_quality(LABELS, traps={"query": ["q"], "doc": ["z"], "label": [1]})
    assert refused.value.code == "no-trap-met"
    assert "document 'z' of query 'q'" in refused.value.text
    with pytest.raises(MismatchError) as refused:
        rt.judge_quality(LABELS, traps={"query": ["q"], "left": ["a"], "right": ["b"], "winner": ["left"]})
    assert refused.value.code == "labels-and-pairs"
    with pytest.raises(DuplicateError) as refused_twice:
        rt.judge_quality(LABELS, traps={"query": ["q", "q"], "doc": ["a", "a"], "label": [1, 0]})
    assert (refused_twice.value.code, refused_twice.value.note.subject) == ("several-labels", "traps")


@pytest.mark.parametrize("rule", [(0, 5), (6, 5), (1, 0)])
def test_a_rule_that_makes_no_sense_is_refused(rule: tuple[int, int]) -> None:
    with pytest.raises(UsageError) as refused:
        rt.judge_quality(LABELS, traps=TRAPS, accept=rule)
    assert (refused.value.code, refused.value.parameter) == ("out-of-range", "accept")


def test_traps_met_again_in_other_batches_are_told_alike_in_the_flag_and_in_the_record() -> None:
    rng = np.random.default_rng(3)
    rows = [(f"t{trap}", judge, batch, int(rng.random() < (0.95 if judge != "rnd" else 0.3)))
            for judge in ("ann", "bob", "cid", "rnd") for batch in range(12)
            for trap in rng.choice(20, 4, replace=False)]  # fmt: skip
    names = ("item", "judge", "batch", "label")
    table = {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    traps = {"item": [f"t{trap}" for trap in range(20)], "label": [1] * 20}
    rnd = rt.judge_quality(table, traps=traps, repeats="all")["rnd"]
    (flag,) = [flag for flag in rnd.flags if flag.kind == "traps"]
    said, others = ([one for one in rows if (one[1] == "rnd") == own] for own in (True, False))
    passed = sum(label for *_, label in said)
    accepted = sum(sum(label for *_, label in said if _[2] == batch) >= 2 for batch in range(12))
    assert rnd.traps is not None
    assert (rnd.traps.passed, rnd.traps.n, rnd.traps.accepted, rnd.traps.batches) == (passed, 48, accepted, 12)
    by_trap = {f"t{trap}": [label for item, *_, label in others if item == f"t{trap}"] for trap in range(20)}
    share = np.mean([np.mean(by_trap[item]) for item, *_ in said])
    assert f"{passed} of 48 traps" in flag.reason
    assert f"{100 * share:.0f}% of" in flag.reason
    assert f"{accepted} of 12 batches" in flag.reason


def test_a_judges_own_repeats_are_not_the_others() -> None:
    table = {"item": ["a"] * 4 + ["b", "b"], "judge": [*"xxxyxy"], "label": [0, 0, 0, 1, 1, 1]}
    x = rt.judge_quality(table, gold={"item": ["a", "b"], "label": [1, 1]}, repeats="all")["x"]
    assert (x.accuracy.value, x.others_accuracy) == (0.25, 1.0)
