"""Measures as values that print and parse as people write them, and the formulas behind them."""

from ringtrue.evaluation.measures.catalogue import CATALOGUE as CATALOGUE, Definition as Definition
from ringtrue.evaluation.measures.measure import Measure as Measure, parse as parse, parse_all as parse_all
from ringtrue.evaluation.measures.ranked_lists import (
    BoolArray as BoolArray,
    Compat as Compat,
    FloatArray as FloatArray,
    IntArray as IntArray,
    RankedLists as RankedLists,
    ranked as ranked,
)
