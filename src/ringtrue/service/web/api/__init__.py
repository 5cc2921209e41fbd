"""The same actions as the pages, as JSON for programs: /api/v1, with tokens and an OpenAPI description."""

from ringtrue.service.web.api.application import PATH, make_api
from ringtrue.service.web.api.reference import router
from ringtrue.service.web.api.tasks import FAST_ENDPOINTS as TASK_ENDPOINTS
from ringtrue.service.web.api.whole_tasks import FAST_ENDPOINTS as WHOLE_TASK_ENDPOINTS

__all__ = ["FAST_ENDPOINTS", "PATH", "make_api", "router"]

FAST_ENDPOINTS = TASK_ENDPOINTS | WHOLE_TASK_ENDPOINTS
