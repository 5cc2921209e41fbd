"""Is A better than B? Tests on the same queries, many pairs at once."""

from ringtrue.evaluation.significance.compare import Adjust, Family, Test, compare, compare_by
from ringtrue.evaluation.significance.letter_display import alike, lettered
from ringtrue.evaluation.significance.query_differences import differences, moved_most

__all__ = ["Adjust", "Family", "Test", "alike", "compare", "compare_by", "differences", "lettered", "moved_most"]
