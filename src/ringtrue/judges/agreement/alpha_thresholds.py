"""What an alpha is good for, by the marks that its inventor set."""

from __future__ import annotations

from ringtrue.stats.results import Estimate

TENTATIVE, RELIABLE = 2 / 3, 0.8  # [Krippendorff04]


def describe_alpha(alpha: Estimate) -> str:
    """What Krippendorff would conclude, at the interval's cautious end, as the end of a sentence.

    Examples:
        >>> describe_alpha(Estimate(value=0.9, low=0.85, high=0.95, n=50, method="bootstrap"))
        "reliable by Krippendorff's mark of 0.80."
    """
    cautious = alpha.value if alpha.low is None else alpha.low
    if cautious is None or alpha.value is None:
        return ""
    if cautious >= RELIABLE:
        return "reliable by Krippendorff's mark of 0.80."
    if cautious >= TENTATIVE:
        return "enough for tentative conclusions by Krippendorff's mark of 0.67, short of 0.80."
    if alpha.value >= TENTATIVE:
        return "around Krippendorff's mark of 0.67 for tentative conclusions, and not surely above it."
    return "below Krippendorff's mark of 0.67 for even tentative conclusions."
