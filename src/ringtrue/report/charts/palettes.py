"""Colours by what they are for: the same on the page in light and dark, and on paper.

Series follow Okabe and Ito's palette, which people tell apart whatever colours they see [OkabeIto08], darker on white
and lighter on black until lines in them have the contrast of 3 that WCAG AA asks of graphics. Words have 4.5 or more.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """`ink` is for words and axes, `muted` for words beside the point, `quiet` for grids, `series` for what is shown.

    `ground` lies behind everything, `raised` behind what stands apart. Cells of a heatmap have `high`, or `below` on
    the other side of a middle, the more of it the further; ink can be read on all of it.
    """

    ground: str
    raised: str
    ink: str
    muted: str
    quiet: str
    high: str
    below: str
    series: tuple[str, ...]

    def roles(self) -> dict[str, str]:
        """Every colour by the name of its CSS variable."""
        names = ("ground", "raised", "ink", "muted", "quiet", "high", "below")
        numbered = {f"series-{number}": colour for number, colour in enumerate(self.series, start=1)}
        return {name: getattr(self, name) for name in names} | numbered


LIGHT = Palette(
    ground="#ffffff",
    raised="#f4f6f7",
    ink="#1d2327",
    muted="#55606a",
    quiet="#dde2e5",
    high="#4f97c9",
    below="#d0783a",
    series=("#d55e00", "#0072b2", "#00805d", "#b8538c", "#857300", "#3788bd", "#7a4a2b", "#555d63"),
)
DARK = Palette(
    ground="#14181b",
    raised="#1d2327",
    ink="#e6eaed",
    muted="#a9b3ba",
    quiet="#343c41",
    high="#2a6d99",
    below="#a0541b",
    series=("#f59b4c", "#6cc1f0", "#4fd3a8", "#eb9cc9", "#e3d35a", "#8fb8f2", "#d9a58a", "#aab4bb"),
)
