"""What the mean of a measure can be at all, and estimates cut to it."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from ringtrue.evaluation.measures import Measure
from ringtrue.messages import Note
from ringtrue.stats.results import Estimate

# measures that lie from 0 to 1 for every query; others have no greatest value, or one that depends on the grades
UNIT_MEASURES = frozenset(
    (
        *("nDCG", "SDCG", "ERR", "GAP", "RBP", "AP", "RR", "P", "R", "F", "Success", "Rprec", "IPrec", "IAP"),
        *("PAtRecall", "AUC", "Bpref", "infAP", "Judged", "SetP", "SetR", "SetF", "SetAcc", "Fallout"),
    )
)
ROUNDING = 1e-9  # amounts below are how numbers were added up


def possible_values(measure: Measure) -> tuple[float, float]:
    """The least and the greatest mean that there can be, as far as the measure alone tells.

    Examples:
        >>> from ringtrue.evaluation.measures import parse
        >>> [possible_values(parse(name)) for name in ("P@10", "DCG@10", "DCG(gains={0:-1,1:1})@10")]
        [(0.0, 1.0), (0.0, inf), (-inf, inf)]
    """
    if "gains" in dict(measure.parameters):
        return -inf, inf
    return 0.0, 1.0 if measure.name in UNIT_MEASURES else inf


def possible_differences(measure: Measure) -> tuple[float, float]:
    """The least and the greatest difference of two means that there can be."""
    lowest, highest = possible_values(measure)
    return lowest - highest, highest - lowest


def cut_to_possible(estimate: Estimate, measure: Measure, *, difference: bool = False) -> Estimate:
    """An estimate of a mean, or of a `difference` of two, within what there can be; a note says what was cut.

    An interval that lies elsewhere altogether stays as it is: the sample does not fit, and the note says so.

    Examples:
        >>> from ringtrue.evaluation.measures import parse
        >>> wide = Estimate(value=0.13, se=1.5, low=-2.89, high=3.16, n=3, method="difference")
        >>> cut = cut_to_possible(wide, parse("P@10"))
        >>> (cut.low, cut.high), cut.notes
        ((0.0, 1.0), ('the interval was cut to what P@10 can be: -2.890 to 3.160 before',))
    """
    lowest, highest = possible_differences(measure) if difference else possible_values(measure)
    if estimate.value is None or not (lowest > -inf or highest < inf):
        return estimate
    cut = estimate.within(lowest, highest)
    notes = list(estimate.notes)
    outside = not lowest - ROUNDING <= estimate.value <= highest + ROUNDING
    is_cut = (cut.low, cut.high) != (estimate.low, estimate.high)
    if outside:
        text = f"{estimate.value:.3f} lies outside what {measure} can be: chance, or a sample that does not fit"
        notes.append(Note("estimate-outside-possible", text))
        if is_cut or estimate.low is None:
            cut = replace(cut, value=min(max(estimate.value, lowest), highest))
    elif is_cut and max(lowest - (estimate.low or 0.0), (estimate.high or 0.0) - highest) > ROUNDING:
        text = f"the interval was cut to what {measure} can be: {estimate.low:.3f} to {estimate.high:.3f} before"
        notes.append(Note("interval-cut", text))
    return replace(cut, notes=tuple(notes))
