"""What gold judged of the tops of the runs, in the queries that it judged."""

from __future__ import annotations

import polars as pl
import pytest

from gold.refusals import codes, refuses
from ringtrue.errors import InputError, MismatchError
from ringtrue.evaluation.measures import parse
from ringtrue.gold.correction.whole_queries import JudgedTops, count_judged_in_top, require_one_probability
from ringtrue.stats.results import Estimate
from ringtrue.tables import Run

NEAR = Run.of({"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"a": 3.0, "b": 2.0, "d": 1.0}, "q3": {"z": 1.0}}).called(
    "near"
)
FAR = Run.of({"q1": {"x": 3.0, "a": 2.0}, "q2": {"y": 3.0, "b": 2.0}}).called("far")
GOLD = pl.DataFrame({"query": ["q1", "q1", "q2", "q2"], "doc": ["a", "b", "a", "b"], "label": [1, 0, 1, 2]})
DEEP, SHALLOW = parse("nDCG@3"), parse("nDCG@2")


def test_documents_of_other_queries_do_not_count() -> None:
    assert count_judged_in_top(NEAR, GOLD, 2) == (4, 4)
    assert count_judged_in_top(NEAR, GOLD, 3) == (4, 6)


def test_less_than_four_fifths_is_too_little() -> None:
    tops = JudgedTops(runs=[NEAR, FAR], gold_rows=GOLD)
    assert tops.unjudged_reason(SHALLOW, [0]) is None
    for measure, runs in ((SHALLOW, [0, 1]), (DEEP, [0])):
        reason = tops.unjudged_reason(measure, runs)
        assert reason is not None
        assert reason.code == "top-not-judged"
        assert reason.suggestions[0].arguments == {"already": ..., "queries": 0, "measures": str(measure)}
    tops.require_some(SHALLOW, [[0], [1]])
    with refuses(InputError, "no-whole-queries", "'far'"):
        tops.require_some(SHALLOW, [[0, 1]])


@pytest.mark.parametrize(
    ("renamed", "named"),
    [
        (pl.format("D{}", "doc").alias("doc"), ["'Da'", "'q1'", "'a'"]),
        (pl.format("topic-{}", "query").alias("query"), ["'topic-q1'", "'q1'"]),
    ],
)
def test_where_no_id_is_known_one_of_each_kind_is_shown(renamed: pl.Expr, named: list[str]) -> None:
    tops = JudgedTops(runs=[NEAR, FAR], gold_rows=GOLD.with_columns(renamed))
    with refuses(MismatchError, "gold-outside-runs", *named):
        tops.require_shared_documents(DEEP)


def test_a_value_is_withheld_with_its_reason() -> None:
    tops = JudgedTops(runs=[NEAR, FAR], gold_rows=GOLD)
    estimate = Estimate(value=0.5, se=0.1, low=0.3, high=0.7, n=2, method="by hand")
    assert tops.withhold_unjudged(estimate, SHALLOW, 0) is estimate
    withheld = tops.withhold_unjudged(estimate, SHALLOW, 1)
    assert (withheld.value, withheld.se, withheld.low, withheld.high, withheld.n) == (None, None, None, None, 2)
    assert codes(withheld.notes) == ["top-not-judged"]


def test_documents_without_a_label_are_those_of_runs_that_have_a_value() -> None:
    tops = JudgedTops(runs=[NEAR, FAR], gold_rows=pl.concat([GOLD, GOLD[:1].with_columns(doc=pl.lit("c"))]))
    assert tops.unjudged_docs(SHALLOW).height == 0
    assert tops.unjudged_docs(DEEP).rows() == [("q2", "d")]


def test_queries_of_several_probabilities_are_refused() -> None:
    require_one_probability(GOLD)
    require_one_probability(GOLD.with_columns(prob=pl.lit(0.5)))
    with refuses(InputError, "unequal-probabilities", "0.4", "0.5"):
        require_one_probability(GOLD.with_columns(prob=pl.Series([0.5, 0.5, 0.5, 0.4])))
