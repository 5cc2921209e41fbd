"""How the gold labels came to be: what is accepted, and what is refused with a way out."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from gold.refusals import codes, names, refuses
from ringtrue.errors import DuplicateError, InputError, MismatchError, TableError, UsageError
from ringtrue.evaluation.measures import parse
from ringtrue.gold.correction.gold_sample import build_gold_sample, comparison_measures, resolve_design, split_gold
from ringtrue.gold.correction.pool import Pool, build_pool
from ringtrue.gold.designs import DESIGNS
from ringtrue.tables import Judgments, Run

DRAWS = ["pool_random", "pool_stratified", "whole_queries"]


def gold(labels: int = 4, **columns: Any) -> Judgments:
    """Labels of the documents d0, d1, … of query q."""
    given: dict[str, Any] = {"query": ["q"] * labels, "doc": [f"d{i}" for i in range(labels)]}
    given["label"] = [i % 2 for i in range(labels)]
    return Judgments.of(given | {name: value if isinstance(value, list) else [value] * labels
                                 for name, value in columns.items()})  # fmt: skip


@pytest.fixture
def pool() -> Pool:
    """Ten documents of one run."""
    run = Run.of({"q": {f"d{i}": 10.0 - i for i in range(10)}})
    return build_pool([run], Judgments.of({"q": {f"d{i}": i % 2 for i in range(10)}}), depth=10)


@pytest.mark.parametrize("design", DESIGNS)
def test_a_design_comes_from_the_column_or_from_what_is_asked(design: str) -> None:
    assert resolve_design(gold(design=design)) == design
    assert resolve_design(gold(), design) == design
    assert resolve_design(gold(design=design), design) == design
    assert resolve_design(gold(design=[design, None, design, design]), design) == design


@pytest.mark.parametrize("design", [design for design in DESIGNS if design != "external"])
def test_a_design_that_contradicts_the_column_is_refused(design: Any) -> None:
    with refuses(UsageError, "design-contradicted", design, "'external'"):
        resolve_design(gold(design="external"), design)


def test_gold_without_a_design_is_refused_with_those_that_labels_can_have() -> None:
    with pytest.raises(InputError) as refused:
        resolve_design(gold())
    assert (refused.value.code, refused.value.parameter) == ("undeclared-design", "design")
    frame, *designs = refused.value.note.suggestions
    assert frame.arguments == {"sampling_frame": ...}
    offered = {suggestion.arguments["design"]: suggestion.purpose for suggestion in designs}
    assert offered == {name: f"stands for {words}" for name, words in DESIGNS.items() if name != "known"}


def test_a_design_that_is_missing_for_one_label_is_missing() -> None:
    with refuses(InputError, "undeclared-design"):
        resolve_design(gold(design=["pool_random", None, "pool_random", "pool_random"]))


def test_mixed_designs_are_refused_with_a_way_to_keep_one() -> None:
    with pytest.raises(InputError) as refused:
        resolve_design(gold(design=["external", "pool_random", "external", "pool_random"]))
    assert refused.value.code == "several-designs"
    (keep_one,) = refused.value.note.suggestions
    assert (keep_one.function, keep_one.arguments) == ("read_judgments", {"where": {"design": "external"}})


def test_a_word_that_is_no_design_gets_the_near_miss() -> None:
    with refuses(UsageError, "unknown-design", "'pool_randum'", "'pool_random'"):
        resolve_design(gold(), "pool_randum")
    with refuses(InputError, "unknown-design", "'pool_randum'", "'pool_random'"):
        resolve_design(gold(design="pool_randum"))
    with refuses(UsageError, "unknown-design", "'xyzzy'"):
        resolve_design(gold(), "xyzzy")


def test_negative_labels_are_no_judgments() -> None:
    some = Judgments.of({"q": {"a": 1, "b": -1, "c": 0, "d": -2}})
    found = split_gold(some, "external")
    assert found.judged.frame["doc"].to_list() == ["a", "c"]
    assert found.lost is not None
    assert found.lost.frame["doc"].to_list() == ["b", "d"]
    assert found.complete.frame["doc"].to_list() == ["a", "c", "b", "d"]
    assert codes(found.notes) == ["lost-labels"]
    assert names(found.notes[0], "2", "4", "negative")
    assert codes(split_gold(Judgments.of({"q": {"a": 1, "b": -1}}), "external").notes) == ["lost-labels"]
    without_loss = split_gold(Judgments.of({"q": {"a": 1}}), "external")
    assert (without_loss.notes, without_loss.lost) == ((), None)
    for design in DESIGNS:
        with refuses(InputError, "no-gold-labels"):
            split_gold(Judgments.of({"q": {"a": -1}}), design)


def test_reasons_for_lost_labels_are_counted() -> None:
    some = {"query": ["q"] * 60, "doc": list(map(str, range(60))), "label": [*["1"] * 57, "", "can't tell", None]}
    found = split_gold(Judgments.of(some, allow_blank=True), "pool_random")
    assert codes(found.notes) == ["lost-labels"]
    assert names(found.notes[0], "3", "60", "2 blank", "1 can't tell")


@pytest.mark.parametrize("design", DRAWS)
def test_a_draw_may_lack_one_label_in_twenty_and_that_is_told(design: Any) -> None:
    one = gold(20, label=[-1, *[1] * 19])
    found = split_gold(one, design)
    assert found.judged.frame.height == 19
    assert codes(found.notes) == ["lost-labels"]
    assert names(found.notes[0], "1", "20")
    two = gold(20, label=[-1, -1, *[1] * 18])
    with refuses(InputError, "too-many-lost", "2", "20"):
        split_gold(two, design)
    assert split_gold(two, "external").judged.frame.height == 18  # what a draw lost is known of draws alone


@pytest.mark.parametrize("design", DRAWS)
def test_rows_that_a_draw_lost_or_gained_are_missed(design: Any) -> None:
    assert split_gold(gold(20, drawn=20), design).notes == ()
    lost = split_gold(gold(19, drawn=20), design)
    assert lost.judged.frame.height == 19
    assert names(lost.notes[0], "20", "19")
    unbounded = ["unbounded-loss"] if design != "whole_queries" else []
    assert codes(lost.notes) == ["drawn-count-differs", *unbounded]
    added = split_gold(gold(21, drawn=20), design).notes
    assert codes(added) == ["drawn-count-differs"]
    assert names(added[0], "20", "21")
    for here in (18, 22):
        with refuses(InputError, "too-many-lost", "20", here):
            split_gold(gold(here, drawn=20), design)
    assert split_gold(gold(4, drawn=2000), "external").notes == ()


def test_rows_that_are_lost_and_labels_that_are_negative_add_up() -> None:
    both = gold(39, label=[-1, *[1] * 38], drawn=40)
    notes = split_gold(both, "pool_random").notes
    assert codes(notes) == ["lost-labels", "drawn-count-differs", "unbounded-loss"]
    assert names(notes[0], "1", "40")
    assert names(notes[1], "40", "39")
    more = gold(39, label=[-1, -1, *[1] * 37], drawn=40)
    with refuses(InputError, "too-many-lost", "2", "40", "39"):
        split_gold(more, "pool_random")


@pytest.mark.parametrize("design", DRAWS)
def test_several_draws_put_together_are_refused(design: Any) -> None:
    with refuses(InputError, "several-draws", "2, 3"):
        split_gold(gold(5, drawn=[2, 2, 3, 3, 3]), design)
    assert split_gold(gold(5, drawn=[2, 2, 3, 3, 3]), "external").notes == ()


@pytest.mark.parametrize("drawn", ["many", "inf", "nan", None])
def test_a_column_drawn_that_has_no_number_is_refused(drawn: Any) -> None:
    with refuses(TableError, "bad-drawn-count", drawn):
        split_gold(gold(drawn=drawn), "pool_random")


@pytest.mark.parametrize("drawn", [4, 4.0, "4", "4.0"])
def test_the_number_drawn_may_be_written_in_any_way(drawn: Any) -> None:
    assert split_gold(gold(drawn=drawn), "pool_random").notes == ()


def test_two_labels_of_one_document_are_refused() -> None:
    twice = Judgments.of({"query": ["q", "q"], "doc": ["a", "a"], "judge": ["x", "y"], "label": [1, 0]})
    for design in DESIGNS:
        with refuses(DuplicateError, "several-judges"):
            split_gold(twice, design)


def test_what_a_sample_was_drawn_for_comes_from_its_column() -> None:
    assert comparison_measures(gold()) == ()
    assert comparison_measures(gold(drawn_for="differences of P@10")) == (parse("P@10"),)
    told = gold(drawn_for="differences of P(rel=2)@10, DCG(gains={1:1,2:3})@5")
    assert comparison_measures(told) == (parse("P(rel=2)@10"), parse("DCG(gains={1:1,2:3})@5"))
    assert comparison_measures(gold(drawn_for=["differences of P@10", None, None, None])) == (parse("P@10"),)
    assert comparison_measures(gold(drawn_for="a pilot")) == ()


def test_a_random_sample_has_the_share_of_the_pool_for_its_probability(pool: Pool) -> None:
    found, notes = build_gold_sample(gold(), "pool_random", pool)
    assert found.prob.tolist() == [0.4] * 4
    assert found.positions.tolist() == [0, 1, 2, 3]
    assert found.labels.tolist() == [0, 1, 0, 1]
    assert (len(found), found.balanced, notes) == (4, False, ())


def test_probabilities_that_are_given_count(pool: Pool) -> None:
    for design in ("pool_random", "pool_stratified"):
        found, _ = build_gold_sample(gold(prob=[0.1, 0.2, 0.3, 1.0]), design, pool)
        assert found.prob.tolist() == [0.1, 0.2, 0.3, 1.0]


def test_a_sample_is_spread_over_queries_where_it_was_drawn_from_this_very_pool(pool: Pool) -> None:
    def spread(**columns: Any) -> bool:
        return build_gold_sample(gold(prob=0.4, **columns), "pool_stratified", pool)[0].balanced

    assert spread(drawn_from=pool.signature)
    assert not spread()
    assert not spread(drawn_from="pool-00000000")  # another judge's labels, or other runs
    assert not spread(drawn_from=[pool.signature] * 3 + ["pool-00000000"])
    assert not spread(drawn_from=[pool.signature] * 3 + [None])
    here = gold(prob=0.4, drawn_from=pool.signature).frame
    part = Judgments.of(here.with_columns(doc=pl.col("doc").replace("d1", "zz")))
    assert not build_gold_sample(part, "pool_stratified", pool)[
        0
    ].balanced  # how many of a query are in the pool is chance


def test_a_sample_that_was_drawn_in_parts_is_extended_and_not_balanced(pool: Pool) -> None:
    def kind(signature: str) -> tuple[bool, bool]:
        found, _ = build_gold_sample(gold(prob=0.4, drawn_from=signature), "pool_stratified", pool)
        return found.balanced, found.extended

    assert kind(pool.signature + "+") == (False, True)
    assert kind(pool.signature) == (True, False)
    assert kind("pool-00000000+") == (False, False)


def test_gold_documents_that_no_run_shows_are_counted_and_left_out(pool: Pool) -> None:
    found, notes = build_gold_sample(
        Judgments.of({"q": {"d1": 1, "zz": 1, "d3": 0}, "r": {"d1": 1}}), "pool_random", pool
    )
    assert found.positions.tolist() == [1, 3]
    assert found.prob.tolist() == [0.2, 0.2]
    assert codes(notes) == ["gold-partly-outside-runs"]
    assert names(notes[0], "2 of 4", "10", "'zz'", "'q'")
    _, (note,) = build_gold_sample(Judgments.of({"q": {"d1": 1, "zz": 1, "d3": 0}}), "pool_random", pool)
    assert names(note, "1 of 3", "'zz'")


def test_gold_of_which_no_run_shows_anything_is_refused(pool: Pool) -> None:
    with refuses(MismatchError, "gold-outside-runs", "'z'", "'q'"):
        build_gold_sample(Judgments.of({"q": {"z": 1, "y": 0}}), "pool_random", pool)


def test_one_gold_label_is_refused(pool: Pool) -> None:
    with refuses(InputError, "too-few-gold", "2", "10", "1"):
        build_gold_sample(gold(1), "pool_random", pool)


def test_a_stratified_sample_without_probabilities_is_refused(pool: Pool) -> None:
    with refuses(TableError, "no-probabilities"):
        build_gold_sample(gold(), "pool_stratified", pool)


@pytest.mark.parametrize("prob", [0.0, -0.5, 1.5])
def test_a_probability_outside_0_to_1_is_refused_with_its_row(prob: float) -> None:
    with refuses(TableError, "bad-probability"):
        gold(prob=[0.5, prob, 0.5, 0.5])


def test_a_probability_that_next_to_nothing_is_drawn_with_is_refused(pool: Pool) -> None:
    for design in ("pool_random", "pool_stratified"):
        with refuses(TableError, "tiny-probability", "'d1'", "'q'", "1e-10", "1e-09"):
            build_gold_sample(gold(prob=[0.5, 1e-10, 1e-9, 0.5]), design, pool)
        assert build_gold_sample(gold(prob=[0.5, 1e-9, 0.5, 0.5]), design, pool)[0].prob.min() == 1e-9


def test_a_missing_probability_is_refused(pool: Pool) -> None:
    with refuses(TableError, "empty-cell"):
        gold(prob=[0.5, 0.5, None, 0.5])
    # Judgments made of a frame as it is are not looked at so closely.
    frame = gold(prob=0.5).frame.with_columns(prob=pl.Series([0.5, 0.5, None, 0.5]))
    with refuses(TableError, "missing-probability", "'d2'", "'q'"):
        build_gold_sample(Judgments(frame), "pool_stratified", pool)
