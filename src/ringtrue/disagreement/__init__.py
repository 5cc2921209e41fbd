"""The User Disagreement Model: what each label is worth when users disagree about the top."""

from ringtrue.disagreement.answer import Consistency, Disagreement, Verification
from ringtrue.disagreement.disagreeing import disagree
from ringtrue.disagreement.mutual import MutualEvaluation, mutual_evaluation
from ringtrue.disagreement.weighing import share_of_users, weight

__all__ = [
    "Consistency",
    "Disagreement",
    "MutualEvaluation",
    "Verification",
    "disagree",
    "mutual_evaluation",
    "share_of_users",
    "weight",
]
