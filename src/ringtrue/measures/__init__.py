"""Measures as values that print and parse as people write them, and the formulas behind them."""

from ringtrue.measures.catalogue import CATALOGUE, Definition
from ringtrue.measures.lists import Compat, FloatArray, IntArray, RankedLists, ranked
from ringtrue.measures.names import Measure, parse, parse_all

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
