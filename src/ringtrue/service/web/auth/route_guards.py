"""Guards are declared, public routes too; and a walk over all routes finds those that are neither."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import Mount

__all__ = ["guard", "public", "unguarded"]

F = TypeVar("F", bound=Callable[..., Any])
GUARDS: set[Callable[..., Any]] = set()
PUBLIC: set[Callable[..., Any]] = set()


def guard(function: F) -> F:
    """Declare a dependency to be one that lets in only those who may."""
    GUARDS.add(function)
    return function


def public(endpoint: F) -> F:
    """Declare a route to be for everybody."""
    PUBLIC.add(endpoint)
    return endpoint


def unguarded(app: FastAPI) -> list[str]:
    """The routes that have no guard and are not declared public: there should be none."""
    lanes = [lane for several in getattr(app, "lanes", {}).values() for lane in several]
    return [
        *(f"{lane.method} {lane.path}" for lane in lanes if lane.endpoint not in GUARDS),
        *(name for name, route in _routes(app.routes) if not _is_guarded(route)),
    ]


def _routes(routes: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for route in routes:
        included = getattr(route, "original_router", None)  # how FastAPI keeps a router that was included
        if included is not None:
            yield from _routes(included.routes, prefix)
        elif isinstance(route, Mount) and route.routes:
            yield from _routes(route.routes, prefix + route.path)
        else:
            methods = ",".join(sorted(getattr(route, "methods", None) or ()))
            yield f"{methods} {prefix}{getattr(route, 'path', route)}".strip(), route


def _is_guarded(route: Any) -> bool:
    if isinstance(route, Mount):
        return route.path == "/static"
    if getattr(route, "endpoint", None) in PUBLIC | GUARDS:
        return True
    if not isinstance(route, APIRoute):  # FastAPI's own: the description of the API
        return getattr(route, "path", None) == "/openapi.json" and getattr(route, "name", None) == "openapi"
    return any(one.call in GUARDS for one in _dependencies(route.dependant))


def _dependencies(dependant: Any) -> Iterator[Any]:
    for one in dependant.dependencies:
        yield one
        yield from _dependencies(one)
