"""Small collections in which gold has judged everything, and second opinions on the estimators, written as loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ringtrue.evaluation.measures import parse
from ringtrue.gold.correction.difference import Predictors, build_predictors
from ringtrue.gold.correction.gold_sample import GoldSample
from ringtrue.gold.correction.pool import Pool, build_pool, linearise
from ringtrue.tables import Judgments, Run

Values = NDArray[np.float64]
Labels = dict[str, dict[str, int]]


@dataclass(frozen=True, kw_only=True)
class World:
    """Runs by name, bronze labels of nearly everything, and gold labels of everything."""

    runs: dict[str, dict[str, dict[str, float]]]
    bronze: Labels
    gold: Labels

    def asked(self, measure: str, *, depth: int | None = None) -> Asked:
        """One measure of this world, as the estimators want it."""
        runs = [Run.of(run, name=name) for name, run in self.runs.items()]
        longest = max(len(docs) for run in self.runs.values() for docs in run.values())
        pool = build_pool(runs, Judgments.of(self.bronze), depth=depth or parse(measure).reach or longest)
        labels = np.array([self.gold[query][doc] for query, doc in pool.docs.rows()], dtype=np.int64)
        found = linearise(parse(measure), labels, depth=pool.depth)
        return Asked(pool=pool, labels=labels, gains=found.gain(labels), weights=pool.weights(found.discounts))

    def drawn(self, rng: np.random.Generator, *, prob: float, **columns: object) -> pl.DataFrame:
        """Gold labels of what the runs show, each document drawn by itself."""
        shown = sorted({(query, doc) for run in self.runs.values() for query, docs in run.items() for doc in docs})
        kept = [pair for pair in shown if rng.random() < prob]
        rows = [(query, doc, self.gold[query][doc]) for query, doc in kept]
        frame = pl.DataFrame(rows, schema=["query", "doc", "label"], orient="row")
        return frame.with_columns(prob=pl.lit(prob)).with_columns(**{name: pl.lit(value)
                                                                     for name, value in columns.items()})  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A pool with the gold gain of every document, and what each adds to each run."""

    pool: Pool
    labels: NDArray[np.int64]
    gains: Values
    weights: csr_array

    @cached_property
    def known(self) -> Predictors:
        return build_predictors(self.pool)

    @property
    def truth(self) -> Values:
        return np.asarray(self.weights @ self.gains)

    def sample(self, places: object, prob: Values | float, *, spread: bool = False) -> GoldSample:
        """Gold labels of these documents; `prob` is for the whole pool."""
        where = np.asarray(places, dtype=np.int64)
        chances = np.broadcast_to(np.asarray(prob, dtype=np.float64), (len(self.pool),))[where]
        return GoldSample(positions=where, labels=self.labels[where], prob=chances, balanced=spread)

    def some(self, rng: np.random.Generator, *, least: int = 2) -> GoldSample:
        """A sample with probabilities of its own for every document."""
        prob = rng.uniform(0.2, 0.9, len(self.pool))
        while True:
            places = np.flatnonzero(rng.random(len(self.pool)) < prob)
            if len(places) >= least:
                return self.sample(places, prob)

    def every_sample(self, prob: Values) -> Iterator[tuple[float, GoldSample]]:
        """All samples that can come about where each document is drawn by itself, and how probable each is."""
        for drawn in product([False, True], repeat=len(self.pool)):
            inside = np.array(drawn)
            yield float(np.where(inside, prob, 1 - prob).prod()), self.sample(np.flatnonzero(inside), prob)


def world(
    seed: int,
    *,
    runs: int = 3,
    queries: int = 4,
    docs: int = 7,
    length: int = 5,
    grades: int = 3,
    whole: bool = False,
) -> World:
    """Runs that find good documents more often than not, and a bronze judge who is kind; `whole`: nothing is missing.

    Otherwise lists may be shorter, a run may lack a query, and bronze a label.
    """
    rng = np.random.default_rng(seed)
    gold = {f"q{q}": {f"d{d}": int(rng.integers(0, grades)) for d in range(docs)} for q in range(queries)}
    bronze = {
        query: {doc: min(label + int(rng.random() < 0.4), grades - 1) for doc, label in row.items()
                if whole or doc == "d0" or rng.random() < 0.9}
        for query, row in gold.items()
    }  # fmt: skip
    found = {}
    for place in range(runs):
        run = {}
        for query, row in gold.items():
            if not whole and query != "q0" and rng.random() < 0.15:
                continue
            size = length if whole else int(rng.integers(1, length + 1))
            best = sorted(row, key=lambda doc: row[doc] + rng.normal(0, 1.5), reverse=True)[:size]
            run[query] = {doc: float(len(best) - rank) for rank, doc in enumerate(best)}
        found[f"run{place}"] = run
    return World(runs=found, bronze=bronze, gold=gold)


def ridge(known: Predictors, places: NDArray[np.int64], gains: Values, wanted: int) -> float:
    """The gain of a document by ridge regression on others, as least squares with a row more for each penalty."""
    values = known.values.toarray()
    if not len(places):
        return 0.0
    rows = np.vstack([values[places], np.diag(np.sqrt(known.penalty))])
    told = np.concatenate([gains, np.zeros(len(known.penalty))])
    return float(values[wanted] @ np.linalg.lstsq(rows, told, rcond=None)[0])


def left_out(asked: Asked, sample: GoldSample, gains: Values) -> Values:
    """The predicted gain of every document of the pool, of a sampled one without its own label, each fitted anew."""
    found = []
    for doc in range(len(asked.pool)):
        others = sample.positions != doc
        found.append(ridge(asked.known, sample.positions[others], gains[others], doc))
    return np.array(found)


def by_loops(asked: Asked, sample: GoldSample, gains: Values) -> Values:
    """The difference estimator for each run, as its formula stands."""
    predicted, weights = left_out(asked, sample, gains), asked.weights.toarray()
    found = np.zeros(len(asked.pool.runs))
    for run in range(len(found)):
        for doc in range(len(asked.pool)):
            found[run] += weights[run, doc] * predicted[doc]
        for doc, gain, prob in zip(sample.positions, gains, sample.prob, strict=True):
            found[run] += weights[run, doc] * (gain - predicted[doc]) / prob
    return found


def large(seed: int = 0, *, runs: int = 2, queries: int = 20) -> Asked:
    """Runs that show 20 of 25 documents of each query."""
    return world(seed, runs=runs, queries=queries, docs=25, length=20, whole=True).asked("P@20")
