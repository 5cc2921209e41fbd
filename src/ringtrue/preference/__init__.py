"""From preferences between two documents to ratings of all."""

from ringtrue.preference.answer import JudgeRating, Ratings
from ringtrue.preference.choosing import PairChoice, PairDesign, choose_pairs
from ringtrue.preference.comparing_methods import HeldOut, MethodScores, RatingComparison, compare_ratings
from ringtrue.preference.implied import implied_preferences
from ringtrue.preference.rating import rate

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
