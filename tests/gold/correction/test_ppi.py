"""A second opinion from ppi_py on the correction by whole queries; tests/golden/ppi.py made its answers."""

import json
from pathlib import Path

import numpy as np
import pytest

from ringtrue.gold.correction.query_means import correct_by_query

CASES = json.loads((Path(__file__).parents[2] / "golden/ppi.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{len(case['gold'])} of {len(case['bronze'])} queries")
def test_the_mean_by_whole_queries_is_that_of_ppi_py(case: dict) -> None:
    gold = np.array([case["gold"]])
    found = correct_by_query(np.array([case["bronze"]]), gold, np.arange(gold.shape[1]), population="these")
    # Ours goes a part of the way from gold alone to theirs: fewer queries, less of it.
    n, alone = gold.shape[1], gold.mean()
    assert found.values[0] == pytest.approx(alone + n / (n + 5) * (case["found"] - alone), abs=1e-12)
