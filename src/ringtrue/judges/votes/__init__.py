"""Many judges' words as small numbers: which item, which judge, which label.

What agreement, aggregation and the quality of judges are computed from. An item is a document of a query, or a
pair of documents that were compared.
"""

from ringtrue.judges.votes.columns import Outside as Outside, parse_times as parse_times
from ringtrue.judges.votes.reference_labels import (
    NO_OTHERS as NO_OTHERS,
    TIED as TIED,
    OthersConsensus as OthersConsensus,
    align_with_gold as align_with_gold,
    find_isolated_judges as find_isolated_judges,
    leave_one_out_consensus as leave_one_out_consensus,
    majority as majority,
    require_one_label_each as require_one_label_each,
)
from ringtrue.judges.votes.vote_table import (
    FIRST as FIRST,
    SECOND as SECOND,
    TIE as TIE,
    Repeats as Repeats,
    Votes as Votes,
    make_votes as make_votes,
    match_pair_labels as match_pair_labels,
)
from ringtrue.stats.encoding import Codes as Codes
