"""A run against judgments: which judged documents it retrieved, and at which rank."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ringtrue.errors import DuplicateError
from ringtrue.evaluation.matching import Matcher
from ringtrue.evaluation.measures import CATALOGUE, Measure, parse
from ringtrue.tables import Judgments, Run
from strategies import examples

queries = st.sampled_from(["q1", "q2", "Q", "ü"])
docs = st.sampled_from(
    ["d1", "d10", "d2", "D2", "é", "z", "𝄞", "～", "a-very-long-document-id-1", "a-very-long-document-id-2"]
)
scores = st.sampled_from([0.0, -0.0, 1.0, 1.0 + 1e-9, 2.0, -3.5, 1e-300, 1e300])
runs = st.dictionaries(queries, st.dictionaries(docs, scores, min_size=1), min_size=1)
judgments = st.dictionaries(queries, st.dictionaries(docs, st.integers(-1, 3), min_size=1), min_size=1)


def by_sorting(run: dict[str, dict[str, float]], labels: dict[str, dict[str, int]], dtype: type) -> dict:
    """query → [(rank, label)], by sorting everything, as the definition says."""
    found = {}
    for query, judged in labels.items():
        retrieved = run.get(query, {})
        ordered = sorted(retrieved, key=lambda doc: (dtype(retrieved[doc]), doc.encode()), reverse=True)
        found[query] = [(rank, judged[doc]) for rank, doc in enumerate(ordered, start=1) if doc in judged]
    return found


@given(runs, judgments, st.sampled_from([None, "trec_eval-9", "trec_eval-10"]))
def test_ranks_are_those_of_a_full_sort_with_ties_by_larger_doc_id(run: dict, labels: dict, compat: str | None) -> None:
    matcher = Matcher(Judgments.of(labels))
    lists = matcher.match(Run.of(run), compat=compat)  # type: ignore[arg-type]
    with np.errstate(over="ignore"):
        expected = by_sorting(run, labels, np.float32 if compat == "trec_eval-9" else np.float64)
    for i, query in enumerate(matcher.queries):
        here = slice(lists.offsets[i], lists.offsets[i + 1])
        got = list(zip(lists.rank[here].tolist(), lists.label[here].tolist(), strict=True))
        assert got == expected[query]
        assert lists.retrieved[i] == len(run.get(query, {}))
        pool = lists.pool[lists.pool_offsets[i] : lists.pool_offsets[i + 1]].tolist()
        assert pool == sorted(labels[query].values(), reverse=True)


@examples(40)
@given(runs, judgments, st.integers(1, 5))
def test_a_depth_cuts_every_list(run: dict, labels: dict, depth: int) -> None:
    whole, cut = (Matcher(Judgments.of(labels)).match(Run.of(run), depth=d) for d in (None, depth))
    np.testing.assert_array_equal(cut.retrieved, np.minimum(whole.retrieved, depth))
    np.testing.assert_array_equal(cut.rank, whole.rank[whole.rank <= depth])


CUT = [name for name, known in CATALOGUE.items() if known.cutoff in ("optional", "required")]
TOP = [name for name in CUT if Measure(name, 1).reach == 1]


@examples(40)
@given(runs, judgments, st.integers(1, 5), st.booleans(), st.sampled_from([None, "trec_eval-9"]))
def test_what_stands_below_the_top_changes_no_measure_that_looks_at_the_top(
    run: dict, labels: dict, top: int, in_order: bool, compat: str | None
) -> None:
    if in_order:  # as most files are; others are looked at as a whole
        run = {query: dict(sorted(found.items(), key=lambda pair: -pair[1])) for query, found in run.items()}
    matcher = Matcher(Judgments.of(labels))
    whole, leading = (matcher.match(Run.of(run), top=t, compat=compat) for t in (None, top))  # type: ignore[arg-type]
    np.testing.assert_array_equal(leading.rank[leading.rank <= top], whole.rank[whole.rank <= top])
    np.testing.assert_array_equal(leading.retrieved, whole.retrieved)
    assert bool(len(leading.rank)) == bool(len(whole.rank))
    for measure in (Measure(name, top) for name in TOP):
        np.testing.assert_array_equal(measure(leading), measure(whole), err_msg=str(measure))


def test_measures_that_look_at_the_whole_list_say_so() -> None:
    assert {"nDCG", "P", "AP", "RR", "Judged"} < set(TOP)
    whole = ["AP", "RR", "Rprec", "IPrec@0.5", "P(judged_only=True)@10", "SetAcc@10", "NumRet"]
    assert [parse(name).reach for name in whole] == [None] * len(whole)


def test_only_the_top_is_looked_up_and_what_is_tied_with_its_end() -> None:
    labels = Judgments.of({"q": {f"d{n}": 1 for n in range(9)}})
    run = Run.of({"q": {"d0": 9.0, "d1": 8.0, "d2": 7.0, "d3": 7.0, "d4": 7.0, "d5": 6.0, "d6": 5.0}})
    assert Matcher(labels).match(run, top=3).rank.tolist() == [1, 2, 3, 4, 5]
    assert Matcher(labels).match(run, top=2).rank.tolist() == [1, 2]


@pytest.mark.slow
def test_large_runs_in_several_batches_match_the_full_sort() -> None:
    rng = np.random.default_rng(7)
    run, labels = {}, {}
    for q in range(400):
        names = [f"document-{n}" for n in rng.choice(5000, size=int(rng.integers(1, 900)), replace=False)]
        values = np.round(rng.gamma(2.0, 4.0, len(names)), 1)
        if q % 2:
            values = np.sort(values)[::-1]
        run[f"q{q}"] = dict(zip(names, values.tolist(), strict=True))
        judged = rng.choice(5000, size=100, replace=False)
        labels[f"q{q}"] = {f"document-{n}": int(rng.integers(0, 4)) for n in judged}
    matcher = Matcher(Judgments.of(labels))
    lists = matcher.match(Run.of(run))
    expected = by_sorting(run, labels, np.float64)
    flat = [pair for query in matcher.queries for pair in expected[query]]
    assert list(zip(lists.rank.tolist(), lists.label.tolist(), strict=True)) == flat


def test_the_same_document_under_another_query_is_not_judged() -> None:
    matcher = Matcher(Judgments.of({"q1": {"d1": 1}, "q2": {"d2": 1}}))
    lists = matcher.match(Run.of({"q1": {"d2": 1.0}, "q2": {"d1": 1.0}}))
    assert len(lists.rank) == 0


def test_a_document_with_two_labels_is_refused() -> None:
    frame = {"query": ["q", "q"], "doc": ["d", "d"], "judge": ["ann", "bob"], "label": [1, 0]}
    with pytest.raises(DuplicateError, match="1 by ann, 0") as refused:
        Matcher(Judgments.of(frame))
    assert refused.value.code == "several-judges"
