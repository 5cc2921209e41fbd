"""Passwords: argon2id, and the same time for a right one, a wrong one and somebody who is not there."""

from __future__ import annotations

import unicodedata
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from ringtrue.errors import UsageError

__all__ = ["SHORTEST", "hash_password", "is_right", "require_good"]

SHORTEST = 10
LONGEST = 200
# RFC 9106's second choice. Each takes 64 MiB, so only a few are computed at once however many ask.
HASHER = PasswordHasher(time_cost=3, memory_cost=65_536, parallelism=1)
AT_ONCE = BoundedSemaphore(2)
# Of a password that was drawn by lot and thrown away: what is compared when there is nobody to compare with.
NOBODY = "$argon2id$v=19$m=65536,t=3,p=1$SJultWgtTEy0UKu/C8Uo+A$XhcFYxj2Okgd2WLaCx08FknfST8esvLrohNvJxFtn5I"


def require_good(password: str, *, handle: str = "", name: str = "") -> None:
    """Refuse a password that is guessed at once."""
    if len(password) < SHORTEST:
        raise UsageError(f"a password needs at least {SHORTEST} characters, found {len(password)}")
    if len(password) > LONGEST:
        raise UsageError(f"a password has at most {LONGEST} characters, found {len(password)}")
    plain = password.casefold()
    if len(set(plain)) < 5:
        raise UsageError("this password repeats a few characters; take one that nobody guesses, such as four words")
    for known in (handle, name, "password", "ringtrue", "12345678", "qwertyui"):
        rest = plain.replace(known.casefold(), "") if len(known) > 2 else plain
        if len(rest) < SHORTEST // 2:
            raise UsageError("this password is easily guessed; take one that nobody guesses, such as four words")


def hash_password(password: str) -> str:
    """What is stored of a password; takes a moment, so not on the loop that serves everybody."""
    with AT_ONCE:
        return HASHER.hash(_same(password))


def is_right(password: str, stored: str | None) -> bool:
    """Whether this is the password; None for somebody who is not there, which takes as long."""
    with AT_ONCE:
        try:
            return HASHER.verify(stored or NOBODY, _same(password[: 2 * LONGEST])) and stored is not None
        except (VerificationError, InvalidHashError):
            return False


def _same(password: str) -> str:
    """One spelling for what keyboards write in several ways."""
    return unicodedata.normalize("NFKC", password)
