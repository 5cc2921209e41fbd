"""Small JSON files that people write or keep: confusion matrices, and what each label is worth."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import FormatError, TableError, UsageError
from ringtrue.files.byte_source import Source
from ringtrue.files.write import replace_file
from ringtrue.messages import Suggestion
from ringtrue.stats.confusion import Confusion

if TYPE_CHECKING:
    from ringtrue.judges.disagreement import Disagreement

MAX_SHOWN = 40  # characters of a value in a message
GAIN_DECIMALS = 4  # of a gain in a file: finer than any sample tells it, and short enough for the name of a measure
GAINS_EXAMPLE = '{"gains": {"0": 0, "1": 0.28, "2": 1}}'
PEEK_BYTES = 4096  # bytes
SUM_TOLERANCE = 0.01  # how far from 1 the shares of a row may add up, when each was rounded
SHARE_TOLERANCE = 0.005 + 1e-9  # how far a share may be from what its counts say
MAX_COUNT = 2**53  # more than anybody counts; sums stay far from the largest float
LABEL_RANGE = range(-(2**31), 2**31)
MATRIX_EXAMPLE = '"labels": [0, 1], "matrix": [[0.9, 0.1], [0.2, 0.8]]}'


def read_gains(path: str | Path | Source) -> dict[int, float]:
    """What each label is worth: the object `gains` of a JSON file, from labels to numbers of at least 0.

    Examples:
        >>> path = getfixture("tmp_path") / "gains.json"
        >>> _ = path.write_text('{"gains": {"0": 0, "1": 0.28, "2": 1}, "at_least": "1/3"}')
        >>> read_gains(path)
        {0: 0.0, 1: 0.28, 2: 1.0}
    """
    source = Source.of(path)
    content = read_json(source, f"gains as JSON, such as {GAINS_EXAMPLE}")
    try:
        return _parse_gains(content)
    except FormatError as error:
        raise error.found_in(source.display_name) from error


def _parse_gains(content: Any) -> dict[int, float]:
    if not isinstance(content, dict) or not isinstance(content.get("gains"), dict):
        found_names = ", ".join(content) or "nothing" if isinstance(content, dict) else "no object"
        raise FormatError("bad-gains", f"expected an object with gains, such as {GAINS_EXAMPLE}; found {found_names}")
    if not content["gains"]:
        raise FormatError("empty-gains", f"gains is empty; give every label its gain, such as {GAINS_EXAMPLE}")
    gains: dict[int, float] = {}
    for label, gain in content["gains"].items():
        if not re.fullmatch(r"-?\d{1,10}", label):
            raise FormatError(
                "bad-label", f"labels are whole numbers, and gains has '{label}'; such as {GAINS_EXAMPLE}"
            )
        if int(label) in gains:
            raise FormatError("duplicate-label", f"label {int(label)} stands twice in gains; each has one gain")
        if not is_nonnegative_number(gain):
            raise FormatError(
                "bad-gain", f"the gain of label {label} should be a number of at least 0, found {json.dumps(gain)}"
            )
        gains[int(label)] = float(gain)
    if not any(gains.values()):
        raise FormatError(
            "zero-gains", f"every gain is 0, and nothing would be worth anything; such as {GAINS_EXAMPLE}"
        )
    return gains


def write_gains(path: str | Path, disagreement: Disagreement) -> None:
    """Write the weights as gains, with M/N and p beside them; the file appears whole or not at all.

    Examples:
        >>> from ringtrue.judges.disagreement import disagree
        >>> labels = {"doc": ["a"] * 3 + ["b"] * 3, "judge": list("xyz") * 2, "label": [2, 2, 1, 1, 1, 0]}
        >>> path = getfixture("tmp_path") / "gains.json"
        >>> write_gains(path, disagree(labels, "1/2", resamples=0))
        >>> print(path.read_text())
        {"gains": {"0": 0.0, "1": 0.3333, "2": 1.0},
         "at_least": "1/2",
         "p": {"0": 0.0, "1": 0.3333333333333333, "2": 0.5},
         "cases": {"0": 2, "1": 6, "2": 4}}
        <BLANKLINE>
    """
    if not disagreement.gains:
        raise TableError("no-weights", "no level has a weight: there are no gains to write")
    if not any(disagreement.cases[name] for name in disagreement.top):
        raise TableError(
            "unused-top-level",
            f"nobody said {' or '.join(disagreement.top)}, the top level, and all labels below it would be worth "
            "nothing: no gains are written",
            suggestions=[Suggestion("takes the levels that were given", scale=None)],
        )
    label_of_level = {name: str(label) for name, label in zip(disagreement.levels, disagreement.labels, strict=True)}
    content: dict[str, object] = {
        "gains": {str(label): round(gain, GAIN_DECIMALS) for label, gain in disagreement.gains.items()},
        "at_least": "/".join(map(str, disagreement.at_least)),
        "p": {label_of_level[name]: share.value for name, share in disagreement.p.items()},
        "cases": {label_of_level[name]: cases for name, cases in disagreement.cases.items()},
    }
    if any(name != label for name, label in label_of_level.items()):
        content["levels"] = {label: name for name, label in label_of_level.items()}
    _write_object(path, content, on_first_line=1)


def holds_matrix(path: str | Path | Source) -> bool:
    """Whether a file looks like a confusion matrix: one JSON object that names a matrix or counts."""
    head = Source.of(path).read_head(PEEK_BYTES).lstrip()
    first_line = head.split(b"\n", 1)[0]
    is_json_lines = first_line.rstrip().endswith(b"}") and b"}\n{" in head
    return head.startswith(b"{") and not is_json_lines and (b'"matrix"' in head or b'"counts"' in head)


def read_confusion(
    path: str | Path | Source, *, renormalise: bool = False, rows: str = "gold", columns: str = "bronze"
) -> Confusion:
    """A confusion matrix from JSON: `labels`, and `matrix` with a row for each label, or `counts`, or both.

    `rows` and `columns` name the judges where the file does not: a row says how often the judge of the columns gives
    each label when that of the rows gave this one. Bronze or a training judge in the rows is refused.
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
    source = Source.of(path)
    example = f'{{"rows": "{rows}", "columns": "{columns}", {MATRIX_EXAMPLE}'
    content = _unwrap_matrix(read_json(source, f"a confusion matrix as JSON, such as {example}"))
    try:
        return _parse_confusion(content, renormalise=renormalise, judges=(rows, columns), example=example)
    except FormatError as error:
        raise error.found_in(source.display_name) from error


def _parse_confusion(content: Any, *, renormalise: bool, judges: tuple[str, str], example: str) -> Confusion:
    if not isinstance(content, dict) or "labels" not in content or not {"matrix", "counts"} & set(content):
        raise FormatError("bad-confusion", f"expected a confusion matrix with labels and matrix, such as {example}")
    labels = _parse_matrix_labels(content["labels"])
    rows, columns = _parse_judge_names(content, judges)
    shares = _parse_shares(content["matrix"], labels, renormalise=renormalise) if "matrix" in content else None
    if "counts" in content:
        counts = _parse_square(content["counts"], labels, "counts")
        if shares is not None:
            _require_counts_match_shares(shares, counts, labels)
        return Confusion(rows=rows, columns=columns, labels=labels, counts=counts)
    assert shares is not None
    sums = shares.sum(axis=1, keepdims=True)
    return Confusion(
        rows=rows,
        columns=columns,
        labels=labels,
        counts=shares / np.where(sums > 0, sums, 1.0),
        worth=np.full(len(labels), np.inf),
    )


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
    effective_n = np.zeros(0) if confusion.worth is None else confusion.worth
    if not np.isfinite(confusion.counts).all() or (confusion.counts < 0).any() or not np.all(effective_n >= 0):
        raise UsageError(
            "bad-confusion-cell",
            "a confusion matrix holds numbers of at least 0, and so does its worth; nothing is written",
        )
    content = confusion.as_dict()
    if "counts" in content:
        content["counts"] = _effective_counts(confusion)
    _write_object(path, content, on_first_line=3)


def _unwrap_matrix(content: Any) -> Any:
    """The matrix in what `ceiling --json` or `evaluate --gold --json` printed; anything else as it is."""
    for key in ("judge", "confusion"):
        if isinstance(content, dict) and "labels" not in content and isinstance(content.get(key), dict):
            content = content[key]
    return content


def _parse_matrix_labels(labels: Any) -> tuple[int, ...]:
    if not isinstance(labels, list) or not all(type(label) is int for label in labels) or len(labels) < 2:
        raise FormatError(
            "bad-confusion-labels", f"labels should be two whole numbers or more, found {shorten_json(labels)}"
        )
    for label in labels:
        if label not in LABEL_RANGE:
            raise FormatError(
                "bad-label",
                f"the label {shorten_json(label)} does not fit 32 bits; labels are small grades such as 0 to 3",
            )
    if len(set(labels)) < len(labels):
        duplicate = next(label for label in labels if labels.count(label) > 1)
        raise FormatError(
            "duplicate-label", f"label {duplicate} stands twice in labels; each has one row and one column"
        )
    return tuple(labels)


def _parse_judge_names(content: dict[str, Any], judges: tuple[str, str]) -> tuple[str, str]:
    """Who stands in the rows and who in the columns."""
    names = content.get("rows", judges[0]), content.get("columns", judges[1])
    if not all(isinstance(name, str) and name for name in names):
        raise FormatError(
            "bad-judge-names", f"rows and columns name the two judges, such as {judges[0]} and {judges[1]}"
        )
    if Confusion(rows=names[0], columns=names[1], labels=(), counts=np.empty((0, 0))).is_turned:
        is_training = names[0].startswith("training") or names[1].startswith("testing")
        row_judge = "the testing judge" if is_training else "gold"
        raise FormatError(
            "turned-confusion", f"its rows are {names[0]}; {row_judge} belongs into the rows, turn the matrix around"
        )
    return names


def _parse_shares(rows: Any, labels: tuple[int, ...], *, renormalise: bool) -> NDArray[np.float64]:
    """The shares as they stand there, or made to add up to 1; zeros in a row of null."""
    shares = _parse_square(rows, labels, "matrix")
    sums = shares.sum(axis=1)
    is_null_row = np.array([_is_null(row) for row in rows])
    deviations = np.where(is_null_row, 0.0, np.abs(sums - 1))
    if np.any(deviations > SUM_TOLERANCE) and not (renormalise and np.all(sums[~is_null_row] > 0)):
        row = int(np.argmax(np.where(renormalise & (sums > 0), 0.0, deviations)))
        rescaling = Suggestion("makes them so", renormalise=True)
        nothing_to_scale = "; there is nothing to make 1 of" if renormalise else ""
        raise FormatError(
            "unnormalised-confusion",
            f"each row of a confusion matrix adds up to 1, and that of label {labels[row]} to "
            f"{sums[row]:.3g}{nothing_to_scale}",
            suggestions=() if renormalise else [rescaling],
        )
    return shares / np.where(is_null_row, 1.0, sums)[:, None] if renormalise else shares


def _require_counts_match_shares(
    shares: NDArray[np.float64], counts: NDArray[np.float64], labels: tuple[int, ...]
) -> None:
    """Refuse counts that say something else than the shares beside them."""
    totals = counts.sum(axis=1)
    expected_shares = counts / np.where(totals > 0, totals, 1.0)[:, None]
    for label, given_row, expected_row in zip(labels, shares, expected_shares, strict=True):
        if np.abs(given_row - expected_row).max() > SHARE_TOLERANCE:
            raise FormatError(
                "contradictory-counts",
                f"in the row of label {label}, matrix says {_join_shares(given_row)} and counts "
                f"{_join_shares(expected_row)}; correct one of them, or leave out matrix, which follows from counts",
            )


def _join_shares(shares: NDArray[np.float64]) -> str:
    return ", ".join(f"{share:.3g}" for share in shares) if shares.any() else "nothing"


def _parse_square(rows: Any, labels: tuple[int, ...], name: str) -> NDArray[np.float64]:
    size = len(labels)
    matrix = rows if isinstance(rows, list) else []
    if len(matrix) != size or not all(isinstance(row, list) and len(row) == size for row in matrix):
        raise FormatError(
            "bad-confusion-shape", f"{name} should have {size} rows and columns, as there are {size} labels"
        )
    square = np.zeros((size, size))
    for position, row in enumerate(matrix):
        if _is_null(row):
            continue
        for cell in row:
            if not is_nonnegative_number(cell) or cell > MAX_COUNT:
                upper_bound = f" and at most {MAX_COUNT:,}" if is_nonnegative_number(cell) else ""
                raise FormatError(
                    "bad-confusion-cell",
                    f"{name} should hold numbers of at least 0{upper_bound}, and the row of "
                    f"label {labels[position]} has {shorten_json(cell)}",
                )
        square[position] = row
    return square


def _is_null(row: Any) -> bool:
    return isinstance(row, list) and all(cell is None for cell in row)


def _effective_counts(confusion: Confusion) -> list[list[float]]:
    """The counts of a file: as many cases as each row is worth."""
    counts = np.asarray(confusion.counts)
    if confusion.worth is not None:
        is_null_row = np.isnan(confusion.matrix).any(axis=1)
        effective_n = np.where(is_null_row, 0.0, confusion.worth)
        if np.isinf(effective_n).any():
            exact_row = int(np.isinf(effective_n).argmax())
            estimated_row = int((np.isfinite(effective_n) & ~is_null_row).argmax())
            raise UsageError(
                "mixed-worth",
                f"the row of label {confusion.labels[exact_row]} is exactly known, and that of "
                f"{confusion.labels[estimated_row]} is worth {effective_n[estimated_row]:.4g} cases: a file has counts "
                "for all rows or for none; give worth as a number of cases for each row, or np.inf for all",
            )
        counts = np.nan_to_num(confusion.matrix) * effective_n[:, None]
    cases: list[list[float]] = counts.tolist()
    return cases


def read_json(source: Source, expected: str) -> Any:
    """What a JSON file holds; a name that stands twice in one object is refused.

    Examples:
        >>> path = getfixture("tmp_path") / "twice.json"
        >>> _ = path.write_text('{"labels": [0, 1], "labels": [1, 0]}')
        >>> read_json(Source(str(path)), "labels")
        Traceback (most recent call last):
        ringtrue.errors.FormatError: ...: 'labels' stands twice in one object; each has one value
    """
    try:
        return json.loads(source.read_all(), object_pairs_hook=_require_unique_keys)
    except _DuplicateKeyError as error:
        raise FormatError("duplicate-key", str(error), file=source.display_name) from error
    except (ValueError, RecursionError) as error:
        raise FormatError("bad-json", f"expected {expected}; {error}", file=source.display_name) from error


def is_nonnegative_number(value: object) -> bool:
    """Whether a value is a finite number of at least 0; true and "1" are none.

    Examples:
        >>> [is_nonnegative_number(value) for value in (2, 0.5, -1, True, "1", float("nan"))]
        [True, True, False, False, False, False]
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value) and value >= 0
    except OverflowError:  # a whole number beyond all floats
        return False


def shorten_json(value: object) -> str:
    """A value as JSON writes it, cut where it is too long for a message.

    Examples:
        >>> shorten_json(True), shorten_json("x" * 100)[-3:]
        ('true', 'xx…')
    """
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


class _DuplicateKeyError(Exception):
    """One name stands twice in an object."""


def _require_unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object whose names stand there once: Python would keep the last without a word."""
    by_name: dict[str, object] = {}
    for name, value in pairs:
        if name in by_name:
            raise _DuplicateKeyError(f"'{name}' stands twice in one object; each has one value")
        by_name[name] = value
    return by_name


def _write_object(path: str | Path, content: Mapping[str, object], *, on_first_line: int) -> None:
    """Write an object with so many of its names on the first line, and a line for each of the others."""
    entries = [f'"{name}": {json.dumps(value, ensure_ascii=False, allow_nan=False)}' for name, value in content.items()]
    text = "{" + ",\n ".join([", ".join(entries[:on_first_line]), *entries[on_first_line:]]) + "}\n"
    replace_file(Path(path), lambda stream: stream.write(text.encode()))
