"""Votes that tests of ratings share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from ringtrue.preference.matches import Matches
from ringtrue.tables import Preferences


def preferences(rows: Sequence[tuple[str, ...]]) -> Preferences:
    """Rows of left, right, winner; or of query, left, right, winner; or with a judge behind."""
    names = {3: ("left", "right", "winner"), 4: ("query", "left", "right", "winner")}
    columns = names.get(len(rows[0]), ("query", "left", "right", "winner", "judge"))
    return Preferences.of(pl.DataFrame(rows, schema=list(columns), orient="row"))


def matches(rows: Sequence[tuple[str, ...]]) -> Matches:
    return Matches.of(preferences(rows), repeats="all")


def random_votes(
    seed: int, *, docs: int = 8, votes: int = 60, queries: int = 1, judges: int = 1, ties: float = 0.1
) -> Preferences:
    """Votes by chance, in which the document with the higher number is more often preferred."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(votes):
        left, right = rng.choice(docs, 2, replace=False)
        chance = 1 / (1 + np.exp((right - left) / 2))
        word = "tie" if rng.random() < ties else "left" if rng.random() < chance else "right"
        rows.append(
            (
                f"q{rng.integers(queries)}",
                f"d{left}",
                f"d{right}",
                word,
                f"j{rng.integers(judges)}" if judges > 1 else "0",
            )
        )
    return preferences(rows)
