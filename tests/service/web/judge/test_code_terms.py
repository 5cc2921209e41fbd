"""What earns the completion code, as workers read it before any work."""

from __future__ import annotations

from typing import Any

import pytest

from ringtrue.service.store import Settings
from ringtrue.service.store.completion import CodeOffer
from ringtrue.service.web.judge.code_terms import PARTIAL_TERMS, describe_code_terms

HALF = "answer at least 50% of the questions of a task (“Can’t tell” counts for up to 25% of all, skipping does not)"
EARN = "you earn the completion code if you "


@pytest.mark.parametrize(
    ("changes", "conditions"),
    [
        ({}, "answer every question of a task (“Can’t tell” counts for up to 25% of them, skipping does not)"),
        ({"completion_unsure": 1}, "answer every question of a task (“Can’t tell” counts, skipping does not)"),
        (
            {"completion_answered": 0.8, "completion_unsure": 0},
            "answer at least 80% of the questions of a task (“Can’t tell” and skipping do not count)",
        ),
        (
            {"completion_answered": 0.5},
            HALF,
        ),
        ({"completion_answered": 0}, "finish a task"),
        ({"completion_answered": 0, "completion_traps": True}, "pass the attention checks"),
        (
            {"completion_answered": 0, "completion_traps": True, "completion_seconds": 5},
            "pass the attention checks and take at least 5 seconds a question on average",
        ),
    ],
)
def test_one_sentence_says_what_the_settings_ask_for(changes: dict[str, Any], conditions: str) -> None:
    assert describe_code_terms(Settings(**changes), CodeOffer(full=True, partial=False)) == [EARN + conditions]


@pytest.mark.parametrize("changes", [{}, {"traps": 0, "traps_needed": 0, "completion_traps": True}])
def test_nothing_is_said_of_checks_that_the_code_does_not_ask_for(changes: dict[str, Any]) -> None:
    (sentence,) = describe_code_terms(Settings(**changes), CodeOffer(full=True, partial=False))
    assert "check" not in sentence


def test_a_code_for_part_of_the_work_is_told_and_no_codes_are_no_words() -> None:
    assert describe_code_terms(Settings(), CodeOffer(full=True, partial=True))[1:] == [PARTIAL_TERMS]
    assert describe_code_terms(Settings(), CodeOffer(full=False, partial=False)) == []
    assert describe_code_terms(Settings(), None) == []
