"""The same actions as the pages, as JSON for programs: /api/v1, with tokens and an OpenAPI description."""

from ringtrue.service.web.api.application import PATH as PATH, make_api as make_api
from ringtrue.service.web.api.reference import router as router
from ringtrue.service.web.api.tasks import FAST_ENDPOINTS as TASK_ENDPOINTS
from ringtrue.service.web.api.whole_tasks import FAST_ENDPOINTS as WHOLE_TASK_ENDPOINTS

FAST_ENDPOINTS = TASK_ENDPOINTS | WHOLE_TASK_ENDPOINTS
