"""What each label is worth, in JSON: made by `ringtrue disagreement`, read by measures with gains."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ringtrue.errors import FormatError, TableError
from ringtrue.files.json_objects import is_amount, read_json
from ringtrue.files.source import Source
from ringtrue.files.write import replace_file

if TYPE_CHECKING:
    from ringtrue.judges.disagreement import Disagreement

__all__ = ["read_gains", "write_gains"]

DECIMALS = 4  # of a gain in a file: finer than any sample tells it, and short enough for the name of a measure
SHAPE = '{"gains": {"0": 0, "1": 0.28, "2": 1}}'


def read_gains(path: str | Path | Source) -> dict[int, float]:
    """What each label is worth: the object `gains` of a JSON file, from labels to numbers of at least 0.

    Examples:
        >>> path = getfixture("tmp_path") / "gains.json"
        >>> _ = path.write_text('{"gains": {"0": 0, "1": 0.28, "2": 1}, "at_least": "1/3"}')
        >>> read_gains(path)
        {0: 0.0, 1: 0.28, 2: 1.0}
    """
    source = path if isinstance(path, Source) else Source(str(path))
    found = read_json(source, f"gains as JSON, such as {SHAPE}")
    if not isinstance(found, dict) or not isinstance(found.get("gains"), dict):
        has = f"found {', '.join(map(str, found)) or 'nothing'}" if isinstance(found, dict) else "found no object"
        raise FormatError(f"{source.shown}: expected an object with gains, such as {SHAPE}; {has}")
    if not found["gains"]:
        raise FormatError(f"{source.shown}: gains is empty; give every label its gain, such as {SHAPE}")
    gains: dict[int, float] = {}
    for label, gain in found["gains"].items():
        if not re.fullmatch(r"-?\d{1,10}", label):
            raise FormatError(f"{source.shown}: labels are whole numbers, and gains has '{label}'; such as {SHAPE}")
        if int(label) in gains:
            raise FormatError(f"{source.shown}: label {int(label)} stands twice in gains; each has one gain")
        if not is_amount(gain):
            raise FormatError(
                f"{source.shown}: the gain of label {label} should be a number of at least 0, found {json.dumps(gain)}"
            )
        gains[int(label)] = float(gain)
    if not any(gains.values()):
        raise FormatError(f"{source.shown}: every gain is 0, and nothing would be worth anything; such as {SHAPE}")
    return gains


def write_gains(path: str | Path, found: Disagreement) -> None:
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
    if not found.gains:
        raise TableError("no level has a weight: there are no gains to write")
    if not any(found.cases[name] for name in found.top):
        raise TableError(
            f"nobody said {' or '.join(found.top)}, the top level, and all labels below it would be worth nothing: no "
            f"gains are written; leave out --scale, or give labels in which somebody did"
        )
    keys = {name: str(label) for name, label in zip(found.levels, found.labels, strict=True)}
    plain: dict[str, object] = {
        "gains": {str(label): round(gain, DECIMALS) for label, gain in found.gains.items()},
        "at_least": "/".join(map(str, found.at_least)),
        "p": {keys[name]: one.value for name, one in found.p.items()},
        "cases": {keys[name]: cases for name, cases in found.cases.items()},
    }
    if any(name != key for name, key in keys.items()):
        plain["levels"] = {key: name for name, key in keys.items()}
    lines = [f'"{name}": {json.dumps(value, ensure_ascii=False, allow_nan=False)}' for name, value in plain.items()]
    text = "{" + ",\n ".join(lines) + "}\n"
    replace_file(Path(path), lambda stream: stream.write(text.encode()))
