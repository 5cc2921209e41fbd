"""Where the sampling frame of a gold sample is, and how it is read."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from ringtrue.errors import InputError, TableError
from ringtrue.files.byte_source import Source
from ringtrue.gold.correction.sampling_frame import SamplingFrame

FRAME_SUFFIX = ".frame.csv"
SAMPLE_SUFFIXES = frozenset((".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".gz", ".bz2", ".xz", ".zst"))


def frame_path(sample: str) -> str:
    """Where the sampling frame of a sample is written: beside it, as gold.frame.csv beside gold.csv.

    Examples:
        >>> frame_path("labels/gold.csv"), frame_path("gold.2.jsonl.gz")
        ('labels/gold.frame.csv', 'gold.2.frame.csv')
    """
    path = Path(sample)
    name = path.name
    for suffix in reversed(path.suffixes):
        if suffix.lower() not in SAMPLE_SUFFIXES:
            break
        name = name.removesuffix(suffix)
    return str(path.with_name((name or path.name) + FRAME_SUFFIX))


def find_frame(sample: str) -> str | None:
    """The sampling frame beside a sample; None where there is none."""
    beside = frame_path(sample)
    return beside if Path(beside).is_file() else None


def read_sampling_frame(path: str) -> SamplingFrame:
    """The documents that could be drawn, from the second file that `sample` writes."""
    source = Source(path)
    try:
        table = pl.read_csv(source.read_all(), infer_schema=False)
    except pl.exceptions.PolarsError:
        table = pl.DataFrame()  # no table of this kind: refused with what was expected
    try:
        return SamplingFrame.of(table)
    except TableError as error:
        raise InputError.of(error.note, file=source.display_name) from error
