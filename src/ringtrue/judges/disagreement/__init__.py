"""The User Disagreement Model: what each label is worth when users disagree about the top."""

from ringtrue.judges.disagreement.disagree import disagree as disagree
from ringtrue.judges.disagreement.mutual_evaluation import (
    MutualEvaluation as MutualEvaluation,
    mutual_evaluation as mutual_evaluation,
)
from ringtrue.judges.disagreement.results import (
    Consistency as Consistency,
    Disagreement as Disagreement,
    Verification as Verification,
)
from ringtrue.judges.disagreement.top_given_label import parse_user_share as parse_user_share, weight as weight
