"""The owner's pages: making projects, people, progress, quality, decisions, gold, exports, and the whole server."""

from fastapi import APIRouter

from ringtrue.service.web.owner import adjudication, administration, exports, people, progress, projects

router = APIRouter(include_in_schema=False)
for part in (projects, progress, people, adjudication, exports, administration):
    router.include_router(part.router)
