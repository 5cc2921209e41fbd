"""A small search collection with known truth: queries, documents, three systems, a gold and a bronze judge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from ringtrue.errors import UsageError
from ringtrue.tables import Judgments, Run

GRADES = (0.78, 0.11, 0.07, 0.04)  # how common the grades 0 to 3 are among the candidates
DEPTH = 50

# How much each system's score owes to relevance and how much to mere likeness of words.
SYSTEMS = {"keyword": (0.55, 1.00), "neural": (1.05, 0.25), "hybrid": (0.85, 0.55)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Collection:
    """What was simulated: three runs, the truth for every candidate, and what a cheap judge said of it."""

    runs: tuple[Run, ...]
    gold: Judgments
    bronze: Judgments


def simulate_collection(*, rng: np.random.Generator, queries: int = 50, candidates: int = 200) -> Collection:
    """Make a world in which the cheap judge is fooled by what also fools one of the systems.

    Every candidate has a true grade and a likeness to the words of the query; the two go together only a
    little. Systems score by both, in different shares. The gold judge sees the grade. The bronze judge mixes
    the grade with the likeness, so it is too kind to the documents that a keyword search ranks high, as
    crowds and language models are in practice.

    Examples:
        >>> world = simulate_collection(rng=np.random.default_rng(1), queries=5)
        >>> [run.name for run in world.runs]
        ['keyword', 'neural', 'hybrid']
    """
    if queries < 1 or candidates < DEPTH:
        raise UsageError(f"a collection needs a query and {DEPTH} candidates, found {queries} and {candidates}")
    shape = (queries, candidates)
    grade = rng.choice(len(GRADES), size=shape, p=GRADES)
    grade = np.where(rng.random((queries, 1)) < 0.2, np.minimum(grade, 2), grade)  # some queries have no best
    likeness = 0.3 * grade + rng.normal(size=shape)
    difficulty = rng.gamma(4.0, 0.3, size=(queries, 1))
    bronze_grade = np.clip(np.rint(0.45 * grade + 0.75 * likeness + rng.normal(scale=0.35, size=shape)), 0, 3).astype(
        int
    )

    ids = np.array([f"q{q + 1:03d}" for q in range(queries)])
    names = np.array([[f"d{q + 1:03d}-{d + 1:03d}" for d in range(candidates)] for q in range(queries)])
    runs = []
    for name, (relevance, words) in SYSTEMS.items():
        score = relevance * grade + words * likeness + difficulty * rng.normal(size=shape)
        top = np.argsort(-score, axis=1)[:, :DEPTH]
        frame = pl.DataFrame(
            {
                "query": np.repeat(ids, DEPTH),
                "doc": np.take_along_axis(names, top, axis=1).ravel(),
                "score": np.take_along_axis(score, top, axis=1).ravel().round(4),
            }
        )
        runs.append(Run(frame, name=name))
    pairs = {"query": np.repeat(ids, candidates), "doc": names.ravel()}
    gold = Judgments.of(pl.DataFrame(pairs | {"judge": "gold", "label": grade.ravel()}))
    bronze = Judgments.of(pl.DataFrame(pairs | {"judge": "bronze", "label": bronze_grade.ravel()}))
    return Collection(runs=tuple(runs), gold=gold, bronze=bronze)
