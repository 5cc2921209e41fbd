"""Coefficients of agreement as other packages compute them, on small datasets made from a seed.

    python tests/golden/agreement.py > tests/golden/agreement.json

was run with Python 3.11 and irrCAC 0.4.4, krippendorff 0.9.0, statsmodels 0.15.0, NumPy 1.26.4 and pandas 2.3.3, in an
environment of their own: irrCAC asks for a NumPy older than ringtrue's, so that the tests read what is written here
instead of calling it. Undefined coefficients are null.

irrCAC gives Fleiss, Conger, Gwet's AC1, Brennan–Prediger and alpha_nominal; krippendorff all four alphas; statsmodels
Fleiss and Randolph where no label is missing, and Cohen's kappa of every pair of judges with its asymptotic standard
errors, around its value (`se`) and around 0 (`null_se`).
"""

from __future__ import annotations

import json
import math
import warnings
from itertools import combinations
from typing import Any

import numpy as np

# name: items, judges, share of each label of the scale, how often a judge says the truth, how much is missing
DATASETS: dict[str, tuple[int, int, list[float], float, float]] = {
    "two judges, two labels": (40, 2, [0.5, 0.5], 0.8, 0.0),
    "two judges, five labels, some missing": (60, 2, [0.3, 0.25, 0.2, 0.15, 0.1], 0.6, 0.2),
    "three judges, complete": (50, 3, [0.4, 0.3, 0.3], 0.7, 0.0),
    "three judges, many missing": (50, 3, [0.4, 0.3, 0.3], 0.7, 0.4),
    "four judges, four labels": (30, 4, [0.4, 0.3, 0.2, 0.1], 0.75, 0.1),
    "six judges, complete": (25, 6, [0.25, 0.25, 0.25, 0.25], 0.65, 0.0),
    "six judges, half missing": (40, 6, [0.4, 0.2, 0.2, 0.1, 0.1], 0.7, 0.5),
    "six judges, most items with one label": (60, 6, [0.5, 0.5], 0.8, 0.8),
    "a label that nobody used": (40, 3, [0.5, 0.0, 0.3, 0.2], 0.7, 0.15),
    "very skewed": (80, 3, [0.94, 0.06], 0.7, 0.1),
    "guesses": (60, 4, [0.25, 0.25, 0.25, 0.25], 0.0, 0.2),
    "nearly perfect": (30, 4, [0.2, 0.5, 0.3], 0.93, 0.1),
    "unanimous, several labels": (20, 3, [0.5, 0.3, 0.2], 1.0, 0.1),
    "everybody the same label": (12, 3, [0.0, 1.0, 0.0], 1.0, 0.1),
}


def made(name: str) -> tuple[list[int], list[list[int | None]]]:
    """The scale, and a row for each item with a label of each judge, or None."""
    items, judges, shares, sure, missing = DATASETS[name]
    rng = np.random.default_rng(list(name.encode()))
    scale = list(range(len(shares))) if len(name) % 2 else list(range(1, len(shares) + 1))
    truth = rng.choice(scale, items, p=shares)
    guess = rng.choice(scale, (items, judges), p=shares)
    said = np.where(rng.random((items, judges)) < sure, truth[:, None], guess)
    there = rng.random((items, judges)) >= missing
    there[0] = True  # so that every two judges share an item
    there[np.arange(items), rng.integers(0, judges, items)] = True  # and no item is without a label
    return scale, [
        [int(label) if is_there else None for label, is_there in zip(row, has, strict=True)]
        for row, has in zip(said, there, strict=True)
    ]


def overall(scale: list[int], rows: list[list[int | None]]) -> dict[str, dict[str, float | None]]:
    """package → coefficient → value."""
    import krippendorff
    import pandas as pd
    from irrCAC.raw import CAC
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    table = np.array([[math.nan if label is None else label for label in row] for row in rows], dtype=float)
    gwet = CAC(pd.DataFrame(table), categories=[float(label) for label in scale], digits=12)
    found: dict[str, dict[str, float | None]] = {
        "irrCAC": {
            name: _value(lambda ask=ask: ask()["est"]["coefficient_value"])
            for name, ask in {
                "fleiss_kappa": gwet.fleiss,
                "conger": gwet.conger,
                "ac1": gwet.gwet,
                "brennan_prediger": gwet.bp,
                "alpha_nominal": gwet.krippendorff,
            }.items()
        },
        "krippendorff": {
            f"alpha_{level}": _value(
                lambda level=level: krippendorff.alpha(table.T, level_of_measurement=level, value_domain=scale)
            )
            for level in ("nominal", "ordinal", "interval", "ratio")
        },
    }
    if not np.isnan(table).any():
        counts = aggregate_raters(table.astype(int) - scale[0], n_cat=len(scale))[0]
        found["statsmodels"] = {
            "fleiss_kappa": _value(lambda: fleiss_kappa(counts, method="fleiss")),
            "randolph": _value(lambda: fleiss_kappa(counts, method="randolph")),
        }
    return found


def pair(scale: list[int], rows: list[list[int | None]], a: int, b: int) -> dict[str, Any]:
    """Cohen's kappa of judges a and b on the items that both labelled."""
    from statsmodels.stats.inter_rater import cohens_kappa

    table = np.zeros((len(scale), len(scale)))
    for row in rows:
        if row[a] is not None and row[b] is not None:
            table[scale.index(row[a]), scale.index(row[b])] += 1
    found: dict[str, Any] = {"a": f"j{a}", "b": f"j{b}", "n": int(table.sum())}
    for name, weights in (("kappa", None), ("kappa_linear", "linear"), ("kappa_quadratic", "quadratic")):
        found[name] = _value(lambda weights=weights: cohens_kappa(table, wt=weights).kappa)
    found["se"] = _value(lambda: cohens_kappa(table).std_kappa)
    found["null_se"] = _value(lambda: cohens_kappa(table).std_kappa0)
    return found


def _value(compute: Any) -> float | None:
    """A number, or None where the package finds none."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value = float(compute())
        except (ZeroDivisionError, ValueError):
            return None
    return value if math.isfinite(value) else None


def main() -> None:
    """Print every dataset with what the packages say of it."""
    written = {}
    for name in DATASETS:
        scale, rows = made(name)
        judges = range(len(rows[0]))
        written[name] = {
            "scale": scale,
            "labels": rows,
            "overall": overall(scale, rows),
            "pairs": [pair(scale, rows, a, b) for a, b in combinations(judges, 2)],
        }
    lines = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in written.items()]
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
