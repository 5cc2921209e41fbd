"""The names of the designs, which the command line and the correction share."""

from __future__ import annotations

import subprocess
import sys
from typing import get_args

from ringtrue.gold.correction import gold_sample
from ringtrue.gold.designs import DESIGNS, Design


def test_every_design_is_told_in_words() -> None:
    assert tuple(DESIGNS) == get_args(Design)
    assert gold_sample.DESIGNS is DESIGNS


def test_the_command_line_knows_the_designs_before_anything_heavy_is_loaded() -> None:
    code = (
        "import sys, ringtrue.cli.commands.compare, ringtrue.cli.commands.evaluate\n"
        "print([m for m in ('numpy', 'polars', 'scipy', 'ringtrue.gold.correction') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
