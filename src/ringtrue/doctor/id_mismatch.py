"""Ids that never match, and would if they were written alike."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

MIN_MATCHED_SHARE = 0.5  # of the ids of the smaller side
MAX_IDS = 100_000  # ids that are looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class IdMismatch:
    """In what ids of two sides differ, and one of each that seem to be the same."""

    differ_in: str
    left_id: str
    right_id: str


def explain_id_mismatch(left_ids: pl.Series, right_ids: pl.Series) -> IdMismatch | None:
    """How ids that have nothing in common would match: None where no simple change does it.

    Examples:
        >>> explain_id_mismatch(pl.Series(["q001", "q002"]), pl.Series(["2", "1"]))
        IdMismatch(differ_in='a prefix and leading zeros', left_id='q001', right_id='1')
        >>> explain_id_mismatch(pl.Series(["D1"]), pl.Series(["d1"])).differ_in
        'capital letters'
    """
    sides = [series.head(MAX_IDS).unique(maintain_order=True).rename("id") for series in (left_ids, right_ids)]
    smaller_size = min(map(len, sides))
    lower = pl.col("id").str.strip_chars().str.to_lowercase()
    number = lower.str.replace(r"^\D+", "")
    keys_by_difference = {
        "capital letters": lower,
        "leading zeros": lower.str.strip_chars_start("0"),
        "a prefix": number,
        "a prefix and leading zeros": number.str.strip_chars_start("0"),
        "an ending": lower.str.replace(r"(\.[a-z]+|[#_/][^#_/]*)$", ""),
    }
    for difference, key in keys_by_difference.items():
        left, right = (side.to_frame().with_columns(key=key).filter(pl.col("key") != "") for side in sides)
        matches = left.join(right, on="key", how="inner", maintain_order="left")
        if matches.height and matches["key"].n_unique() >= MIN_MATCHED_SHARE * smaller_size:
            return IdMismatch(differ_in=difference, left_id=matches["id"][0], right_id=matches["id_right"][0])
    return None
