"""All formulas: by hand, against a slow second implementation, and by the properties they must have."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ringtrue.errors import MeasureError
from ringtrue.evaluation.measures import CATALOGUE, RankedLists, parse, ranked

spec = importlib.util.spec_from_file_location("oracle", Path(__file__).with_name("oracle.py"))
assert spec is not None
assert spec.loader is not None
oracle = importlib.util.module_from_spec(spec)
spec.loader.exec_module(oracle)

labels = st.integers(-1, 4)
rankings = st.lists(st.none() | labels, max_size=30)
missed_labels = st.lists(labels, max_size=10)
TOP = 4
SHARE_OF_USERS = {0: 0.0, 1: 0.3, 2: 0.2, 3: 0.7, 4: 1.0}  # they need not rise with the label


def value(measure: str, ranking: list[int | None], missed: list[int] | None = None) -> float:
    return float(parse(measure)(ranked(ranking, missed=missed or []))[0])


def stacked(many: list[RankedLists]) -> RankedLists:
    """Several batches of one as one batch."""

    def offsets(name: str) -> np.ndarray:
        return np.concatenate([[0], np.cumsum([getattr(one, name)[-1] for one in many])])

    def joined(name: str) -> np.ndarray:
        return np.concatenate([getattr(one, name) for one in many])

    return RankedLists(
        offsets=offsets("offsets"),
        rank=joined("rank"),
        label=joined("label"),
        retrieved=joined("retrieved"),
        pool_offsets=offsets("pool_offsets"),
        pool=joined("pool"),
        max_label=max(one.max_label for one in many),
    )


# ── by hand ────────────────────────────────────────────────────────────────────────────────────────────────


def at(ranks: list[int], length: int) -> list[int | None]:
    return [1 if rank in ranks else 0 for rank in range(1, length + 1)]


def test_the_lectures_first_query_has_its_average_precision_and_11_points() -> None:
    ranking = at([1, 3, 6, 10, 20], 20)
    assert value("AP", ranking) == pytest.approx((1 + 2 / 3 + 3 / 6 + 4 / 10 + 5 / 20) / 5, abs=1e-12)
    assert value("AP", ranking) == pytest.approx(0.563333, abs=1e-6)
    assert value("IAP", ranking) == pytest.approx(0.603030, abs=1e-6)


def test_the_lectures_second_query_has_its_average_precision_and_11_points() -> None:
    ranking = at([1, 3, 15], 20)
    assert value("AP", ranking) == pytest.approx(0.622222, abs=1e-6)
    assert value("IAP", ranking) == pytest.approx(0.618182, abs=1e-6)


def test_the_lectures_mean_average_precision_is_the_mean_of_unrounded_terms() -> None:
    both = [value("AP", at([1, 3, 6, 10, 20], 20)), value("AP", at([1, 3, 15], 20))]
    assert np.mean(both) == pytest.approx(0.592778, abs=1e-6)


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [([1, 3, 6, 9, 10], [1, 0.67, 0.5, 0.44, 0.5]), ([2, 5, 6, 7, 8], [0.5, 0.4, 0.5, 0.57, 0.625])],
)
def test_the_lectures_precision_at_each_recall(ranks: list[int], expected: list[float]) -> None:
    got = [value(f"PAtRecall@{level}", at(ranks, 10)) for level in (0.2, 0.4, 0.6, 0.8, 1)]
    assert [round(v, 2) for v in got] == [round(v, 2) for v in expected]


def test_the_lectures_set_measures_come_from_its_2x2_table() -> None:
    ranking: list[int | None] = [1] * 20 + [0] * 40
    missed = [1] * 60
    counts = [value(name, ranking, missed) for name in ("TP", "FP", "FN")]
    assert counts == [20, 40, 60]
    assert value("SetP", ranking, missed) == pytest.approx(1 / 3)
    assert value("SetR", ranking, missed) == pytest.approx(1 / 4)
    assert value("SetF", ranking, missed) == pytest.approx(2 / 7)
    assert value("SetF(alpha=0.5)", ranking, missed) == pytest.approx(2 / 7)
    assert value("SetF(alpha=0.2)", ranking, missed) == pytest.approx(value("SetF(beta=2)", ranking, missed))


def test_recall_levels_are_exact_where_floats_are_not() -> None:
    # 3 of 10 relevant documents reach recall 0.3, although 3 * 0.1 > 0.3 in floating point.
    ranking: list[int | None] = [1, 1, 1, 0]
    assert value("IPrec@0.3", ranking, [1] * 7) == 1.0
    assert value("IPrec@0.4", ranking, [1] * 7) == 0.0


def test_a_long_fraction_of_many_documents_does_not_overflow() -> None:
    ranking: list[int | None] = [1] * 4000
    assert value("Rprec(mult=0.3333333333333333)", ranking) == 1.0
    assert value("IPrec@1e-20", ranking) == 1.0


def test_trec_eval_9_and_10_round_the_recall_level_each_in_its_own_way() -> None:
    lists = ranked(at([1, 3, 15], 20))

    def compat(version: str) -> RankedLists:
        return RankedLists(
            offsets=lists.offsets, rank=lists.rank, label=lists.label, retrieved=lists.retrieved,
            pool_offsets=lists.pool_offsets, pool=lists.pool, max_label=1, compat=version,  # type: ignore[arg-type]
        )  # fmt: skip

    assert parse("IAP")(compat("trec_eval-9"))[0] == pytest.approx(0.6606, abs=5e-5)
    # 10 rounds to the nearest: recall .1 needs none of three, .5 and .7 need two.
    by_hand = (1 + 1 + 1 + 1 + 1 + 2 / 3 + 2 / 3 + 2 / 3 + 2 / 3 + 0.2 + 0.2) / 11
    assert parse("IAP")(compat("trec_eval-10"))[0] == pytest.approx(by_hand, abs=1e-12)


def test_gains_are_linear_by_default_and_exponential_on_request() -> None:
    assert value("DCG", [3, 0, 1]) == pytest.approx(3 + 1 / 2)
    assert value("DCG(dcg=exp-log2)", [3, 0, 1]) == pytest.approx(7 + 1 / 2)
    assert value("CG@2", [3, 2, 1]) == 5


def test_a_table_of_gains_reorders_the_ideal() -> None:
    # Label 1 is worth more than label 2 here, so the ideal list begins with it.
    assert value("nDCG(gains={1:5,2:1})", [1, 2]) == pytest.approx(1.0)
    assert value("nDCG(gains={1:5,2:1})", [2, 1]) == pytest.approx((1 + 5 / math.log2(3)) / (5 + 1 / math.log2(3)))


def test_a_label_without_a_gain_is_an_error_and_never_a_number() -> None:
    with pytest.raises(MeasureError, match="label 3") as refused:
        value("nDCG(gains={1:1,2:2})", [3, 1])
    assert refused.value.code == "level-without-gain"


def test_err_refuses_a_top_grade_below_the_labels() -> None:
    with pytest.raises(MeasureError) as refused:
        value("ERR(max_rel=1)", [2])
    assert refused.value.code == "label-above-top"


def test_expected_reciprocal_rank_by_hand() -> None:
    # Grades 3, 2 of 4: s = 7/16 and 3/16.
    assert value("ERR(max_rel=4)", [3, 2]) == pytest.approx(7 / 16 + (9 / 16) * (3 / 16) / 2)


def test_the_collections_size_makes_accuracy_and_fallout() -> None:
    lists = ranked([1, 0, None], missed=[1, 0])
    sized = RankedLists(
        offsets=lists.offsets, rank=lists.rank, label=lists.label, retrieved=lists.retrieved,
        pool_offsets=lists.pool_offsets, pool=lists.pool, max_label=1, collection_size=100,
    )  # fmt: skip
    assert parse("TN")(sized)[0] == 100 - 3 - 1
    assert parse("SetAcc")(sized)[0] == pytest.approx((1 + 96) / 100)
    assert parse("Fallout")(sized)[0] == pytest.approx(2 / 98)
    # One relevant document above all 98 others, one tied with the 96 that were not retrieved.
    assert parse("AUC")(sized)[0] == pytest.approx((98 + 96 / 2) / (2 * 98))


def test_gap_of_users_who_all_want_the_same_is_average_precision() -> None:
    for rel in (1, 2, 3):
        wanted = "{" + ",".join(f"{label}:{int(label >= rel)}" for label in range(TOP + 1)) + "}"
        assert value(f"GAP(gains={wanted})", [2, 0, 3, None, 1], [3]) == pytest.approx(
            value(f"AP(rel={rel})", [2, 0, 3, None, 1], [3])
        )


def test_gap_by_hand() -> None:
    # Half of the users are content with a 1: 0.5 at rank 1; at rank 2 the top document adds (0.5 + 1) / 2.
    assert value("GAP(gains={1:0.5,2:1})", [1, 2]) == pytest.approx((0.5 + 1.5 / 2) / 1.5)


def test_gains_of_gap_are_shares_of_users() -> None:
    with pytest.raises(MeasureError, match="GAP") as refused:
        value("GAP(gains={1:1,2:3})", [1, 2])
    assert refused.value.code == "gain-above-1"


# ── a slow second implementation ───────────────────────────────────────────────────────────────────────────


@given(rankings, missed_labels)
def test_every_measure_agrees_with_a_slow_plain_implementation(ranking: list[int | None], missed: list[int]) -> None:
    pool = [label for label in ranking if label is not None] + missed
    expected = {
        "P@5": oracle.precision(ranking, pool, 5),
        "P(rel=2)@3": oracle.precision(ranking, pool, 3, 2),
        "R@5": oracle.recall(ranking, pool, 5),
        "F@5": oracle.f(ranking, pool, 5),
        "F(beta=2)@5": oracle.f(ranking, pool, 5, 2),
        "AP": oracle.average_precision(ranking, pool),
        "AP(rel=2)@7": oracle.average_precision(ranking, pool, 7, 2),
        "RR": oracle.reciprocal_rank(ranking, pool),
        "RR(rel=3)": oracle.reciprocal_rank(ranking, pool, 3),
        "Rprec": oracle.r_precision(ranking, pool),
        "Rprec(mult=0.3)": oracle.r_precision(ranking, pool, "0.3"),
        "IPrec@0.0": oracle.interpolated_precision(ranking, pool, "0"),
        "IPrec@0.3": oracle.interpolated_precision(ranking, pool, "0.3"),
        "IPrec@1.0": oracle.interpolated_precision(ranking, pool, "1"),
        "PAtRecall@0.6": oracle.precision_at_recall(ranking, pool, "0.6"),
        "IAP": sum(oracle.interpolated_precision(ranking, pool, f"{i}/10") for i in range(11)) / 11,
        "DCG": oracle.dcg(ranking, pool),
        "DCG(dcg=exp-log2)@4": oracle.dcg(ranking, pool, 4, "exp-log2"),
        "nDCG": oracle.ndcg(ranking, pool),
        "nDCG@5": oracle.ndcg(ranking, pool, 5),
        "nDCG(dcg=exp-log2)@5": oracle.ndcg(ranking, pool, 5, "exp-log2"),
        "nDCG(discount=zipf)@5": oracle.ndcg(ranking, pool, 5, zipf=True),
        "DCG(dcg=exp-log2,discount=zipf)": oracle.dcg(ranking, pool, None, "exp-log2", zipf=True),
        f"GAP(max_rel={TOP})": oracle.gap(ranking, pool, {label: label / TOP for label in range(TOP + 1)}),
        f"GAP(gains={SHARE_OF_USERS})@4": oracle.gap(ranking, pool, SHARE_OF_USERS, 4),
        f"GAP(gains={SHARE_OF_USERS},among=retrieved)": oracle.gap(
            ranking, [label for label in ranking if label is not None], SHARE_OF_USERS
        ),
        f"SDCG(max_rel={TOP})@5": oracle.sdcg(ranking, pool, 5, TOP),
        f"ERR(max_rel={TOP})": oracle.err(ranking, pool, TOP),
        f"ERR(max_rel={TOP})@3": oracle.err(ranking, pool, TOP, 3),
        "RBP(p=0.7)": oracle.rbp(ranking, pool, 0.7),
        "RBPres(p=0.7)": oracle.rbp_residual(ranking, pool, 0.7),
        "AUC": oracle.auc(ranking, pool),
        "AUC(rel=2)": oracle.auc(ranking, pool, 2),
        "Bpref": oracle.bpref(ranking, pool),
        "infAP": oracle.inferred_ap(ranking, pool),
        "Judged@5": oracle.judged(ranking, pool, 5),
        "nDCG(judged_only=True)@5": oracle.ndcg(oracle.condensed(ranking), pool, 5),
        "AP(judged_only=True)": oracle.average_precision(oracle.condensed(ranking), pool),
        "Success@5": float(oracle.hits(ranking, 5, 1) > 0),
        "NumRet": float(len(ranking)),
        "NumRel": float(oracle.total_relevant(pool, 1)),
        "NumRelRet": float(oracle.hits(ranking, len(ranking), 1)),
    }
    for name, right in expected.items():
        assert value(name, ranking, missed) == pytest.approx(right, abs=1e-12), name


def test_no_measure_of_the_catalogue_is_left_out_of_the_comparison() -> None:
    text = Path(__file__).read_text()
    left_out = [name for name in CATALOGUE if f'"{name}' not in text]
    assert left_out == []


# ── properties ─────────────────────────────────────────────────────────────────────────────────────────────

SHARES = [
    "P@5", "R@5", "F@5", "AP", "RR", "Rprec", "IPrec@0.3", "IAP", "PAtRecall@0.5", "nDCG@5", "SDCG(max_rel=4)@5",
    "ERR(max_rel=4)", "GAP(max_rel=4)", "RBP", "RBPres", "Bpref", "infAP", "Judged@5", "Success@5", "SetP", "SetR",
    "SetF", "SetAcc", "Fallout", "AUC",
]  # fmt: skip


@given(rankings, missed_labels)
def test_every_share_lies_between_0_and_1(ranking: list[int | None], missed: list[int]) -> None:
    for name in SHARES:
        assert -1e-12 <= value(name, ranking, missed) <= 1 + 1e-12, name


@given(rankings.filter(lambda labels: len(labels) >= 2), missed_labels, st.data())
def test_moving_a_better_document_up_never_hurts(
    ranking: list[int | None], missed: list[int], data: st.DataObject
) -> None:
    low = data.draw(st.integers(0, len(ranking) - 2))
    better = list(ranking)
    if (better[low + 1] or 0) <= (better[low] or 0):
        return
    better[low], better[low + 1] = better[low + 1], better[low]
    for name in (
        "nDCG@5",
        "DCG",
        "nDCG(discount=zipf)",
        "GAP(max_rel=4)",
        "ERR(max_rel=4)",
        "RBP",
        "AP",
        "RR",
        "P@5",
        "R@5",
        "Success@3",
        "IAP",
        "Rprec",
        "AUC",
    ):
        assert value(name, better, missed) >= value(name, ranking, missed) - 1e-12, name


@given(st.lists(labels, min_size=1, max_size=20))
def test_the_ideal_order_scores_1(pool: list[int]) -> None:
    ideal: list[int | None] = sorted(pool, reverse=True)
    for name in ("nDCG", "nDCG@5", "nDCG(discount=zipf)", "GAP(max_rel=4)", "AP", "Rprec", "IAP"):
        assert value(name, ideal) == pytest.approx(1.0 if max(pool) > 0 else 0.0), name


@given(rankings, missed_labels)
def test_unjudged_documents_at_the_end_change_no_ranked_measure(ranking: list[int | None], missed: list[int]) -> None:
    for name in ("nDCG", "AP", "RR", "ERR(max_rel=4)", "RBP", "RBPres", "Bpref", "infAP", "IAP"):
        longer = value(name, [*ranking, None, None], missed)
        assert longer == pytest.approx(value(name, ranking, missed), abs=1e-12), name


@given(st.lists(st.tuples(rankings, missed_labels), min_size=1, max_size=5))
def test_a_list_scores_the_same_alone_and_among_others(many: list[tuple[list[int | None], list[int]]]) -> None:
    ones = [ranked(ranking, missed=missed) for ranking, missed in many]
    together = stacked(ones)
    for name, definition in CATALOGUE.items():
        top = "(max_rel=4)" if "max_rel" in definition.defaults else ""
        cut = {"none": "", "optional": "", "required": "@5", "recall": "@0.5"}[definition.cutoff]
        measure = parse(f"{name}{top}{cut}")
        apart = np.concatenate([measure(one) for one in ones])
        np.testing.assert_array_equal(measure(together), apart, err_msg=name)


def test_an_empty_list_scores_0() -> None:
    nothing_found_is_right = {"RBPres", "SetAcc"}  # all of RBP is open; the non-relevant were rightly left out
    all_are_tied = {"AUC"}
    for name in set(SHARES) - nothing_found_is_right - all_are_tied:
        assert value(name, [], [1, 0]) == 0.0, name
    assert value("AUC", [], [1, 0]) == 0.5
    assert value("RBPres", [], [1, 0]) == 1.0
    assert value("SetAcc", [], [1, 0]) == 0.5
