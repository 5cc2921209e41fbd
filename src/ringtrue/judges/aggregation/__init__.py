"""Many judges → one label: by a vote, or by a model of how each judge errs."""

from ringtrue.judges.aggregation.aggregate import METHODS, Method, aggregate
from ringtrue.judges.aggregation.judge_models import Prior
from ringtrue.judges.aggregation.results import Aggregation, JudgeModel

__all__ = ["METHODS", "Aggregation", "JudgeModel", "Method", "Prior", "aggregate"]
