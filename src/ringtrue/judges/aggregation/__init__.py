"""Many judges → one label: by a vote, or by a model of how each judge errs."""

from ringtrue.judges.aggregation.aggregate import METHODS as METHODS, Method as Method, aggregate as aggregate
from ringtrue.judges.aggregation.judge_models import Prior as Prior
from ringtrue.judges.aggregation.results import Aggregation as Aggregation, JudgeModel as JudgeModel
