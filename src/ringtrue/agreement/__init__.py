"""How far judges agree: coefficients, their intervals, pairs of judges, consistency, drift, circles."""

from ringtrue.agreement.agreeing import agree
from ringtrue.agreement.alone import krippendorff_alpha
from ringtrue.agreement.answer import Agreement, PairAgreement, Period, Transitivity

__all__ = ["Agreement", "PairAgreement", "Period", "Transitivity", "agree", "krippendorff_alpha"]
