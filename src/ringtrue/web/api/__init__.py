"""The same actions as the pages, as JSON for programs: /api/v1, with tokens and an OpenAPI description."""

from ringtrue.web.api.building import PATH, make_api
from ringtrue.web.api.judging import STRAIGHT
from ringtrue.web.api.reference import router

__all__ = ["PATH", "STRAIGHT", "make_api", "router"]
