"""Is A better than B? Tests on the same queries, many pairs at once."""

from ringtrue.significance.comparing import Adjust, Family, Test, compare, compare_by
from ringtrue.significance.views import differences, moved_most

__all__ = ["Adjust", "Family", "Test", "compare", "compare_by", "differences", "moved_most"]
