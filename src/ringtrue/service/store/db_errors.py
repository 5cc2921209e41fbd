"""The database's own words for being locked, full or gone, in ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ringtrue.errors import InputError, StoreError, UnavailableError

LOCKED = "the database is locked by another program"
FULL = "the disk of the database is full: make room on it"
READ_ONLY = "the database may not be written: look at who may write its file and folder"
AWAY = "the database does not answer"  # why it does not may name its host, and is for who opens it, not for judges
BUSY = "the database has too much to do"
SQLITE = {  # https://www.sqlite.org/rescode.html, the lower byte
    5: LOCKED,
    6: LOCKED,
    8: READ_ONLY,
    13: FULL,
    10: "the disk of the database fails",
    14: "the file of the database cannot be opened: look at whether its folder is there and who may write it",
}
SQLITE_BROKEN = {11: "the file of the database is damaged: restore a backup", 26: "the file is no SQLite database"}
POSTGRESQL = {  # https://www.postgresql.org/docs/current/errcodes-appendix.html
    "40P01": LOCKED,
    "40001": LOCKED,
    "55P03": LOCKED,
    "53100": FULL,
    "53300": BUSY,
    "25006": READ_ONLY,
}


@contextmanager
def translate_db_errors() -> Iterator[None]:
    """Raise our own errors where the database failed; what is a fault of the program stays as it is."""
    from sqlalchemy.exc import DBAPIError, TimeoutError as PoolTimeout

    try:
        yield
    except PoolTimeout:
        raise UnavailableError(f"{BUSY}; trying again is safe") from None
    except DBAPIError as error:
        driver_error = error.orig
        if _is_error_named(driver_error, "DataError"):
            raise InputError(
                f"the database cannot keep this: {_error_text(driver_error)}; take it out of the text or file"
            ) from error
        message, is_transient = _classify_error(driver_error)
        if message is None:
            raise
        if is_transient:
            raise UnavailableError(f"{message}; trying again is safe") from error
        raise StoreError(message) from error


@contextmanager
def translate_opening_errors(database: str) -> Iterator[None]:
    """The same where a database is opened: the message names it."""
    from sqlalchemy.exc import DBAPIError

    try:
        yield
    except DBAPIError as error:
        message, is_transient = _classify_error(error.orig)
        raise (UnavailableError if is_transient else StoreError)(
            f"cannot open the database {database}: {_error_text(error.orig) if message in (None, AWAY) else message}"
        ) from error


def _classify_error(error: BaseException | None) -> tuple[str | None, bool]:
    """What the driver says has happened, and whether it may pass; None where the database is not at fault.

    Codes tell it, not the message, which may quote what somebody wrote.
    """
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(code, int):
        if code & 0xFF in SQLITE_BROKEN:
            return SQLITE_BROKEN[code & 0xFF], False
        return SQLITE.get(code & 0xFF), True
    state = getattr(error, "sqlstate", None)
    if state in POSTGRESQL:
        return POSTGRESQL[state], True
    if _is_error_named(error, "OperationalError", "InterfaceError", "InternalError"):
        return AWAY, True
    return None, False


def _is_error_named(error: BaseException | None, *names: str) -> bool:
    """Whether an error is of one of these kinds, which every driver of Python's database API has by the same name."""
    return any(kind.__name__ in names for kind in type(error).__mro__)


def _error_text(error: BaseException | None) -> str:
    return " ".join(str(error).split())
