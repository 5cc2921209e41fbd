"""agree: the whole answer, its notes, and what it makes of bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from ringtrue.errors import DuplicateError, MismatchError, TableError, UsageError
from ringtrue.judges.agreement.bootstrap_intervals import AgreementSettings
from ringtrue.judges.agreement.coefficients import cohen_kappa
from ringtrue.judges.agreement.judge_pairs import bootstrap_coefficients
from ringtrue.judges.votes import Votes, make_votes, match_pair_labels
from ringtrue.simulation import judged_labels
from ringtrue.stats.intervals import resample_query_counts
from strategies import examples, judged

Table = dict[str, list[Any]]
SMALL: Table = {"doc": list("aabbcc"), "judge": ["x", "y"] * 3, "label": [0, 0, 1, 1, 0, 1]}


def table(rows: list[tuple[Any, ...]], *more: str) -> Table:
    names = ("query", "doc", "judge", "label", *more)
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def rows_of(votes: Votes) -> list[tuple[Any, ...]]:
    items = votes.items.rows()
    return [
        (*items[item], votes.judges[judge], votes.labels[label])
        for item, judge, label in zip(votes.item, votes.judge, votes.label, strict=True)
    ]


def values(found: rt.Agreement) -> dict[str, float | None]:
    return {name: one.value for name, one in found.overall.items()}


def alike(one: rt.Agreement, other: rt.Agreement) -> None:
    """The same values of every coefficient, of all judges and of each pair."""
    assert values(one) == pytest.approx(values(other), abs=1e-9, nan_ok=False)
    pairs = [
        {
            frozenset((pair.a, pair.b)): (pair.n, pair.agreement.value, pair.kappa_quadratic.value)
            for pair in found.pairs
        }
        for found in (one, other)
    ]
    assert pairs[0].keys() == pairs[1].keys()
    for key, found in pairs[0].items():
        assert found == pytest.approx(pairs[1][key], abs=1e-9)


def test_a_small_table_by_hand() -> None:
    found = rt.agree(SMALL)
    assert (found.judges, found.labels, found.votes, found.items, found.queries) == (("x", "y"), (0, 1), 6, 3, 1)
    assert values(found) == pytest.approx(
        {
            "agreement": 2 / 3,
            "overlap": 1 / 2,
            "fleiss_kappa": 1 / 3,
            "alpha_nominal": 1 - 5 * 2 / 18,
            "alpha_ordinal": 1 - 5 * 2 / 18,
            "alpha_interval": 1 - 5 * 2 / 18,
            "alpha_ratio": 1 - 5 * 2 / 18,
            "scott_pi": 1 / 3,
            "ac1": 1 / 3,
            "conger": 0.4,
            "brennan_prediger": 1 / 3,
            "randolph": 1 / 3,
            "self_consistency": None,
            "cross_consistency": None,
        }
    )
    (pair,) = found.pairs
    assert (pair.kappa.value, pair.confusion.counts.tolist()) == (pytest.approx(0.4), [[1, 1], [0, 1]])
    assert (found.gold, found.consensus, found.drift, found.transitivity) == ((), None, (), None)
    (note,) = found.notes
    assert note.code == "few-clusters"
    assert "3 items" in note


def test_the_answer_as_plain_data_is_json_without_nan() -> None:
    plain = json.loads(json.dumps(rt.agree(SMALL, resamples=20).as_dict(), allow_nan=False))
    assert list(plain["overall"]["agreement"]) == [
        "value",
        "se",
        "low",
        "high",
        "level",
        "n",
        "method",
        "notes",
        "note_codes",
    ]
    (pair,) = plain["pairs"]
    assert (pair["a"], pair["b"], pair["n"], pair["confusion"], pair["labels"]) == (
        "x",
        "y",
        3,
        [[1, 1], [0, 1]],
        [0, 1],
    )
    assert plain["judges"] == 2


# What changes nothing


@examples(50)
@given(judged(), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_the_names_of_judges_queries_and_documents_do_not_matter(
    votes: Votes, random: Any
) -> None:
    rows = rows_of(votes.resolve_repeats("last"))
    names = {"x": "z", "y": "x", "z": "y"}
    random.shuffle(rows)
    renamed = [(f"topic {query}", f"<{doc}>", judge, label) for query, doc, judge, label in rows]
    first = rt.agree(table(rows), resamples=0, alone=True)
    alike(first, rt.agree(table(renamed), resamples=0, alone=True))
    swapped = rt.agree(
        table([(query, doc, names[judge], label) for query, doc, judge, label in rows]), resamples=0, alone=True
    )
    assert values(swapped) == pytest.approx(values(first), abs=1e-9)


@examples(50)
@given(judged(), st.lists(st.integers(1, 9), min_size=3, max_size=3))
def test_other_numbers_in_the_same_order_leave_what_does_not_look_at_distances(votes: Votes, steps: list[int]) -> None:
    rows = rows_of(votes.resolve_repeats("last"))
    grades = np.cumsum(steps).tolist()
    first = rt.agree(table(rows), resamples=0, alone=True)
    other = rt.agree(table([(*row[:3], grades[row[3]]) for row in rows]), resamples=0, alone=True)
    free = ["agreement", "fleiss_kappa", "alpha_nominal", "alpha_ordinal", "scott_pi", "ac1", "conger"]
    before, after = values(first), values(other)
    assert {name: after[name] for name in free} == pytest.approx({name: before[name] for name in free}, abs=1e-9)


@examples(50)
@given(judged(), st.integers(1, 100))
def test_labels_that_are_all_higher_by_the_same_leave_all_but_ratios(votes: Votes, shift: int) -> None:
    rows = rows_of(votes.resolve_repeats("last"))
    before = rt.agree(table(rows), resamples=0, alone=True)
    after = rt.agree(table([(*row[:3], row[3] + shift) for row in rows]), resamples=0, alone=True, rel=1 + shift)
    expected = {name: value for name, value in values(before).items() if name != "alpha_ratio"}
    assert {name: values(after)[name] for name in expected} == pytest.approx(expected, abs=1e-9)


@examples(50)
@given(judged(), st.integers(2, 4))
def test_every_query_again_under_another_name_leaves_all_but_alphas_small_sample_term(votes: Votes, times: int) -> None:
    rows = rows_of(votes.resolve_repeats("last"))
    more = [(f"{query}{copy}", *rest) for query, *rest in rows for copy in range(times)]
    first = rt.agree(table(rows), resamples=0, alone=True)
    again = rt.agree(table(more), resamples=0, alone=True)
    free = [name for name in values(first) if not name.startswith("alpha")]
    before, after = values(first), values(again)
    assert {name: after[name] for name in free} == pytest.approx({name: before[name] for name in free}, abs=1e-9)
    n = make_votes(table(rows)).counts().sum(axis=1)
    pairable = n[n > 1].sum()
    for name in ("alpha_nominal", "alpha_ordinal", "alpha_interval", "alpha_ratio"):
        if before[name] is not None:
            large = (1 - before[name]) / (pairable - 1) * pairable
            assert 1 - after[name] == pytest.approx(large * (times * pairable - 1) / (times * pairable), abs=1e-9)


# Intervals


def world(queries: int, *, seed: int = 1) -> Votes:
    return judged_labels(np.random.default_rng(seed), queries=queries, docs=10)


def test_the_same_seed_gives_the_same_intervals() -> None:
    first, second = (rt.agree(world(8), rng=np.random.default_rng(3), resamples=50).as_dict() for _ in range(2))
    assert first == second
    other = rt.agree(world(8), rng=np.random.default_rng(4), resamples=50).as_dict()
    assert other != first


def test_more_queries_and_a_lower_level_make_intervals_narrower() -> None:
    def width(queries: int, level: float = 0.95) -> float:
        one = rt.agree(world(queries), level=level, resamples=300).overall["alpha_ordinal"]
        return (one.high or 0) - (one.low or 0)

    assert width(10) > 1.5 * width(60)
    assert width(10) > width(10, level=0.8)


def test_every_interval_holds_its_value() -> None:
    found = rt.agree(world(5), resamples=200)
    estimates = [
        *found.overall.values(),
        *(getattr(pair, name) for pair in found.pairs for name in ("kappa", "ac1", "overlap")),
    ]
    told = [one for one in estimates if one.value is not None]
    assert len(told) > 15
    assert all((one.low or -9) < one.value < (one.high or 9) for one in told if one.value is not None)
    assert all([note.code for note in one.notes] == ["few-clusters"] for one in told)
    assert all("5 queries" in one.notes[0] for one in told)


def test_items_are_drawn_where_there_is_one_query() -> None:
    found = rt.agree({"query": ["q"] * 60, "doc": [f"d{n // 2}" for n in range(60)], "judge": ["x", "y"] * 30,
                      "label": [n % 3 % 2 for n in range(60)]}, resamples=50)  # fmt: skip
    assert found.overall["agreement"].method == found.pairs[0].kappa.method == "bootstrap over items"
    assert rt.agree(world(5), resamples=50).overall["agreement"].method == "bootstrap over queries"


def test_queries_in_which_nobody_meets_do_not_make_the_interval_surer() -> None:
    rows = [(f"q{query}", "d", judge, query % 2) for query in range(5) for judge in "xy"]
    rows += [("q5", "d", "x", 0), ("q5", "d", "y", 1)] + [(f"q{query}", "d", "x", 0) for query in range(6, 40)]
    one = rt.agree(table(rows), resamples=200).overall["alpha_nominal"]
    assert one.notes[0].code == "few-clusters"
    assert "6 queries" in one.notes[0]
    assert one.n == 6


def test_congers_kappa_of_two_complete_judges_is_cohens_in_every_resample() -> None:
    votes = judged_labels(np.random.default_rng(1), queries=6, docs=5, judges=2, missing=0)
    draws = bootstrap_coefficients(votes, AgreementSettings(relevant=np.arange(4) > 0, resamples=50, level=0.95,
                                       rng=np.random.default_rng(2), progress=lambda _: None))  # fmt: skip
    ((item, one, other),) = match_pair_labels(votes, [(0, 1)])
    tables = np.zeros((6, 4, 4))
    np.add.at(tables, (votes.clusters()[0][item], one, other), 1)
    (counts,) = resample_query_counts(6, 50, batch=50, rng=np.random.default_rng(2))
    expected = cohen_kappa(np.einsum("rq,qck->rck", counts, tables), np.eye(4))
    np.testing.assert_allclose(draws.resampled["conger"][:, 0], expected)


def test_progress_is_told_as_it_is_made() -> None:
    told: list[int] = []
    rt.agree(world(5), resamples=100, progress=told.append)
    assert sum(told) == 2 * 100 * world(5).size


# Gold


def test_gold_is_compared_with_each_judge_and_with_the_majority() -> None:
    labels = {"doc": list("aaabbbccc"), "judge": list("xyz") * 3, "label": [0, 0, 1, 1, 1, 1, 1, 0, 2]}
    found = rt.agree(labels, gold={"doc": list("abc"), "label": [0, 1, 1]}, resamples=0)
    assert found.consensus is not None
    assert (found.consensus.a, found.consensus.b, found.consensus.n) == ("gold", "majority", 3)
    assert found.consensus.agreement.value == pytest.approx(2 / 3)  # of three labels with a vote each, the lowest
    assert {pair.b: pair.agreement.value for pair in found.gold} == pytest.approx({"x": 1, "y": 2 / 3, "z": 1 / 3})
    assert [(pair.a, pair.n) for pair in found.gold] == [("gold", 3)] * 3
    assert found.gold[0].confusion.rows == "gold"
    (note,) = found.notes
    assert note.code == "items-with-gold"
    assert "3 of 3" in note
    assert [pair["b"] for pair in found.as_dict()["pairs"]] == ["x", "y", "z", "y", "z", "z"]  # type: ignore[index, attr-defined]


def test_judges_with_the_most_gold_come_first() -> None:
    labels: Table = {"doc": list("aaabbc"), "judge": list("zyxyzz"), "label": [0, 0, 1, 1, 1, 1]}
    found = rt.agree(labels, gold={"doc": list("abc"), "label": [0, 1, 1]}, resamples=0)
    assert [(pair.b, pair.n) for pair in found.gold] == [("z", 3), ("y", 2), ("x", 1)]


def test_one_judge_and_gold_are_enough() -> None:
    found = rt.agree(
        {"doc": list("abc"), "judge": ["x"] * 3, "label": [0, 1, 1]}, gold={"doc": list("abc"), "label": [0, 1, 0]}
    )
    assert found.gold[0].agreement.value == pytest.approx(2 / 3)
    assert [note.code for note in found.overall["agreement"].notes] == ["no-shared-items"]


def test_gold_of_other_documents_is_refused() -> None:
    with pytest.raises(MismatchError) as refused:
        rt.agree(SMALL, gold={"doc": ["elsewhere"], "label": [1]})
    assert refused.value.code == "gold-unlabelled"
    assert rt.agree(SMALL, gold={"doc": ["elsewhere"], "label": [1]}, alone=True).consensus is None


# Bad input


def test_one_judge_is_refused_with_what_to_do() -> None:
    one: Table = {"doc": list("ab"), "judge": ["x"] * 2, "label": [0, 1]}
    with pytest.raises(TableError) as refused:
        rt.agree(one)
    assert refused.value.code == "one-judge"
    assert refused.value.note.suggestions[0].arguments == {"gold": ...}
    nothing = rt.agree(one, alone=True)
    assert {name for name, value in values(nothing).items() if value is not None} == set()


def test_judges_of_whom_no_two_labelled_the_same_are_refused() -> None:
    with pytest.raises(TableError) as refused:
        rt.agree({"doc": list("abc"), "judge": list("xyz"), "label": [0, 1, 1]})
    assert refused.value.code == "no-shared-items"


def test_a_judge_apart_is_told_and_the_others_compared() -> None:
    more: Table = {"doc": ["d", "e"], "judge": ["z", "z"], "label": [1, 0]}
    found = rt.agree({name: column + more[name] for name, column in SMALL.items()}, resamples=0)
    single, isolated, apart = found.notes
    assert (single.code, isolated.code, apart.code) == (
        "thinly-labelled-items", "isolated-judges", "pairs-without-overlap",
    )  # fmt: skip
    assert single.startswith("2 of 5")
    assert isolated.startswith("1 of 3")
    assert isolated.endswith(": z")
    assert apart.startswith("2 of 3")
    assert values(found)["agreement"] == pytest.approx(2 / 3)
    assert [(pair.a, pair.b) for pair in found.pairs] == [("x", "y")]


def test_everybody_the_same_label_is_undefined_in_words_and_not_nan() -> None:
    found = rt.agree({"doc": list("aabb"), "judge": ["x", "y"] * 2, "label": [1] * 4})
    assert (found.overall["agreement"].value, found.overall["agreement"].high) == (1, pytest.approx(1))
    assert (found.overall["agreement"].low or 1) < 0.5  # two items prove little
    for name in ("fleiss_kappa", "alpha_nominal", "alpha_ordinal", "scott_pi", "ac1", "conger", "brennan_prediger"):
        one = found.overall[name]
        assert (one.value, one.se, one.low) == (None, None, None)
        assert [note.code for note in one.notes] == ["constant-labels"]
        assert "label 1:" in one.notes[0]
    json.dumps(found.as_dict(), allow_nan=False)


def test_a_scale_makes_labels_count_that_nobody_gave() -> None:
    same: Table = {"doc": list("aabb"), "judge": ["x", "y"] * 2, "label": [1] * 4}
    found = rt.agree(same, scale=[0, 1, 2], resamples=0)
    assert (found.labels, values(found)["ac1"], values(found)["brennan_prediger"]) == ((0, 1, 2), 1, 1)
    assert values(found)["alpha_nominal"] is None
    wider = rt.agree(SMALL, scale=range(4), resamples=0)
    assert values(wider)["brennan_prediger"] == pytest.approx((2 / 3 - 1 / 4) / (3 / 4))
    assert values(wider)["alpha_ordinal"] == pytest.approx(values(rt.agree(SMALL, resamples=0))["alpha_ordinal"])


def test_labels_outside_the_scale_are_refused_left_out_or_moved() -> None:
    stray: Table = {"doc": list("aabb"), "judge": ["x", "y"] * 2, "label": [0, 0, 1, 5]}
    with pytest.raises(TableError) as refused:
        rt.agree(stray, scale=[0, 1])
    assert refused.value.code == "labels-outside-scale"
    assert "5 by y" in refused.value.text
    left = rt.agree(stray, scale=[0, 1], outside="exclude", resamples=0)
    assert (left.votes, left.notes[0].code) == (3, "outside-scale-excluded")
    moved = rt.agree(stray, scale=[0, 1], outside="clip", resamples=0)
    assert (values(moved)["agreement"], moved.labels) == (1, (0, 1))
    kept = rt.agree(stray, resamples=0)
    assert (values(kept)["agreement"], kept.labels) == (0.5, (0, 1, 5))


REPEATED: Table = {"doc": list("aabbab"), "judge": list("xyxyxx"), "label": [0, 0, 1, 1, 1, 1]}


def test_repeats_need_a_choice() -> None:
    with pytest.raises(DuplicateError) as refused:
        rt.agree(REPEATED)
    assert refused.value.code == "repeated-labels"
    assert "2 times (0, 1)" in refused.value.text
    assert "1 other case" in refused.value.text


@pytest.mark.parametrize(("repeats", "raw", "votes"), [("first", 1, 4), ("last", 1 / 2, 4), ("all", 2 / 3, 6)])
def test_repeats_count_as_asked_and_consistency_sees_all(repeats: Any, raw: float, votes: int) -> None:
    found = rt.agree(REPEATED, repeats=repeats, resamples=0)
    assert (values(found)["agreement"], found.votes) == (pytest.approx(raw), votes)
    assert (values(found)["self_consistency"], values(found)["cross_consistency"]) == (0.5, 0.75)
    (note,) = [note for note in found.notes if note.parameter == "repeats"]
    assert note.code == ("repeats-count" if repeats == "all" else "repeats-dropped")
    assert note.startswith("2 labels")
    assert [choice.arguments["repeats"] for choice in note.suggestions] == (
        ["last", "first"] if repeats == "all" else []
    )


def test_one_judge_with_repeats_is_compared_with_himself() -> None:
    found = rt.agree({"doc": list("aabb"), "judge": ["x"] * 4, "label": [0, 0, 0, 1]}, repeats="last", resamples=0)
    assert values(found)["self_consistency"] == 0.5
    assert values(found)["agreement"] is None
    everything = rt.agree({"doc": list("aabb"), "judge": ["x"] * 4, "label": [0, 0, 0, 1]}, repeats="all", resamples=0)
    assert [note.code for note in everything.overall["conger"].notes] == ["one-judge"]


def test_labels_of_mixed_types_are_refused() -> None:
    with pytest.raises(TableError) as refused:
        rt.agree({"doc": list("aabb"), "judge": ["x", "y"] * 2, "label": ["0", "1", "relevant", "1"]})
    assert refused.value.code == "bad-label"


def test_a_time_that_is_no_time_is_refused() -> None:
    with pytest.raises(TableError) as refused:
        rt.agree({**SMALL, "time": ["yesterday"] * 6})
    assert refused.value.code == "bad-time"


@pytest.mark.parametrize("bad", [{"resamples": -1}, {"pairs": -1}, {"level": 0}, {"level": 1}])
def test_settings_that_make_no_sense_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        rt.agree(SMALL, **bad)


def test_only_so_many_pairs_are_given_as_asked_for() -> None:
    rows = [
        ("q", f"d{place}", judge, place % 2)
        for judge, size in zip("uvwxyz", range(1, 7), strict=True)
        for place in range(size)
    ]
    found = rt.agree(table(rows), pairs=2, resamples=0)
    assert [(pair.a, pair.b, pair.n) for pair in found.pairs] == [("y", "z", 5), ("x", "y", 4)]
    (note,) = [note for note in found.notes if note.code == "pairs-left-out"]
    assert note.startswith("2 of 15")
    assert rt.agree(table(rows), pairs=0, resamples=0).pairs == ()


def test_a_kappa_below_minus_one_keeps_its_interval_around_it() -> None:
    # Many items with a single 0 make chance agreement nearly sure; the two that two judges saw are in dispute.
    rows = [(f"q{place}", "d", judge, int(judge == "y")) for place in range(3) for judge in "xy"]
    rows += [(f"q{place}", "d", "x", 0) for place in range(3, 60)]
    one = rt.agree(table(rows), resamples=200).overall["fleiss_kappa"]
    assert one.value is not None
    assert one.low is not None
    assert one.low < one.value < -1


# Preferences


PREFERENCES: Table = {
    "query": ["q"] * 6,
    "left": list("abaacb"),
    "right": list("bcccbc"),
    "judge": list("xxxyyy"),
    "winner": ["left", "left", "right", "left", "tie", "left"],
}


def test_preferences_are_compared_whichever_document_stood_left() -> None:
    other = {"left": "right", "right": "left", "tie": "tie"}
    turned = PREFERENCES | {
        "left": PREFERENCES["right"],
        "right": PREFERENCES["left"],
        "winner": [other[side] for side in PREFERENCES["winner"]],
    }
    first, second = (rt.agree(some, repeats="all", resamples=0) for some in (PREFERENCES, turned))
    assert values(first) == values(second)
    assert first.transitivity is not None
    assert (first.transitivity.within.value, first.transitivity.within.n) == (0, 1)  # x runs in a circle
    assert (first.transitivity.majority.value, first.transitivity.cycle) == (None, None)  # y makes a and c even


def test_preferences_have_no_overlap_and_no_ratio() -> None:
    found = rt.agree(PREFERENCES, repeats="all", resamples=0)
    assert [note.code for note in found.overall["overlap"].notes] == ["not-for-preferences"]
    assert [note.code for note in found.overall["alpha_ratio"].notes] == ["ratio-below-zero"]
    assert [note.code for note in found.pairs[0].overlap.notes] == ["no-relevant-label"]
    assert values(found)["alpha_nominal"] is not None


# Real collections: sanity, not snapshots


@pytest.mark.slow
@pytest.mark.real
def test_models_agree_more_with_each_other_than_with_people(data: Path) -> None:
    labels = rt.read_judgments(data / "llmjudge/labels.csv")
    gold = rt.read_judgments(data / "llmjudge/labels.csv", columns={"label": "human"})
    found = rt.agree(labels, gold=gold, scale=range(4), outside="clip", resamples=100)
    assert (len(found.judges), found.items, found.queries) == (33, 4423, 25)
    assert len(found.pairs) == 33 * 32 // 2
    alpha = found.overall["alpha_ordinal"]
    assert found.consensus is not None
    assert (alpha.low or 0) > 0.4
    assert (found.consensus.alpha_ordinal.value or 1) < (alpha.value or 0)


@pytest.mark.real
def test_a_crowd_agrees_with_itself_more_than_with_others(data: Path) -> None:
    labels = rt.read_judgments(data / "rf10/labels.csv")
    found = rt.agree(labels, repeats="last", resamples=50, pairs=10)
    own, cross = found.overall["self_consistency"], found.overall["cross_consistency"]
    assert (own.low or 0) > (cross.high or 1)
    assert 0 < (found.overall["alpha_ordinal"].low or 0) < (found.overall["alpha_ordinal"].high or 1) < 0.3
    assert len(found.pairs) == 10


def test_an_answer_does_not_depend_on_what_else_was_asked() -> None:
    table = {"doc": [*range(30)] * 2, "judge": ["x"] * 30 + ["y"] * 30, "label": [0, 1, 2] * 10 + [0, 1, 1] * 10}
    gold = {"doc": [*range(30)], "label": [0, 1, 2] * 10}
    whole, few, beside = rt.agree(table), rt.agree(table, pairs=0), rt.agree(table, gold=gold)
    assert whole.overall["alpha_ordinal"] == few.overall["alpha_ordinal"] == beside.overall["alpha_ordinal"]
    assert whole.pairs[0].kappa == beside.pairs[0].kappa


def test_the_judge_closest_to_gold_comes_first_unless_luck_made_him_so() -> None:
    gold = {"doc": [*range(40)], "label": [0, 1] * 20}
    table = {
        "doc": [*range(40)] * 2 + [*range(4)],
        "judge": ["poor"] * 40 + ["good"] * 40 + ["lucky"] * 4,
        "label": [0, 0, 1, 1] * 10 + [0, 1] * 19 + [1, 0] + [0, 1] * 2,
    }
    found = rt.agree(table, gold=gold, resamples=0)
    assert [pair.b for pair in found.gold] == ["good", "poor", "lucky"]
    assert found.frame["b"].to_list()[:3] == ["good", "poor", "lucky"]
    assert str(found).startswith("3 judges, 84 labels ")
    assert f"agreement {found.overall['agreement']}" in str(found)


def test_a_label_that_only_gold_has_does_not_change_how_far_the_judges_agree() -> None:
    gold = {"doc": [*"abcdef"], "label": [0, 1, 0, 1, 7, 1]}
    table = {"doc": [*"abcdef"] * 2, "judge": ["x"] * 6 + ["y"] * 6, "label": [0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1]}
    alone, beside = rt.agree(table, resamples=0), rt.agree(table, gold=gold, resamples=0)
    assert {name: one.value for name, one in alone.overall.items()} == {
        name: one.value for name, one in beside.overall.items()
    }
    assert beside.labels == (0, 1, 7)


@pytest.mark.parametrize(
    ("setting", "code", "parameter"),
    [
        ({"repeats": "frist"}, "unknown-choice", "repeats"),
        ({"scale": [0, 1], "outside": "remove"}, "unknown-choice", "outside"),
        ({"resamples": 1}, "out-of-range", "resamples"),
        ({"pairs": -1}, "out-of-range", "pairs"),
    ],
)
def test_a_choice_that_is_none_is_refused(setting: dict[str, Any], code: str, parameter: str) -> None:
    with pytest.raises(UsageError) as refused:
        rt.agree(SMALL, **setting)
    assert (refused.value.code, refused.value.parameter) == (code, parameter)


def test_more_labels_than_grades_can_be_are_refused() -> None:
    table = {"doc": [*range(300)] * 2, "judge": ["x"] * 300 + ["y"] * 300, "label": [*range(300)] * 2}
    with pytest.raises(TableError) as refused:
        rt.agree(table)
    assert refused.value.code == "too-many-labels"
    assert "200 different" in refused.value.text
    assert "found 300" in refused.value.text
