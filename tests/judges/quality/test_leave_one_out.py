"""Leaving a judge out, on the items that this judge labelled, is the same as counting everything anew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ringtrue.judges.quality.judge_findings import Effect
from ringtrue.judges.quality.leave_one_out import LeaveOneOut
from ringtrue.judges.votes import majority, make_votes

rows = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz"), st.integers(0, 2)), min_size=2, max_size=30
)  # fmt: skip


@given(rows, st.lists(st.integers(-1, 2), min_size=4, max_size=4))
def test_it_is_what_counting_the_others_alone_gives(rows: list[tuple[str, str, int]], gold: list[int]) -> None:
    item, judge, label = zip(*rows, strict=True)
    votes = make_votes({"item": item, "judge": judge, "label": label}, scale=[0, 1, 2])
    known = np.array(gold[: votes.items.height])
    effect = LeaveOneOut(votes, known).effect_without(np.flatnonzero(votes.judge == 0))
    rest = LeaveOneOut(votes.keep(votes.judge != 0), known)
    before, after = majority(votes.counts()), majority(rest.counts)
    assert effect.alpha_without == (None if rest.alpha is None else pytest.approx(rest.alpha))
    assert effect.lost == ((before >= 0) & (after < 0)).sum()
    assert effect.changed == ((before != after) & (after >= 0)).sum()
    assert effect.accuracy_without == (pytest.approx(rest.n_right / rest.n_gold) if rest.n_gold else None)


def test_krippendorffs_alpha_by_hand() -> None:
    # Items (0, 0), (1, 1), (0, 1): n = 6, disagreement 2, expected 36 − 18 = 18: 1 − 5 · 2 / 18.
    table = {"item": list("aabbcc"), "judge": list("xyxyxy"), "label": [0, 0, 1, 1, 0, 1]}
    assert LeaveOneOut(make_votes(table), None).alpha == pytest.approx(1 - 10 / 18)


def test_the_effect_is_told_in_words() -> None:
    effect = Effect(
        items=9, changed=0, lost=1, alpha=-0.1, alpha_without=0.2, accuracy=0.5, accuracy_without=0.5, gold=4
    )
    assert str(effect) == (
        "without this judge: changes no majority label; leaves 1 item without a label; "
        "moves nominal alpha from −0.1000 to 0.2000; leaves the majority's accuracy on gold at 50.00%"
    )
    other = Effect(items=9, changed=2, lost=0, alpha=None, alpha_without=None, accuracy=0.5, accuracy_without=1, gold=4)
    assert str(other) == (
        "without this judge: changes the majority label of 2 of 9 items; "
        "moves the majority's accuracy on 4 gold items from 50.00% to 100.00%"
    )
