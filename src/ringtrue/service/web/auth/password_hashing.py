"""Passwords: argon2id, and the same time for a right one, a wrong one and somebody who is not there."""

from __future__ import annotations

import unicodedata
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from ringtrue.errors import UsageError

MIN_PASSWORD_LENGTH = 10
MAX_PASSWORD_LENGTH = 200
# RFC 9106's second choice. Each takes 64 MiB, so only a few are computed at once however many ask.
HASHER = PasswordHasher(time_cost=3, memory_cost=65_536, parallelism=1)
HASHING_SLOTS = BoundedSemaphore(2)
# Of a password that was drawn by lot and thrown away: what is compared when there is nobody to compare with.
DUMMY_HASH = "$argon2id$v=19$m=65536,t=3,p=1$SJultWgtTEy0UKu/C8Uo+A$XhcFYxj2Okgd2WLaCx08FknfST8esvLrohNvJxFtn5I"


def require_strong_password(password: str, *, handle: str = "", name: str = "") -> None:
    """Refuse a password that is guessed at once."""
    if len(password) < MIN_PASSWORD_LENGTH:
        raise UsageError(f"a password needs at least {MIN_PASSWORD_LENGTH} characters, found {len(password)}")
    if len(password) > MAX_PASSWORD_LENGTH:
        raise UsageError(f"a password has at most {MAX_PASSWORD_LENGTH} characters, found {len(password)}")
    folded = password.casefold()
    if len(set(folded)) < 5:
        raise UsageError("this password repeats a few characters; take one that nobody guesses, such as four words")
    for guess in (handle, name, "password", "ringtrue", "12345678", "qwertyui"):
        remainder = folded.replace(guess.casefold(), "") if len(guess) > 2 else folded
        if len(remainder) < MIN_PASSWORD_LENGTH // 2:
            raise UsageError("this password is easily guessed; take one that nobody guesses, such as four words")


def hash_password(password: str) -> str:
    """What is stored of a password; takes a moment, so not on the loop that serves everybody."""
    with HASHING_SLOTS:
        return HASHER.hash(_normalise_password(password))


def is_correct_password(password: str, stored_hash: str | None) -> bool:
    """Whether this is the password; None for somebody who is not there, which takes as long."""
    with HASHING_SLOTS:
        try:
            return (
                HASHER.verify(stored_hash or DUMMY_HASH, _normalise_password(password[: 2 * MAX_PASSWORD_LENGTH]))
                and stored_hash is not None
            )
        except (VerificationError, InvalidHashError):
            return False


def _normalise_password(password: str) -> str:
    """One spelling for what keyboards write in several ways."""
    return unicodedata.normalize("NFKC", password)
