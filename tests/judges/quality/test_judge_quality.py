"""How good each judge is: numbers by hand, properties, odd input, intervals that hold, real crowds."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from judges.quality.worlds import compared, crowd
from ringtrue.errors import DuplicateError, MismatchError, TableError, UsageError
from ringtrue.judges.quality.judge_quality import LeaveOneOut
from ringtrue.judges.quality.results import Effect
from ringtrue.judges.votes import leave_one_out_consensus, majority, make_votes
from strategies import examples

BY_HAND = {
    "query": ["p", "p", "p", "q", "q", "q", "q"],
    "doc": ["a", "a", "a", "b", "b", "b", "c"],
    "judge": ["x", "y", "z", "x", "y", "z", "x"],
    "label": [1, 1, 0, 2, 0, 0, 1],
}
GOLD = {"query": ["p", "q"], "doc": ["a", "b"], "label": [1, 2]}


def plain(quality: rt.JudgeQuality) -> Any:
    return json.loads(json.dumps(quality.as_dict(), allow_nan=False))


def test_against_the_consensus_by_hand() -> None:
    quality = rt.judge_quality(BY_HAND)
    x, y, z = quality
    # The others of x say 1 and 0 of a (a tie, and 1 is right by half), and 0 of b; nobody else labelled c.
    assert (x.accuracy.value, x.accuracy.n, x.against, x.labels, x.items) == (0.25, 2, "consensus", 3, 3)
    (note,) = [note for note in x.notes if note.code == "unshared-labels"]
    assert note.endswith(" 1")
    assert x.confusion.rows == "consensus"
    assert x.confusion.counts.tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert (y.accuracy.value, y.accuracy.n) == (0.5, 2)
    assert (z.accuracy.value, z.accuracy.n) == (0.25, 2)
    (note,) = [note for note in quality.notes if note.code == "tied-others"]
    assert "4 labels" in note
    assert x.leniency is not None
    assert x.leniency.value == pytest.approx((0.5 + 2) / 2)  # 1 against (1, 0), 2 against (0, 0)
    assert (x.common_label, x.common_share) == (1, pytest.approx(2 / 3))


def test_against_gold_by_hand() -> None:
    quality = rt.judge_quality(BY_HAND, gold=GOLD)
    x, y, z = quality
    assert [(one.accuracy.value, one.against) for one in quality] == [(1.0, "gold"), (0.5, "gold"), (0.0, "gold")]
    assert (x.others_accuracy, y.others_accuracy, z.others_accuracy) == (0.25, 0.5, 0.75)
    assert z.confusion.counts.tolist() == [[0, 0, 0], [1, 0, 0], [1, 0, 0]]
    assert y.chance == pytest.approx(1 / 4)  # says 0 and 1 where gold has 1 and 2
    assert quality.accuracy.value == pytest.approx(0.5)
    assert quality.majority_accuracy is not None
    assert quality.majority_accuracy.value == 0.5
    assert (quality.labels, quality.items, quality.against) == (7, 3, "gold")


def test_a_judge_who_met_no_gold_item_is_held_against_the_consensus() -> None:
    table = {name: [*column, *more] for (name, column), more in
             zip(BY_HAND.items(), (["q"] * 2, ["c", "c"], ["v", "w"], [1, 1]), strict=True)}  # fmt: skip
    quality = rt.judge_quality(table, gold=GOLD)
    assert quality["v"].against == "consensus"
    assert quality["v"].gold_accuracy is not None
    assert [note.code for note in quality["v"].gold_accuracy.notes] == ["no-cases"]
    (note,) = [note for note in quality.notes if note.code == "judges-without-gold"]
    assert note.startswith("2 of 5")


def test_preferences_have_sides_and_no_leniency() -> None:
    table = {
        "query": ["q"] * 4, "left": ["a", "b", "a", "c"], "right": ["b", "a", "b", "d"],
        "judge": ["x", "y", "z", "x"], "winner": ["left", "right", "right", "tie"],
    }  # fmt: skip
    x, y, z = rt.judge_quality(table)
    assert (x.leniency, y.leniency) == (None, None)
    assert x.side_bias is not None
    assert (x.side_bias.left.value, x.side_bias.left.n) == (1.0, 1)
    assert [one.accuracy.value for one in (x, y, z)] == [0.5, 0.5, 0]  # a beats b by x and y, and z says otherwise


def test_every_answer_is_json_without_nan() -> None:
    table, gold = crowd(np.random.default_rng(1), queries=2, repeated=0.1)
    traps = pl.DataFrame(gold)[:3]
    found = plain(rt.judge_quality(table, gold=pl.DataFrame(gold)[3:8], traps=traps, repeats="all"))
    assert list(found) == ["judges", "overall", "notes", "note_codes"]
    assert {"judge", "labels", "accuracy", "confusion", "traps", "speed", "flags"} <= set(found["judges"][0])
    plain(rt.judge_quality(compared(np.random.default_rng(1), pairs=6)))
    plain(rt.judge_quality(BY_HAND))


def test_the_frame_has_a_row_for_each_judge() -> None:
    frame = rt.judge_quality(BY_HAND, gold=GOLD).frame
    assert frame["judge"].to_list() == ["x", "y", "z"]
    assert frame["accuracy"].to_list() == [1.0, 0.5, 0.0]


def test_a_judge_is_found_by_name_and_a_slip_is_pointed_out() -> None:
    quality = rt.judge_quality(BY_HAND | {"judge": ["ann", "bob", "cid", "ann", "bob", "cid", "ann"]})
    assert quality["bob"].judge == "bob"
    assert len(quality) == 3
    with pytest.raises(UsageError) as refused:
        quality["bbo"]
    assert refused.value.code == "unknown-judge"
    assert "'bob'?" in refused.value.text


rows = st.lists(
    st.tuples(st.sampled_from("pq"), st.sampled_from("abcd"), st.sampled_from("wxyz"), st.integers(0, 2)),
    min_size=4, max_size=40, unique_by=lambda row: row[:3],
).filter(lambda rows: len({row[:2] for row in rows}) < len(rows))  # fmt: skip


def table_of(rows: list[tuple[str, str, str, int]]) -> dict[str, Any]:
    return dict(zip(("query", "doc", "judge", "label"), map(list, zip(*rows, strict=True)), strict=True))


@examples(40)
@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing(rows: list[tuple[str, str, str, int]], random) -> None:
    mixed = random.sample(rows, len(rows))
    one, other = rt.judge_quality(table_of(rows)), rt.judge_quality(table_of(mixed))
    assert {each.judge for each in one} == {each.judge for each in other}
    for each in one:
        first, second = plain_report(each), plain_report(other[each.judge])
        assert first == pytest.approx(second, abs=1e-9)


def plain_report(one: rt.JudgeReport) -> dict[str, Any]:
    """Every number of a report, by the path to it."""
    found: dict[str, Any] = {}

    def walk(value: Any, path: str) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(inner, f"{path}.{key}")
        elif isinstance(value, list):
            for place, inner in enumerate(value):
                walk(inner, f"{path}[{place}]")
        elif isinstance(value, int | float):
            found[path] = value

    walk(one.as_dict(), "")
    return {path: value for path, value in found.items() if "common" not in path}  # of two as common, the first met


@examples(40)
@given(rows)
def test_other_names_of_the_judges_change_nothing_else(rows: list[tuple[str, str, str, int]]) -> None:
    renamed = [(query, doc, judge * 2, label) for query, doc, judge, label in rows]
    one, other = rt.judge_quality(table_of(rows)), rt.judge_quality(table_of(renamed))
    assert [plain_report(each) for each in one] == [plain_report(each) for each in other]


@given(rows)
def test_one_who_says_what_most_of_the_others_say_is_as_right_as_can_be(rows: list[tuple[str, str, str, int]]) -> None:
    said: dict[tuple[str, str], Counter[int]] = {}
    for query, doc, _, label in rows:
        said.setdefault((query, doc), Counter())[label] += 1
    copy = [(query, doc, "copy", votes.most_common(1)[0][0]) for (query, doc), votes in said.items()]
    tied = [sum(n == max(votes.values()) for n in votes.values()) for votes in said.values()]
    accuracy = rt.judge_quality(table_of([*rows, *copy]))["copy"].accuracy
    assert accuracy.value == pytest.approx(np.mean([1 / m for m in tied]))


@examples(40)
@given(rows)
def test_the_confusion_matrix_holds_the_labels_on_which_the_others_do_not_tie(
    rows: list[tuple[str, str, str, int]],
) -> None:
    for one in rt.judge_quality(table_of(rows)):
        votes = make_votes(table_of(rows))
        mine = np.array(votes.judges)[votes.judge] == one.judge
        settled = mine & (leave_one_out_consensus(votes).label >= 0)
        assert one.confusion.counts.sum() == settled.sum() <= one.accuracy.n
        assert np.trace(one.confusion.counts) == (leave_one_out_consensus(votes).credit[settled] == 1).sum()


def test_labels_of_everybody_the_same_are_no_trouble() -> None:
    table = {"item": list("aabb"), "judge": list("xyxy"), "label": [1, 1, 1, 1]}
    quality = rt.judge_quality(table)
    assert [one.accuracy.value for one in quality] == [1.0, 1.0]
    assert (quality.alpha, quality.flagged) == (None, ())
    assert "constant-labels" in [note.code for note in quality.notes]


def test_one_judge_alone_needs_gold_or_traps() -> None:
    alone = {"item": ["a", "b"], "judge": ["x", "x"], "label": [0, 1]}
    with pytest.raises(MismatchError) as refused:
        rt.judge_quality(alone)
    assert refused.value.code == "nothing-to-check"
    assert "one judge, 'x'," in refused.value.text
    assert refused.value.note.suggestions[0].arguments == {"gold": ...}
    quality = rt.judge_quality(alone, gold={"item": ["a"], "label": [0]})
    assert quality["x"].accuracy.value == 1
    assert [note.code for note in quality["x"].consensus_accuracy.notes] == ["no-cases"]
    assert "one-judge" in [note.code for note in quality.notes]
    assert rt.judge_quality(alone, traps={"item": ["a"], "label": [0]})["x"].traps is not None


def test_judges_who_share_nothing_need_gold_or_traps() -> None:
    with pytest.raises(MismatchError) as refused:
        rt.judge_quality({"item": ["a", "b"], "judge": ["x", "y"], "label": [0, 1]})
    assert refused.value.code == "nothing-to-check"
    assert "of the 2 judges" in refused.value.text


def test_a_judge_with_no_overlap_is_named() -> None:
    quality = rt.judge_quality({"item": ["a", "a", "b"], "judge": ["x", "y", "z"], "label": [0, 1, 1]})
    assert (quality["z"].against, quality["z"].accuracy.value) == (None, None)
    (note,) = [note for note in quality.notes if note.code == "unchecked-judges"]
    assert "labels of z " in note


def test_repeats_have_to_be_settled() -> None:
    twice = {"item": ["a", "a", "a"], "judge": ["x", "x", "y"], "label": [0, 1, 1]}
    with pytest.raises(DuplicateError) as refused:
        rt.judge_quality(twice)
    assert refused.value.code == "repeated-labels"
    assert [rt.judge_quality(twice, repeats=one)["x"].accuracy.value for one in ("first", "last", "all")] == [0, 1, 0.5]


def test_settings_and_labels_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UsageError) as refused_level:
        rt.judge_quality(BY_HAND, level=1)
    assert (refused_level.value.code, refused_level.value.parameter) == ("bad-level", "level")
    with pytest.raises(TableError) as refused:
        rt.judge_quality(BY_HAND, scale=[0, 1])
    assert refused.value.code == "labels-outside-scale"
    clipped = rt.judge_quality(BY_HAND, scale=[0, 1], outside="clip")
    assert "outside-scale-clipped" in [note.code for note in clipped.notes]


def test_progress_counts_the_labels() -> None:
    told: list[int] = []
    rt.judge_quality(BY_HAND, progress=told.append)
    assert sum(told) == 7


def test_the_answer_says_whom_to_look_at() -> None:
    table, _ = crowd(np.random.default_rng(2), accuracy=np.array([0.0, *[0.9] * 11]))
    assert str(rt.judge_quality(table)).endswith("; to look at: j0")


@pytest.mark.simulation
def test_intervals_of_accuracy_hold_as_often_as_they_say() -> None:
    # Queries differ in difficulty, and the truth is the judge's accuracy over all queries there might be.
    rng, held = np.random.default_rng(3), []
    for _ in range(250):
        hard = rng.normal(0, 0.1, 40)
        knows = rng.random((4, 40, 10)) < 0.7 + hard[:, None]
        truth = rng.integers(0, 2, (40, 10))
        label = np.where(knows, truth, 1 - truth)
        query, doc = (np.broadcast_to(one, (4, 40, 10)).ravel() for one in np.indices((40, 10)))
        table = {"query": query, "doc": doc, "judge": np.repeat(list("wxyz"), 400), "label": label.ravel()}
        gold = {"query": query[:400], "doc": doc[:400], "label": truth.ravel()}
        held += [one.accuracy.low <= 0.7 <= one.accuracy.high for one in rt.judge_quality(table, gold=gold)]  # type: ignore[operator]
    assert 0.92 <= np.mean(held) <= 0.98


@pytest.mark.slow
@pytest.mark.real
def test_the_crowd_of_rf10(data: Path) -> None:
    labels = rt.read_judgments(data / "rf10/labels.csv")
    gold = labels.frame.filter(pl.col("gold").cast(int, strict=False) >= 0)
    known = gold.select("query", "doc", label=pl.col("gold").cast(int)).unique()
    quality = rt.judge_quality(labels, gold=known, repeats="first")
    judged = labels.frame.filter(pl.col("label") >= 0).unique(
        ["query", "doc", "judge"], keep="first", maintain_order=True
    )
    right = judged.join(known, on=["query", "doc"])
    share = right.group_by("judge").agg((pl.col("label") == pl.col("label_right")).mean())
    for judge, accuracy in share.rows():
        assert quality[judge].accuracy.value == pytest.approx(accuracy)
    assert quality["w101"].common_share > 0.99
    assert {flag.kind for flag in quality["w101"].flags} == {"guessing", "one label", "lenient"}
    assert {flag.kind for flag in quality["w103"].flags} >= {"inconsistent"}
    assert 30 < len(quality.flagged) < 100


@pytest.mark.real
def test_leaving_out_the_flagged_judges_of_web5_never_hurts_the_majority_much(data: Path) -> None:
    labels = rt.read_judgments(data / "web5/label.csv", needs_query=False)
    gold = rt.read_judgments(data / "web5/truth.csv", needs_query=False)
    flagged = rt.judge_quality(labels, gold=gold).flagged
    effects = [one.flags[0].effect for one in flagged]
    gains = [(one.accuracy_without or 0) - (one.accuracy or 0) for one in effects]
    assert np.mean(gains) > 0
    assert min(gains) > -0.001


@pytest.mark.real
def test_workers_who_compare_models(data: Path) -> None:
    pairs = rt.read_preferences(data / "arena/llmfao.csv", columns={"query": "prompt"})
    quality = rt.judge_quality(pairs)
    assert len(quality) == 124
    assert "side bias" in {flag.kind for flag in quality["20"].flags}


@pytest.mark.parametrize("each", [3, 4, 5])
def test_a_guesser_among_good_judges_is_found_from_three_labels_an_item_on(each: int) -> None:
    table = guesser_among(np.random.default_rng(each), each=each)
    quality = rt.judge_quality(table)
    assert [one.judge for one in quality.flagged] == ["0"]
    guesser, good = quality["0"], quality["5"]
    assert guesser.accuracy.value + 0.1 < guesser.others_accuracy < 1
    assert abs(good.accuracy.value - good.others_accuracy) < 0.1


def test_two_labels_an_item_cannot_tell_who_is_wrong() -> None:
    quality = rt.judge_quality(guesser_among(np.random.default_rng(2), each=2))
    assert quality.flagged == ()
    (note,) = [note for note in quality.notes if note.code == "two-labels-per-item"]
    assert [reference.arguments for reference in note.suggestions] == [{"gold": ...}, {"traps": ...}]


def guesser_among(rng: np.random.Generator, *, each: int, items: int = 1_000) -> dict[str, object]:
    """Twelve judges who are right in four of five cases, but for the first, who guesses among three labels."""
    item = np.repeat(np.arange(items), each)
    judge = np.concatenate([rng.permutation(12)[:each] for _ in range(items)])
    truth = rng.integers(0, 3, items)[item]
    right = rng.random(len(item)) < np.where(judge == 0, 1 / 3, 0.8)
    return {"item": item, "worker": judge, "label": np.where(right, truth, (truth + rng.integers(1, 3, len(item))) % 3)}


item_rows = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz"), st.integers(0, 2)), min_size=2, max_size=30
)  # fmt: skip


@given(item_rows, st.lists(st.integers(-1, 2), min_size=4, max_size=4))
def test_it_is_what_counting_the_others_alone_gives(rows: list[tuple[str, str, int]], gold: list[int]) -> None:
    item, judge, label = zip(*rows, strict=True)
    votes = make_votes({"item": item, "judge": judge, "label": label}, scale=[0, 1, 2])
    known = np.array(gold[: votes.items.height])
    effect = LeaveOneOut(votes, known).effect_without(np.flatnonzero(votes.judge == 0))
    rest = LeaveOneOut(votes.keep(votes.judge != 0), known)
    before, after = majority(votes.counts()), majority(rest.counts)
    assert effect.alpha_without == (None if rest.alpha is None else pytest.approx(rest.alpha))
    assert effect.lost == ((before >= 0) & (after < 0)).sum()
    assert effect.changed == ((before != after) & (after >= 0)).sum()
    assert effect.accuracy_without == (pytest.approx(rest.n_right / rest.n_gold) if rest.n_gold else None)


def test_krippendorffs_alpha_by_hand() -> None:
    # Items (0, 0), (1, 1), (0, 1): n = 6, disagreement 2, expected 36 − 18 = 18: 1 − 5 · 2 / 18.
    table = {"item": list("aabbcc"), "judge": list("xyxyxy"), "label": [0, 0, 1, 1, 0, 1]}
    assert LeaveOneOut(make_votes(table), None).alpha == pytest.approx(1 - 10 / 18)


def test_the_effect_is_told_in_words() -> None:
    effect = Effect(
        items=9, changed=0, lost=1, alpha=-0.1, alpha_without=0.2, accuracy=0.5, accuracy_without=0.5, gold=4
    )
    assert len(str(effect).split(";")) == 4
    for part in ("1 item ", "−0.1000 to 0.2000", "50.00%"):
        assert part in str(effect)
    other = Effect(items=9, changed=2, lost=0, alpha=None, alpha_without=None, accuracy=0.5, accuracy_without=1, gold=4)
    assert len(str(other).split(";")) == 2
    for part in ("2 of 9 items", "4 gold items", "50.00% to 100.00%"):
        assert part in str(other)
