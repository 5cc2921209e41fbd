"""The designs, which are the ways in which gold labels come to be, and the populations that an answer can be about.

They stand apart from what is done with them so that the command line knows their names before NumPy and Polars are
loaded.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

Design: TypeAlias = Literal["pool_random", "pool_stratified", "whole_queries", "external", "known"]
Population: TypeAlias = Literal["these", "like-these"]

POPULATION_TEXTS: dict[Population, str] = {"these": "these queries", "like-these": "queries like these"}
DESIGNS: dict[Design, str] = {
    "pool_random": "documents drawn at random from those that the runs show",
    "pool_stratified": "documents drawn from these with known probabilities, in a column prob",
    "whole_queries": "all documents of queries drawn at random",
    "external": "labels from elsewhere: a fixed number for each gold label, other documents, another time",
    "known": "no labels, but a confusion matrix in a JSON file",
}
