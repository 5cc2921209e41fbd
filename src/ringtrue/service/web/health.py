"""`/healthz`: how the server is, told to whoever asks; owners see the same on their pages."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from ringtrue.service.web.auth.dependencies import public
from ringtrue.service.web.context import get_server_context
from ringtrue.service.web.database_probe import get_fresh_health
from ringtrue.service.web.health_record import STATUS

router = APIRouter(include_in_schema=False)


@router.get("/healthz")
@public
async def healthz(request: Request) -> JSONResponse:
    """Whether the server and its database answer, whether it can be written, and how much room there is."""
    health = await get_fresh_health(get_server_context(request))
    return JSONResponse(health.as_dict(), STATUS[health.database][1])
