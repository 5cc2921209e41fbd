"""Which runs are compared, and whether they answer the same queries."""

from __future__ import annotations

import numpy as np
import pytest

from ringtrue.errors import MismatchError, UsageError
from ringtrue.evaluation.significance.run_pairs import presence_matrix, require_shared_queries, select_run_pairs
from strategies import scores_of

RUNS = ["bm25", "dense", "mixed", "random"]


@pytest.mark.parametrize(
    ("baselines", "pairs"),
    [
        ([], [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]),
        (["bm25"], [(1, 0), (2, 0), (3, 0)]),
        (["random"], [(0, 3), (1, 3), (2, 3)]),
        (["random", "bm25"], [(1, 3), (1, 0), (2, 3), (2, 0), (3, 0)]),
        (["bm25", "bm25"], [(1, 0), (2, 0), (3, 0)]),
        (RUNS, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]),
    ],
)
def test_all_pairs_or_each_run_against_each_baseline(baselines: list[str], pairs: list[tuple[int, int]]) -> None:
    assert [tuple(pair) for pair in select_run_pairs(RUNS, baselines).tolist()] == pairs


@pytest.mark.parametrize("count", [2, 3, 37])
def test_every_pair_is_there_once(count: int) -> None:
    pairs = select_run_pairs([f"run{i}" for i in range(count)], []).tolist()
    assert len({frozenset(pair) for pair in pairs}) == len(pairs) == count * (count - 1) // 2


def test_one_run_cannot_be_compared() -> None:
    with pytest.raises(UsageError, match="two runs or more, found only 'bm25'"):
        select_run_pairs(["bm25"], [])


@pytest.mark.parametrize(
    ("baseline", "says"),
    [("bm52", "no run is called 'bm52', the baseline; did you mean 'bm25'?"), ("xyzzy", "the runs are bm25, dense")],
)
def test_an_unknown_baseline_brings_the_near_miss_or_the_names(baseline: str, says: str) -> None:
    with pytest.raises(UsageError) as error:
        select_run_pairs(RUNS, ["dense", baseline])
    assert says in str(error.value)


def test_a_run_has_a_query_unless_the_scores_say_that_it_lacks_it() -> None:
    scores = scores_of({"AP": {"x": [0.1, 0, 0.3], "y": [0.1, 0.2, 0.3]}}, absent={"x": ["q1", "q9"], "z": ["q0"]})
    np.testing.assert_array_equal(presence_matrix(scores, scores.cube()), [[True, False, True], [True, True, True]])


def shared(lacking: dict[str, list[str]], queries: int = 6) -> list[str]:
    scores = scores_of({"AP": {run: [0.5] * queries for run in ("x", "y", "z")}}, absent=lacking)
    cube = scores.cube()
    return require_shared_queries(cube, presence_matrix(scores, cube), select_run_pairs(cube.runs, []))


def test_runs_over_the_same_queries_bring_no_word() -> None:
    assert shared({}) == []
    assert shared({run: ["q0", "q1", "q2", "q3", "q4"] for run in ("x", "y", "z")}) == []


def test_half_of_the_queries_shared_is_enough_to_keep_silent() -> None:
    assert shared({"x": ["q0", "q1", "q2"]}) == []


def test_few_shared_queries_are_told_with_what_each_run_lacks() -> None:
    (note,) = shared({"x": ["q0", "q1", "q2", "q3"], "z": ["q0", "q1", "q2"]})
    assert note == "'x' and 'y' share only 2 of 6 queries: 'x' lacks q0, q1, q2 and 1 more, 'y' lacks none"


def test_of_many_pairs_that_share_few_queries_the_worst_is_told_and_the_others_counted() -> None:
    (note,) = shared({"x": ["q0", "q1", "q2", "q3"], "z": ["q4"]})
    assert note.startswith("'x' and 'z' share only 1 of 6 queries: 'x' lacks q0, q1, q2 and 1 more, 'z' lacks q4")
    assert "of 3 pairs, 2 share fewer than half" in note


def test_runs_without_a_common_query_are_refused_and_told_what_each_lacks() -> None:
    with pytest.raises(MismatchError) as error:
        shared({"x": ["q0", "q1"], "y": ["q2", "q3", "q4", "q5"]})
    assert str(error.value) == (
        "'x' and 'y' have no query in common: 'x' lacks q0, q1, 'y' lacks q2, q3, q4 and 1 more; "
        "only --test welch compares runs over different queries"
    )
