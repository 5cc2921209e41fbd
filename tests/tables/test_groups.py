from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from ringtrue.tables.groups import Groups, first_duplicate, group_rows

rows = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 30).map(str)), min_size=1, max_size=40)


def grouped(pairs: list[tuple[str, str]]) -> tuple[pl.DataFrame, Groups]:
    return group_rows(pl.DataFrame(pairs, schema={"query": pl.String, "doc": pl.String}, orient="row"))


def repeated(pairs: list[tuple[str, str]]) -> set[tuple[str, str]]:
    seen: set[tuple[str, str]] = set()
    return {pair for pair in pairs if pair in seen or seen.add(pair)}  # type: ignore[func-returns-value]


def agrees(pairs: list[tuple[str, str]], hashes: list[int]) -> None:
    """Hashes are those of the documents in order of `pairs`."""
    frame, groups = grouped(pairs)
    by_doc = {doc: value for (_, doc), value in zip(pairs, hashes, strict=True)}

    def hashed(docs: pl.Series) -> np.ndarray:
        return np.array([by_doc[doc] for doc in docs], dtype=np.uint64)

    found = first_duplicate(groups, frame["doc"], hash_docs=hashed)
    expected = repeated(pairs)
    assert found in expected if expected else found is None


@given(rows)
def test_a_duplicate_is_found_as_a_plain_set_finds_it(pairs: list[tuple[str, str]]) -> None:
    frame, groups = grouped(pairs)
    found = first_duplicate(groups, frame["doc"])
    expected = repeated(pairs)
    assert found in expected if expected else found is None


@given(rows, st.integers(1, 5))
def test_documents_that_share_a_hash_are_told_apart(pairs: list[tuple[str, str]], many: int) -> None:
    agrees(pairs, [int(doc) % many for _, doc in pairs])


@given(rows, st.integers(0, 63))
def test_hashes_that_differ_in_one_bit_are_told_apart(pairs: list[tuple[str, str]], bit: int) -> None:
    agrees(pairs, [(int(doc) << bit) % 2**64 for _, doc in pairs])


def test_a_document_may_stand_under_two_queries_whose_keys_collide() -> None:
    # The key of a row is made of hash and query number: these differ in both and yet have the same key.
    agrees([("a", "x"), ("b", "y"), ("c", "z")], [6, 7, 4])
    agrees([("a", "x"), ("b", "y"), ("c", "z"), ("c", "z")], [6, 7, 4, 4])


def test_a_duplicate_is_found_among_many_that_share_its_hash() -> None:
    docs = [f"d{n}" for n in range(300)]
    agrees([("q", doc) for doc in docs], [7] * 300)
    agrees([("q", doc) for doc in [*docs, "d150"]], [7] * 301)


@pytest.mark.parametrize("place", [0, 1, 99_999, 250_000, 399_998])
def test_a_duplicate_is_found_in_a_run_of_several_batches(place: int) -> None:
    count = 400_000
    doc = np.arange(count) % 200_000
    doc[place + 1] = doc[place]
    queries = pl.Series("query", ["q1", "q2"]).gather(np.arange(count) // 200_000)
    frame, groups = group_rows(pl.DataFrame([queries, pl.Series("doc", doc).cast(pl.String)]))
    assert first_duplicate(groups, frame["doc"]) == (
        queries[place],
        str(doc[place]),
    )


@given(rows)
def test_grouping_brings_queries_together_and_keeps_the_order(pairs: list[tuple[str, str]]) -> None:
    frame, groups = grouped(pairs)
    assert groups.queries == tuple(dict.fromkeys(query for query, _ in pairs))
    assert groups.sizes.sum() == len(pairs)
    for query, low, high in zip(groups.queries, groups.offsets, groups.offsets[1:], strict=False):
        part = frame[int(low) : int(high)]
        assert part.rows() == [pair for pair in pairs if pair[0] == query]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=30), st.integers(1, 100))
def test_batches_cover_all_rows_and_never_cut_a_query(sizes: list[int], size: int) -> None:
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    groups = Groups(queries=tuple(map(str, range(len(sizes)))), offsets=offsets)
    spans = list(groups.batches(size))
    assert [first for first, _ in spans] == [0, *(stop for _, stop in spans[:-1])]
    assert spans[-1][1] == len(sizes)
    for first, stop in spans:
        assert stop - first == 1 or offsets[stop] - offsets[first] <= size
        assert stop == len(sizes) or offsets[stop + 1] - offsets[first] > size


def test_no_query_is_no_batch() -> None:
    assert list(Groups(queries=(), offsets=np.zeros(1, dtype=np.int64)).batches()) == []
