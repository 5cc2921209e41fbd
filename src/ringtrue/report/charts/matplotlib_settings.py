"""Matplotlib's settings while we draw: its defaults and ours, whatever somebody has set in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

import matplotlib as mpl

FONT_FAMILY = "DejaVu Sans"  # comes with Matplotlib, so that a picture looks alike everywhere
# Matplotlib's settings belong to the whole process: one picture at a time.
_DRAWING_LOCK = RLock()


_RC_PARAMS: Any = {
    "font.family": [FONT_FAMILY],
    "text.parse_math": False,  # a $ in the name of a run is a $
    "svg.fonttype": "path",
    "svg.hashsalt": "ringtrue",  # the same picture has the same bytes
    "pdf.fonttype": 42,
}


@contextmanager
def use_our_settings() -> Iterator[None]:
    """Draw in here; what was set before comes back at the end."""
    with _DRAWING_LOCK, mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_RC_PARAMS)
        yield
