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
from ringtrue.tables.columns import Column, parse_ids

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
        raise UsageError("bad-depth", f"a ranking needs a depth of at least 1, found {depth}", parameter="depth")
    if not (k1 >= 0 and 0 <= b <= 1):
        raise UsageError(
            "out-of-range",
            f"BM25 needs a k1 of at least 0 and a b from 0 to 1, found {k1:g} and {b:g}",
            parameter="b" if k1 >= 0 else "k1",
        )
    queries, docs = _unique_ids(topics, "query", "topics"), _unique_ids(documents, "doc", "documents")
    pool_rows = None if pool is None else _pool_doc_rows(pool, queries, docs)
    index = _Bm25Index(_join_texts(documents, "documents"), k1=k1, b=b)
    id_order = docs.rank("ordinal").to_numpy()  # by id
    rows, scores, sizes = [], [], []
    for topic_index, text in enumerate(_join_texts(topics, "topics")):
        doc_scores = index.scores(text)
        doc_rows = _top_documents(doc_scores, id_order, depth) if pool_rows is None else pool_rows[topic_index]
        rows.append(doc_rows)
        scores.append(doc_scores[doc_rows])
        sizes.append(len(doc_rows))
    if not sum(sizes):
        raise TableError("no-common-word", "no topic shares a word with any document; are both in one language?")
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


class _Bm25Index:
    """The words of all documents, weighed; in double precision, so that few scores are equal by rounding."""

    def __init__(self, texts: list[str], *, k1: float, b: float) -> None:
        self._vocabulary: dict[str, int] = {}
        add = self._vocabulary.setdefault
        words = [[add(word, len(self._vocabulary)) for word in WORD.findall(text.lower())] for text in texts]
        if not self._vocabulary:
            raise TableError("no-words", "no document has a word in its title or text")
        self._retriever = _import_bm25s().BM25(method="lucene", k1=k1, b=b, dtype="float64", backend="numpy")
        self._retriever.index((words, dict(self._vocabulary)), show_progress=False)

    def scores(self, text: str) -> NDArray[np.float64]:
        """The score of every document; a word that stands in the topic twice counts twice."""
        word_ids = [self._vocabulary[word] for word in WORD.findall(text.lower()) if word in self._vocabulary]
        scores: NDArray[np.float64] = self._retriever.get_scores_from_ids(word_ids)
        return scores


def _import_bm25s() -> Any:
    try:
        import bm25s  # type: ignore[import-untyped]  # it has no annotations
    except ImportError as error:
        text = "a ranking by BM25 needs the package bm25s: `pip install 'ringtrue[bm25]'`"
        raise UsageError("missing-package", text) from error
    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it asks to hear every step
    return bm25s


def _top_documents(scores: NDArray[np.float64], id_order: NDArray[np.integer], depth: int) -> NDArray[np.int64]:
    """The places of the documents with the highest scores above 0, of equal ones those with the largest ids."""
    candidates = np.flatnonzero(scores > 0)
    if len(candidates) > depth:
        threshold = np.partition(scores[candidates], len(candidates) - depth)[len(candidates) - depth]
        candidates = candidates[scores[candidates] >= threshold]
    best: NDArray[np.int64] = candidates[np.lexsort((-id_order[candidates].astype(np.int64), -scores[candidates]))][
        :depth
    ]
    return best


def _unique_ids(frame: pl.DataFrame, column: Column, table_name: str) -> pl.Series:
    _require_column(frame, column, table_name)
    ids = parse_ids(frame, column)
    if ids.is_duplicated().any():
        duplicate = ids.filter(ids.is_duplicated())[0]
        raise TableError(
            "duplicate-id", f"{column} '{duplicate}' stands there twice; keep one of them", subject=table_name
        )
    return ids


def _join_texts(frame: pl.DataFrame, table_name: Literal["topics", "documents"]) -> list[str]:
    """Title and text as one; of a topic the title alone, where it has one."""
    columns = [name for name in ("title", "text") if name in frame.columns]
    if not columns:
        raise TableError(
            "missing-column",
            f"{table_name} need a column 'title' or 'text', found {', '.join(frame.columns)}; rename one",
            columns=["title", "text"],
        )
    text_columns = columns[:1] if table_name == "topics" else columns
    text = pl.concat_str(pl.col(text_columns).cast(pl.String), separator=" ", ignore_nulls=True).fill_null("")
    return frame.select(text=text)["text"].to_list()


def _pool_doc_rows(pool: pl.DataFrame, queries: pl.Series, docs: pl.Series) -> list[NDArray[np.int64]]:
    """For each topic, where the documents stand that the pool has for it."""
    for column in ("query", "doc"):
        _require_column(pool, column, "the pool")
    pairs = pl.DataFrame({"query": parse_ids(pool, "query"), "doc": parse_ids(pool, "doc")})
    if (duplicates := pairs.filter(pairs.is_duplicated())).height:
        query, doc = duplicates.row(0)
        raise DuplicateError(
            "duplicate-document",
            f"document '{doc}' stands twice under query '{query}', where it may stand once",
            subject="the pool",
            table="run",
            query=query,
            doc=doc,
        )
    for available_ids, column, problem in (
        (queries, "query", "queries have no topic"),
        (docs, "doc", "documents have no text"),
    ):
        ids = pairs[column].unique(maintain_order=True)
        missing = ids.filter(~ids.is_in(available_ids.implode()))
        if len(missing):
            raise TableError(
                "missing-texts",
                f"{len(missing):,} of {len(ids):,} {problem}, such as '{missing[0]}'; the pool needs both, so give all "
                f"topics and documents or a smaller pool",
            )
    indexed = pairs.join(
        queries.to_frame("query").with_row_index("topic"), on="query", how="left", maintain_order="left"
    )
    indexed = indexed.join(docs.to_frame("doc").with_row_index("place"), on="doc", how="left", maintain_order="left")
    topic_rows, doc_rows = indexed["topic"].to_numpy(), indexed["place"].to_numpy().astype(np.int64)
    order = np.argsort(topic_rows, kind="stable")
    return np.split(doc_rows[order], np.cumsum(np.bincount(topic_rows, minlength=len(queries)))[:-1])


def _require_column(frame: pl.DataFrame, column: str, table_name: str) -> None:
    if column not in frame.columns:
        columns = ", ".join(frame.columns) or "none"
        raise TableError(
            "missing-column",
            f"expected a column '{column}', found {columns}; rename the one that is meant",
            subject=table_name,
            columns=[column],
        )
