"""A crowd that labels a collection: most judges try, some do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from ringtrue.errors import UsageError
from ringtrue.pooling import pool
from ringtrue.simulation.collection import Collection
from ringtrue.tables import Judgments

__all__ = ["Crowd", "simulate_crowd"]

DEPTH = 10  # of the runs that is judged
TRAPS = 0.1  # of the items whose label is plain
ODD = ("guesses", "always 1", "lenient", "tires")  # what is the matter with the last four judges
START = 1_767_600_000  # 2026-01-05 08:00 UTC


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Crowd:
    """The crowd's labels with the time and the seconds each took, questions with a plain answer, and who is odd how."""

    labels: Judgments
    traps: Judgments
    odd: dict[str, str]


def simulate_crowd(world: Collection, *, rng: np.random.Generator, judges: int = 24, each: int = 5) -> Crowd:
    """Labels of the runs' first ten documents by a crowd, `each` labels a document.

    A judge sees the true grade through noise of his own. Four judges are odd: one guesses, quickly; one always says 1;
    one is a grade too kind; one stops looking halfway. Traps are documents of the lowest and highest grade.

    Examples:
        >>> from ringtrue.simulation import simulate_collection
        >>> rng = np.random.default_rng(1)
        >>> crowd = simulate_crowd(simulate_collection(rng=rng, queries=5), rng=rng)
        >>> crowd.odd
        {'w21': 'guesses', 'w22': 'always 1', 'w23': 'lenient', 'w24': 'tires'}
    """
    if judges < len(ODD) + each:
        raise UsageError(f"{each} labels a document and {len(ODD)} odd judges need more than {judges} judges")
    items = pool(world.runs, depth=DEPTH).join(world.gold.frame, on=["query", "doc"], maintain_order="left")
    truth = items["label"].to_numpy()
    top = int(truth.max())
    names = np.array([f"w{number:02d}" for number in range(1, judges + 1)])
    judge = rng.permuted(np.tile(np.arange(judges), (len(truth), 1)), axis=1)[:, :each].ravel()
    item = np.repeat(np.arange(len(truth)), each)
    order = rng.permutation(len(item))  # everybody works through his documents in an order of his own
    item, judge = item[order], judge[order]
    done = np.arange(len(item)) / len(item)
    guesses, constant, kind, tired = (judge == judges - len(ODD) + place for place in range(len(ODD)))
    noise = np.where(tired, 0.3, rng.uniform(0.45, 0.85, judges)[judge])
    seen = truth[item] + np.where(kind, 1.0, 0.0) + noise * rng.normal(size=len(item))
    label = np.clip(np.rint(seen), 0, top).astype(np.int32)
    careless = guesses | (tired & (done > 0.5))
    label = np.where(careless, rng.integers(0, top + 1, len(item)), label)
    label = np.where(constant, 1, label)
    seconds = np.exp(rng.normal(np.log(14.0), 0.5, len(item))) * np.where(guesses, 0.15, 1.0)
    clock = START + np.round(done * 5 * 86_400).astype(np.int64)
    frame = pl.DataFrame(
        {
            "query": items["query"].gather(item),
            "doc": items["doc"].gather(item),
            "judge": names[judge],
            "label": label,
            "time": pl.Series(clock * 1_000_000).cast(pl.Datetime("us")).dt.strftime("%Y-%m-%d %H:%M:%S"),
            "seconds": seconds.round(1),
        }
    )
    plain = np.flatnonzero((truth == 0) | (truth == top))
    chosen = np.sort(rng.choice(plain, max(1, round(TRAPS * len(plain))), replace=False))
    traps = items[chosen].select("query", "doc", "label")
    odd = {str(name): word for name, word in zip(names[-len(ODD) :], ODD, strict=True)}
    return Crowd(labels=Judgments.of(frame), traps=Judgments.of(traps), odd=odd)
