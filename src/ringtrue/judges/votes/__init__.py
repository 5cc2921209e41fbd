"""Many judges' words as small numbers: which item, which judge, which label.

What agreement, aggregation and the quality of judges are computed from. An item is a document of a query, or a
pair of documents that were compared.
"""

from ringtrue.judges.votes.consensus import (
    NO_OTHERS,
    TIED,
    OthersConsensus,
    find_isolated_judges,
    leave_one_out_consensus,
    majority,
)
from ringtrue.judges.votes.gold_labels import align_with_gold, require_one_label_each
from ringtrue.judges.votes.scale import Outside
from ringtrue.judges.votes.timestamps import parse_times
from ringtrue.judges.votes.vote_table import FIRST, SECOND, TIE, Repeats, Votes, make_votes
from ringtrue.stats.encoding import Codes

__all__ = [
    "FIRST",
    "NO_OTHERS",
    "SECOND",
    "TIE",
    "TIED",
    "Codes",
    "OthersConsensus",
    "Outside",
    "Repeats",
    "Votes",
    "align_with_gold",
    "find_isolated_judges",
    "leave_one_out_consensus",
    "majority",
    "make_votes",
    "parse_times",
    "require_one_label_each",
]
