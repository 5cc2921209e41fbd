"""Many judges' words as small numbers: which item, which judge, which label.

What agreement, aggregation and the quality of judges are computed from. An item is a document of a query, or a
pair of documents that were compared.
"""

from ringtrue.judges.votes.consensus import ALONE, TIED, Others, leave_one_out, majority, without_company
from ringtrue.judges.votes.gold_labels import require_one_label_each, with_gold
from ringtrue.judges.votes.scale import Outside
from ringtrue.judges.votes.timestamps import moments
from ringtrue.judges.votes.vote_table import FIRST, SECOND, TIE, Repeats, Votes, votes_of
from ringtrue.stats.encoding import Codes

__all__ = [
    "ALONE",
    "FIRST",
    "SECOND",
    "TIE",
    "TIED",
    "Codes",
    "Others",
    "Outside",
    "Repeats",
    "Votes",
    "leave_one_out",
    "majority",
    "moments",
    "require_one_label_each",
    "votes_of",
    "with_gold",
    "without_company",
]
