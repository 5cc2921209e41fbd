"""Is A better than B? Tests on the same queries, many pairs at once."""

from ringtrue.evaluation.significance.compare import compare as compare, compare_by as compare_by
from ringtrue.evaluation.significance.families import Adjust as Adjust, Family as Family
from ringtrue.evaluation.significance.letter_display import (
    assign_letters as assign_letters,
    find_homogeneous_groups as find_homogeneous_groups,
)
from ringtrue.evaluation.significance.pairwise_tests import Test as Test
from ringtrue.evaluation.significance.query_differences import (
    differences as differences,
    largest_differences as largest_differences,
)
