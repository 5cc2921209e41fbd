"""How far judges agree: coefficients, their intervals, pairs of judges, consistency, drift, circles."""

from ringtrue.judges.agreement.agree import agree as agree
from ringtrue.judges.agreement.coefficients import krippendorff_alpha as krippendorff_alpha
from ringtrue.judges.agreement.results import (
    Agreement as Agreement,
    PairAgreement as PairAgreement,
    Period as Period,
    Transitivity as Transitivity,
)
