"""The owner's pages: making projects, people, progress, quality, decisions, gold, exports, and the whole server."""

from fastapi import APIRouter

from ringtrue.web.owning import adjudication, exports, gold, people, progress, projects, quality, site

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
for part in (projects, progress, people, quality, adjudication, gold, exports, site):
    router.include_router(part.router)
