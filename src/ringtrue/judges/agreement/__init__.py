"""How far judges agree: coefficients, their intervals, pairs of judges, consistency, drift, circles."""

from ringtrue.judges.agreement.agree import agree
from ringtrue.judges.agreement.krippendorff import krippendorff_alpha
from ringtrue.judges.agreement.results import Agreement, PairAgreement, Period, Transitivity

__all__ = ["Agreement", "PairAgreement", "Period", "Transitivity", "agree", "krippendorff_alpha"]
