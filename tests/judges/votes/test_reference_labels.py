"""What most of the others say."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, strategies as st

import ringtrue.judges.votes.reference_labels as reference_labels
from ringtrue.judges.votes import Votes, make_votes
from ringtrue.judges.votes.reference_labels import NO_OTHERS, TIED, leave_one_out_consensus

rows = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("vwxyz"), st.integers(0, 3)), min_size=1, max_size=30
)  # fmt: skip


def voted(rows: list[tuple[str, str, int]]) -> Votes:
    item, judge, label = zip(*rows, strict=True)
    return make_votes({"item": item, "judge": judge, "label": label})


@given(rows)
def test_it_is_what_a_slow_loop_over_the_others_finds(rows: list[tuple[str, str, int]]) -> None:
    votes = voted(rows)
    found = leave_one_out_consensus(votes)
    for place, (item, judge, _) in enumerate(rows):
        others = [label for i, j, label in rows if i == item and j != judge]
        most = Counter(others).most_common()
        if not others:
            assert found.label[place] == NO_OTHERS
            assert np.isnan(found.mean[place])
        else:
            tied = len(most) > 1 and most[0][1] == most[1][1]
            assert found.label[place] == (TIED if tied else votes.labels.index(most[0][0]))
            assert np.isclose(found.mean[place], np.mean(others))


@given(rows)
def test_pieces_change_nothing(rows: list[tuple[str, str, int]]) -> None:
    whole = leave_one_out_consensus(voted(rows))
    before, reference_labels.MAX_CELLS = reference_labels.MAX_CELLS, 1
    try:
        pieces = leave_one_out_consensus(voted(rows))
    finally:
        reference_labels.MAX_CELLS = before
    assert pieces.label.tolist() == whole.label.tolist()
