"""Answers as values."""

from __future__ import annotations

import dataclasses

import pytest

from ringtrue import Estimate


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


def test_plain_data_has_the_keys_of_the_contract_in_their_order() -> None:
    plain = Estimate(value=0.5, n=1, method="t", notes=("a doubt",)).as_dict()
    assert list(plain) == ["value", "se", "low", "high", "level", "n", "method", "notes"]
    assert plain["notes"] == ["a doubt"]


def test_an_answer_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Estimate(value=0.5, n=1, method="t").value = 1.0  # type: ignore[misc]
