"""Crowds made on the spot, with known truth."""

from __future__ import annotations

from typing import Any

import numpy as np

Table = dict[str, Any]


def crowd(
    rng: np.random.Generator,
    *,
    judges: int = 12,
    queries: int = 20,
    documents: int = 10,
    votes: int = 5,
    labels: int = 3,
    accuracy: np.ndarray | float = 0.7,
    repeated: float = 0.0,
) -> tuple[Table, Table]:
    """Labels of judges who know the truth by chance, more often of easy items, and else guess; and the truth."""
    items = queries * documents
    truth, easy = rng.integers(0, labels, items), rng.normal(0, 0.15, items)
    item = np.repeat(np.arange(items), votes)
    judge = np.concatenate([rng.choice(judges, votes, replace=False) for _ in range(items)])
    again = rng.random(len(item)) < repeated
    item, judge = np.concatenate([item, item[again]]), np.concatenate([judge, judge[again]])
    knows = rng.random(len(item)) < np.broadcast_to(accuracy, judges)[judge] + easy[item]
    label = np.where(knows, truth[item], rng.integers(0, labels, len(item)))
    table = {
        "query": [f"q{one // documents}" for one in item], "doc": [f"d{one}" for one in item],
        "judge": [f"j{one}" for one in judge], "label": label, "seconds": rng.lognormal(2, 1, len(item)),
        "time": rng.permutation(len(item)),
    }  # fmt: skip
    gold = {"query": [f"q{one // documents}" for one in range(items)], "doc": [f"d{one}" for one in range(items)]}
    return table, gold | {"label": truth}


def compared(
    rng: np.random.Generator, *, judges: int = 12, pairs: int = 200, votes: int = 5, left: np.ndarray | float = 0.0
) -> Table:
    """Preferences between documents of different worth, sides at random; `left` is how often a judge says left."""
    worth, sides = rng.normal(size=pairs), rng.random((pairs, votes)) < 0.5
    judge = np.stack([rng.choice(judges, votes, replace=False) for _ in range(pairs)])
    first = rng.random((pairs, votes)) < 1 / (1 + np.exp(-worth[:, None]))
    won_left = np.where(rng.random((pairs, votes)) < np.broadcast_to(left, judges)[judge], True, first == sides)
    tie = rng.random((pairs, votes)) < 0.2
    pair = np.broadcast_to(np.arange(pairs)[:, None], (pairs, votes))
    names = np.stack([np.char.add("a", pair.astype(str)), np.char.add("b", pair.astype(str))])
    return {
        "query": (pair % 20).astype(str).ravel().tolist(),
        "left": np.where(sides, names[0], names[1]).ravel().tolist(),
        "right": np.where(sides, names[1], names[0]).ravel().tolist(),
        "judge": np.char.add("j", judge.astype(str)).ravel().tolist(),
        "winner": np.where(tie, "tie", np.where(won_left, "left", "right")).ravel().tolist(),
    }
