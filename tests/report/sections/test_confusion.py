"""Confusion matrices as heatmaps and in words."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from ringtrue.report.sections.confusion import confusion_grid, confusion_heatmap, worst_mistake
from ringtrue.stats.confusion import Confusion

KNOWN = Confusion(rows="gold", columns="ann", labels=(0, 1), counts=np.array([[0.8, 0.2], [0.3, 0.7]]),
                  worth=np.full(2, np.inf))  # fmt: skip


def test_shares_that_are_exactly_known_stand_in_the_cells_where_there_are_no_counts() -> None:
    assert confusion_heatmap(KNOWN, up="gold", across="ann").texts == (("80%", "20%"), ("30%", "70%"))
    assert confusion_grid([("ann", KNOWN, None)], "gold").rows[0][-1] == "–"


def test_a_label_that_was_never_given_has_an_empty_row() -> None:
    table = Confusion(rows="gold", columns="ann", labels=(0, 1), counts=np.array([[3, 1], [0, 0]]))
    found = confusion_heatmap(table, up="gold", across="ann")
    assert found.values == ((0.75, 0.25), (None, None))
    assert found.texts == (("75%\n3", "25%\n1"), ("0", "0"))


def test_a_judge_who_never_errs_has_no_worst_mistake() -> None:
    table = Confusion(rows="gold", columns="ann", labels=(0, 1), counts=np.eye(2, dtype=np.int64))
    assert worst_mistake(table) is None


@given(cells=st.lists(st.integers(0, 20), min_size=9, max_size=9))
def test_no_other_mistake_has_more_labels(cells: list[int]) -> None:
    counts = np.array(cells).reshape(3, 3)
    table = Confusion(rows="gold", columns="ann", labels=(0, 1, 2), counts=counts)
    found = worst_mistake(table)
    wrong = counts * (1 - np.eye(3, dtype=np.int64))
    if found is None:
        assert not wrong.any()
    else:
        assert counts[found.truth, found.said] == wrong.max()
        assert found.share == counts[found.truth, found.said] / counts[found.truth].sum()
