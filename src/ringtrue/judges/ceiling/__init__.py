"""How high nDCG can go when the judge who trained a ranker and the one who tests it disagree."""

from ringtrue.judges.ceiling.ceiling_scatter import ceiling_scatter as ceiling_scatter
from ringtrue.judges.ceiling.inputs import (
    estimate_confusion as estimate_confusion,
    estimate_query_confusions as estimate_query_confusions,
)
from ringtrue.judges.ceiling.ndcg_ceiling import ceiling as ceiling
from ringtrue.judges.ceiling.results import (
    Ceiling as Ceiling,
    CeilingScatter as CeilingScatter,
    QueryConfusions as QueryConfusions,
    RunCeiling as RunCeiling,
)
