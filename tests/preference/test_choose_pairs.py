"""choose_pairs: one question, four designs, and what is said beside the answer."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from ringtrue.errors import InputError, MismatchError, TableError, UsageError
from ringtrue.preference.choose_pairs import DESIGNS
from strategies import examples

RUN = {f"q{q}": {f"d{rank}": float(-rank) for rank in range(10 + q)} for q in range(3)}
TRAPS = {"query": ["q0"] * 8, "left": [f"good{n}" for n in range(8)], "right": ["bad"] * 8, "winner": ["left"] * 8}


def answered(choice: rt.PairChoice, seed: int = 0) -> pl.DataFrame:
    """The table as people give it back: better documents have lower numbers, and people are sometimes wrong."""
    rng = np.random.default_rng(seed)
    rank = [choice.frame[side].str.strip_chars("dgoba").cast(pl.Int64, strict=False).fill_null(99).to_numpy()
            for side in ("left", "right")]  # fmt: skip
    left = rng.random(choice.frame.height) < 1 / (1 + np.exp((rank[0] - rank[1]) / 3))
    return choice.frame.with_columns(
        judge=pl.Series([f"w{batch % 5}" for batch in choice.frame["batch"]]),
        winner=pl.Series(np.where(left, "left", "right")),
    )


def test_the_published_design_by_default_asks_four_people() -> None:
    choice = rt.choose_pairs(RUN, design="seed")
    assert (choice.pairs, choice.votes) == (35 + 40 + 45, 4 * 120)
    assert choice.as_dict() == {
        "pairs": 120, "votes": 480, "queries": 3, "tasks": 7 + 8 + 9, "traps": 0, "design": "seed",
        "notes": [], "note_codes": [],
    }  # fmt: skip
    for part in ("seed", "120 pairs", "480 votes", "3 queries", "24 tasks"):
        assert part in str(choice)


def test_without_a_budget_active_fills_a_task_for_each_query_and_swiss_plays_a_round() -> None:
    alike = {f"q{q}": RUN["q0"] for q in range(3)}
    choice = rt.choose_pairs(alike)
    assert (choice.votes, choice.queries, choice.tasks, choice.traps) == (60, 3, 3, 0)
    assert rt.choose_pairs(alike, traps=TRAPS).frame.group_by("batch").len()["len"].to_list() == [20] * 3
    assert rt.choose_pairs(alike, votes=3).votes == 3 * 6 * 3
    assert rt.choose_pairs(RUN, design="swiss").pairs == 5 + 5 + 6


@pytest.mark.parametrize("design", list(DESIGNS))
def test_the_same_seed_gives_the_same_tasks_and_another_seed_others(design: rt.preference.PairDesign) -> None:
    one, same, other = (
        rt.choose_pairs(RUN, design=design, budget=20, traps=TRAPS, rng=np.random.default_rng(seed)).frame
        for seed in (1, 1, 2)
    )
    assert one.equals(same)
    assert not one.equals(other)


@pytest.mark.parametrize("design", list(DESIGNS))
def test_what_is_given_back_is_read_rated_and_continued(design: rt.preference.PairDesign) -> None:
    first = rt.choose_pairs(RUN, design=design, budget=60, votes=1, traps=TRAPS)
    assert first.traps > 0
    assert {"judge", "winner"} <= set(first.frame.columns)
    back = answered(first)
    assert not set(rt.rate(back, repeats="all").frame["doc"]) & {"bad", "good0"}
    second = rt.choose_pairs(RUN, design=design, preferences=back, budget=30, votes=1)
    asked = first.frame.filter(~pl.col("trap"))
    notes = {note.code: note for note in second.notes}
    assert "votes-on-traps" in notes
    assert notes["known-votes"].startswith(f"{asked.height} votes on {first.pairs} pairs ")
    assert second.frame["batch"].min() > first.frame["batch"].max()  # type: ignore[operator]  # both are numbers
    if design != "active":
        pair = pl.concat_list("left", "right").list.sort()
        before = set(map(str, asked.select("query", pair).rows()))
        assert not before & set(map(str, second.frame.select("query", pair).rows()))


def test_pairs_that_have_some_of_their_votes_are_asked_for_the_rest() -> None:
    known = {"query": ["q0"] * 3, "left": ["d1"] * 3, "right": ["d0"] * 3, "winner": ["left", "tie", "right"]}
    choice = rt.choose_pairs(RUN, design="seed", preferences=known)
    assert choice.votes == 480 - 3
    assert [note.code for note in choice.notes] == ["known-votes"]
    assert choice.notes[0].startswith("3 votes on 1 pair ")


def test_only_answered_rows_count() -> None:
    choice = rt.choose_pairs(RUN, design="swiss", votes=1)
    some = answered(choice).with_columns(winner=pl.when(pl.int_range(pl.len()) < 4).then("winner"))
    assert rt.choose_pairs(RUN, preferences=some).notes[0].startswith("4 votes on 4 pairs ")
    with pytest.raises(TableError) as refused:
        rt.choose_pairs(RUN, preferences=choice.frame.drop("judge"))
    assert refused.value.code == "no-winner"


def test_a_budget_beyond_all_pairs_gives_all_of_them() -> None:
    for design in ("random", "swiss"):
        choice = rt.choose_pairs(RUN, design=design, budget=10_000)
        assert choice.pairs == 45 + 55 + 66
        assert [note.code for note in choice.notes] == ["fewer-pairs"]
        assert "only 166 " in choice.notes[0]


def test_active_asks_for_a_pair_four_times_at_most_and_says_what_is_left_over() -> None:
    two = {f"q{q}": {"a": 2.0, "b": 1.0} for q in range(5)}
    choice = rt.choose_pairs(two, budget=100)
    assert (choice.pairs, choice.votes, choice.tasks) == (5, 20, 20)
    (note,) = choice.notes
    assert note.code == "fewer-pairs"
    assert note.startswith("100 votes ")
    assert "only 20 " in note
    assert "4 at most" in note
    assert rt.choose_pairs(two).votes == 20  # all that there is of a usual task
    assert rt.choose_pairs(two, votes=6, budget=100).votes == 30
    (note,) = rt.choose_pairs(two, votes=3, budget=100).notes
    assert note.startswith("300 votes ")
    assert "only 15 " in note
    assert "3 at most" in note
    with pytest.raises(UsageError) as refused:
        rt.choose_pairs(two, budget=1_000_000)
    assert refused.value.code == "too-many-choices"


def test_several_runs_are_pooled_and_several_tables_of_preferences_joined() -> None:
    runs = [{"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"d": 9.0, "b": 8.0}}]
    choice = rt.choose_pairs(runs, design="seed", votes=1, depth=2)
    assert (choice.pairs, set(choice.frame["left"]) | set(choice.frame["right"])) == (3, {"b", "a", "d"})
    known = [{"query": ["q"], "left": ["a"], "right": [doc], "winner": ["left"]} for doc in "bd"]
    (note,) = rt.choose_pairs(runs, preferences=known).notes
    assert note.code == "known-votes"
    assert note.startswith("2 votes on 2 pairs ")
    records = [{"query": "q", "left": "a", "right": doc, "winner": "left"} for doc in "bd"]
    assert rt.choose_pairs(runs, preferences=records).notes == (note,)


def test_where_every_pair_has_its_votes_nothing_is_left_but_for_active() -> None:
    known = {"query": ["q"] * 2, "left": ["a"] * 2, "right": ["b"] * 2, "winner": ["left", "right"]}
    for design in ("seed", "random", "swiss"):
        with pytest.raises(InputError) as refused:
            rt.choose_pairs({"q": {"a": 2.0, "b": 1.0}}, design=design, preferences=known, votes=2)
        assert refused.value.code == "nothing-left-to-ask"
    again = rt.choose_pairs({"q": {"a": 2.0, "b": 1.0}}, preferences=known, budget=3)
    assert (again.pairs, again.votes, again.tasks) == (1, 3, 3)
    assert sorted(again.frame["vote"]) == [1, 2, 3]


def test_the_table_does_not_tell_who_wins_a_trap() -> None:
    choice = rt.choose_pairs(RUN, traps=TRAPS)
    assert choice.frame["winner"].null_count() == choice.frame.height
    sides = Counter(choice.frame.filter("trap")["left"] == "bad")
    assert min(sides[True], sides[False]) > 0


def test_a_query_with_one_document_is_left_out_and_none_with_two_is_an_error() -> None:
    choice = rt.choose_pairs(RUN | {"alone": {"d": 1.0}})
    assert [note.code for note in choice.notes] == ["single-document-queries"]
    assert choice.notes[0].startswith("query 'alone' ")
    assert choice.queries == 3
    with pytest.raises(InputError) as refused:
        rt.choose_pairs({"alone": {"d": 1.0}})
    assert refused.value.code == "no-two-documents"


@pytest.mark.parametrize(
    ("asked", "code", "parameter"),
    [
        ({"design": "actve"}, "unknown-choice", "design"),
        ({"design": "xyzzy"}, "unknown-choice", "design"),
        ({"budget": 0}, "out-of-range", "budget"),
        ({"votes": 0}, "out-of-range", "votes"),
        ({"depth": 1}, "out-of-range", "depth"),
        ({"per_task": 5, "traps": TRAPS}, "out-of-range", "traps_per_task"),
        ({"per_task": 0}, "out-of-range", "per_task"),
        ({"design": ["active"]}, "unknown-choice", "design"),
        ({"budget": 2.5}, "not-a-whole-number", "budget"),
        ({"budget": "9"}, "not-a-whole-number", "budget"),
        ({"votes": True}, "not-a-whole-number", "votes"),
        ({"depth": 2.5}, "not-a-whole-number", "depth"),
        ({"per_task": 7.0}, "not-a-whole-number", "per_task"),
        ({"traps": TRAPS, "traps_per_task": 0.5}, "not-a-whole-number", "traps_per_task"),
        ({"traps_per_task": 3}, "traps-not-given", "traps_per_task"),
        ({"rng": 1}, "bad-rng", "rng"),
        ({"rng": np.random.RandomState(0)}, "bad-rng", "rng"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked: dict[str, object], code: str, parameter: str) -> None:
    with pytest.raises(UsageError) as refused:
        rt.choose_pairs(RUN, **asked)  # type: ignore[arg-type]
    assert (refused.value.code, refused.value.parameter) == (code, parameter)


def test_numbers_of_numpy_are_numbers() -> None:
    assert rt.choose_pairs(RUN, budget=np.int64(7), depth=np.int32(5)).votes == 7  # type: ignore[arg-type]


def test_traps_for_labels_are_told_from_pairs() -> None:
    with pytest.raises(TableError) as refused:
        rt.choose_pairs(RUN, traps=rt.Judgments.of({"q0": {"d1": 1}}))
    assert refused.value.code == "labels-and-pairs"


def test_preferences_about_other_queries_are_refused() -> None:
    with pytest.raises(MismatchError) as refused:
        rt.choose_pairs(RUN, preferences={"query": [1], "left": ["a"], "right": ["b"], "winner": ["a"]})
    assert refused.value.code == "no-common-query"


def test_a_document_against_itself_is_refused() -> None:
    with pytest.raises(TableError) as refused:
        rt.choose_pairs(RUN, preferences={"query": ["q0"], "left": ["a"], "right": ["a"], "winner": ["tie"]})
    assert refused.value.code == "self-comparison"
    assert "'a'" in refused.value.text


@examples(40)
@given(st.sampled_from(list(DESIGNS)), st.integers(1, 50), st.integers(1, 3), st.integers(0, 9))
def test_what_is_counted_is_what_is_in_the_table(
    design: rt.preference.PairDesign, budget: int, votes: int, seed: int
) -> None:
    choice = rt.choose_pairs(RUN, design=design, budget=budget, votes=votes, traps=TRAPS,
                             rng=np.random.default_rng(seed))  # fmt: skip
    real = choice.frame.filter(~pl.col("trap"))
    assert choice.votes == real.height == votes * budget
    assert choice.pairs == real.select("query", pl.concat_list("left", "right").list.sort()).n_unique()
    assert (choice.pairs == budget) or design == "active"
    assert choice.traps == choice.frame.height - real.height
    assert choice.tasks == choice.frame["batch"].n_unique()
    assert choice.queries == real["query"].n_unique()
    assert set(choice.frame["design"]) == {design}
