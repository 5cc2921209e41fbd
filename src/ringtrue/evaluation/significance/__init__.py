"""Is A better than B? Tests on the same queries, many pairs at once."""

from ringtrue.evaluation.significance.compare import Adjust, Family, Test, compare, compare_by
from ringtrue.evaluation.significance.letter_display import assign_letters, find_homogeneous_groups
from ringtrue.evaluation.significance.query_differences import differences, largest_differences

__all__ = [
    "Adjust",
    "Family",
    "Test",
    "assign_letters",
    "compare",
    "compare_by",
    "differences",
    "find_homogeneous_groups",
    "largest_differences",
]
