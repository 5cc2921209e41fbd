"""The same actions as the pages, as JSON for programs: /api/v1, with tokens and an OpenAPI description."""

from ringtrue.web.api.building import PATH, make_api
from ringtrue.web.api.judging import STRAIGHT as ONE_BY_ONE
from ringtrue.web.api.reference import router
from ringtrue.web.api.whole_tasks import STRAIGHT as AT_ONCE

__all__ = ["PATH", "STRAIGHT", "make_api", "router"]

STRAIGHT = ONE_BY_ONE | AT_ONCE
