"""Pooling: what the runs found."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from ringtrue.errors import UsageError
from ringtrue.evaluation.inputs import pool
from ringtrue.tables import Run

runs = st.lists(
    st.dictionaries(
        st.sampled_from(["q1", "q2"]),
        st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([1.0, 2.0, 3.0]), min_size=1),
        min_size=1,
    ),
    min_size=1,
    max_size=4,
)


@given(runs, st.integers(1, 4))
def test_the_pool_is_the_union_of_the_tops_with_counts_and_best_ranks(given: list, depth: int) -> None:
    expected: dict[tuple[str, str], list[int]] = {}
    for run in given:
        for query, docs in run.items():
            ordered = sorted(docs, key=lambda doc: (docs[doc], doc), reverse=True)
            for rank, doc in enumerate(ordered[:depth], start=1):
                expected.setdefault((query, doc), []).append(rank)
    found = pool([Run.of(run, name=str(i)) for i, run in enumerate(given)], depth=depth)
    assert {(q, d): (n, best) for q, d, n, best in found.rows()} == {
        pair: (len(ranks), min(ranks)) for pair, ranks in expected.items()
    }


def test_what_most_runs_found_comes_first_within_its_query() -> None:
    a, b = Run.of({"q2": {"x": 2.0, "y": 1.0}}, name="a"), Run.of({"q1": {"z": 1.0}, "q2": {"y": 1.0}}, name="b")
    assert pool([a, b], depth=5).select("query", "doc").rows() == [("q2", "y"), ("q2", "x"), ("q1", "z")]


@pytest.mark.parametrize("depth", [0, -1])
def test_a_pool_without_depth_or_runs_is_refused(depth: int) -> None:
    with pytest.raises(UsageError) as refused:
        pool([Run.of({"q": {"d": 1.0}})], depth=depth)
    assert refused.value.code == "bad-depth"
    with pytest.raises(UsageError) as refused:
        pool([], depth=1)
    assert refused.value.code == "needs-runs"
