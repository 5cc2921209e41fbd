"""Matplotlib's settings while we draw: its defaults and ours, whatever somebody has set in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

import matplotlib as mpl

__all__ = ["FAMILY", "our_settings"]

FAMILY = "DejaVu Sans"  # comes with Matplotlib, so that a picture looks alike everywhere
# Matplotlib's settings belong to the whole process: one picture at a time.
_DRAWING = RLock()


_OURS: Any = {
    "font.family": [FAMILY],
    "text.parse_math": False,  # a $ in the name of a run is a $
    "svg.fonttype": "path",
    "svg.hashsalt": "ringtrue",  # the same picture has the same bytes
    "pdf.fonttype": 42,
}


@contextmanager
def our_settings() -> Iterator[None]:
    """Draw in here; what was set before comes back at the end."""
    with _DRAWING, mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_OURS)
        yield
