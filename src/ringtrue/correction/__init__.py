"""What the measures would be with a perfect judge: bronze labels corrected by a sample of gold ones."""

from ringtrue.correction.answer import Correction
from ringtrue.correction.checking import Check
from ringtrue.correction.comparing import compare_corrected
from ringtrue.correction.correcting import correct
from ringtrue.correction.rates import BronzeScore, Rates
from ringtrue.correction.share import corrected_share
from ringtrue.correction.shared_judge import ScoreDifference, by_separate_judges, by_shared_judge, naive
from ringtrue.correction.summary import RatesDesign, ScoreCorrection, correct_score

__all__ = [
    "BronzeScore",
    "Check",
    "Correction",
    "Rates",
    "RatesDesign",
    "ScoreCorrection",
    "ScoreDifference",
    "by_separate_judges",
    "by_shared_judge",
    "compare_corrected",
    "correct",
    "correct_score",
    "corrected_share",
    "naive",
]
