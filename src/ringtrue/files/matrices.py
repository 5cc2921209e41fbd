"""Confusion matrices in JSON: rows are what gold says, columns what bronze says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringtrue.confusion import Confusion
from ringtrue.errors import FormatError
from ringtrue.files.source import Source

__all__ = ["holds_matrix", "read_confusion"]

LOOK = 4096  # bytes
SHAPE = '{"rows": "gold", "columns": "bronze", "labels": [0, 1], "matrix": [[0.9, 0.1], [0.2, 0.8]]}'


def holds_matrix(path: str | Path | Source) -> bool:
    """Whether a file looks like a confusion matrix: one JSON object that names a matrix or counts."""
    start = _source(path).head(LOOK).lstrip()
    first_line = start.split(b"\n", 1)[0]
    lines_of_json = first_line.rstrip().endswith(b"}") and b"}\n{" in start
    return start.startswith(b"{") and not lines_of_json and (b'"matrix"' in start or b'"counts"' in start)


def read_confusion(path: str | Path | Source) -> Confusion:
    """A confusion matrix from JSON: `labels`, and `matrix` with a row for each gold label, or `counts`, or both.

    Without counts it is taken for exactly known.
    """
    source = _source(path)
    try:
        found = json.loads(source.whole())
    except ValueError as error:
        raise FormatError(f"{source.shown}: expected a confusion matrix as JSON, such as {SHAPE}; {error}") from error
    if not isinstance(found, dict) or "labels" not in found or not {"matrix", "counts"} & set(found):
        raise FormatError(f"{source.shown}: expected a confusion matrix with labels and matrix, such as {SHAPE}")
    labels = found["labels"]
    if not isinstance(labels, list) or not all(type(label) is int for label in labels) or len(labels) < 2:
        raise FormatError(f"{source.shown}: labels should be two whole numbers or more, found {labels}")
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise FormatError(f"{source.shown}: label {twice} stands twice in labels; each has one row and one column")
    if found.get("rows", "gold") == "bronze":
        raise FormatError(f"{source.shown}: its rows are bronze; gold belongs into the rows, turn the matrix around")
    if "counts" in found:
        counts = _square(found["counts"], len(labels), source, "counts")
        if not _are_shares(counts):
            return Confusion(rows="gold", columns="bronze", labels=tuple(labels), counts=counts)
        found["matrix"] = found["counts"]
    shares = _square(found["matrix"], len(labels), source, "matrix")
    sums = shares.sum(axis=1)
    if np.any(np.abs(sums - 1) > 0.01):
        row = int(np.argmax(np.abs(sums - 1)))
        raise FormatError(
            f"{source.shown}: each row of a confusion matrix adds up to 1, and that of label {labels[row]} to "
            f"{sums[row]:.3g}"
        )
    return Confusion(rows="gold", columns="bronze", labels=tuple(labels), counts=shares / sums[:, None],
                     worth=np.full(len(labels), np.inf))  # fmt: skip


def _are_shares(counts: NDArray[np.float64]) -> bool:
    """Whether these are the shares of a matrix that is exactly known, which is written with its shares for counts."""
    return bool(np.allclose(counts.sum(axis=1), 1, atol=1e-9) and np.any(counts != np.rint(counts)))


def _square(given: Any, size: int, source: Source, what: str) -> NDArray[np.float64]:
    try:
        table = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.shape != (size, size):
        raise FormatError(f"{source.shown}: {what} should have {size} rows and columns, as there are {size} labels")
    if not np.isfinite(table).all() or (table < 0).any():
        raise FormatError(f"{source.shown}: {what} should hold numbers of at least 0")
    return table


def _source(path: str | Path | Source) -> Source:
    return path if isinstance(path, Source) else Source(str(path))
