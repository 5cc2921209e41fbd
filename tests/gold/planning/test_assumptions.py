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
    assert [note.code for note in nothing.notes] == ["accuracy-guessed", "prevalence-guessed", "sd-guessed"]
    assert {name: one.source for name, one in nothing.taken.items()} == {
        "relevant": "guess", "nonrelevant": "guess", "prevalence": "guess", "score": "follows", "sd": "guess",
        "gold_sd": "follows",
    }  # fmt: skip
    assert assume(KnownQuantities(score=0.4, sd=0.2, accuracy=(0.9, 0.9))).notes == ()
    pair = assume(KnownQuantities(), difference=0.05)
    unshared, difference_sd = pair.notes[2:]
    assert (unshared.code, unshared.parameter) == ("unshared-guessed", "unshared")
    assert (difference_sd.code, difference_sd.parameter) == ("difference-sd-guessed", "difference_sd")
    assert "10" in unshared.text
    assert "0.205" in difference_sd.text


def test_the_sd_of_a_difference_is_guessed_from_that_of_the_score_where_it_is_known() -> None:
    assert assume(KnownQuantities(sd=0.3), difference=0.05).bronze_sd == pytest.approx(0.21)


def test_a_score_that_does_not_fit_the_rest_is_told_and_left_aside() -> None:
    found = assume(KnownQuantities(score=0.7, prevalence=0.4, accuracy=(0.9, 0.9), sd=0.3))
    assert found.score == pytest.approx(0.42)
    assert [note.code for note in found.notes] == ["score-replaced"]
    assert "0.7" in found.notes[0]


def test_a_judge_no_better_than_chance_leaves_the_prevalence_to_a_guess() -> None:
    found = assume(KnownQuantities(score=0.6, accuracy=(0.6, 0.4), sd=0.3))
    assert found.prevalence == 0.5
    assert found.notes[0].code == "prevalence-unknown"
    assert found.youden == pytest.approx(0)


def test_golds_sd_is_never_larger_than_it_can_be() -> None:
    assert assume(KnownQuantities(prevalence=0.1, sd=0.2, gold_sd=0.9)).gold_sd == pytest.approx(0.3)
    assert assume(KnownQuantities(gold_sd=0.99, unshared=4), difference=0.01).gold_sd < 0.4 * math.sqrt(0.5)


@pytest.mark.parametrize(
    ("known", "difference", "code", "parameter"),
    [
        ({"score": 62.6}, None, "not-a-share", "score"),
        ({"score": -0.1}, None, "not-a-share", "score"),
        ({"score": 1.0}, None, "not-a-share", "score"),
        ({"prevalence": 0.0}, None, "not-a-share", "prevalence"),
        ({"sd": 0.0}, None, "not-a-share", "sd"),
        ({"score": 0.5, "sd": 0.6}, None, "sd-too-large", "sd"),
        ({"accuracy": (85.0, 90.0)}, None, "not-a-share", "accuracy"),
        ({"accuracy": (0.9, 1.2)}, None, "not-a-share", "accuracy"),
        ({"score": 0.05, "accuracy": (0.9, 0.9)}, None, "impossible-score", "score"),
        ({"score": 0.95}, None, "impossible-score", "score"),
        ({"accuracy": (1.0, 0.0)}, None, "one-sided-judge", "accuracy"),
        ({"accuracy": (0.0, 1.0)}, None, "one-sided-judge", "accuracy"),
        ({"k": 0}, None, "bad-k", "k"),
        ({"unshared": 21.0}, 0.05, "bad-unshared", "unshared"),
        ({"unshared": 1.0}, 0.2, "difference-too-large", "difference"),
    ],
)
def test_what_cannot_be_is_refused(known: dict[str, Any], difference: float | None, code: str, parameter: str) -> None:
    with pytest.raises(UsageError) as refused:
        assume(KnownQuantities(**known), difference=difference)
    assert (refused.value.code, refused.value.parameter) == (code, parameter)
