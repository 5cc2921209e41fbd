from __future__ import annotations

import logging
import math
import re
import sys
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, strategies as st

from ringtrue.errors import DuplicateError, InputError, TableError, UsageError
from ringtrue.evaluation.bm25 import bm25_run
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.files import read_documents, read_judgments, read_topics
from ringtrue.tables import Judgments

TOPICS = pl.DataFrame({"query": ["bread", "soup"], "title": ["bread without an oven", "Soup!"]})
DOCUMENTS = pl.DataFrame(
    {
        "doc": ["d1", "d2", "d3", "d4"],
        "title": ["Bread", None, "a stew", ""],
        "text": ["bake it in an oven", "bread and soup", None, "the oven, the oven"],
    }
)


def plain_bm25(query: str, texts: list[str], k1: float = 1.2, b: float = 0.75) -> list[float]:
    """Lucene's variant, one document and one word after the other."""
    words = [re.findall(r"\w+", text.lower()) for text in texts]
    mean = sum(map(len, words)) / len(words)
    have = Counter(word for document in words for word in set(document))
    scores = []
    for document in words:
        score, counts = 0.0, Counter(document)
        for word in re.findall(r"\w+", query.lower()):
            if word in counts:
                idf = math.log(1 + (len(words) - have[word] + 0.5) / (have[word] + 0.5))
                score += idf * counts[word] / (counts[word] + k1 * (1 - b + b * len(document) / mean))
        scores.append(score)
    return scores


def test_the_score_of_one_word_is_that_on_paper() -> None:
    topics = pl.DataFrame({"query": ["q"], "title": ["oven"]})
    documents = pl.DataFrame({"doc": ["a", "b"], "text": ["oven oven bread", "soup"]})
    (row,) = bm25_run(topics, documents).frame.rows()
    assert row[:2] == ("q", "a")
    assert row[2] == pytest.approx(math.log(2) * 2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2)))


texts = st.lists(st.sampled_from(["bread", "Oven", "soup,", "a", "1"]), max_size=8).map(" ".join)


@given(
    titles=st.lists(texts, min_size=1, max_size=3),
    bodies=st.lists(texts, min_size=1, max_size=5).filter(any),
    k1=st.floats(0, 3),
    b=st.floats(0, 1),
)
def test_scores_are_those_of_a_plain_implementation(titles: list[str], bodies: list[str], k1: float, b: float) -> None:
    topics = pl.DataFrame({"query": [f"q{place}" for place in range(len(titles))], "title": titles})
    docs = [f"d{place}" for place in range(len(bodies))]
    pool = topics.select("query").join(pl.DataFrame({"doc": docs}), how="cross")
    run = bm25_run(topics, pl.DataFrame({"doc": docs, "text": bodies}), pool=pool, k1=k1, b=b)
    found = {(query, doc): score for query, doc, score in run.frame.rows()}
    assert len(found) == pool.height
    for query, title in topics.rows():
        for doc, score in zip(docs, plain_bm25(title, bodies, k1, b), strict=True):
            assert found[query, doc] == pytest.approx(score, abs=1e-12)


def test_only_documents_that_share_a_word_are_ranked() -> None:
    run = bm25_run(TOPICS, DOCUMENTS)
    assert run.name == "bm25"
    ranked = run.ranked()
    assert ranked.filter(pl.col("query") == "bread")["doc"].to_list() == ["d1", "d4", "d2"]
    assert ranked.filter(pl.col("query") == "soup")["doc"].to_list() == ["d2"]


def test_title_and_text_of_a_document_are_one() -> None:
    joined = DOCUMENTS.select("doc", text=pl.concat_str("title", "text", separator=" ", ignore_nulls=True))
    assert bm25_run(TOPICS, joined).frame.equals(bm25_run(TOPICS, DOCUMENTS).frame)


def test_of_a_topic_the_title_alone_is_searched_where_it_has_one() -> None:
    described = TOPICS.with_columns(text=pl.lit("stew"))
    assert bm25_run(described, DOCUMENTS).frame.equals(bm25_run(TOPICS, DOCUMENTS).frame)
    untitled = TOPICS.rename({"title": "text"})
    assert bm25_run(untitled, DOCUMENTS).frame.equals(bm25_run(TOPICS, DOCUMENTS).frame)


def test_a_pool_is_ranked_whole_whatever_the_depth() -> None:
    pool = pl.DataFrame({"query": ["soup", "bread", "soup", "soup"], "doc": ["d3", "d3", "d2", "d4"], "runs": [1] * 4})
    ranked = bm25_run(TOPICS, DOCUMENTS, pool=pool, depth=1).ranked()
    assert ranked.select("query", "doc", "rank").rows() == [
        ("bread", "d3", 1), ("soup", "d2", 1), ("soup", "d4", 2), ("soup", "d3", 3),
    ]  # fmt: skip
    assert ranked["score"].to_list()[2:] == [0, 0]


@pytest.mark.parametrize("depth", range(1, 8))
def test_of_equal_scores_at_the_end_the_largest_ids_stay_as_in_any_run(depth: int) -> None:
    topics = pl.DataFrame({"query": ["q"], "title": ["oven"]})
    docs = ["d10", "d2", "a", "B", "é"]
    documents = pl.DataFrame({"doc": [*docs, "best"], "text": ["an oven"] * 5 + ["oven oven"]})
    whole = bm25_run(topics, documents).ranked()["doc"].to_list()
    assert whole == ["best", *sorted(docs, reverse=True)]
    assert bm25_run(topics, documents, depth=depth).ranked()["doc"].to_list() == whole[:depth]


@pytest.mark.parametrize(
    ("topics", "documents", "code", "found"),
    [
        (TOPICS.drop("query"), DOCUMENTS, "missing-column", "topics: .*'query'"),
        (TOPICS.drop("title"), DOCUMENTS, "missing-column", "topics .*'title'"),
        (TOPICS, DOCUMENTS.drop("doc"), "missing-column", "documents: .*'doc'"),
        (TOPICS, DOCUMENTS.drop("title", "text"), "missing-column", "documents .*'text'"),
        (pl.concat([TOPICS, TOPICS]), DOCUMENTS, "duplicate-id", "topics: query 'bread'"),
        (TOPICS, pl.concat([DOCUMENTS, DOCUMENTS]), "duplicate-id", "documents: doc 'd1'"),
        (TOPICS, DOCUMENTS.with_columns(title=pl.lit("-"), text=pl.lit(" ,")), "no-words", "document"),
        (TOPICS.with_columns(title=pl.lit("Brot")), DOCUMENTS, "no-common-word", "topic"),
    ],
)
def test_what_cannot_be_ranked_is_refused(topics: pl.DataFrame, documents: pl.DataFrame, code: str, found: str) -> None:
    with pytest.raises(TableError, match=found) as refused:
        bm25_run(topics, documents)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("pool", "code", "found"),
    [
        ({"query": ["bread"] * 2, "doc": ["d1", "d9"]}, "missing-texts", "1 of 2 documents .*'d9'"),
        ({"query": ["bread", "cake"], "doc": ["d1", "d1"]}, "missing-texts", "1 of 2 queries .*'cake'"),
        ({"query": ["bread"] * 2, "doc": ["d1", "d1"]}, "duplicate-document", "'d1'.*'bread'"),
        ({"doc": ["d1"]}, "missing-column", "the pool: .*'query'"),
    ],
)
def test_a_pool_that_does_not_fit_is_refused(pool: dict[str, list[str]], code: str, found: str) -> None:
    with pytest.raises(InputError, match=found) as refused:
        bm25_run(TOPICS, DOCUMENTS, pool=pl.DataFrame(pool))
    assert isinstance(refused.value, TableError | DuplicateError)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"depth": 0}, "bad-depth"),
        ({"k1": -1}, "out-of-range"),
        ({"b": 1.5}, "out-of-range"),
        ({"k1": float("nan")}, "out-of-range"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, float], code: str) -> None:
    with pytest.raises(UsageError) as refused:
        bm25_run(TOPICS, DOCUMENTS, **settings)  # type: ignore[arg-type]
    assert (refused.value.code, refused.value.parameter) == (code, next(iter(settings)))


def test_without_the_library_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(UsageError, match=r"`pip install 'ringtrue\[bm25\]'`") as refused:
        bm25_run(TOPICS, DOCUMENTS)
    assert refused.value.code == "missing-package"


def test_the_library_says_nothing_of_its_own(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        bm25_run(TOPICS, DOCUMENTS)
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


@pytest.mark.slow
@pytest.mark.real
def test_cranfield_is_ranked_as_well_as_bm25_does(data: Path) -> None:
    topics = read_topics(data / "cranfield/cran.qry")
    topics = topics.with_columns(query=pl.int_range(1, topics.height + 1).cast(pl.String))  # judged by position
    documents = read_documents(data / "cranfield/cran.all.1400")
    grades = read_judgments(data / "cranfield/cranqrel").frame.filter(pl.col("label") > 0)
    judgments = Judgments(grades.with_columns(label=(5 - pl.col("label")).cast(pl.Int32)))  # 1 is the best grade
    run = bm25_run(topics, documents, depth=100)
    means = evaluate(run, judgments, "nDCG@10, AP, R@100").means()["bm25"]
    assert means["nDCG@10"].value == pytest.approx(0.344, abs=0.002)
    assert 0.25 < means["AP"].value < 0.32
    assert 0.65 < means["R@100"].value < 0.75
    oracle = plain_bm25(
        topics["title"][0], [f"{title} {text}" for title, text in documents.select("title", "text").rows()]
    )
    found = run.frame.filter(pl.col("query") == "1")
    assert dict(found.select("doc", "score").rows()) == pytest.approx(
        dict(sorted(zip(documents["doc"], oracle, strict=True), key=lambda pair: pair[1])[-100:])
    )
