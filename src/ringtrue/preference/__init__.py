"""From preferences between two documents to ratings of all."""

from ringtrue.preference.choose_pairs import PairChoice, PairDesign, choose_pairs
from ringtrue.preference.compare_ratings import HeldOut, MethodScores, RatingComparison, compare_ratings
from ringtrue.preference.implied_preferences import implied_preferences
from ringtrue.preference.rate import rate
from ringtrue.preference.results import JudgeRating, Ratings

__all__ = [
    "HeldOut",
    "JudgeRating",
    "MethodScores",
    "PairChoice",
    "PairDesign",
    "RatingComparison",
    "Ratings",
    "choose_pairs",
    "compare_ratings",
    "implied_preferences",
    "rate",
]
