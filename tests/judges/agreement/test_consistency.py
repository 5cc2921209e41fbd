"""The same judge twice, beside different judges on the same items."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from ringtrue.errors import TableError
from ringtrue.judges.agreement.agree import estimate_consistency, estimate_drift, estimate_transitivity
from ringtrue.judges.votes import Votes, make_votes
from ringtrue.stats.results import Estimate
from strategies import examples, judged


def found(votes: Votes) -> tuple[Estimate, Estimate]:
    both = estimate_consistency(votes, has_repeats=bool(votes.find_repeats().any()), level=0.95)
    return both["self_consistency"], both["cross_consistency"]


def test_a_judge_who_wavers_and_judges_who_differ_by_hand() -> None:
    # x says 0, 0 of a and 0, 1 of b; y says 1 of a and 1 of b. Nobody labelled c twice.
    table = {"doc": list("aabbabcc"), "judge": list("xxxxyyxy"), "label": [0, 0, 0, 1, 1, 1, 1, 1]}
    own, cross = found(make_votes(table))
    assert (own.value, own.n) == (1 / 2, 2)
    assert (cross.value, cross.n) == ((0 / 2 + 1 / 2) / 2, 2)


def test_three_labels_of_one_judge_make_three_pairs() -> None:
    own, _ = found(make_votes({"doc": ["a"] * 4, "judge": list("xxxy"), "label": [0, 0, 1, 1]}))
    assert (own.value, own.n) == (pytest.approx(1 / 3), 1)


def test_a_careful_judge_in_bad_company_agrees_with_himself_alone() -> None:
    docs = [f"d{place}" for place in range(20) for _ in range(3)]
    labels = [label for place in range(20) for label in (place % 2, place % 2, 1 - place % 2)]
    own, cross = found(make_votes({"doc": docs, "judge": list("xxy") * 20, "label": labels}))
    assert (own.value, cross.value) == (1, 0)
    assert (own.low or 0) > (cross.high or 1)


def test_without_repeats_both_are_undefined_in_words() -> None:
    for one in found(make_votes({"doc": list("aa"), "judge": list("xy"), "label": [0, 1]})):
        assert (one.value, one.n, [note.code for note in one.notes]) == (None, 0, ["no-repeated-labels"])


def test_a_judge_alone_with_his_repeats_has_no_company() -> None:
    own, cross = found(make_votes({"doc": list("aab"), "judge": list("xxy"), "label": [0, 1, 1]}))
    assert own.value == 0
    assert (cross.value, [note.code for note in cross.notes]) == (None, ["no-cases"])


@given(judged())
def test_both_are_what_a_plain_loop_gives(votes: Votes) -> None:
    said: dict[int, list[tuple[int, int]]] = {}
    for item, judge, label in zip(votes.item.tolist(), votes.judge.tolist(), votes.label.tolist(), strict=True):
        said.setdefault(item, []).append((judge, label))
    own, cross = [], []
    for labels in said.values():
        pairs = list(combinations(labels, 2))
        per_judge: dict[int, list[bool]] = {}
        for (one, first), (other, second) in pairs:
            if one == other:
                per_judge.setdefault(one, []).append(first == second)
        own += [sum(equal) / len(equal) for equal in per_judge.values()]
        others = [first == second for (one, first), (other, second) in pairs if one != other]
        if per_judge and others:
            cross.append(sum(others) / len(others))
    for one, expected in zip(found(votes), (own, cross), strict=True):
        assert one.n == len(expected)
        assert one.value == (pytest.approx(sum(expected) / len(expected)) if expected else None)


def labels(*, docs: int = 40, tires_after: int = 10**6, kinder_by: int = 0) -> dict[str, list[object]]:
    """Three judges who agree, in two queries; the third says the opposite, or more, after so many documents."""
    rows = [
        (f"q{doc % 2}", f"d{doc}", judge, _said(doc, judge, tires_after, kinder_by), 1_000 + doc)
        for doc in range(docs)
        for judge in "xyz"
    ]
    return dict(zip(("query", "doc", "judge", "label", "time"), map(list, zip(*rows, strict=True)), strict=True))


def _said(doc: int, judge: str, tires_after: int, kinder_by: int) -> int:
    true = doc // 2 % 2
    if judge != "z" or doc < tires_after:
        return true
    return true + kinder_by if kinder_by else 1 - true


def test_a_judge_who_tires_is_seen_where_he_does() -> None:
    found = estimate_drift(make_votes(labels(tires_after=30)), level=0.95)
    assert [one.labels for one in found] == [30, 30, 30, 30]
    assert [one.agreement.value for one in found] == pytest.approx([1, 1, 1, 1 / 3])  # x and y agree half of the time
    assert [(one.first, one.last) for one in found] == [
        ("1000", "1009"),
        ("1010", "1019"),
        ("1020", "1029"),
        ("1030", "1039"),
    ]


def test_leniency_is_how_much_higher_labels_are_than_those_of_others() -> None:
    # The third judge works last and is 2 too kind to the last ten documents: the last thirty labels are all his.
    table = labels(tires_after=30, kinder_by=2)
    table["time"] = [time + 100 * (judge == "z") for time, judge in zip(table["time"], table["judge"], strict=True)]
    higher = [one.leniency.value for one in estimate_drift(make_votes(table), level=0.95)]
    assert higher[-1] == pytest.approx(10 * 2 / 30)
    assert sum(one for one in higher if one is not None) == pytest.approx(
        0
    )  # what is higher for one is lower for others


def test_times_may_be_dates_and_rows_in_any_order() -> None:
    table = labels(tires_after=30)
    numbers = estimate_drift(make_votes(table), level=0.95)
    table["time"] = [f"2024-05-01 10:{int(time) - 1_000:02d}:00" for time in table["time"]]
    order = np.random.default_rng(1).permutation(len(table["time"]))
    dates = estimate_drift(
        make_votes({name: [column[row] for row in order] for name, column in table.items()}), level=0.95
    )
    assert [one.agreement.value for one in dates] == pytest.approx([one.agreement.value for one in numbers])
    assert (dates[0].first, dates[-1].last) == ("2024-05-01 10:00:00", "2024-05-01 10:39:00")


def test_without_time_or_with_few_labels_there_is_no_view() -> None:
    table = labels()
    assert (
        estimate_drift(make_votes({name: column for name, column in table.items() if name != "time"}), level=0.95) == ()
    )
    for docs, periods in ((19, 0), (20, 4)):  # ten labels for each of four stretches
        two = [row for row in zip(*labels(docs=docs).values(), strict=True) if row[2] != "z"]
        found = estimate_drift(make_votes(dict(zip(table, map(list, zip(*two, strict=True)), strict=True))), level=0.95)
        assert len(found) == periods


def test_labels_that_nobody_else_gave_do_not_count() -> None:
    table = labels()
    for name, value in {"query": "q0", "doc": "alone", "judge": "x", "label": 1, "time": 1_039}.items():
        table[name].append(value)
    assert sum(one.labels for one in estimate_drift(make_votes(table), level=0.95)) == 120


def test_a_time_that_is_no_time_is_refused_with_its_row() -> None:
    table = labels()
    table["time"] = ["2024-05-01 10:00:00"] * 119 + ["soon"]
    with pytest.raises(TableError) as refused:
        estimate_drift(make_votes(table), level=0.95)
    assert refused.value.code == "bad-time"
    assert refused.value.note.subject == "row 120"
    assert "found 'soon'" in refused.value.text


Row = tuple[str, str, str, str, str]


def votes(rows: list[Row]) -> Votes:
    names = ("query", "left", "right", "judge", "winner")
    return make_votes(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def transitivity(rows: list[Row]) -> rt.Transitivity:
    return estimate_transitivity(votes(rows), level=0.95)


CIRCLE: list[Row] = [("q", "a", "b", "x", "left"), ("q", "b", "c", "x", "left"), ("q", "a", "c", "x", "right")]
ORDER: list[Row] = [("r", "a", "b", "x", "left"), ("r", "b", "c", "x", "left"), ("r", "a", "c", "x", "left")]


def test_a_circle_of_three_is_found_and_named() -> None:
    answer = transitivity(CIRCLE)
    assert (answer.within.value, answer.majority.value, answer.majority.n) == (0, 0, 1)
    assert answer.cycle is not None
    query, *docs = answer.cycle
    assert query == "q"
    assert tuple(docs) in [("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b")]  # each beats the next


def test_an_order_of_three_is_no_circle() -> None:
    answer = transitivity(ORDER)
    assert (answer.within.value, answer.majority.value, answer.cycle) == (1, 1, None)
    assert [note.code for note in answer.majority.notes] == ["single-query"]
    assert answer.majority.low is None


def test_two_queries_have_an_interval() -> None:
    answer = transitivity(CIRCLE + ORDER)
    assert (answer.majority.value, answer.majority.n) == (0.5, 2)
    assert answer.majority.low is not None
    assert 0 <= answer.majority.low < 0.5


def test_judges_without_circles_can_have_a_majority_that_runs_in_one() -> None:
    # Condorcet: a > b > c, b > c > a and c > a > b.
    rows: list[Row] = [
        ("q", first, second, judge, "left")
        for judge, order in {"x": "abc", "y": "bca", "z": "cab"}.items()
        for first, second in combinations(order, 2)
    ]
    answer = transitivity(rows)
    assert (answer.within.value, answer.within.n) == (1, 3)
    assert (answer.majority.value, answer.majority.n) == (0, 1)


def test_ties_and_missing_pairs_decide_nothing() -> None:
    for last in ([("q", "a", "c", "x", "tie")], []):
        answer = transitivity([*CIRCLE[:2], *last])
        assert (answer.within.value, answer.majority.n, answer.cycle) == (None, 0, None)
        assert [note.code for note in answer.within.notes] == ["no-triples"]


def test_three_documents_of_different_queries_are_no_triple() -> None:
    answer = transitivity([CIRCLE[0], CIRCLE[1], ("r", "a", "c", "x", "right")])
    assert answer.majority.n == 0


preferences = st.lists(
    st.tuples(
        st.sampled_from("qr"),
        st.sampled_from(list(permutations("abcd", 2))),
        st.sampled_from("xy"),
        st.sampled_from(["left", "right", "tie"]),
    ),
    min_size=1,
    max_size=40,
)


@examples(40)
@given(preferences)
def test_shares_are_those_of_a_plain_loop_over_triples(drawn: list[tuple[str, tuple[str, str], str, str]]) -> None:
    rows = [(query, left, right, judge, winner) for query, (left, right), judge, winner in drawn]
    net: dict[tuple[str, str], dict[tuple[str, str], int]] = defaultdict(lambda: defaultdict(int))
    for query, left, right, judge, winner in rows:
        sign = {"left": 1, "right": -1, "tie": 0}[winner]
        for group in (judge, "everybody"):
            net[query, group][left, right] += sign
            net[query, group][right, left] -= sign
    triples = {"one": 0, "all": 0}
    circles = {"one": 0, "all": 0}
    for (_, group), won in net.items():
        kind = "all" if group == "everybody" else "one"
        for a, b, c in combinations("abcd", 3):
            sides = [won[a, b], won[b, c], won[c, a]]
            if all(sides):
                triples[kind] += 1
                circles[kind] += all(side > 0 for side in sides) or all(side < 0 for side in sides)
    answer = transitivity(rows)
    for kind, share in {"one": answer.within, "all": answer.majority}.items():
        assert share.n == triples[kind]
        assert share.value == (pytest.approx(1 - circles[kind] / triples[kind]) if triples[kind] else None)
    assert (answer.cycle is not None) == (circles["all"] > 0)
    if answer.cycle is not None:
        query, a, b, c = answer.cycle
        won = net[query, "everybody"]
        assert min(won[a, b], won[b, c], won[c, a]) > 0
