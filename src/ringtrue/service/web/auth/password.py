"""Changing one's own password."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Request, Response

from ringtrue.errors import UsageError
from ringtrue.service.store.access import forgive, try_to_log_in
from ringtrue.service.store.accounts import secret_of, set_password
from ringtrue.service.store.audit_log import record
from ringtrue.service.web.auth.dependencies import Here, signed_in
from ringtrue.service.web.auth.login import address_of, start_visit, too_many, with_login
from ringtrue.service.web.auth.password_hashing import SHORTEST, hash_password, is_right, require_good
from ringtrue.service.web.render import render, see_other

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
SignedIn = Annotated[Here, Depends(signed_in)]


@router.get("/password")
async def password_page(request: Request, here: SignedIn) -> Response:
    """The form for a new password."""
    found = await here.read(lambda c: secret_of(c, here.person.handle))
    return render(request, "password.html", has_one=found is not None, problem=None, shortest=SHORTEST)


@router.post("/password")
async def change_password(request: Request, here: SignedIn) -> Response:
    """A new password, for whoever knows the old one; every other visit and every token ends."""
    handle, address, new = here.person.handle, address_of(request), here.text("password")
    wait = await here.write(lambda c: try_to_log_in(c, handle=handle, address=address, now=here.now))
    found = await here.read(lambda c: secret_of(c, handle))
    try:
        if wait:
            raise UsageError(too_many(wait))
        stored = found[1] if found else None
        if not await here.site.compute(lambda: is_right(here.text("old"), stored)):
            raise UsageError("the old password is wrong")
        require_good(new, handle=handle, name=here.person.name or "")
        if new != here.text("again"):
            raise UsageError("the two new passwords differ; write the same one twice")
    except UsageError as error:
        return render(
            request, "password.html", status=422, has_one=found is not None, problem=str(error), shortest=SHORTEST
        )
    hashed = await here.site.compute(lambda: hash_password(new))

    def work(connection: Connection) -> None:
        set_password(connection, here.person.id, hashed, now=here.now)
        forgive(connection, handle=handle, address=address)
        record(connection, "change password", now=here.now, account=here.person.id)

    await here.write(work)
    secret, _ = await start_visit(request, here.site, here.person.id)
    return with_login(see_other("/?changed=1"), here.site, secret)
