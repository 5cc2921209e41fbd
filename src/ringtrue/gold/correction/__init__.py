"""What the measures would be with a perfect judge: bronze labels corrected by a sample of gold ones."""

from ringtrue.gold.correction.calculator import (
    RatesDesign as RatesDesign,
    ScoreCorrection as ScoreCorrection,
    correct_score as correct_score,
)
from ringtrue.gold.correction.compare_corrected import compare_corrected as compare_corrected
from ringtrue.gold.correction.correct import correct as correct
from ringtrue.gold.correction.diagnostics import Check as Check
from ringtrue.gold.correction.proportion import correct_share as correct_share
from ringtrue.gold.correction.rate_inversion import BronzeScore as BronzeScore, Rates as Rates
from ringtrue.gold.correction.results import Correction as Correction
from ringtrue.gold.correction.score_tests import (
    ScoreDifference as ScoreDifference,
    naive_test as naive_test,
    separate_judges_test as separate_judges_test,
    shared_judge_test as shared_judge_test,
)
