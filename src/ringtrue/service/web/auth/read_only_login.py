"""Logging in and out while the database cannot be written, so that an owner of a full disk gets at the data.

The session stands in the cookie alone, signed by a secret that only the memory of the server holds. It is short, for
owners only, and ends as soon as the database can be written again, and with a new password, as it holds a fingerprint
of the one that it was opened with. Attempts are counted in memory, on top of those that were written; so are sessions
that ended.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from ringtrue.errors import NotFoundError, ReadOnlyError
from ringtrue.service.store.accounts import find_password_hash, get_person
from ringtrue.service.store.sessions import ATTEMPT_LIMITS, ATTEMPT_WINDOW, attempt_keys, find_login_wait, hash_secret
from ringtrue.service.web.database_probe import check_health, get_fresh_health

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store.records import Person
    from ringtrue.service.web.context import ServerContext

SESSION_MINUTES = 30
PREFIX = "read-only:"  # no secret of another session has a colon
PURPOSE = "read-only login"
MAX_KEYS = 100_000


class MemoryAttempts:
    """Attempts to log in that could not be written down; each process counts its own."""

    def __init__(self) -> None:
        self._times: dict[str, list[float]] = {}

    def record(self, *, handle: str, address: str, now: float) -> float:
        """Count an attempt; answers how many seconds to wait, 0 when it may go on."""
        oldest = now - ATTEMPT_WINDOW
        if len(self._times) > MAX_KEYS:
            self._times = {key: times for key, times in self._times.items() if times[-1] > oldest}
        wait = 0.0
        recent: dict[str, list[float]] = {}
        for kind, key in attempt_keys(handle, address).items():
            times = recent[key] = [time for time in self._times.get(key, ()) if time > oldest]
            if len(times) >= ATTEMPT_LIMITS[kind]:
                wait = max(wait, times[-ATTEMPT_LIMITS[kind]] + ATTEMPT_WINDOW - now)
        if not wait:  # an attempt that is refused leaves nothing, so that no list is empty
            self._times |= {key: [*times, now] for key, times in recent.items()}
        return wait


class EndedSessions:
    """Sessions whose end could not be written down yet; each process knows its own."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}  # by the hash of their secret

    def add(self, secret: str, *, now: float, until: float) -> None:
        """Let a session in no more; `until` is when it ends by itself."""
        self._until = {key: end for key, end in self._until.items() if end > now} | {hash_secret(secret): until}

    def __contains__(self, secret: str) -> bool:
        return bool(self._until) and hash_secret(secret) in self._until


async def record_attempt_in_memory(server: ServerContext, *, handle: str, address: str, now: float) -> float:
    """Count an attempt that the database cannot keep; answers how many seconds to wait."""
    written = await server.read(lambda connection: find_login_wait(connection, handle=handle, address=address, now=now))
    return written or server.attempts.record(handle=handle, address=address, now=now)


async def start_read_only_session(server: ServerContext, account: int) -> tuple[str, Person, str]:
    """A secret for the cookie that is kept nowhere else, who it is, and the word that every form has to send back."""
    person, fingerprint = await server.read(lambda connection: _load_person(connection, account))
    if not person.owner:
        raise ReadOnlyError(
            "only-owners-now",
            "the database cannot be written now: until it can, only owners log in, to download exports and a backup",
        )
    await check_health(server, was_refused=True)  # what was found before the disk was full would end the session
    csrf, expires = secrets.token_urlsafe(32), int(server.clock() + SESSION_MINUTES * 60)
    signed = server.sign_in_memory(f"{account}:{expires}:{fingerprint}:{csrf}", PURPOSE)
    return f"{PREFIX}{signed}", person, csrf


async def has_read_only_login_ended(server: ServerContext, secret: str) -> bool:
    """Whether a session was for a database that cannot be written, and it can."""
    return secret.startswith(PREFIX) and (await get_fresh_health(server)).database in ("ok", "busy")


def authenticate_read_only_login(
    connection: Connection, server: ServerContext, secret: str
) -> tuple[Person, str] | None:
    """Who logged in with a secret that this server signed; None when the time is over or the password another."""
    signed = server.unsign_in_memory(secret.removeprefix(PREFIX), PURPOSE)
    if signed is None:
        return None
    account, expires, fingerprint, csrf = signed.split(":")
    if server.clock() >= float(expires):
        return None
    try:
        person, current = _load_person(connection, int(account))
    except NotFoundError:
        return None
    return (person, csrf) if person.owner and current == fingerprint else None


def _load_person(connection: Connection, account: int) -> tuple[Person, str]:
    person = get_person(connection, account)
    credentials = find_password_hash(connection, person.handle)
    return person, "" if credentials is None else hash_secret(credentials[1])[:32]
