"""Guards are declared, public routes too; and a walk over all routes finds those that are neither."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import Mount

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


def list_unguarded_routes(app: FastAPI) -> list[str]:
    """The routes that have no guard and are not declared public: there should be none."""
    fast_routes = [fast_route for routes in getattr(app, "fast_routes", {}).values() for fast_route in routes]
    return [
        *(f"{fast_route.method} {fast_route.path}" for fast_route in fast_routes if fast_route.endpoint not in GUARDS),
        *(name for name, route in _walk_routes(app.routes) if not _is_guarded(route)),
    ]


def _walk_routes(routes: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for route in routes:
        included = getattr(route, "original_router", None)  # how FastAPI keeps a router that was included
        if included is not None:
            yield from _walk_routes(included.routes, prefix)
        elif isinstance(route, Mount) and route.routes:
            yield from _walk_routes(route.routes, prefix + route.path)
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
    return any(dependency.call in GUARDS for dependency in _walk_dependencies(route.dependant))


def _walk_dependencies(dependant: Any) -> Iterator[Any]:
    for dependency in dependant.dependencies:
        yield dependency
        yield from _walk_dependencies(dependency)
