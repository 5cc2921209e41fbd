"""How likely at least M of N users say the top level; and the same judge again, beside other judges."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy.stats import binom

from ringtrue.errors import UsageError
from ringtrue.judges.disagreement import Consistency, disagree, parse_user_share, weight
from ringtrue.judges.votes import Votes
from strategies import examples, judged

probabilities = st.floats(0, 1)


@st.composite
def shares(draw: st.DrawFn, most: int = 60) -> tuple[int, int]:
    users = draw(st.integers(1, most))
    return draw(st.integers(0, users)), users


def found(labels: object) -> Consistency:
    answer = disagree(labels, "1/3", repeats="all", resamples=0).consistency
    assert answer is not None
    return answer


def test_the_sources_own_numbers() -> None:
    predicted = [float(weight(0.2985, least, users)) for least, users in ((1, 3), (2, 3), (2, 4), (2, 5))]
    assert predicted == pytest.approx([0.51, 0.09, 0.21, 0.35], abs=0.005)
    assert weight([0.15, 0.23], 1, 3).tolist() == pytest.approx([0.28, 0.41], abs=0.005)


def test_one_user_of_two_is_p_itself() -> None:
    assert float(weight(0.3, 1, 2)) == pytest.approx(0.3, abs=1e-15)
    assert float(weight(0.3, 2, 2, top=True)) == pytest.approx(0.3, abs=1e-15)


@pytest.mark.parametrize("users", [1, 2, 5, 500])
@pytest.mark.parametrize("p", [0.0, 0.4, 1.0])
def test_the_ends_are_known_whatever_p_is(users: int, p: float) -> None:
    assert weight(p, 0, users) == weight(p, 0, users, top=True) == 1  # nobody is needed
    assert weight(p, 1, users, top=True) == 1  # the one who said it
    assert weight(p, users, users) == 0  # the one who did not


def test_a_single_user_is_his_own_label() -> None:
    assert (float(weight(0.9, 1, 1, top=True)), float(weight(0.9, 1, 1))) == (1, 0)


@given(p=probabilities, share=shares(), top=st.booleans())
def test_scipy_agrees(p: float, share: tuple[int, int], top: bool) -> None:
    least, users = share
    assert float(weight(p, least, users, top=top)) == pytest.approx(binom.sf(least - top - 1, users - 1, p), abs=1e-12)


@pytest.mark.parametrize(("least", "top"), [(250, False), (40, True), (490, False)])
def test_many_users_lose_no_digits(least: int, top: bool) -> None:
    p = np.linspace(0, 1, 101)
    assert weight(p, least, 500, top=top) == pytest.approx(binom.sf(least - top - 1, 499, p), abs=1e-10)


@given(p=probabilities, more=probabilities, share=shares(), top=st.booleans())
def test_weights_lie_between_0_and_1_and_rise_with_p(p: float, more: float, share: tuple[int, int], top: bool) -> None:
    low, high = (float(weight(one, *share, top=top)) for one in sorted([p, more]))
    assert 0 <= low <= high + 1e-12 <= 1 + 1e-12


@given(p=probabilities, users=st.integers(1, 30), top=st.booleans())
def test_to_ask_for_more_users_can_only_lower_a_weight(p: float, users: int, top: bool) -> None:
    found = [float(weight(p, least, users, top=top)) for least in range(users + 1)]
    assert np.all(np.diff(found) <= 1e-12)


@given(p=probabilities, share=shares())
def test_the_top_is_worth_at_least_as_much_as_any_level_with_its_p(p: float, share: tuple[int, int]) -> None:
    assert float(weight(p, *share, top=True)) >= float(weight(p, *share)) - 1e-12


@given(p=probabilities, users=st.integers(1, 6), top=st.booleans())
def test_the_sum_is_over_all_that_the_others_may_say(p: float, users: int, top: bool) -> None:
    for least in range(users + 1):
        chance = sum(
            np.prod([p if says else 1 - p for says in others])
            for others in product([True, False], repeat=users - 1)
            if sum(others) + top >= least
        )
        assert float(weight(p, least, users, top=top)) == pytest.approx(chance, abs=1e-12)


@pytest.mark.parametrize("said", ["2/1", "-1/3", "0/0", "1/501", (2, 1), (-1, 3), (1, 0)])
def test_what_cannot_be_is_refused_in_words(said: str | tuple[int, int]) -> None:
    with pytest.raises(UsageError) as refused:
        parse_user_share(said)
    assert refused.value.code == "impossible-user-share"


@pytest.mark.parametrize("said", ["1", "1/2/3", "a/b", "1.5/3", "", (1,), (1.0, 3), 3, None])
def test_what_is_no_share_is_refused(said: object) -> None:
    with pytest.raises(UsageError) as refused:
        parse_user_share(said)  # type: ignore[arg-type]
    assert refused.value.code == "bad-user-share"


def test_a_share_may_have_blanks() -> None:
    assert parse_user_share(" 2 / 4 ") == (2, 4)


def test_a_probability_beyond_1_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        weight([0.5, 1.5], 1, 3)
    assert refused.value.code == "out-of-range"
    assert "found 1.5" in refused.value.text


def test_an_unknown_p_leaves_the_weight_unknown() -> None:
    assert np.isnan(weight([np.nan], 1, 3)).all()


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
    assert "no-repeated-labels" in [note.code for note in answer.notes]


def test_a_judge_alone_with_himself_says_nothing_across() -> None:
    one = found({"doc": list("aabb"), "judge": list("xxxy"), "label": [1, 1, 0, 1]})
    assert one.within["1"].value == 1
    assert one.across["1"].value is None
    assert [note.code for note in one.across["1"].notes] == ["no-repeated-labels"]
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


@examples(40)
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
