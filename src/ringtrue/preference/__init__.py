"""From preferences between two documents to ratings of all."""

from ringtrue.preference.choose_pairs import (
    PairChoice as PairChoice,
    PairDesign as PairDesign,
    choose_pairs as choose_pairs,
)
from ringtrue.preference.compare_ratings import (
    HeldOut as HeldOut,
    MethodScores as MethodScores,
    RatingComparison as RatingComparison,
    compare_ratings as compare_ratings,
)
from ringtrue.preference.implied_preferences import implied_preferences as implied_preferences
from ringtrue.preference.rate import rate as rate
from ringtrue.preference.results import JudgeRating as JudgeRating, Ratings as Ratings
