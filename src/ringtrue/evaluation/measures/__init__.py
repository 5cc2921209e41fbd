"""Measures as values that print and parse as people write them, and the formulas behind them."""

from ringtrue.evaluation.measures.catalogue import CATALOGUE, Definition
from ringtrue.evaluation.measures.measure import Measure, parse, parse_all
from ringtrue.evaluation.measures.ranked_lists import Compat, FloatArray, IntArray, RankedLists, ranked

__all__ = [
    "CATALOGUE",
    "Compat",
    "Definition",
    "FloatArray",
    "IntArray",
    "Measure",
    "RankedLists",
    "parse",
    "parse_all",
    "ranked",
]
