from __future__ import annotations

import pytest

from ringtrue.errors import UsageError
from ringtrue.service.web.auth.password_hashing import (
    DUMMY_HASH,
    HASHER,
    hash_password,
    is_correct_password,
    require_strong_password,
)


def test_a_password_is_known_again_and_kept_as_argon2id() -> None:
    stored = hash_password("lamp river seven coat")
    assert stored.startswith("$argon2id$")
    assert stored != hash_password("lamp river seven coat")
    assert is_correct_password("lamp river seven coat", stored)
    assert not is_correct_password("lamp river seven coats", stored)


def test_what_keyboards_write_in_several_ways_is_one_password() -> None:
    assert is_correct_password("Cafe\u0301 am Fluss", hash_password("Caf\u00e9 am Fluss"))


def test_nobody_is_compared_with_as_much_work_as_somebody() -> None:
    assert not HASHER.check_needs_rehash(DUMMY_HASH)
    assert not is_correct_password("anything", None)


@pytest.mark.parametrize("stored", ["", "unusable", "$argon2id$v=19$m=1"])
def test_what_is_no_hash_fits_no_password(stored: str) -> None:
    assert not is_correct_password("unusable", stored)


def test_a_password_of_megabytes_costs_no_more_than_another() -> None:
    assert not is_correct_password("x" * 5_000_000, None)


@pytest.mark.parametrize(
    ("password", "says"),
    [
        ("short", "at least 10 characters, found 5"),
        ("x" * 201, "at most 200"),
        ("abababababab", "repeats a few"),
        ("olga-owner-1", "easily guessed"),
        ("Password1234", "easily guessed"),
    ],
)
def test_passwords_that_are_guessed_at_once_are_refused(password: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        require_strong_password(password, handle="olga-owner", name="Olga Owner")


def test_a_good_password_needs_no_odd_characters() -> None:
    require_strong_password("lamp river seven coat", handle="olga", name="Olga Owner")
