"""Answers as values."""

from __future__ import annotations

import dataclasses
import json

import pytest

from ringtrue import Comparison, Comparisons, Estimate
from ringtrue.messages import Note


@pytest.mark.parametrize(
    ("se", "shown"),
    [
        (0.036, "0.46 (95% CI 0.39 to 0.53)"),
        (0.0036, "0.461 (95% CI 0.390 to 0.532)"),
        (0.36, "0.5 (95% CI 0.4 to 0.5)"),
        (12.0, "0 (95% CI 0 to 1)"),
        (0.0, "0.4612 (95% CI 0.3900 to 0.5318)"),
    ],
)
def test_the_digits_follow_the_standard_error(se: float, shown: str) -> None:
    assert str(Estimate(value=0.4612, se=se, low=0.39, high=0.5318, n=43, method="t")) == shown


def test_a_value_without_interval_stands_alone() -> None:
    assert str(Estimate(value=0.5, n=1, method="t")) == "0.5000"


DOUBT = Note("a-code", "a doubt")


def test_plain_data_has_the_keys_of_the_contract_in_their_order() -> None:
    plain = Estimate(value=0.5, n=1, method="t", notes=(DOUBT,)).as_dict()
    assert list(plain) == ["value", "se", "low", "high", "level", "n", "method", "notes", "note_codes"]
    assert (plain["notes"], plain["note_codes"]) == (["a doubt"], ["a-code"])


def test_an_answer_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Estimate(value=0.5, n=1, method="t").value = 1.0  # type: ignore[misc]


def comparison(**given: object) -> Comparison:
    known = {"measure": "AP", "a": "new", "b": "old", "p_value": 0.2, "p_adjusted": 0.4, "test": "t", "wins": 28,
             "ties": 2, "losses": 20, "difference": Estimate(value=0.02, n=50, method="t")}  # fmt: skip
    return Comparison(**(known | given))


def test_a_comparison_as_plain_data_has_the_keys_of_the_contract_in_their_order() -> None:
    plain = comparison(notes=(DOUBT,), effect_size=0.3).as_dict()
    wanted = ["measure", "a", "b", "difference", "p_value", "p_adjusted", "test", "effect_size", "wins", "ties",
              "losses", "notes", "note_codes"]  # fmt: skip
    assert [key for key in plain if key in wanted] == wanted
    assert list(plain["difference"]) == ["value", "se", "low", "high", "level", "n", "method", "notes", "note_codes"]
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "AP: new − old = 0.0200, p = 0.20 (adjusted 0.40), won 28, tied 2, lost 20"),
        ({"p_value": 0.00123}, "p = 0.0012 (adjusted 0.40)"),
        ({"p_value": 1.0, "p_adjusted": 1.0}, "p = 1.00 (adjusted 1.00)"),
        ({"p_value": None, "p_adjusted": None}, "p = undefined (adjusted undefined)"),
        ({"p_adjusted": 2.5e-9}, "(adjusted 2.5e-09)"),
    ],
)
def test_a_comparison_is_told_in_a_line(given: dict[str, object], says: str) -> None:
    assert says in str(comparison(**given))


@pytest.mark.parametrize(
    ("p", "level", "decided"),
    [(0.049, 0.95, True), (0.051, 0.95, False), (0.049, 0.99, False), (0.2, 0.7, True), (1.0, 0.95, False),
     (None, 0.95, False)],
)  # fmt: skip
def test_it_is_decided_by_the_adjusted_p_and_the_level(p: float | None, level: float, decided: bool) -> None:
    estimate = Estimate(value=0.02, n=50, method="t", level=level)
    assert comparison(p_value=0.0001, p_adjusted=p, difference=estimate).decided is decided


def test_comparisons_can_be_walked_counted_and_asked_by_place() -> None:
    first, second = comparison(), comparison(b="older")
    found = Comparisons(comparisons=(first, second), test="paired t test", family="Holm over the 2 pairs", level=0.95)
    assert len(found) == 2
    assert list(found) == [first, second]
    assert found[-1] is second
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.family = "none"  # type: ignore[misc]


def test_a_comparison_seen_from_the_other_side_has_the_signs_and_the_counts_the_other_way_round() -> None:
    estimate = Estimate(value=0.02, se=0.01, low=0.0, high=0.04, n=50, method="t")
    naive = comparison(wins=30, losses=18)
    turned = comparison(difference=estimate, effect_size=0.3, naive=naive, ahead="new").turned()
    assert (turned.a, turned.b, turned.ahead) == ("old", "new", "new")
    assert (turned.difference.value, turned.difference.low, turned.difference.high) == (-0.02, -0.04, 0.0)
    assert (turned.wins, turned.losses, turned.effect_size) == (20, 28, -0.3)
    assert turned.naive is not None
    assert (turned.naive.a, turned.naive.wins) == ("old", 18)
    assert turned.turned() == comparison(difference=estimate, effect_size=0.3, naive=naive, ahead="new")
