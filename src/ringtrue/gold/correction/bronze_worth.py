"""What the bronze labels were worth beside the gold ones: by how much they made the intervals narrower."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from ringtrue.evaluation.measures import FloatArray
from ringtrue.gold.designs import POPULATION_TEXTS, Population
from ringtrue.messages import Note

GoldUnit: TypeAlias = Literal["gold labels", "gold queries"]
MAX_USEFUL_WIDTH = 0.98  # of the interval from gold alone: above, bronze labels added nothing to speak of


@dataclass(frozen=True, slots=True, kw_only=True)
class BronzeWorth:
    """What the bronze labels added to the gold ones: by how much intervals are narrower with them, and that in labels.

    `width` is that of the intervals relative to the gold labels alone, on average over runs, or pairs of them, and
    `bronze_width` relative to the same estimator without bronze labels, by ranks, runs and queries. `labels` is how
    many more gold labels, or gold queries, would have said as much about these queries; about queries like these, more
    labels do not replace more queries.

    Examples:
        >>> print(BronzeWorth(width=0.82, bronze_width=0.9, labels=9.2, unit="gold queries", population="these"))
        with the bronze labels, intervals are 18% narrower than from gold alone...
        >>> print(BronzeWorth(width=1.02, bronze_width=1, labels=0, unit="gold labels", population="these"))
        the bronze labels added nothing: report the gold labels only (for these queries)
    """

    width: float
    bronze_width: float
    labels: float
    unit: GoldUnit
    population: Population

    def __str__(self) -> str:
        return str(self.note)

    @property
    def note(self) -> Note:
        """The worth in words."""
        population = POPULATION_TEXTS[self.population]
        if self.width > MAX_USEFUL_WIDTH:
            text = f"the bronze labels added nothing: report the gold labels only (for {population})"
            return Note("bronze-adds-nothing", text)
        unit = {"gold labels": "gold label", "gold queries": "gold query"}[self.unit]
        labels = f"1 more {unit}" if round(self.labels) == 1 else f"{self.labels:,.0f} more {self.unit}"
        sentence = f"with the bronze labels, intervals are {1 - self.width:.0%} narrower than from gold alone"
        if round(self.labels) < 1:
            sentence += f" (for {population})"
        elif self.population == "these":
            sentence += f", worth {labels} (for {population})"
        else:
            sentence += f" (for {population}); about these queries alone, this is worth {labels}"
        if self.bronze_width > MAX_USEFUL_WIDTH:
            return Note("ranks-do-as-well", f"{sentence}; ranks and runs without bronze would do as well")
        return Note("bronze-worth", sentence)

    def as_dict(self) -> dict[str, object]:
        """The worth as plain data, with the sentence."""
        return {
            "width": self.width,
            "bronze_width": self.bronze_width,
            "labels": self.labels,
            "unit": self.unit,
            "population": self.population,
            "text": str(self),
            "code": self.note.code,
        }


def compare_widths(
    corrected: FloatArray,
    gold_only: FloatArray,
    without_bronze: FloatArray,
    label_variances: tuple[FloatArray, FloatArray],
    labels: int,
    total: int,
    *,
    unit: GoldUnit,
    population: Population,
) -> BronzeWorth | None:
    """What bronze was worth, by the variances of corrected values, of gold alone, and of the estimator without bronze.

    Widths compare as √(V/V_gold), on average over the runs in logarithms. To say as much about these queries, n of N
    labels would have to be n' by themselves, V_gold being in proportion to 1/n − 1/N:

        1/n' = 1/N + (1/n − 1/N) V/V_gold

    `label_variances` are the two for these queries, whatever the population. None where there is nothing to compare.
    """
    pairs = (corrected, gold_only), (corrected, without_bronze), label_variances
    with np.errstate(divide="ignore", invalid="ignore"):
        width, bronze_width, label_ratio = (_geometric_mean(np.asarray(one / other)) for one, other in pairs)
    if width is None or bronze_width is None or label_ratio is None:
        return None
    needed = 1 / (1 / total + max(1 / labels - 1 / total, 0.0) * label_ratio)
    return BronzeWorth(
        width=width**0.5,
        bronze_width=bronze_width**0.5,
        labels=max(needed - labels, 0.0),
        unit=unit,
        population=population,
    )


def _geometric_mean(ratios: FloatArray) -> float | None:
    usable = ratios[np.isfinite(ratios) & (ratios > 0)]
    return float(np.exp(np.log(usable).mean())) if len(usable) else None
