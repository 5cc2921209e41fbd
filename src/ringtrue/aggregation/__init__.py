"""Many judges → one label: by a vote, or by a model of how each judge errs."""

from ringtrue.aggregation.aggregating import METHODS, Method, aggregate
from ringtrue.aggregation.answer import Aggregation, JudgeModel
from ringtrue.aggregation.models import Prior

__all__ = ["METHODS", "Aggregation", "JudgeModel", "Method", "Prior", "aggregate"]
