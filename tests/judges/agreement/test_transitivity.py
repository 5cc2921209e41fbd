"""Whether preferences fit an order, or run in circles."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, permutations

import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from ringtrue.judges.agreement.transitivity import estimate_transitivity
from ringtrue.judges.votes import Votes, make_votes

Row = tuple[str, str, str, str, str]


def votes(rows: list[Row]) -> Votes:
    names = ("query", "left", "right", "judge", "winner")
    return make_votes(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def found(rows: list[Row]) -> rt.Transitivity:
    return estimate_transitivity(votes(rows), level=0.95)


CIRCLE: list[Row] = [("q", "a", "b", "x", "left"), ("q", "b", "c", "x", "left"), ("q", "a", "c", "x", "right")]
ORDER: list[Row] = [("r", "a", "b", "x", "left"), ("r", "b", "c", "x", "left"), ("r", "a", "c", "x", "left")]


def test_a_circle_of_three_is_found_and_named() -> None:
    answer = found(CIRCLE)
    assert (answer.within.value, answer.majority.value, answer.majority.n) == (0, 0, 1)
    assert answer.cycle is not None
    query, *docs = answer.cycle
    assert query == "q"
    assert tuple(docs) in [("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b")]  # each beats the next


def test_an_order_of_three_is_no_circle() -> None:
    answer = found(ORDER)
    assert (answer.within.value, answer.majority.value, answer.cycle) == (1, 1, None)
    assert answer.majority.notes == ("triples of a single query share their pairs: no interval can be given",)
    assert answer.majority.low is None


def test_two_queries_have_an_interval() -> None:
    answer = found(CIRCLE + ORDER)
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
    answer = found(rows)
    assert (answer.within.value, answer.within.n) == (1, 3)
    assert (answer.majority.value, answer.majority.n) == (0, 1)


def test_ties_and_missing_pairs_decide_nothing() -> None:
    for last in ([("q", "a", "c", "x", "tie")], []):
        answer = found([*CIRCLE[:2], *last])
        assert (answer.within.value, answer.majority.n, answer.cycle) == (None, 0, None)
        assert answer.within.notes == ("no three documents of a query were compared with each other",)


def test_three_documents_of_different_queries_are_no_triple() -> None:
    answer = found([CIRCLE[0], CIRCLE[1], ("r", "a", "c", "x", "right")])
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
    answer = found(rows)
    for kind, share in {"one": answer.within, "all": answer.majority}.items():
        assert share.n == triples[kind]
        assert share.value == (pytest.approx(1 - circles[kind] / triples[kind]) if triples[kind] else None)
    assert (answer.cycle is not None) == (circles["all"] > 0)
    if answer.cycle is not None:
        query, a, b, c = answer.cycle
        won = net[query, "everybody"]
        assert min(won[a, b], won[b, c], won[c, a]) > 0
