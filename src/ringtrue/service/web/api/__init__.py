"""The same actions as the pages, as JSON for programs: /api/v1, with tokens and an OpenAPI description."""

from ringtrue.service.web.api.application import PATH, make_api
from ringtrue.service.web.api.reference import router
from ringtrue.service.web.api.tasks import STRAIGHT as ONE_BY_ONE
from ringtrue.service.web.api.whole_tasks import STRAIGHT as AT_ONCE

__all__ = ["PATH", "STRAIGHT", "make_api", "router"]

STRAIGHT = ONE_BY_ONE | AT_ONCE
