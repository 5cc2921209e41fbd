"""Packages that only pictures and pages need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ringtrue.errors import UsageError


@contextmanager
def require_plots_extra() -> Iterator[None]:
    """Around imports of what `ringtrue[plots]` brings: whoever has it not is told how to get it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("ringtrue"):
            raise
        package = (error.name or "").partition(".")[0]
        raise UsageError(
            f"reports and plots need more packages ({package} is missing): pip install 'ringtrue[plots]', or in a "
            f"copy of the sources pip install '.[plots]'"
        ) from None
