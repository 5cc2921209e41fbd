"""What each label is worth: estimates of p and the weights."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, strategies as st

from ringtrue.errors import DuplicateError, MismatchError, TableError, UsageError
from ringtrue.judges.disagreement import Disagreement, disagree, weight
from ringtrue.judges.votes import Votes, make_votes
from ringtrue.simulation.studies.agreement_coverage import judged_labels
from strategies import examples, judged

Rows = list[tuple[str, str, str, int]]


def table(rows: Rows) -> dict[str, list[Any]]:
    return {
        name: list(column)
        for name, column in zip(("query", "doc", "judge", "label"), zip(*rows, strict=True), strict=True)
    }


def quick(labels: object, at_least: str = "1/3", **settings: Any) -> Disagreement:
    return disagree(labels, at_least, resamples=0, **settings)


def values(found: Disagreement) -> list[float | None]:
    return [one.value for one in found.p.values()]


# Two judges, by hand: (2, 1), (1, 2), (2, 2), (0, 1), (0, 0).
TWO = table(
    [
        (f"q{number // 2}", f"d{number}", judge, label)
        for number, pair in enumerate([(2, 1), (1, 2), (2, 2), (0, 1), (0, 0)])
        for judge, label in zip("xy", pair, strict=True)
    ]
)


def test_two_judges_are_asked_in_both_directions() -> None:
    found = quick(TWO)
    # Given 2: (2,1) and (2,1) turned round say 1, the equal pair is two cases of 2. Given 1: 2, 2, 0. Given 0: 1, 0, 0.
    assert values(found) == pytest.approx([0, 2 / 3, 2 / 4])
    assert found.cases == {"0": 3, "1": 3, "2": 4}
    assert found.gains == pytest.approx({0: 0, 1: 1 - (1 / 3) ** 2, 2: 1})
    assert (found.documents, found.queries, found.judges, found.votes) == (5, 3, 2, 10)
    assert found.top == ("2",)


def test_each_document_weighs_the_same_however_many_labels_it_has() -> None:
    many = [("q", "a", f"j{number}", label) for number, label in enumerate([1, 2, 2, 2])]
    few = [("q", "b", "x", 1), ("q", "b", "y", 0)]
    found = quick(table(many + few))
    # Document a: a label is 1 in a quarter of draws, and another then is 2. Document b: 1 in half, and then never.
    assert found.p["1"].value == pytest.approx((1 / 4 * 1) / (1 / 4 + 1 / 2))
    assert found.cases["1"] == 3 + 1


def test_the_weight_is_that_of_p_and_its_interval_is_that_of_p_moved_along() -> None:
    found = disagree(judged_labels(np.random.default_rng(2), queries=20, docs=10), "2/4")
    for name, p in found.p.items():
        if name == "0":
            continue
        for end in ("value", "low", "high"):
            assert getattr(found.weights[name], end) == pytest.approx(
                float(weight(getattr(p, end), 2, 4, top=name == "3"))
            )
        assert (p.low or 0) < (p.value or 0) < (p.high or 0)
        assert found.weights[name].se is not None


def brute(votes: Votes, least: int) -> list[float | None]:
    """Every document, every ordered pair of its labels, all with the same weight within the document."""
    given, hits = np.zeros(len(votes.labels)), np.zeros(len(votes.labels))
    for item in range(votes.items.height):
        labels = votes.label[votes.item == item]
        if len(labels) < least:
            continue
        pairs = list(permutations(labels, 2))
        for one, other in pairs:
            given[one] += 1 / len(pairs)
            hits[one] += (other == len(votes.labels) - 1) / len(pairs)
    return [float(h / g) if g else None for h, g in zip(hits, given, strict=True)]


def usable(votes: Votes, least: int = 2) -> bool:
    return len(votes.labels) > 1 and len(votes.judges) > 1 and bool(np.bincount(votes.item).max() >= least)


@examples(40)
@given(votes=judged(), least=st.integers(2, 3))
def test_the_formula_is_the_limit_of_drawing_one_label_then_another(votes: Votes, least: int) -> None:
    assume(usable(votes, least))
    found = quick(votes, repeats="all", min_labels=least)
    for one, other in zip(values(found), brute(votes, least), strict=True):
        assert (one is None) == (other is None)
        assert one is None or one == pytest.approx(other)


@examples(40)
@given(votes=judged(), share=st.sampled_from([(1, 2), (1, 3), (2, 3), (2, 2), (3, 3), (0, 2)]))
def test_what_happened_is_counted_over_all_ways_to_draw_n_labels(votes: Votes, share: tuple[int, int]) -> None:
    least, users = share
    assume(usable(votes, users))
    top = len(votes.labels) - 1
    given, hits = np.zeros(top + 1), np.zeros(top + 1)
    for item in range(votes.items.height):
        labels = votes.label[votes.item == item].tolist()
        if len(labels) < users:
            continue
        draws = [
            (one, rest)
            for one in range(len(labels))
            for rest in combinations([n for n in range(len(labels)) if n != one], users - 1)
        ]
        for one, rest in draws:
            given[labels[one]] += 1 / len(draws)
            hits[labels[one]] += (sum(labels[n] == top for n in (one, *rest)) >= least) / len(draws)
    found = quick(votes, repeats="all", verify=[share]).verified
    for place, one in enumerate(found):
        if one.experimental.method == "by definition":
            continue
        if given[place] == 0:
            assert one.experimental.value is None
        else:
            assert one.experimental.value == pytest.approx(hits[place] / given[place])


@examples(40)
@given(votes=judged(), seed=st.integers(0, 2**32 - 1))
def test_neither_the_order_of_the_rows_nor_the_names_of_judges_matter(votes: Votes, seed: int) -> None:
    assume(usable(votes))
    rng = np.random.default_rng(seed)
    order = rng.permutation(votes.size)
    rows = pl.DataFrame(
        {
            "query": votes.items["query"].gather(votes.item),
            "doc": votes.items["doc"].gather(votes.item),
            "judge": [f"somebody {judge}" for judge in votes.judge],
            "label": np.array(votes.labels)[votes.label],
        }
    )[order.tolist()]
    one, other = quick(votes, repeats="all"), quick(rows, repeats="all")
    assert values(one) == pytest.approx(values(other), nan_ok=True)
    assert one.cases == other.cases


@examples(40)
@given(votes=judged())
def test_weights_are_probabilities_and_undefined_levels_are_told_in_words(votes: Votes) -> None:
    assume(usable(votes))
    found = quick(votes, repeats="all", keep_lowest=True)
    for name, one in found.weights.items():
        assert one.value is None or 0 <= one.value <= 1
        if found.cases[name] == 0:
            assert found.p[name].value is None
            assert found.p[name].notes[0].code == "unseen-level"
            assert ("unseen-level", f"level {name}") in [(flag.code, flag.subject) for flag in found.flags]


def test_a_level_never_seen_is_undefined_and_has_no_gain() -> None:
    found = quick(
        table([("q", "a", "x", 0), ("q", "a", "y", 3), ("q", "b", "x", 2), ("q", "b", "y", 3)]), scale=[0, 1, 2, 3]
    )
    assert found.p["1"].value is None
    assert found.weights["1"].value is None
    assert found.gains == {0: 0.0, 2: 1.0, 3: 1.0}
    assert "nobody knows" in str(found)


def test_where_nobody_says_the_top_nothing_is_0_without_a_word() -> None:
    found = quick(TWO, "2/3", scale=[0, 1, 2, 3])
    assert found.p["3"].value is None
    assert found.weights["3"].value is None
    (note,) = [note for note in found.notes if note.code == "unseen-top"]
    assert " 3," in note


def test_the_lowest_level_is_worth_nothing_unless_it_is_kept() -> None:
    rows = table([("q", "a", "x", 0), ("q", "a", "y", 1)])
    assert quick(rows).gains == {0: 0.0, 1: 1.0}
    assert quick(rows, keep_lowest=True).gains == {0: 1.0, 1: 1.0}
    assert quick(rows).weights["0"].method == "lowest level"


def test_few_cases_are_flagged_and_many_are_not() -> None:
    flag = quick(TWO).flags[0]
    assert (flag.code, flag.subject) == ("few-cases", "level 0")
    assert "3 cases" in flag
    many = judged_labels(np.random.default_rng(1), queries=30, docs=20)
    assert quick(many).flags == ()


def test_documents_with_too_few_labels_are_counted_in_a_note() -> None:
    alone = table([("q", "a", "x", 0), ("q", "a", "y", 1), ("q", "b", "x", 1)])
    (note,) = [note for note in quick(alone).notes if note.code == "thinly-labelled-items"]
    assert note.startswith("1 of 2 ")
    more = table([("q", "a", judge, 1) for judge in "xyz"] + [("q", "b", "x", 0), ("q", "b", "y", 1)])
    (note,) = [note for note in quick(more, min_labels=3).notes if note.code == "thinly-labelled-items"]
    assert note.startswith("1 of 2 ")
    assert "than 3 labels" in note


def test_repeats_need_a_word_about_which_of_them_counts() -> None:
    rows = table([("q", "a", "x", 0), ("q", "a", "x", 1), ("q", "a", "y", 1), ("q", "b", "y", 0)])
    with pytest.raises(DuplicateError) as refused:
        quick(rows)
    assert refused.value.code == "repeated-labels"
    assert values(quick(rows, repeats="first")) == [1, 0]
    assert values(quick(rows, repeats="last")) == [None, 1]
    assert values(quick(rows, repeats="all")) == pytest.approx([1, 1 / 2])


class TestRefusals:
    def test_one_judge_only(self) -> None:
        with pytest.raises(TableError) as refused:
            quick(table([("q", "a", "x", 0), ("q", "b", "x", 1)]))
        assert refused.value.code == "one-judge"

    def test_one_judges_repeats_are_not_another_users(self) -> None:
        with pytest.raises(TableError) as refused:
            quick(table([("q", "a", "x", 0), ("q", "a", "x", 1)]), repeats="all")
        assert refused.value.code == "one-judge"

    def test_nobody_named_but_several_labels_may_be_several_users(self) -> None:
        assert values(quick({"doc": ["a", "a"], "label": [0, 1]}, repeats="all")) == [1, 0]

    def test_judges_who_never_met(self) -> None:
        with pytest.raises(TableError) as refused:
            quick(table([("q", "a", "x", 0), ("q", "b", "y", 1)]))
        assert refused.value.code == "no-shared-items"

    def test_too_many_labels_wanted(self) -> None:
        with pytest.raises(TableError) as refused:
            quick(TWO, min_labels=3)
        assert refused.value.code == "too-few-labels"
        assert refused.value.note.suggestions[0].arguments == {"min_labels": 2}

    def test_one_label_alone(self) -> None:
        with pytest.raises(TableError) as refused:
            quick(table([("q", "a", "x", 1), ("q", "a", "y", 1)]))
        assert refused.value.code == "one-level"

    def test_preferences(self) -> None:
        with pytest.raises(TableError) as refused:
            quick({"left": ["a"], "right": ["b"], "judge": ["x"], "winner": ["left"]})
        assert refused.value.code == "not-for-preferences"

    @pytest.mark.parametrize("settings", [{"resamples": 1}, {"resamples": -1}, {"min_labels": 1}])
    def test_settings_that_make_no_sense(self, settings: dict[str, int]) -> None:
        with pytest.raises(UsageError) as refused:
            disagree(TWO, "1/3", **settings)  # type: ignore[arg-type]
        assert (refused.value.code, {refused.value.parameter}) == ("out-of-range", set(settings))

    def test_more_users_than_there_are(self) -> None:
        with pytest.raises(UsageError) as refused:
            quick(TWO, "3/2")
        assert refused.value.code == "impossible-user-share"


class TestGold:
    ROWS = {"doc": list("aabb"), "judge": list("xyxy"), "label": [0, 1, 1, 1], "gold": [1, 1, None, None]}  # noqa: RUF012

    def test_a_column_of_gold_counts_as_one_more_label(self) -> None:
        found = quick(self.ROWS, gold_as_judge="gold")
        # a has 0, 1, 1: given 0 the other is 1; given 1 it is 1 or 0. b has 1, 1.
        assert values(found) == pytest.approx([1, (2 / 3 * 1 / 2 + 1) / (2 / 3 + 1)])
        (note,) = [note for note in found.notes if note.code == "gold-as-judge"]
        assert note.endswith(" 1 document")

    def test_so_does_a_table(self) -> None:
        rows = {name: self.ROWS[name] for name in ("doc", "judge", "label")}
        assert values(quick(rows, gold_as_judge={"doc": ["a"], "label": [1]})) == values(
            quick(self.ROWS, gold_as_judge="gold")
        )

    def test_gold_with_several_labels_is_a_judge_who_repeats_himself(self) -> None:
        rows = self.ROWS | {"gold": [0, 1, None, None]}
        first, last, both = (quick(rows, gold_as_judge="gold", repeats=which) for which in ("first", "last", "all"))
        assert [one.votes for one in (first, last, both)] == [5, 5, 6]
        assert first.cases["0"] == 2 * 2
        assert last.cases["0"] == 1 * 2
        assert both.cases["0"] == 2 * 3
        (note,) = [note for note in both.notes if note.code == "gold-as-judge"]
        assert note.endswith(" 1 document")

    def test_gold_makes_a_second_judge_of_one(self) -> None:
        rows = {"doc": ["a", "b"], "judge": ["x", "x"], "label": [0, 1], "gold": ["1", ""]}
        assert values(quick(rows, gold_as_judge="gold")) == [1, 0]

    def test_gold_below_0_is_no_label(self) -> None:
        rows = self.ROWS | {"gold": [-2, -2, 1, 1]}
        assert values(quick(rows, gold_as_judge="gold")) == pytest.approx([1, (1 / 2 * 0 + 1) / (1 / 2 + 1)])

    def test_what_is_wrong_with_gold_is_told(self) -> None:
        with pytest.raises(UsageError) as refused:
            quick(self.ROWS, gold_as_judge="golden")
        assert (refused.value.code, refused.value.parameter) == ("unknown-column", "gold_as_judge")
        assert "'gold'?" in refused.value.text
        with pytest.raises(DuplicateError) as refused:
            quick(self.ROWS | {"gold": [0, 1, 1, 1]}, gold_as_judge="gold")
        assert refused.value.code == "several-labels"
        with pytest.raises(TableError) as refused:
            quick(self.ROWS | {"gold": ["", "", "", ""]}, gold_as_judge="gold")
        assert refused.value.code == "empty-column"
        with pytest.raises(TableError) as refused:
            quick(self.ROWS | {"gold": [7, 7, 7, 7]}, gold_as_judge="gold")
        assert refused.value.code == "gold-outside-labels"
        assert "gold says 7," in refused.value.text
        with pytest.raises(MismatchError) as refused:
            quick(self.ROWS, gold_as_judge={"doc": ["z"], "label": [1]})
        assert refused.value.code == "gold-unlabelled"


class TestStrata:
    def test_each_value_of_a_column_has_its_own_answer(self) -> None:
        rows = pl.DataFrame(TWO).with_columns(kind=pl.when(pl.col("query") == "q0").then(pl.lit("nav")))
        found = quick(rows, by="kind")
        assert list(found.strata) == ["(empty)", "nav"]
        assert values(found.strata["nav"]) == [None, 1, 0]
        assert found.strata["nav"].cases == {"0": 0, "1": 2, "2": 2}
        assert {name: part.documents for name, part in found.strata.items()} == {"(empty)": 3, "nav": 2}
        assert values(found) == values(quick(TWO))

    def test_queries_can_be_told_apart_by_whatever_the_file_calls_them(self) -> None:
        rows = pl.DataFrame(TWO).rename({"query": "topic"})
        assert list(quick(rows, by="topic").strata) == list(quick(rows, by="query").strata) == ["q0", "q1", "q2"]

    def test_a_part_that_says_nothing_is_left_out_with_the_reason(self) -> None:
        rows = pl.concat([pl.DataFrame(TWO), pl.DataFrame(table([("z", "z", "x", 1)]))])
        found = quick(rows, by="query")
        assert "z" not in found.strata
        (note,) = [note for note in found.notes if note.code == "stratum-left-out"]
        assert note.subject == "query z"

    def test_a_column_that_is_not_there_is_told_with_the_near_miss(self) -> None:
        with pytest.raises(UsageError) as refused:
            quick(TWO | {"kind": ["a"] * 10}, by="kin")
        assert (refused.value.code, refused.value.parameter) == ("unknown-column", "by")
        assert "'kind'?" in refused.value.text


def test_the_same_seed_gives_the_same_answer_whatever_else_is_asked() -> None:
    votes = judged_labels(np.random.default_rng(1), queries=12, docs=8)
    plain = disagree(votes, "1/3", resamples=100, rng=np.random.default_rng(5))
    more = disagree(votes, "1/3", resamples=100, rng=np.random.default_rng(5), verify=["1/3"], by="query")
    assert plain.p == more.p
    assert plain.weights == more.weights


def test_the_frame_and_plain_data_say_the_same() -> None:
    found = disagree(TWO, "1/3", resamples=50)
    assert found.frame.columns[:5] == ["level", "label", "top", "cases", "p"]
    assert found.frame["p"].to_list() == values(found)
    plain = found.as_dict()
    assert list(plain)[:4] == ["p", "weights", "cases", "flags"]
    assert plain["at_least"] == "1/3"
    assert plain["gains"] == {str(label): gain for label, gain in found.gains.items()}


def test_one_query_alone_has_its_documents_drawn_anew() -> None:
    votes = make_votes(judged_table(np.random.default_rng(3)))
    found = disagree(votes, "1/3", resamples=200)
    assert found.p["2"].method == "bootstrap over items"
    assert found.p["2"].se


def judged_table(rng: np.random.Generator) -> dict[str, Any]:
    docs = [f"d{number}" for number in range(40) for _ in "xy"]
    return {"doc": docs, "judge": ["x", "y"] * 40, "label": rng.integers(0, 3, 80).tolist()}


def test_a_level_from_one_query_has_no_interval() -> None:
    rows = table(
        [
            ("q", "a", "x", 2),
            ("q", "a", "y", 2),
            ("r", "b", "x", 0),
            ("r", "b", "y", 1),
            ("s", "c", "x", 0),
            ("s", "c", "y", 1),
        ]
    )
    found = disagree(rows, "1/3", resamples=100)
    assert found.p["2"].low is None
    assert [note.code for note in found.p["2"].notes] == ["too-few-clusters"]
    assert found.p["0"].low == 0  # never the top in two queries, which Wilson knows what to make of
    assert "few-clusters" in [note.code for note in found.p["0"].notes]
