"""Judges two by two."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

import ringtrue as rt
from ringtrue.judges.agreement.bootstrap_intervals import AgreementSettings
from ringtrue.judges.agreement.judge_pairs import choose_judge_pairs, estimate_pair_agreements
from ringtrue.judges.votes import Votes, make_votes, match_pair_labels
from strategies import judged

COEFFICIENTS = ["agreement", "overlap", "kappa", "kappa_linear", "kappa_quadratic", "scott_pi", "ac1", "alpha_ordinal"]


def settings(votes: Votes, *, resamples: int = 0, seed: int = 0) -> AgreementSettings:
    relevant = np.array(votes.labels) >= 1
    rng = np.random.default_rng(seed)
    return AgreementSettings(relevant=relevant, resamples=resamples, level=0.95, rng=rng, progress=lambda _: None)


def pair_of(votes: Votes, *, resamples: int = 0) -> rt.PairAgreement:
    (found,) = estimate_pair_agreements(votes, [(0, 1)], settings(votes, resamples=resamples))
    return found


def table_of(table: list[list[int]], *, queries: int = 1) -> Votes:
    """As many items as the table says, its rows the labels of x, its columns those of y."""
    cells = [(c, k) for c, row in enumerate(table) for k, n in enumerate(row) for _ in range(n)]
    return make_votes(
        {
            "query": [f"q{place % queries}" for place in range(len(cells)) for _ in "xy"],
            "doc": [f"d{place}" for place in range(len(cells)) for _ in "xy"],
            "judge": ["x", "y"] * len(cells),
            "label": [label for cell in cells for label in cell],
        }
    )


def test_a_pair_by_hand() -> None:
    found = pair_of(table_of([[20, 5], [10, 15]]))
    assert (found.a, found.b, found.n) == ("x", "y", 50)
    expected = [0.7, 0.5, 0.4, 0.4, 0.4, 0.195 / 0.495, 0.205 / 0.505, 0.4]
    assert [getattr(found, name).value for name in COEFFICIENTS] == pytest.approx(expected)
    assert found.confusion.counts.tolist() == [[20, 5], [10, 15]]
    assert (found.confusion.rows, found.confusion.columns, found.confusion.labels) == ("x", "y", (0, 1))


def test_weighted_kappas_of_three_labels_by_hand() -> None:
    found = pair_of(table_of([[1, 1, 0], [0, 0, 1], [0, 0, 1]]))
    kappas = (found.kappa.value, found.kappa_linear.value, found.kappa_quadratic.value)
    assert kappas == pytest.approx((3 / 11, 1 / 2, 9 / 13))


def test_the_textbooks_interval_stands_beside_the_other() -> None:
    found = pair_of(table_of([[40, 10], [10, 40]]), resamples=100)
    textbook = found.kappa_asymptotic
    assert (textbook.value, textbook.method) == (found.kappa.value, "asymptotic")
    assert textbook.se == pytest.approx(0.08)
    assert (textbook.low, textbook.high) == pytest.approx((0.6 - 1.959964 * 0.08, 0.6 + 1.959964 * 0.08))
    assert found.kappa_null_se == pytest.approx(0.1)
    assert found.kappa.method == "bootstrap over items"


def test_where_both_always_say_the_same_label_kappa_is_undefined_in_words() -> None:
    found = pair_of(table_of([[0, 0, 0], [0, 0, 0], [0, 0, 4]]), resamples=20)
    assert (found.agreement.value, found.overlap.value) == (1, 1)
    for one in (found.kappa, found.kappa_quadratic, found.scott_pi, found.alpha_ordinal, found.kappa_asymptotic):
        assert one.value is None
        assert [note.code for note in one.notes] == ["constant-labels"]
        assert "label 2 " in one.notes[0]
    assert found.kappa_null_se is None


def test_where_nothing_is_relevant_overlap_is_undefined_in_words() -> None:
    table = table_of([[4, 0], [0, 0]])
    (found,) = estimate_pair_agreements(table.widen_scale([0, 1]), [(0, 1)], settings(table.widen_scale([0, 1])))
    assert found.overlap.value is None
    assert found.overlap.notes[0].code == "nothing-relevant"
    assert found.overlap.notes[0].suggestions[0].arguments == {"rel": ...}
    nothing = replace(settings(table), relevant=np.zeros(2, dtype=bool))
    (found,) = estimate_pair_agreements(table.widen_scale([0, 1]), [(0, 1)], nothing)
    assert [note.code for note in found.overlap.notes] == ["no-relevant-label"]


def test_weights_fall_with_the_distance_of_the_labels_and_not_of_their_places() -> None:
    far, near = (
        pair_of(make_votes({"doc": list("aabbcc"), "judge": ["x", "y"] * 3, "label": [0, 0, middle, 10, 10, 10]}))
        for middle in (1, 9)
    )
    assert near.kappa.value == far.kappa.value
    assert near.alpha_ordinal.value == far.alpha_ordinal.value
    assert (near.kappa_linear.value or 0) > (far.kappa_linear.value or 1)
    assert (near.kappa_quadratic.value or 0) > (far.kappa_quadratic.value or 1)


def test_judges_who_share_nothing_are_no_pair() -> None:
    votes = make_votes({"doc": list("aabb"), "judge": list("xyzw"), "label": [0, 1, 1, 1]})
    pairs = [(0, 1), (0, 2), (2, 3)]
    assert [(one.a, one.b) for one in estimate_pair_agreements(votes, pairs, settings(votes))] == [
        ("x", "y"),
        ("z", "w"),
    ]
    assert estimate_pair_agreements(votes, [(0, 2)], settings(votes)) == ()


@given(judged())
def test_swapping_a_and_b_transposes_the_confusion_and_changes_nothing_else(votes: Votes) -> None:
    pairs = [(a, b) for a in range(len(votes.judges)) for b in range(a)]
    there = estimate_pair_agreements(votes, pairs, settings(votes))
    back = estimate_pair_agreements(votes, [(b, a) for a, b in pairs], settings(votes))
    for one, other in zip(there, back, strict=True):
        assert (one.a, one.b, one.n) == (other.b, other.a, other.n)
        np.testing.assert_array_equal(one.confusion.counts, other.confusion.counts.T)
        assert one.confusion.counts.sum() == one.n
        for name in COEFFICIENTS:
            assert getattr(one, name).value == pytest.approx(getattr(other, name).value, abs=1e-12)


@given(judged())
def test_the_confusion_counts_every_pair_of_labels(votes: Votes) -> None:
    votes = votes.resolve_repeats("all")
    said = list(zip(votes.item.tolist(), votes.judge.tolist(), votes.label.tolist(), strict=True))
    pairs = [(a, b) for a in range(len(votes.judges)) for b in range(a)]
    found = {(one.a, one.b): one.confusion.counts for one in estimate_pair_agreements(votes, pairs, settings(votes))}
    for a, b in pairs:
        expected = np.zeros((len(votes.labels), len(votes.labels)))
        for item, judge, one in said:
            for again, second, other in said:
                expected[one, other] += (item, judge, second) == (again, a, b)
        names = votes.judges[a], votes.judges[b]
        np.testing.assert_array_equal(found.get(names, np.zeros_like(expected)), expected)


def test_queries_are_drawn_anew_where_there_are_several_and_items_where_there_is_one() -> None:
    # Within a query all items are alike: eight queries of ten items tell less than eighty items.
    table = [[30, 10], [10, 30]]
    by_query, by_item = pair_of(_sorted(table, 8), resamples=400), pair_of(table_of(table), resamples=400)
    assert by_query.kappa.value == by_item.kappa.value
    assert (by_query.kappa.method, by_item.kappa.method) == ("bootstrap over queries", "bootstrap over items")
    assert (by_query.kappa.se or 0) > 2 * (by_item.kappa.se or 1)


def _sorted(table: list[list[int]], queries: int) -> Votes:
    """The same items, those with equal labels in the same query."""
    votes = table_of(table)
    query = np.arange(votes.items.height) * queries // votes.items.height
    return make_votes(
        {
            "query": [f"q{query[item]}" for item in votes.item],
            "doc": [f"d{item}" for item in votes.item],
            "judge": [votes.judges[judge] for judge in votes.judge],
            "label": [votes.labels[label] for label in votes.label],
        }
    )


def test_many_pairs_in_chunks_give_what_each_gives_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    votes = make_votes({"query": [f"q{n // 30}" for n in range(120)], "doc": [f"d{n // 6}" for n in range(120)],
                      "judge": list("uvwxyz") * 20, "label": rng.integers(0, 3, 120)})  # fmt: skip
    pairs = [(a, b) for a in range(6) for b in range(a)]
    whole = estimate_pair_agreements(votes, pairs, settings(votes, resamples=50))
    monkeypatch.setattr("ringtrue.judges.agreement.judge_pairs.MAX_NUMBERS", 1_000)
    chunked = estimate_pair_agreements(votes, pairs, settings(votes, resamples=50))
    first, second = ([(one.a, one.b, one.n, one.kappa.value) for one in some] for some in (whole, chunked))
    assert first == second
    assert all(one.kappa.low is not None for one in chunked)


def test_what_documents_are_called_does_not_change_how_far_preferences_agree() -> None:
    rng = np.random.default_rng(5)
    docs = np.array([*"abcdefgh"])
    table = {"query": [], "left": [], "right": [], "judge": [], "winner": []}
    for _ in range(60):
        one, other = rng.choice(8, 2, replace=False)
        for judge in "xyz":
            better = "left" if rng.random() < 0.5 + 0.06 * (one - other) else "right"
            for name, value in zip(table, ("q", docs[one], docs[other], judge, better), strict=True):
                table[name].append(str(value))
    backwards = {letter: chr(ord("a") + ord("h") - ord(letter)) for letter in docs}
    renamed = table | {side: [backwards[doc] for doc in table[side]] for side in ("left", "right")}
    mixed = table | {side: [f"{backwards[doc]}{doc}" if doc in "bdf" else doc for doc in table[side]]
                     for side in ("left", "right")}  # fmt: skip
    one, two, three = (rt.agree(each, repeats="first", resamples=0) for each in (table, renamed, mixed))
    for name, found in one.overall.items():
        for other in (two, three):
            assert other.overall[name].value == pytest.approx(found.value, abs=1e-12), name
    first, *_ = one.pairs
    for other in (two, three):
        same = next(pair for pair in other.pairs if (pair.a, pair.b) == (first.a, first.b))
        assert same.kappa.value == pytest.approx(first.kappa.value, abs=1e-12)
        assert same.kappa_asymptotic.se == pytest.approx(first.kappa_asymptotic.se, abs=1e-12)
        assert same.confusion.counts.sum() == same.n


def test_labels_that_are_repeated_make_an_interval_of_a_pair_no_surer() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 60)
    said = {judge: np.where(rng.random(60) < 0.8, truth, 1 - truth) for judge in "xy"}
    rows = [(item, judge, int(said[judge][item])) for judge in "xy" for item in range(60)]
    columns = zip(("doc", "judge", "label"), zip(*rows, strict=True), strict=True)
    once = {name: [*column] for name, column in columns}
    often = {name: column * 4 for name, column in once.items()}
    (one,), (four,) = rt.agree(once).pairs, rt.agree(often, repeats="all").pairs
    assert (one.n, four.n) == (60, 60 * 16)
    assert four.kappa.value == pytest.approx(one.kappa.value)
    assert four.kappa.se == pytest.approx(one.kappa.se, rel=0.1)
    assert (four.kappa_asymptotic.low, four.kappa_asymptotic.high) == (None, None)


@pytest.mark.slow
def test_ratings_from_0_to_100_have_pairs_with_intervals() -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 101, 300)
    table = {
        "doc": [*range(300)] * 2,
        "judge": ["x"] * 300 + ["y"] * 300,
        "label": np.clip(np.concatenate([truth, truth + rng.integers(-9, 10, 300)]), 0, 100),
    }
    (pair,) = rt.agree(table).pairs
    assert pair.kappa_quadratic.low is not None
    assert pair.kappa_quadratic.low > 0.9


@given(judged())
def test_every_meeting_of_two_judges_is_found_as_by_a_double_loop(votes: Votes) -> None:
    everything = list(zip(votes.item.tolist(), votes.judge.tolist(), votes.label.tolist(), strict=True))
    pairs = [(a, b) for a in range(len(votes.judges)) for b in range(len(votes.judges)) if a != b]
    for (a, b), found in zip(pairs, match_pair_labels(votes, pairs), strict=True):
        expected = Counter(
            (item, one, other)
            for item, judge, one in everything
            for again, second, other in everything
            if (judge, second) == (a, b) and item == again
        )
        assert Counter(zip(*(column.tolist() for column in found), strict=True)) == expected


def crowd() -> Votes:
    """Judge a shares a document with everybody, c, d and e share five with each other."""
    sizes = {"a": 1, "b": 1, "c": 5, "d": 5, "e": 5}
    rows = [(f"d{place}", judge) for judge, size in sizes.items() for place in range(size)]
    return make_votes(
        {"doc": [doc for doc, _ in rows], "judge": [judge for _, judge in rows], "label": [0] * len(rows)}
    )


def test_all_pairs_are_given_where_they_are_few() -> None:
    assert choose_judge_pairs(crowd(), 10) == [(a, b) for a in range(5) for b in range(a + 1, 5)]


@pytest.mark.parametrize("most", [1, 3, 4, 7, 9])
def test_of_many_pairs_those_with_the_most_items_in_common_are_given(most: int) -> None:
    found = choose_judge_pairs(crowd(), most)
    assert len(found) == most
    assert set(found[:3]) <= {(2, 3), (2, 4), (3, 4)}
    assert found[3:] == [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3)][: max(most - 3, 0)]


def test_no_pair_is_given_where_none_is_asked_for() -> None:
    assert choose_judge_pairs(crowd(), 0) == []


def test_a_judges_repeats_do_not_make_items_more_common() -> None:
    table = {"doc": ["a"] * 6 + ["b", "b", "c", "c"], "judge": list("xxxxxyyzyz"), "label": [0] * 10}
    assert choose_judge_pairs(make_votes(table), 1) == [(1, 2)]
