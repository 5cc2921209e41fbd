"""What a plan takes for granted: consistent numbers, and a note for each guess."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ringtrue.errors import UsageError
from ringtrue.gold.planning.assumptions import KnownQuantities, assume

rates = st.floats(0.55, 0.99)


@given(prevalence=st.floats(0.02, 0.98), accuracy=st.tuples(rates, rates))
def test_score_and_prevalence_lead_to_each_other(prevalence: float, accuracy: tuple[float, float]) -> None:
    there = assume(KnownQuantities(prevalence=prevalence, accuracy=accuracy))
    back = assume(KnownQuantities(score=there.score, accuracy=accuracy))
    assert back.prevalence == pytest.approx(prevalence)
    assert there.score * there.gold_if_relevant + (1 - there.score) * there.gold_if_not == pytest.approx(prevalence)


@given(score=st.floats(0.2, 0.8), part=st.floats(0.05, 1))
def test_queries_differ_by_as_large_a_part_of_what_they_could_by_either_judge(score: float, part: float) -> None:
    found = assume(KnownQuantities(score=score, sd=part * math.sqrt(score * (1 - score)), accuracy=(0.85, 0.9)))
    assert found.gold_sd == pytest.approx(part * math.sqrt(found.prevalence * (1 - found.prevalence)))
    assert found.bronze_sd == pytest.approx(part * math.sqrt(score * (1 - score)))


def test_an_sd_given_with_the_prevalence_alone_is_golds() -> None:
    assert assume(KnownQuantities(prevalence=0.3, sd=0.2)).gold_sd == pytest.approx(0.2)


def test_every_guess_is_told_and_what_is_given_is_not() -> None:
    nothing = assume(KnownQuantities())
    assert [note.split(":")[0] for note in nothing.notes] == [
        "how good the bronze judge is was not given (--accuracy)",
        "neither a score nor a prevalence was given",
        "how far P@k differs from query to query was not given (--sd)",
    ]
    assert {name: one.source for name, one in nothing.taken.items()} == {
        "relevant": "guess", "nonrelevant": "guess", "prevalence": "guess", "score": "follows", "sd": "guess",
        "gold_sd": "follows",
    }  # fmt: skip
    assert assume(KnownQuantities(score=0.4, sd=0.2, accuracy=(0.9, 0.9))).notes == ()
    pair = assume(KnownQuantities(), difference=0.05)
    assert [note.split("(")[-1] for note in pair.notes[2:]] == [
        "--unshared): 10 is taken",
        "--difference-sd): 0.205 is taken",
    ]


def test_the_sd_of_a_difference_is_guessed_from_that_of_the_score_where_it_is_known() -> None:
    assert assume(KnownQuantities(sd=0.3), difference=0.05).bronze_sd == pytest.approx(0.21)


def test_a_score_that_does_not_fit_the_rest_is_told_and_left_aside() -> None:
    found = assume(KnownQuantities(score=0.7, prevalence=0.4, accuracy=(0.9, 0.9), sd=0.3))
    assert found.score == pytest.approx(0.42)
    assert "the score of 0.7 does not fit" in found.notes[0]


def test_a_judge_no_better_than_chance_leaves_the_prevalence_to_a_guess() -> None:
    found = assume(KnownQuantities(score=0.6, accuracy=(0.6, 0.4), sd=0.3))
    assert found.prevalence == 0.5
    assert "a judge no better than chance says nothing of how many are relevant" in found.notes[0]
    assert found.youden == pytest.approx(0)


def test_golds_sd_is_never_larger_than_it_can_be() -> None:
    assert assume(KnownQuantities(prevalence=0.1, sd=0.2, gold_sd=0.9)).gold_sd == pytest.approx(0.3)
    assert assume(KnownQuantities(gold_sd=0.99, unshared=4), difference=0.01).gold_sd < 0.4 * math.sqrt(0.5)


@pytest.mark.parametrize(
    ("known", "difference", "says"),
    [
        ({"score": 62.6}, None, "a score must lie between 0 and 1, found 62.6; is it 62.6%? Write it as 0.626"),
        ({"score": -0.1}, None, "a score must lie between 0 and 1, found -0.1"),
        ({"score": 1.0}, None, "a score must lie between 0 and 1, found 1"),
        ({"prevalence": 0.0}, None, "a prevalence must lie"),
        ({"sd": 0.0}, None, "an sd must lie between 0 and 1"),
        ({"score": 0.5, "sd": 0.6}, None, "an sd of 0.6 is too large: scores from 0 to 1 with a mean of 0.5"),
        ({"accuracy": (85.0, 90.0)}, None, "an accuracy must lie between 0 and 1, both included, found 85; is it 85%?"),
        ({"score": 0.05, "accuracy": (0.9, 0.9)}, None, "calls between 0.1 and 0.9 of the documents relevant"),
        ({"score": 0.95}, None, "a score of 0.95 does not fit. Give another accuracy (--accuracy)"),
        ({"accuracy": (1.0, 0.0)}, None, "a judge who calls everything relevant tells nothing"),
        ({"accuracy": (0.0, 1.0)}, None, "a judge who calls everything not relevant tells nothing"),
        ({"k": 0}, None, "k must be a whole number of at least 1"),
        ({"unshared": 21.0}, 0.05, "more than 0 and at most 20 documents of a query are unshared, found 21"),
        ({"unshared": 1.0}, 0.2, "a difference of 0.2 is larger than possible: two runs with 1 unshared documents"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_words(known: dict[str, Any], difference: float | None, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        assume(KnownQuantities(**known), difference=difference)
    assert says in str(refused.value)
