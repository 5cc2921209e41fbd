"""Runs with ties and qrels of any size, made from a seed.

    python -m benchmarks.generate --queries 1000 --order shuffled
    python -m benchmarks.generate --queries 200 --runs 20

A run looks like one of BM25: scores fall quickly and are rounded to three decimals, so that many documents share
one. Documents near the top were judged more often than those further down, a tenth of them in all; a few
judged documents were not retrieved. Several runs share queries and qrels; each knows relevant documents a little
better than the one before. What is in the folder already is not made again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.data import Collection, Files, Order

VERSION = 1  # a change of the generator makes everything again
COLLECTION_SIZE = 8_800_000
MISSED = 20  # judged documents of each query that the run did not find
LABELS, SHARES = [0, 1, 2, 3], [0.6, 0.2, 0.12, 0.08]
SKILLS = 0.5, 0.9  # of the worst and of the best of several runs: what one label more adds to a score
BATCH = 500  # queries in memory at once


def generate(collection: Collection, folder: Path) -> Files:
    """Write run and qrels into a folder of their own below this one, unless they are there."""
    files = Files(folder / collection.name)
    stamp = json.dumps(asdict(collection) | {"version": VERSION})
    if files.stamp.exists() and files.stamp.read_text() == stamp:
        return files
    files.folder.mkdir(parents=True, exist_ok=True)
    files.stamp.unlink(missing_ok=True)
    rng = np.random.default_rng(collection.seed)
    if collection.runs > 1:
        _write_rivals(collection, files, rng)
    else:
        _write_alone(collection, files, rng)
    files.stamp.write_text(stamp)
    return files


def _write_alone(collection: Collection, files: Files, rng: np.random.Generator) -> None:
    with files.run.open("wb") as run, files.qrels.open("wb") as qrels:
        mixed = []
        for lines, judged in _batches(collection, rng):
            _write(judged, qrels)
            if collection.order == "mixed":
                mixed.append(lines)
            else:
                _write(lines, run)
        if mixed:
            _write(pl.concat(mixed).sample(fraction=1, shuffle=True, seed=collection.seed), run)


def _batches(collection: Collection, rng: np.random.Generator) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """The lines of the run and of the qrels, some queries at a time."""
    names = rng.choice(1_200_000, collection.queries, replace=False)
    for first in range(0, collection.queries, BATCH):
        yield _batch(names[first : first + BATCH], collection, rng)


def _batch(
    names: NDArray[np.int64], collection: Collection, rng: np.random.Generator
) -> tuple[pl.DataFrame, pl.DataFrame]:
    depth = collection.depth
    ids = np.stack([rng.choice(COLLECTION_SIZE, depth + MISSED, replace=False) for _ in names])
    query = pl.Series(np.repeat(names, depth + MISSED))
    doc = _doc_ids(ids.ravel(), long_ids=collection.long_ids)
    scores = np.zeros(ids.shape)
    scores[:, :depth] = -np.sort(-(8 + 4 * rng.standard_exponential((len(names), depth))), axis=1).round(3)
    rank = np.tile(np.arange(1, depth + MISSED + 1), len(names))
    everything = pl.DataFrame({"query": query, "doc": doc, "rank": rank, "score": scores.ravel()})

    retrieved = rank <= depth
    judged = ~retrieved | (rng.random(len(rank)) < _chance_of_judgment(rank, depth))
    labels = rng.choice(LABELS, len(rank), p=SHARES)
    lines = everything.filter(pl.Series(retrieved)).select(
        "query", pl.lit("Q0").alias("q0"), "doc", "rank", "score", pl.lit("bench").alias("tag")
    )
    if collection.order == "shuffled":
        shuffled = np.argsort(rng.random((len(names), depth)), axis=1) + np.arange(len(names))[:, None] * depth
        lines = lines[shuffled.ravel()]
    qrels = everything.select("query", pl.lit(0).alias("iteration"), "doc", label=pl.Series(labels)).filter(
        pl.Series(judged)
    )
    return lines, qrels


def _write_rivals(collection: Collection, files: Files, rng: np.random.Generator) -> None:
    """Several runs for the same queries. They see the same documents, each with errors of its own."""
    if collection.order != "score":
        raise ValueError(f"several runs stand in score order only, found --order {collection.order}")
    depth, shape = collection.depth, (collection.queries, 2 * collection.depth)
    names = rng.choice(1_200_000, collection.queries, replace=False)
    ids = np.stack([rng.choice(COLLECTION_SIZE, shape[1], replace=False) for _ in names])
    everything = pl.DataFrame(
        {"query": np.repeat(names, shape[1]), "doc": _doc_ids(ids.ravel(), long_ids=collection.long_ids)}
    )
    seen = -np.sort(-rng.standard_exponential(shape), axis=1)
    judged = rng.random(shape) < _chance_of_judgment(np.arange(1, shape[1] + 1), depth)
    labels = np.where(judged, rng.choice(LABELS, shape, p=SHARES), 0)
    with files.qrels.open("wb") as qrels:
        lines = everything.select("query", pl.lit(0).alias("iteration"), "doc", label=pl.Series(labels.ravel()))
        _write(lines.filter(pl.Series(judged.ravel())), qrels)

    for number, skill in enumerate(np.linspace(*SKILLS, collection.runs), start=1):
        scores = (8 + 4 * (seen + skill * labels + rng.standard_normal(shape))).round(3)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
        lines = everything[(best + np.arange(len(names))[:, None] * shape[1]).ravel()].select(
            "query",
            pl.lit("Q0").alias("q0"),
            "doc",
            rank=pl.Series(np.tile(np.arange(1, depth + 1), len(names))),
            score=pl.Series(np.take_along_axis(scores, best, axis=1).ravel()),
            tag=pl.lit(f"bench{number:02}"),
        )
        with files.numbered(number).open("wb") as run:
            _write(lines, run)


def _chance_of_judgment(rank: NDArray[np.int64], depth: int) -> NDArray[np.float64]:
    """Near 1 at the top, small further down; a tenth on average."""
    return np.asarray(0.9 * np.exp(-10 * rank / depth) + 0.01)


def _doc_ids(numbers: NDArray[np.int64], *, long_ids: bool) -> pl.Series:
    series = pl.Series("doc", numbers)
    if long_ids:  # as in MS MARCO v2: a file, and a place in it
        return pl.select(pl.format("msmarco_passage_{}_{}", (series % 70).cast(pl.String).str.zfill(2), series * 97))[
            :, 0
        ].rename("doc")
    return pl.select(pl.format("D{}", series.cast(pl.String).str.zfill(7)))[:, 0].rename("doc")


def _write(frame: pl.DataFrame, file: IO[bytes]) -> None:
    frame.write_csv(file, separator=" ", include_header=False, float_precision=3)


def main() -> None:
    """Make one collection."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.generate", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("bench-data"), help="The folder to write into.")
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--depth", type=int, default=1_000, help="Documents for each query.")
    parser.add_argument("--runs", type=int, default=1, help="Several make several runs for the same qrels.")
    parser.add_argument("--long-ids", action="store_true")
    parser.add_argument("--order", choices=get_args(Order), default="score")
    parser.add_argument("--seed", type=int, default=0)
    given = vars(parser.parse_args())
    print(generate(folder=given.pop("data"), collection=Collection(**given)).folder)


if __name__ == "__main__":
    main()
