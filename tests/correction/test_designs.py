"""How the gold labels came to be: what is accepted, and what is refused with a way out."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from ringtrue.correction.designs import DESIGNS, design_of, gold_sample, judged_gold
from ringtrue.correction.pooled import Pool, pooled
from ringtrue.errors import DuplicateError, InputError, MismatchError, TableError, UsageError
from ringtrue.tables import Judgments, Run


def gold(labels: int = 4, **columns: Any) -> Judgments:
    """Labels of the documents d0, d1, … of query q."""
    given = {"query": ["q"] * labels, "doc": [f"d{i}" for i in range(labels)], "label": [i % 2 for i in range(labels)]}
    return Judgments.of(given | {name: value if isinstance(value, list) else [value] * labels
                                 for name, value in columns.items()})  # fmt: skip


@pytest.fixture
def pool() -> Pool:
    """Ten documents of one run."""
    run = Run.of({"q": {f"d{i}": 10.0 - i for i in range(10)}})
    return pooled([run], Judgments.of({"q": {f"d{i}": i % 2 for i in range(10)}}), depth=10)


@pytest.mark.parametrize("design", DESIGNS)
def test_a_design_comes_from_the_column_or_from_what_is_asked(design: str) -> None:
    assert design_of(gold(design=design)) == design
    assert design_of(gold(), design) == design
    assert design_of(gold(design="external"), design) == design


def test_gold_without_a_design_is_refused_with_all_five() -> None:
    with pytest.raises(InputError) as refused:
        design_of(gold())
    for name, words in DESIGNS.items():
        assert f"{name}: {words}" in str(refused.value)
    assert "--design NAME, or give the file a column design" in str(refused.value)


def test_a_design_that_is_missing_for_one_label_is_missing() -> None:
    with pytest.raises(InputError, match="do not say how they were drawn"):
        design_of(gold(design=["pool_random", None, "pool_random", "pool_random"]))


def test_mixed_designs_are_refused_with_a_way_to_keep_one() -> None:
    with pytest.raises(InputError, match=r"several ways \(external, pool_random\).*--gold-where design=external"):
        design_of(gold(design=["external", "pool_random", "external", "pool_random"]))


def test_a_word_that_is_no_design_gets_the_near_miss() -> None:
    with pytest.raises(UsageError, match="--design: no design 'pool_randum'; did you mean 'pool_random'"):
        design_of(gold(), "pool_randum")
    with pytest.raises(InputError, match="column design: no design 'pool_randum'; did you mean 'pool_random'"):
        design_of(gold(design="pool_randum"))
    with pytest.raises(UsageError, match="no design 'xyzzy'; there is pool_random, pool_stratified, whole_queries"):
        design_of(gold(), "xyzzy")


def test_negative_labels_are_no_judgments() -> None:
    some = Judgments.of({"q": {"a": 1, "b": -1, "c": 0, "d": -2}})
    kept, notes = judged_gold(some)
    assert kept.frame["doc"].to_list() == ["a", "c"]
    assert notes == ("left out: 2 gold labels are negative, which says 'not judged'",)
    assert judged_gold(Judgments.of({"q": {"a": 1, "b": -1}}))[1] == (
        "left out: 1 gold label is negative, which says 'not judged'",
    )
    assert judged_gold(Judgments.of({"q": {"a": 1}}))[1] == ()
    with pytest.raises(InputError, match="every gold label is negative"):
        judged_gold(Judgments.of({"q": {"a": -1}}))


def test_two_labels_of_one_document_are_refused() -> None:
    with pytest.raises(DuplicateError, match=r"document 'a' of query 'q' has 2 labels \(1 by x, 0 by y\)"):
        judged_gold(Judgments.of({"query": ["q", "q"], "doc": ["a", "a"], "judge": ["x", "y"], "label": [1, 0]}))


def test_a_random_sample_has_the_share_of_the_pool_for_its_probability(pool: Pool) -> None:
    found, notes = gold_sample(gold(), "pool_random", pool)
    assert found.prob.tolist() == [0.4] * 4
    assert found.places.tolist() == [0, 1, 2, 3]
    assert found.labels.tolist() == [0, 1, 0, 1]
    assert (len(found), found.spread, notes) == (4, False, ())


def test_probabilities_that_are_given_count(pool: Pool) -> None:
    for design in ("pool_random", "pool_stratified"):
        found, _ = gold_sample(gold(prob=[0.1, 0.2, 0.3, 1.0]), design, pool)
        assert found.prob.tolist() == [0.1, 0.2, 0.3, 1.0]


def test_a_sample_is_spread_over_queries_where_its_strata_are_the_queries(pool: Pool) -> None:
    assert gold_sample(gold(prob=0.4, stratum="q"), "pool_stratified", pool)[0].spread
    assert not gold_sample(gold(prob=0.4, stratum="low"), "pool_stratified", pool)[0].spread
    assert not gold_sample(gold(prob=0.4, stratum=["q", "q", "q", None]), "pool_stratified", pool)[0].spread
    assert not gold_sample(gold(prob=0.4, stratum="q"), "pool_random", pool)[0].spread


def test_gold_documents_that_no_run_shows_are_counted_and_left_out(pool: Pool) -> None:
    found, notes = gold_sample(Judgments.of({"q": {"d1": 1, "zz": 1, "d3": 0}, "r": {"d1": 1}}), "pool_random", pool)
    assert found.places.tolist() == [1, 3]
    assert found.prob.tolist() == [0.2, 0.2]
    told = (
        "2 of 4 gold documents are in no run's top 10: worth nothing here, and left out. `ringtrue sample` draws from"
    )
    assert [note.startswith(told) for note in notes] == [True]
    assert "1 of 3 gold documents is" in gold_sample(Judgments.of({"q": {"d1": 1, "zz": 1, "d3": 0}}), "pool_random",
                                                     pool)[1][0]  # fmt: skip


def test_gold_of_which_no_run_shows_anything_is_refused(pool: Pool) -> None:
    with pytest.raises(MismatchError, match=r"no gold document is in any run's top 10: gold has document 'z' of query "
                                            r"'q'.*`ringtrue sample`"):  # fmt: skip
        gold_sample(Judgments.of({"q": {"z": 1, "y": 0}}), "pool_random", pool)


def test_one_gold_label_is_refused(pool: Pool) -> None:
    with pytest.raises(InputError, match="expected at least 2 gold labels among the 10 documents in the runs' top 10, "
                                         "found 1; draw more with `ringtrue sample`"):  # fmt: skip
        gold_sample(gold(1), "pool_random", pool)


def test_a_stratified_sample_without_probabilities_is_refused(pool: Pool) -> None:
    with pytest.raises(TableError, match=r"needs the probability of each document to be drawn in a column prob.*"
                                         "say --design pool_random"):  # fmt: skip
        gold_sample(gold(), "pool_stratified", pool)


@pytest.mark.parametrize("prob", [0.0, -0.5, 1.5])
def test_a_probability_outside_0_to_1_is_refused_with_its_row(prob: float) -> None:
    with pytest.raises(TableError, match=f"row 2: expected a probability above 0 and up to 1 in 'prob', found {prob}"):
        gold(prob=[0.5, prob, 0.5, 0.5])


def test_a_missing_probability_is_refused(pool: Pool) -> None:
    with pytest.raises(TableError, match="row 3: column 'prob' is empty"):
        gold(prob=[0.5, 0.5, None, 0.5])
    # Judgments made of a frame as it is are not looked at so closely.
    frame = gold(prob=0.5).frame.with_columns(prob=pl.Series([0.5, 0.5, None, 0.5]))
    with pytest.raises(TableError, match="document 'd2' of query 'q' has no probability in column prob"):
        gold_sample(Judgments(frame), "pool_stratified", pool)
