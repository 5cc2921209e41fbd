"""The User Disagreement Model: what each label is worth when users disagree about the top."""

from ringtrue.judges.disagreement.disagree import disagree
from ringtrue.judges.disagreement.mutual_evaluation import MutualEvaluation, mutual_evaluation
from ringtrue.judges.disagreement.results import Consistency, Disagreement, Verification
from ringtrue.judges.disagreement.user_weights import parse_user_share, weight

__all__ = [
    "Consistency",
    "Disagreement",
    "MutualEvaluation",
    "Verification",
    "disagree",
    "mutual_evaluation",
    "parse_user_share",
    "weight",
]
