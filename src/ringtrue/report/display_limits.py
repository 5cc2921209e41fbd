"""How much fits on a page, and how deep people look."""

from __future__ import annotations

MAX_CHART_ROWS = 25  # rows of a chart, beyond which nobody reads it: the table has the rest
DEFAULT_DEPTH = 10  # ranks that people look at, where the measure looks at the whole list
