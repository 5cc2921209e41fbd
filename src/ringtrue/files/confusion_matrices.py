"""Confusion matrices in JSON: rows are what gold or the testing judge says, columns what another judge then says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import FormatError, UsageError
from ringtrue.files.json_objects import is_amount, read_json, shortened
from ringtrue.files.source import Source
from ringtrue.files.write import replace_file
from ringtrue.stats.confusion import Confusion

__all__ = ["holds_matrix", "read_confusion", "write_confusion"]

LOOK = 4096  # bytes
ROUNDED = 0.01  # how far from 1 the shares of a row may add up, when each was rounded
TWO_DECIMALS = 0.005 + 1e-9  # how far a share may be from what its counts say
MOST = 2**53  # more than anybody counts; sums stay far from the largest float
LABELS = range(-(2**31), 2**31)
SHAPE = '{"rows": "gold", "columns": "bronze", "labels": [0, 1], "matrix": [[0.9, 0.1], [0.2, 0.8]]}'


def holds_matrix(path: str | Path | Source) -> bool:
    """Whether a file looks like a confusion matrix: one JSON object that names a matrix or counts."""
    start = _source(path).head(LOOK).lstrip()
    first_line = start.split(b"\n", 1)[0]
    lines_of_json = first_line.rstrip().endswith(b"}") and b"}\n{" in start
    return start.startswith(b"{") and not lines_of_json and (b'"matrix"' in start or b'"counts"' in start)


def read_confusion(path: str | Path | Source, *, renormalise: bool = False) -> Confusion:
    """A confusion matrix from JSON: `labels`, and `matrix` with a row for each label, or `counts`, or both.

    `rows` and `columns` name the judges, gold and bronze where nothing is said: a row says how often the judge of the
    columns gives each label when that of the rows gave this one. Bronze or a training judge in the rows is refused.
    Without counts the matrix is taken for exactly known; with them, it must say the same as they do, to two decimals.
    Rows of shares that do not add up to 1 are refused, unless they are to be `renormalise`d; a row of null is that of a
    label that was never given. The JSON of a command that estimated a matrix, `ceiling` or `evaluate --gold`, will do
    as well.

    Examples:
        >>> path = getfixture("tmp_path") / "judge.json"
        >>> _ = path.write_text('{"labels": [0, 1], "counts": [[80, 20], [5, 45]]}')
        >>> read_confusion(path).matrix.tolist()
        [[0.8, 0.2], [0.1, 0.9]]
    """
    source = _source(path)
    found = _within(read_json(source, f"a confusion matrix as JSON, such as {SHAPE}"))
    if not isinstance(found, dict) or "labels" not in found or not {"matrix", "counts"} & set(found):
        raise FormatError(f"{source.shown}: expected a confusion matrix with labels and matrix, such as {SHAPE}")
    labels = _labels(found["labels"], source)
    rows, columns = _names(found, source)
    shares = _shares(found["matrix"], labels, source, renormalise=renormalise) if "matrix" in found else None
    if "counts" in found:
        counts = _square(found["counts"], labels, source, "counts")
        if shares is not None:
            _require_the_same(shares, counts, labels, source)
        return Confusion(rows=rows, columns=columns, labels=labels, counts=counts)
    assert shares is not None
    sums = shares.sum(axis=1, keepdims=True)
    return Confusion(rows=rows, columns=columns, labels=labels, counts=shares / np.where(sums > 0, sums, 1.0),
                     worth=np.full(len(labels), np.inf))  # fmt: skip


def write_confusion(path: str | Path, confusion: Confusion) -> None:
    """Write a confusion matrix as `read_confusion` and every command reads it; the file appears whole or not at all.

    Counts are those that each row is worth; what is exactly known is written without them. A file says one or the
    other: a matrix with rows of both kinds is refused.

    Examples:
        >>> path = getfixture("tmp_path") / "judge.json"
        >>> write_confusion(path, Confusion(rows="gold", columns="ann", labels=(0, 1), counts=[[8, 2], [1, 9]]))
        >>> print(path.read_text())
        {"rows": "gold", "columns": "ann", "labels": [0, 1],
         "matrix": [[0.8, 0.2], [0.1, 0.9]],
         "counts": [[8, 2], [1, 9]]}
        <BLANKLINE>
        >>> read_confusion(path).columns
        'ann'
    """
    worth = np.zeros(0) if confusion.worth is None else confusion.worth
    if not np.isfinite(confusion.counts).all() or (confusion.counts < 0).any() or not np.all(worth >= 0):
        raise UsageError("a confusion matrix holds numbers of at least 0, and so does its worth; nothing is written")
    plain = confusion.as_dict()
    if "counts" in plain:
        plain["counts"] = _cases(confusion)
    said = [f'"{name}": {json.dumps(value, ensure_ascii=False, allow_nan=False)}' for name, value in plain.items()]
    text = "{" + ", ".join(said[:3]) + "".join(f",\n {line}" for line in said[3:]) + "}\n"
    replace_file(Path(path), lambda stream: stream.write(text.encode()))


def _within(found: Any) -> Any:
    """The matrix in what `ceiling --json` or `evaluate --gold --json` printed; anything else as it is."""
    for key in ("judge", "confusion"):
        if isinstance(found, dict) and "labels" not in found and isinstance(found.get(key), dict):
            found = found[key]
    return found


def _labels(labels: Any, source: Source) -> tuple[int, ...]:
    if not isinstance(labels, list) or not all(type(label) is int for label in labels) or len(labels) < 2:
        raise FormatError(f"{source.shown}: labels should be two whole numbers or more, found {shortened(labels)}")
    for label in labels:
        if label not in LABELS:
            raise FormatError(
                f"{source.shown}: the label {shortened(label)} does not fit 32 bits; labels are small grades such as "
                f"0 to 3"
            )
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise FormatError(f"{source.shown}: label {twice} stands twice in labels; each has one row and one column")
    return tuple(labels)


def _names(found: dict[str, Any], source: Source) -> tuple[str, str]:
    """Who stands in the rows and who in the columns."""
    names = found.get("rows", "gold"), found.get("columns", "bronze")
    if not all(isinstance(name, str) and name for name in names):
        raise FormatError(f"{source.shown}: rows and columns name the two judges, such as gold and bronze")
    if Confusion(rows=names[0], columns=names[1], labels=(), counts=np.empty((0, 0))).is_turned:
        training = names[0].startswith("training") or names[1].startswith("testing")
        right = "the testing judge" if training else "gold"
        raise FormatError(
            f"{source.shown}: its rows are {names[0]}; {right} belongs into the rows, turn the matrix around"
        )
    return names


def _shares(given: Any, labels: tuple[int, ...], source: Source, *, renormalise: bool) -> NDArray[np.float64]:
    """The shares as they stand there, or made to add up to 1; zeros in a row of null."""
    shares = _square(given, labels, source, "matrix")
    sums = shares.sum(axis=1)
    never = np.array([_is_null(row) for row in given])
    off = np.where(never, 0.0, np.abs(sums - 1))
    if np.any(off > ROUNDED) and not (renormalise and np.all(sums[~never] > 0)):
        row = int(np.argmax(np.where(renormalise & (sums > 0), 0.0, off)))
        todo = (
            "there is nothing to make 1 of"
            if renormalise
            else "--renormalise makes them so, in Python renormalise=True"
        )
        raise FormatError(
            f"{source.shown}: each row of a confusion matrix adds up to 1, and that of label {labels[row]} to "
            f"{sums[row]:.3g}; {todo}"
        )
    return shares / np.where(never, 1.0, sums)[:, None] if renormalise else shares


def _require_the_same(
    shares: NDArray[np.float64], counts: NDArray[np.float64], labels: tuple[int, ...], source: Source
) -> None:
    """Refuse counts that say something else than the shares beside them."""
    totals = counts.sum(axis=1)
    counted = counts / np.where(totals > 0, totals, 1.0)[:, None]
    for label, told, found in zip(labels, shares, counted, strict=True):
        if np.abs(told - found).max() > TWO_DECIMALS:
            raise FormatError(
                f"{source.shown}: in the row of label {label}, matrix says {_listed(told)} and counts "
                f"{_listed(found)}; correct one of them, or leave out matrix, which follows from counts"
            )


def _listed(shares: NDArray[np.float64]) -> str:
    return ", ".join(f"{share:.3g}" for share in shares) if shares.any() else "nothing"


def _cases(confusion: Confusion) -> list[list[float]]:
    """The counts of a file: as many cases as each row is worth."""
    counts = np.asarray(confusion.counts)
    if confusion.worth is not None:
        never = np.isnan(confusion.matrix).any(axis=1)
        worth = np.where(never, 0.0, confusion.worth)
        if np.isinf(worth).any():
            row, other = int(np.isinf(worth).argmax()), int((np.isfinite(worth) & ~never).argmax())
            raise UsageError(
                f"the row of label {confusion.labels[row]} is exactly known, and that of {confusion.labels[other]} is "
                f"worth {worth[other]:.4g} cases: a file has counts for all rows or for none; give worth as a number "
                f"of cases for each row, or np.inf for all"
            )
        counts = np.nan_to_num(confusion.matrix) * worth[:, None]
    cases: list[list[float]] = counts.tolist()
    return cases


def _is_null(row: Any) -> bool:
    return isinstance(row, list) and all(cell is None for cell in row)


def _square(given: Any, labels: tuple[int, ...], source: Source, what: str) -> NDArray[np.float64]:
    size = len(labels)
    rows = given if isinstance(given, list) else []
    if len(rows) != size or not all(isinstance(row, list) and len(row) == size for row in rows):
        raise FormatError(f"{source.shown}: {what} should have {size} rows and columns, as there are {size} labels")
    table = np.zeros((size, size))
    for place, row in enumerate(rows):
        if _is_null(row):
            continue
        for cell in row:
            if not is_amount(cell) or cell > MOST:
                most = f" and at most {MOST:,}" if is_amount(cell) else ""
                raise FormatError(
                    f"{source.shown}: {what} should hold numbers of at least 0{most}, and the row of label "
                    f"{labels[place]} has {shortened(cell)}"
                )
        table[place] = row
    return table


def _source(path: str | Path | Source) -> Source:
    return path if isinstance(path, Source) else Source(str(path))
