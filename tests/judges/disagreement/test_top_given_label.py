"""The same judge again, beside other judges."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given

from ringtrue.judges.disagreement import Consistency, disagree
from ringtrue.judges.votes import Votes
from strategies import judged


def found(labels: object) -> Consistency:
    answer = disagree(labels, "1/3", repeats="all", resamples=0).consistency
    assert answer is not None
    return answer


def test_a_judge_who_wavers_and_judges_who_differ_by_hand() -> None:
    # x says 2, 2 of a and 2, 1 of b; y says 1 of a and 2 of b. Nobody labelled c twice.
    one = found({"doc": list("aabbabcc"), "judge": list("xxxxyyxy"), "label": [2, 2, 2, 1, 1, 2, 2, 0]})
    assert one.documents == 2
    # Within: a is sure to be 2 again; b is 2 in half of the draws and then 1.
    assert one.within["2"].value == pytest.approx((1 + 0) / (1 + 1 / 2))
    assert one.within["1"].value == 1
    # Across: of a, 2 by x meets 1 by y; of b, (2, 2) and (1, 2), in both directions.
    assert one.across["2"].value == pytest.approx((2 / 4) / (2 / 4 + 3 / 4))
    assert one.across["1"].value == pytest.approx((2 / 4 + 1 / 4) / (2 / 4 + 1 / 4))
    assert one.by_judge.within == (0, 0, 0, 0, 0, 0, 1, 0, 0, 0)
    assert one.by_document.within == (1, 0, 0, 0, 0, 0, 0, 0, 0, 1)
    assert sum(one.by_judge.across) == 2


def test_nobody_labelled_again_is_said_and_no_error() -> None:
    answer = disagree({"doc": list("aa"), "judge": list("xy"), "label": [0, 1]}, "1/3", resamples=0)
    assert answer.consistency is None
    assert any("no judge labelled a document again" in note for note in answer.notes)


def test_a_judge_alone_with_himself_says_nothing_across() -> None:
    one = found({"doc": list("aabb"), "judge": list("xxxy"), "label": [1, 1, 0, 1]})
    assert one.within["1"].value == 1
    assert one.across["1"].value is None
    assert "no such document has labels of two judges" in one.across["1"].notes[0]
    assert one.overlap_across.value is None


def test_the_answer_does_not_depend_on_which_repeat_counts() -> None:
    rows = {"doc": list("aab"), "judge": list("xxy"), "label": [1, 0, 1]} | {"doc": list("aaa")}
    first, last = (disagree(rows, "1/3", repeats=which, resamples=0).consistency for which in ("first", "last"))  # type: ignore[arg-type]
    assert first is not None
    assert last is not None
    assert first.within == last.within


def test_taste_is_told_from_carelessness() -> None:
    rng = np.random.default_rng(4)
    taste = rng.integers(0, 3, (60, 2))
    rows = [
        (f"q{doc // 3}", f"d{doc}", judge, int(taste[doc, judge]))
        for doc in range(60)
        for judge in range(2)
        for _ in range(2)
    ]
    query, doc, judge, label = zip(*rows, strict=True)
    answer = disagree({"query": query, "doc": doc, "judge": judge, "label": label}, "1/3", repeats="last")
    one = answer.consistency
    assert one is not None
    assert one.overlap_within.value == 1
    assert (one.overlap_within.low or 0) > (one.overlap_across.high or 1)
    assert answer.notes[0].startswith("120 labels repeat")


@given(votes=judged())
def test_within_and_across_are_all_pairs_of_labels_of_documents_labelled_again(votes: Votes) -> None:
    assume(votes.find_repeats().any() and len(votes.judges) > 1 and len(votes.labels) > 1)
    top = len(votes.labels) - 1
    sums = {"within": np.zeros((top + 1, 2)), "across": np.zeros((top + 1, 2))}
    either = {"within": 0.0, "across": 0.0}
    both = {"within": 0.0, "across": 0.0}
    again = set(votes.item[votes.find_repeats()].tolist())
    for item in again:
        rows = np.flatnonzero(votes.item == item)
        pairs = list(permutations(rows, 2))
        units = {"across": [[pair for pair in pairs if votes.judge[pair[0]] != votes.judge[pair[1]]]]}
        units["within"] = [
            [pair for pair in pairs if votes.judge[pair[0]] == votes.judge[pair[1]] == judge]
            for judge in range(len(votes.judges))
        ]
        for kind, some in units.items():
            for unit in some:
                for one, other in unit:
                    a, b = votes.label[one], votes.label[other]
                    sums[kind][a] += np.array([b == top, 1]) / len(unit)
                    either[kind] += (top in (a, b)) / len(unit)
                    both[kind] += (a == b == top) / len(unit)
    found_here = found(votes)
    for kind in ("within", "across"):
        for place, one in enumerate(getattr(found_here, kind).values()):
            hits, cases = sums[kind][place]
            assert (one.value is None) == (cases == 0)
            assert one.value is None or one.value == pytest.approx(hits / cases)
        overlap = getattr(found_here, f"overlap_{kind}").value
        assert overlap is None or overlap == pytest.approx(both[kind] / either[kind])
