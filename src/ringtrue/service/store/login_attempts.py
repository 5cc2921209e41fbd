"""A brake for those who guess passwords: attempts are counted by handle and by address.

Nothing personal is kept: handles and addresses are stored as hashes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, func, insert, select

from ringtrue.service.store import schema
from ringtrue.service.store.hashing import hash_attempt

if TYPE_CHECKING:
    from sqlalchemy import Connection

ATTEMPT_WINDOW = 15 * 60.0  # seconds in which attempts are counted
# Attempts in that time. Few by one handle from one address; many more by a handle from everywhere, or anybody could
# lock an owner out; and people of one office share an address.
ATTEMPT_LIMITS = {"both": 10, "handle": 100, "address": 50}


def record_login_attempt(connection: Connection, *, handle: str, address: str, now: float) -> float:
    """Write down an attempt; answers how many seconds to wait, 0 when it may go on.

    Attempts are written before the password is looked at, so that many at once are counted too;
    `clear_login_attempts` takes them away when it was right. A handle that nobody has is counted like the others.
    """
    attempt = schema.attempt
    connection.execute(delete(attempt).where(attempt.c.time <= now - ATTEMPT_WINDOW))
    attempt_keys = _attempt_keys(handle, address)
    wait = 0.0
    for kind, attempt_key in attempt_keys.items():
        latest = connection.execute(
            select(attempt.c.time)
            .where(attempt.c.what == attempt_key)
            .order_by(attempt.c.time.desc())
            .limit(ATTEMPT_LIMITS[kind])
        ).scalars()
        times = list(latest)
        if len(times) == ATTEMPT_LIMITS[kind]:
            wait = max(wait, times[-1] + ATTEMPT_WINDOW - now)
    if not wait:
        connection.execute(
            insert(attempt), [{"what": attempt_key, "time": now} for attempt_key in attempt_keys.values()]
        )
    return wait


def clear_login_attempts(connection: Connection, *, handle: str, address: str) -> None:
    """Forget the attempts with this handle, and one from this address: the last was right."""
    attempt, attempt_keys = schema.attempt, _attempt_keys(handle, address)
    connection.execute(delete(attempt).where(attempt.c.what.in_([attempt_keys["both"], attempt_keys["handle"]])))
    last = select(func.max(attempt.c.id)).where(attempt.c.what == attempt_keys["address"]).scalar_subquery()
    connection.execute(delete(attempt).where(attempt.c.id == last))


def _attempt_keys(handle: str, address: str) -> dict[str, str]:
    """What is counted of an attempt; what is about a handle begins alike, so that `erase_account` finds it."""
    handle_key, address_key = hash_attempt("handle", handle), hash_attempt("address", address)
    return {"both": f"{handle_key} {address_key}", "handle": handle_key, "address": address_key}
