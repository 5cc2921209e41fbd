"""What each label is worth, in JSON: made by `ringtrue disagreement`, read by measures with gains."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ringtrue.errors import FormatError, TableError
from ringtrue.files.byte_source import Source
from ringtrue.files.json_objects import is_nonnegative_number, read_json
from ringtrue.files.write import replace_file

if TYPE_CHECKING:
    from ringtrue.judges.disagreement import Disagreement

GAIN_DECIMALS = 4  # of a gain in a file: finer than any sample tells it, and short enough for the name of a measure
GAINS_EXAMPLE = '{"gains": {"0": 0, "1": 0.28, "2": 1}}'


def read_gains(path: str | Path | Source) -> dict[int, float]:
    """What each label is worth: the object `gains` of a JSON file, from labels to numbers of at least 0.

    Examples:
        >>> path = getfixture("tmp_path") / "gains.json"
        >>> _ = path.write_text('{"gains": {"0": 0, "1": 0.28, "2": 1}, "at_least": "1/3"}')
        >>> read_gains(path)
        {0: 0.0, 1: 0.28, 2: 1.0}
    """
    source = path if isinstance(path, Source) else Source(str(path))
    content = read_json(source, f"gains as JSON, such as {GAINS_EXAMPLE}")
    if not isinstance(content, dict) or not isinstance(content.get("gains"), dict):
        found_instead = (
            f"found {', '.join(map(str, content)) or 'nothing'}" if isinstance(content, dict) else "found no object"
        )
        raise FormatError(
            f"{source.display_name}: expected an object with gains, such as {GAINS_EXAMPLE}; {found_instead}"
        )
    if not content["gains"]:
        raise FormatError(f"{source.display_name}: gains is empty; give every label its gain, such as {GAINS_EXAMPLE}")
    gains: dict[int, float] = {}
    for label, gain in content["gains"].items():
        if not re.fullmatch(r"-?\d{1,10}", label):
            raise FormatError(
                f"{source.display_name}: labels are whole numbers, and gains has '{label}'; such as {GAINS_EXAMPLE}"
            )
        if int(label) in gains:
            raise FormatError(f"{source.display_name}: label {int(label)} stands twice in gains; each has one gain")
        if not is_nonnegative_number(gain):
            raise FormatError(
                f"{source.display_name}: the gain of label {label} should be a number of at least 0, found "
                f"{json.dumps(gain)}"
            )
        gains[int(label)] = float(gain)
    if not any(gains.values()):
        raise FormatError(
            f"{source.display_name}: every gain is 0, and nothing would be worth anything; such as {GAINS_EXAMPLE}"
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
        raise TableError("no level has a weight: there are no gains to write")
    if not any(disagreement.cases[name] for name in disagreement.top):
        raise TableError(
            f"nobody said {' or '.join(disagreement.top)}, the top level, and all labels below it would be worth "
            "nothing: no gains are written; leave out --scale, or give labels in which somebody did"
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
    lines = [f'"{name}": {json.dumps(value, ensure_ascii=False, allow_nan=False)}' for name, value in content.items()]
    text = "{" + ",\n ".join(lines) + "}\n"
    replace_file(Path(path), lambda stream: stream.write(text.encode()))
