"""What the bronze labels were worth beside the gold ones: by how much they made the intervals narrower."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ringtrue.evaluation.measures import FloatArray
from ringtrue.gold.designs import POPULATION_TEXTS, Population

MAX_USEFUL_WIDTH = 0.98  # of the interval from gold alone: above, bronze labels added nothing to speak of


@dataclass(frozen=True, slots=True, kw_only=True)
class BronzeWorth:
    """What the bronze labels added to the gold ones: by how much they made intervals narrower, and that in labels.

    `width` is that of the intervals relative to the same estimator without bronze labels, and `gold_only_width`
    relative to the gold labels alone, each on average over runs, or pairs of them. `labels` is how many more gold
    labels, or gold queries, would have said as much about these queries; about queries like these, more labels do not
    replace more queries.

    Examples:
        >>> print(BronzeWorth(width=0.82, gold_only_width=0.7, labels=95.2, unit="gold labels", population="these"))
        the bronze labels made the intervals 18% narrower, worth 95 more gold labels (for these queries)
        >>> print(BronzeWorth(width=1.02, gold_only_width=1, labels=0, unit="gold labels", population="these"))
        the bronze labels added nothing: report the gold labels alone (for these queries)
    """

    width: float
    gold_only_width: float
    labels: float
    unit: str
    population: Population

    def __str__(self) -> str:
        population, labels = POPULATION_TEXTS[self.population], f"{self.labels:,.0f} more {self.unit}"
        labels = labels.replace("labels", "label").replace("queries", "query") if labels.startswith("1 ") else labels
        has_worth, is_narrower = round(self.labels) >= 1, self.width <= MAX_USEFUL_WIDTH
        if not has_worth or (self.population == "these" and not is_narrower):
            advice = ": report the gold labels alone" if self.gold_only_width > MAX_USEFUL_WIDTH else ""
            return f"the bronze labels added nothing{advice} (for {population})"
        if self.population == "these":
            narrower = f"{1 - self.width:.0%} narrower, worth {labels}"
            return f"the bronze labels made the intervals {narrower} (for {population})"
        change = f"made the intervals {1 - self.width:.0%} narrower (for {population})"
        if not is_narrower:
            change = f"left the intervals as wide, since queries differ so much (for {population})"
        return f"the bronze labels {change}; about these queries alone they are worth {labels}"

    def as_dict(self) -> dict[str, object]:
        """The worth as plain data, with the sentence."""
        return {
            "width": self.width,
            "gold_only_width": self.gold_only_width,
            "labels": self.labels,
            "unit": self.unit,
            "population": self.population,
            "text": str(self),
        }


def compare_widths(
    corrected: FloatArray,
    without_bronze: FloatArray,
    gold_only: FloatArray,
    label_variances: tuple[FloatArray, FloatArray],
    labels: int,
    total: int,
    *,
    unit: str,
    population: Population,
) -> BronzeWorth | None:
    """What bronze was worth, by the variances of corrected values, of the same without bronze, and of gold alone.

    Widths compare as √(V/V_without), on average over the runs in logarithms. To say as much about these queries, n of N
    labels would have to be n' without bronze, V being in proportion to 1/n − 1/N:

        1/n' = 1/N + (1/n − 1/N) V/V_without

    `label_variances` are the two for these queries, whatever the population. None where there is nothing to compare.
    """
    pairs = (corrected, without_bronze), (corrected, gold_only), label_variances
    with np.errstate(divide="ignore", invalid="ignore"):
        width, gold_only_width, label_ratio = (_geometric_mean(np.asarray(one / other)) for one, other in pairs)
    if width is None or gold_only_width is None or label_ratio is None:
        return None
    needed = 1 / (1 / total + max(1 / labels - 1 / total, 0.0) * label_ratio)
    return BronzeWorth(
        width=width**0.5,
        gold_only_width=gold_only_width**0.5,
        labels=max(needed - labels, 0.0),
        unit=unit,
        population=population,
    )


def _geometric_mean(ratios: FloatArray) -> float | None:
    usable = ratios[np.isfinite(ratios) & (ratios > 0)]
    return float(np.exp(np.log(usable).mean())) if len(usable) else None
