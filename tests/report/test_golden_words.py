"""What whole pages say, for a handful of situations; numbers and codes are asserted in the tests of the sections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from report.page_words import words_of
from report.small_inputs import by_hand, compared, noisy, simulated
from ringtrue.report.build import build_report
from ringtrue.report.inputs import ReportInputs
from ringtrue.stats.confusion import Confusion

MATRIX = Confusion(rows="tester", columns="trainer", labels=(0, 1), counts=np.array([[80, 20], [10, 40]]))
SITUATIONS: dict[str, Callable[[], ReportInputs]] = {
    "two-runs": lambda: by_hand({"new": [1, 1, 2, 1, 3, 1], "old": [2, 1, 4, 3, 3, 11]}),
    "one-run-and-a-matrix": lambda: by_hand({"new": [1, 1, 2]}, confusion=MATRIX),
    "no-gold": lambda: simulated("none"),
    "gold-documents": lambda: replace(
        simulated("documents"), paths={"runs": ["a.run", "b.run"], "judgments": ["b.qrels"], "gold": ["gold.csv"]}
    ),
    "gold-whole-queries": lambda: simulated("whole queries"),
    "gold-to-compare": compared,
    "contradicting-differences": lambda: noisy(156),
    "judges-alone": lambda: replace(simulated("none"), runs=(), judgments=None),
}


@pytest.mark.slow
@pytest.mark.parametrize("situation", SITUATIONS)
def test_golden_words_of_a_page(situation: str, golden: Callable[[str, str], None]) -> None:
    golden(f"report/page-{situation}.txt", words_of(build_report(SITUATIONS[situation]())))
