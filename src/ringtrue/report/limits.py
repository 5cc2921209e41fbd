"""How much fits on a page, and how deep people look."""

from __future__ import annotations

__all__ = ["DEEP", "SHOWN"]

SHOWN = 25  # rows of a chart, beyond which nobody reads it: the table has the rest
DEEP = 10  # ranks that people look at, where the measure looks at the whole list
