"""A first ranking by the words that a topic and a document share: BM25."""

from __future__ import annotations

import logging
import re
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import DuplicateError, TableError, UsageError
from ringtrue.tables import Run
from ringtrue.tables.columns import Column, identifiers

__all__ = ["bm25_run"]

WORD = re.compile(r"\w+")


def bm25_run(
    topics: pl.DataFrame,
    documents: pl.DataFrame,
    *,
    depth: int = 1000,
    pool: pl.DataFrame | None = None,
    k1: float = 1.2,
    b: float = 0.75,
) -> Run:
    """Rank documents for each topic by BM25, in the variant of Lucene and with its constants.

        score = Σ_{t in topic} ln(1 + (N − n_t + ½) / (n_t + ½)) · f_t / (f_t + k1 (1 − b + b · length / mean length))

    [Kamphuis20] where N documents are given, n_t of them have the word t, and this one has it f_t times. A word is any
    run of letters and digits, in small letters: none is cut to its stem, and none is too common to count. `topics` has
    the columns query and title, `documents` doc and text, or title, or both, as `read_topics` and `read_documents`
    give them.

    A topic gets its `depth` best documents among those that share a word with it. With a `pool` of query and doc it
    gets all that the pool has for it, also those that share no word, with a score of 0. Equal scores are ranked by
    doc, as in any run. Needs the package bm25s: `pip install 'ringtrue[bm25]'`.

    Examples:
        >>> topics = pl.DataFrame({"query": ["bread"], "title": ["bread without an oven"]})
        >>> texts = ["Bread, baked", "bread from a pan, no oven", "soup"]
        >>> documents = pl.DataFrame({"doc": ["d1", "d2", "d3"], "text": texts})
        >>> bm25_run(topics, documents).ranked()["doc"].to_list()
        ['d2', 'd1']
        >>> pool = pl.DataFrame({"query": ["bread", "bread"], "doc": ["d1", "d3"]})
        >>> bm25_run(topics, documents, pool=pool).ranked()["doc"].to_list()
        ['d1', 'd3']
    """
    if depth < 1:
        raise UsageError(f"a ranking needs a depth of at least 1, found {depth}")
    if not (k1 >= 0 and 0 <= b <= 1):
        raise UsageError(f"BM25 needs a k1 of at least 0 and a b from 0 to 1, found k1={k1:g} and b={b:g}")
    queries, docs = _ids(topics, "query", "topics"), _ids(documents, "doc", "documents")
    wanted = None if pool is None else _places(pool, queries, docs)
    index = _Index(_texts(documents, "documents"), k1=k1, b=b)
    order = docs.rank("ordinal").to_numpy()  # by id
    rows, scores, sizes = [], [], []
    for place, text in enumerate(_texts(topics, "topics")):
        found = index.scores(text)
        best = _best(found, order, depth) if wanted is None else wanted[place]
        rows.append(best)
        scores.append(found[best])
        sizes.append(len(best))
    if not sum(sizes):
        raise TableError("no topic shares a word with any document; are both in one language?")
    return Run(
        pl.DataFrame(
            {
                "query": queries.gather(np.repeat(np.arange(len(queries)), sizes)),
                "doc": docs.gather(np.concatenate(rows)),
                "score": np.concatenate(scores),
            }
        ),
        name="bm25",
    )


class _Index:
    """The words of all documents, weighed; in double precision, so that few scores are equal by rounding."""

    def __init__(self, texts: list[str], *, k1: float, b: float) -> None:
        self._vocabulary: dict[str, int] = {}
        add = self._vocabulary.setdefault
        words = [[add(word, len(self._vocabulary)) for word in WORD.findall(text.lower())] for text in texts]
        if not self._vocabulary:
            raise TableError("no document has a word in its title or text")
        self._weighed = _bm25s().BM25(method="lucene", k1=k1, b=b, dtype="float64", backend="numpy")
        self._weighed.index((words, dict(self._vocabulary)), show_progress=False)

    def scores(self, text: str) -> NDArray[np.float64]:
        """The score of every document; a word that stands in the topic twice counts twice."""
        known = [self._vocabulary[word] for word in WORD.findall(text.lower()) if word in self._vocabulary]
        scores: NDArray[np.float64] = self._weighed.get_scores_from_ids(known)
        return scores


def _bm25s() -> Any:
    try:
        import bm25s  # type: ignore[import-untyped]  # it has no annotations
    except ImportError as error:
        raise UsageError("a ranking by BM25 needs the package bm25s: `pip install 'ringtrue[bm25]'`") from error
    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it asks to hear every step
    return bm25s


def _best(scores: NDArray[np.float64], order: NDArray[np.integer], depth: int) -> NDArray[np.int64]:
    """The places of the documents with the highest scores above 0, of equal ones those with the largest ids."""
    found = np.flatnonzero(scores > 0)
    if len(found) > depth:
        least = np.partition(scores[found], len(found) - depth)[len(found) - depth]
        found = found[scores[found] >= least]
    best: NDArray[np.int64] = found[np.lexsort((-order[found].astype(np.int64), -scores[found]))][:depth]
    return best


def _ids(frame: pl.DataFrame, column: Column, what: str) -> pl.Series:
    _require(frame, column, what)
    ids = identifiers(frame, column)
    if ids.is_duplicated().any():
        twice = ids.filter(ids.is_duplicated())[0]
        raise TableError(f"{what}: {column} '{twice}' stands there twice; keep one of them")
    return ids


def _texts(frame: pl.DataFrame, what: Literal["topics", "documents"]) -> list[str]:
    """Title and text as one; of a topic the title alone, where it has one."""
    columns = [name for name in ("title", "text") if name in frame.columns]
    if not columns:
        raise TableError(f"{what} need a column 'title' or 'text', found {', '.join(frame.columns)}; rename one")
    used = columns[:1] if what == "topics" else columns
    text = pl.concat_str(pl.col(used).cast(pl.String), separator=" ", ignore_nulls=True).fill_null("")
    return frame.select(text=text)["text"].to_list()


def _places(pool: pl.DataFrame, queries: pl.Series, docs: pl.Series) -> list[NDArray[np.int64]]:
    """For each topic, where the documents stand that the pool has for it."""
    for column in ("query", "doc"):
        _require(pool, column, "the pool")
    asked = pl.DataFrame({"query": identifiers(pool, "query"), "doc": identifiers(pool, "doc")})
    if (again := asked.filter(asked.is_duplicated())).height:
        query, doc = again.row(0)
        raise DuplicateError(
            f"the pool: document '{doc}' stands twice under query '{query}'; keep one of the two",
            table="run", query=query, doc=doc,
        )  # fmt: skip
    for known, column, what in ((queries, "query", "queries have no topic"), (docs, "doc", "documents have no text")):
        ids = asked[column].unique(maintain_order=True)
        missing = ids.filter(~ids.is_in(known.implode()))
        if len(missing):
            raise TableError(
                f"{len(missing):,} of {len(ids):,} {what}, such as '{missing[0]}'; the pool needs both, so give all "
                f"topics and documents or a smaller pool"
            )
    place = asked.join(queries.to_frame("query").with_row_index("topic"), on="query", how="left", maintain_order="left")
    place = place.join(docs.to_frame("doc").with_row_index("place"), on="doc", how="left", maintain_order="left")
    topic, where = place["topic"].to_numpy(), place["place"].to_numpy().astype(np.int64)
    order = np.argsort(topic, kind="stable")
    return np.split(where[order], np.cumsum(np.bincount(topic, minlength=len(queries)))[:-1])


def _require(frame: pl.DataFrame, column: str, what: str) -> None:
    if column not in frame.columns:
        found = ", ".join(frame.columns) or "none"
        raise TableError(f"{what}: expected a column '{column}', found {found}; rename the one that is meant")
