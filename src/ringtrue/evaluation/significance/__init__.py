"""Is A better than B? Tests on the same queries, many pairs at once."""

from ringtrue.evaluation.significance.adjustment import (
    Adjust as Adjust,
    Family as Family,
    assign_letters as assign_letters,
    find_homogeneous_groups as find_homogeneous_groups,
)
from ringtrue.evaluation.significance.compare import (
    compare as compare,
    compare_by as compare_by,
    differences as differences,
    largest_differences as largest_differences,
)
from ringtrue.evaluation.significance.pairwise_tests import Test as Test
