"""Is A better than B? Tests on the same queries, many pairs at once."""

from ringtrue.significance.comparing import Adjust, Family, Test, compare, compare_by
from ringtrue.significance.lettering import alike, lettered
from ringtrue.significance.views import differences, moved_most

__all__ = ["Adjust", "Family", "Test", "alike", "compare", "compare_by", "differences", "lettered", "moved_most"]
