"""Ids that never match, and would if they were written alike."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

__all__ = ["Likeness", "likeness"]

ENOUGH = 0.5  # of the ids of the smaller side
MOST = 100_000  # ids that are looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """In what ids of two sides differ, and one of each that seem to be the same."""

    differ_in: str
    one: str
    other: str


def likeness(one: pl.Series, other: pl.Series) -> Likeness | None:
    """How ids that have nothing in common would match: None where no simple change does it.

    Examples:
        >>> likeness(pl.Series(["q001", "q002"]), pl.Series(["2", "1"]))
        Likeness(differ_in='a prefix and leading zeros', one='q001', other='1')
        >>> likeness(pl.Series(["D1"]), pl.Series(["d1"])).differ_in
        'capital letters'
    """
    sides = [series.head(MOST).unique(maintain_order=True).rename("id") for series in (one, other)]
    fewest = min(map(len, sides))
    lower = pl.col("id").str.strip_chars().str.to_lowercase()
    number = lower.str.replace(r"^\D+", "")
    ways = {
        "capital letters": lower,
        "leading zeros": lower.str.strip_chars_start("0"),
        "a prefix": number,
        "a prefix and leading zeros": number.str.strip_chars_start("0"),
        "an ending": lower.str.replace(r"(\.[a-z]+|[#_/][^#_/]*)$", ""),
    }
    for words, way in ways.items():
        left, right = (side.to_frame().with_columns(key=way).filter(pl.col("key") != "") for side in sides)
        both = left.join(right, on="key", how="inner", maintain_order="left")
        if both.height and both["key"].n_unique() >= ENOUGH * fewest:
            return Likeness(differ_in=words, one=both["id"][0], other=both["id_right"][0])
    return None
