"""What ppi_py says of means over queries: makes ppi.json.

    python -m venv ppi && ppi/bin/pip install ppi-python==0.2.3
    ppi/bin/python tests/golden/ppi.py

It brings numba and scikit-learn, and so is no dependency of the tests. It takes the bronze values of the queries
without gold apart, where ours takes those of all; with n of Q queries its λ is ours times 1 − n/Q.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np


def main() -> None:
    """Three worlds of queries with gold for some."""
    from ppi_py import ppi_mean_pointestimate

    rng = np.random.default_rng(5)
    cases = []
    for queries, known in ((43, 20), (60, 12), (200, 50)):
        gold = rng.beta(2, 2, queries)
        bronze = np.clip(0.2 + 0.6 * gold + rng.normal(0, 0.15, queries), 0, 1)
        slope = float(np.cov(gold[:known], bronze[:known])[0, 1] / bronze[:known].var(ddof=1))
        found = ppi_mean_pointestimate(gold[:known], bronze[:known], bronze[known:], lam=slope * (1 - known / queries))
        cases.append({"bronze": bronze.tolist(), "gold": gold[:known].tolist(), "found": float(np.ravel(found)[0])})
    Path(__file__).with_suffix(".json").write_text(json.dumps(cases))


if __name__ == "__main__":
    main()
