"""What the measures would be with a perfect judge: bronze labels corrected by a sample of gold ones."""

from ringtrue.gold.correction.calculator import RatesDesign, ScoreCorrection, correct_score
from ringtrue.gold.correction.compare_corrected import compare_corrected
from ringtrue.gold.correction.correct import correct
from ringtrue.gold.correction.diagnostics import Check
from ringtrue.gold.correction.proportion import corrected_share
from ringtrue.gold.correction.rates import BronzeScore, Rates
from ringtrue.gold.correction.results import Correction
from ringtrue.gold.correction.score_tests import ScoreDifference, by_separate_judges, by_shared_judge, naive

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
