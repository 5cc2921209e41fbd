"""What the measures would be with a perfect judge: bronze labels corrected by a sample of gold ones."""

from ringtrue.gold.correction.calculator import RatesDesign, ScoreCorrection, correct_score
from ringtrue.gold.correction.calculator_inputs import BronzeScore, Rates
from ringtrue.gold.correction.compare_corrected import compare_corrected
from ringtrue.gold.correction.correct import correct
from ringtrue.gold.correction.diagnostics import Check
from ringtrue.gold.correction.proportion import correct_share
from ringtrue.gold.correction.results import Correction
from ringtrue.gold.correction.score_tests import ScoreDifference, naive_test, separate_judges_test, shared_judge_test

__all__ = [
    "BronzeScore",
    "Check",
    "Correction",
    "Rates",
    "RatesDesign",
    "ScoreCorrection",
    "ScoreDifference",
    "compare_corrected",
    "correct",
    "correct_score",
    "correct_share",
    "naive_test",
    "separate_judges_test",
    "shared_judge_test",
]
