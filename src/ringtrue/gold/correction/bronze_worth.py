"""What the bronze labels were worth beside the gold ones: by how much they made the intervals narrower."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ringtrue.evaluation.measures import FloatArray
from ringtrue.gold.designs import POPULATION_TEXTS, Population

MAX_USEFUL_WIDTH = 0.98  # of the interval from gold alone: above, bronze labels added nothing to speak of


@dataclass(frozen=True, slots=True, kw_only=True)
class BronzeWorth:
    """What the bronze labels added to the gold ones: the interval as a share of that from gold alone, and in labels.

    `width` is the mean ratio over runs, or pairs of them. `labels` is how many more gold labels, or gold queries, would
    have said as much about these queries; about queries like these, more labels do not replace more queries.

    Examples:
        >>> print(BronzeWorth(width=0.82, labels=95.2, unit="gold labels", population="these"))
        the bronze labels made the intervals 18% narrower, worth 95 more gold labels (for these queries)
        >>> print(BronzeWorth(width=1.02, labels=0, unit="gold labels", population="these"))
        the bronze labels added nothing: report the gold labels alone (for these queries)
    """

    width: float
    labels: float
    unit: str
    population: Population

    def __str__(self) -> str:
        population, labels = POPULATION_TEXTS[self.population], f"{self.labels:,.0f} more {self.unit}"
        labels = labels.replace("labels", "label").replace("queries", "query") if labels.startswith("1 ") else labels
        has_worth = round(self.labels) >= 1
        if self.population == "these":
            if self.width > MAX_USEFUL_WIDTH or not has_worth:
                return f"the bronze labels added nothing: report the gold labels alone (for {population})"
            return (
                f"the bronze labels made the intervals {1 - self.width:.0%} narrower, worth {labels} (for {population})"
            )
        change = f"made the intervals {1 - self.width:.0%} narrower (for {population})"
        if self.width > MAX_USEFUL_WIDTH:
            if not has_worth:
                return f"the bronze labels added nothing: report the gold labels alone (for {population})"
            change = f"left the intervals as wide, since queries differ so much (for {population})"
        about_these = f"; about these queries alone they are worth {labels}" if has_worth else ""
        return f"the bronze labels {change}{about_these}"

    def as_dict(self) -> dict[str, object]:
        """The worth as plain data, with the sentence."""
        return {
            "width": self.width,
            "labels": self.labels,
            "unit": self.unit,
            "population": self.population,
            "text": str(self),
        }


def compare_widths(
    corrected: FloatArray,
    gold_only: FloatArray,
    label_variances: tuple[FloatArray, FloatArray],
    labels: int,
    *,
    unit: str,
    population: Population,
) -> BronzeWorth | None:
    """What bronze was worth, by the variances of corrected values and of those from gold alone.

    Widths compare as √(V/V_gold), on average over the runs in logarithms. Gold alone would need V_gold/V times as many
    labels for as good an answer about these queries: `label_variances` are the two for those, whatever the population,
    for more labels do not make queries fewer. None where there is nothing to compare.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        width, label_ratio = (
            _geometric_mean(np.asarray(variance / gold_variance))
            for variance, gold_variance in ((corrected, gold_only), label_variances)
        )
    if width is None or label_ratio is None:
        return None
    return BronzeWorth(
        width=width**0.5, labels=max(labels * (1 / label_ratio - 1), 0.0), unit=unit, population=population
    )


def _geometric_mean(ratios: FloatArray) -> float | None:
    usable = ratios[np.isfinite(ratios) & (ratios > 0)]
    return float(np.exp(np.log(usable).mean())) if len(usable) else None
