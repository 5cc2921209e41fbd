"""Who is flagged, and who is not."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest

import ringtrue as rt
from judges.quality.worlds import compared, crowd
from ringtrue.judges.quality import flags


def kinds(quality: rt.JudgeQuality, judge: str) -> set[str]:
    return {flag.kind for flag in quality[judge].flags}


def changed(table: dict[str, Any], judge: str, column: str, to: Any) -> pl.DataFrame:
    """The table with another value in the rows of one judge."""
    mine = pl.col("judge") == judge
    return pl.DataFrame(table).with_columns(pl.when(mine).then(to).otherwise(pl.col(column)).alias(column))


def test_in_a_good_crowd_nobody_is_flagged() -> None:
    table, gold = crowd(np.random.default_rng(1))
    assert rt.judge_quality(table, gold=gold).flagged == ()
    assert rt.judge_quality(table).flagged == ()


@pytest.mark.parametrize("with_gold", [True, False])
def test_one_who_guesses_is_found(with_gold: bool) -> None:
    table, gold = crowd(np.random.default_rng(2), accuracy=np.array([0.0, *[0.8] * 11]))
    quality = rt.judge_quality(table, gold=gold if with_gold else None)
    assert [one.judge for one in quality.flagged] == ["j0"]
    assert kinds(quality, "j0") == {"guessing"}
    reason = quality["j0"].flags[0].reason
    assert ("(against gold)" if with_gold else "(against the consensus of the others)") in reason
    assert "shuffled," in reason


def test_one_who_is_worse_but_better_than_guessing_is_told_apart() -> None:
    table, gold = crowd(np.random.default_rng(3), accuracy=np.array([0.4, *[0.9] * 11]), documents=20)
    assert kinds(rt.judge_quality(table, gold=gold), "j0") == {"worse"}


def test_a_difference_that_is_clear_but_small_is_no_reason_to_look() -> None:
    table, gold = crowd(np.random.default_rng(4), accuracy=np.array([0.72, *[0.8] * 11]), documents=400)
    quality = rt.judge_quality(table, gold=gold)
    assert (quality["j0"].accuracy.high or 1) < (quality["j0"].others_accuracy or 0)
    assert quality.flagged == ()


def test_little_gold_does_not_hide_what_the_consensus_shows() -> None:
    table, gold = crowd(np.random.default_rng(5), accuracy=np.array([0.0, *[0.8] * 11]))
    quality = rt.judge_quality(table, gold=pl.DataFrame(gold)[:3])
    assert kinds(quality, "j0") == {"guessing"}


def test_one_judge_alone_who_guesses_is_found_by_gold() -> None:
    rng = np.random.default_rng(6)
    items, truth = list(range(400)), rng.integers(0, 2, 400)
    alone = {"item": items, "judge": ["x"] * 400, "label": rng.integers(0, 2, 400)}
    assert kinds(rt.judge_quality(alone, gold={"item": items, "label": truth}), "x") == {"guessing"}
    good = alone | {"label": np.where(rng.random(400) < 0.8, truth, 1 - truth)}
    assert rt.judge_quality(good, gold={"item": items, "label": truth}).flagged == ()


def test_one_who_always_says_the_same_is_found() -> None:
    table, _ = crowd(np.random.default_rng(7))
    quality = rt.judge_quality(changed(table, "j3", "label", 1))
    assert kinds(quality, "j3") >= {"one label", "guessing"}
    assert " 1 in 100% " in next(flag.reason for flag in quality["j3"].flags if flag.kind == "one label")


def test_where_one_label_is_right_nearly_always_saying_it_is_no_fault() -> None:
    table, _ = crowd(np.random.default_rng(8))
    rare = pl.DataFrame(table).with_columns(label=(pl.int_range(pl.len()) % 50 == 0).cast(int))
    assert rt.judge_quality(changed(rare.to_dict(), "j3", "label", 0)).flagged == ()


@pytest.mark.parametrize(("shift", "kind"), [(1, "lenient"), (-1, "strict")])
def test_one_whose_labels_lie_off_the_others_is_found(shift: int, kind: str) -> None:
    table, _ = crowd(np.random.default_rng(9))
    quality = rt.judge_quality(changed(table, "j5", "label", (pl.col("label") + shift).clip(0, 2)))
    assert kind in kinds(quality, "j5")
    assert [one.judge for one in quality.flagged] == ["j5"]


def test_one_who_fails_traps_is_found() -> None:
    table, gold = crowd(np.random.default_rng(10), accuracy=0.9)
    traps = pl.DataFrame(gold)[:40]
    wrong = changed(table, "j2", "label", (pl.col("label") + 1) % 3)
    quality = rt.judge_quality(wrong, traps=traps, accept=(4, 5))
    assert "traps" in kinds(quality, "j2")
    assert [one.judge for one in quality.flagged] == ["j2"]


def test_one_who_fails_traps_that_nobody_else_met_is_held_against_the_rule() -> None:
    alone = {"item": list(range(30)), "judge": ["x"] * 30, "label": [0] * 30}
    known = {"item": list(range(30)), "label": [1] * 27 + [0] * 3}
    quality = rt.judge_quality(alone, traps=known)
    assert kinds(quality, "x") == {"traps"}
    assert "3 of 30 traps" in quality["x"].flags[0].reason


def test_one_who_is_too_fast_is_found() -> None:
    table, _ = crowd(np.random.default_rng(11))
    quality = rt.judge_quality(changed(table, "j1", "seconds", pl.col("seconds") / 10))
    assert {one.judge: kinds(quality, one.judge) for one in quality.flagged} == {"j1": {"too fast"}}


def speeds(*medians: float, labels: int = 20, column: str = "seconds") -> pl.DataFrame:
    """Labels of judges who take so long for each of their items, give or take a tenth."""
    rng = np.random.default_rng(5)
    took = [[median * factor for factor in rng.uniform(0.9, 1.1, labels)] for median in medians]
    return pl.DataFrame(
        {
            "item": [f"d{at}" for _ in medians for at in range(labels)],
            "judge": [f"j{at}" for at in range(len(medians)) for _ in range(labels)],
            "label": rng.integers(0, 2, labels * len(medians)),
            column: [seconds if column == "seconds" else total
                     for times in took for seconds, total in zip(times, np.cumsum(times), strict=True)],
        }
    )  # fmt: skip


def test_a_judge_alone_who_takes_a_seventh_of_a_second_is_found() -> None:
    quality = rt.judge_quality(speeds(0.14))
    assert kinds(quality, "j0") == {"too fast"}
    reason = quality["j0"].flags[0].reason
    assert reason.startswith("0.139 seconds")
    assert "(median of 20)" in reason
    assert reason.endswith(" 0.5")


def test_judges_who_are_all_too_fast_are_all_found() -> None:
    flagged = rt.judge_quality(speeds(0.2, 0.3, 0.4)).flagged
    assert {one.judge for one in flagged} == {"j0", "j1", "j2"}


@pytest.mark.parametrize(
    ("times", "flagged"),
    [
        (speeds(0.6), []),  # a quick look, and no less
        (speeds(0.14, labels=3), []),  # three labels are too few to tell
        (speeds(0.14, 0.6, column="time"), []),  # stamps: several labels may have been sent at once
        (speeds(5.0, 6.0, 0.1), ["j2"]),
        (speeds(5.0, 6.0, 1.0), ["j2"]),  # slower than half a second, and far faster than the others
    ],
)
def test_who_is_not_too_fast_by_half_a_second_is_held_against_the_others(
    times: pl.DataFrame, flagged: list[str]
) -> None:
    assert [one.judge for one in rt.judge_quality(times).flagged] == flagged


def test_one_who_prefers_a_side_is_found() -> None:
    table = compared(np.random.default_rng(12), left=np.array([0.9, *[0.0] * 11]))
    quality = rt.judge_quality(table)
    assert "side bias" in kinds(quality, "j0")
    assert all("side bias" not in kinds(quality, f"j{other}") for other in range(1, 12))


def test_a_side_that_is_truly_better_is_no_bias() -> None:
    rng = np.random.default_rng(13)
    pair, judge = (one.ravel().astype(str) for one in np.indices((200, 8)))
    table = {"left": np.char.add("a", pair), "right": np.char.add("b", pair), "judge": judge}
    quality = rt.judge_quality(table | {"winner": np.where(rng.random(1600) < 0.85, "left", "right")})
    assert all(one.side_bias is not None and (one.side_bias.p_value or 0) < 1e-9 for one in quality)
    assert quality.flagged == ()


def test_one_who_tires_is_found() -> None:
    table, gold = crowd(np.random.default_rng(14), accuracy=0.9, documents=20)
    late = pl.col("time") > pl.col("time").median().over("judge")
    tired = changed(table, "j4", "label", pl.when(late).then((pl.col("label") + 1) % 3).otherwise(pl.col("label")))
    quality = rt.judge_quality(tired, gold=gold)
    assert "drift" in kinds(quality, "j4")
    drift = quality["j4"].drift
    assert drift is not None
    assert (drift.change.value or 0) < -0.4
    assert all("drift" not in kinds(quality, f"j{other}") for other in range(12) if other != 4)


def test_one_who_answers_otherwise_when_asked_again_is_found() -> None:
    table, _ = crowd(np.random.default_rng(15), accuracy=0.95, repeated=0.5)
    mixed = changed(table, "j6", "label", pl.Series(np.random.default_rng(0).integers(0, 3, len(table["label"]))))
    quality = rt.judge_quality(mixed, repeats="first")
    assert "inconsistent" in kinds(quality, "j6")
    assert [one.judge for one in quality.flagged] == ["j6"]


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("material", "worlds"),
    [
        pytest.param(True, 54, id="as they are"),
        pytest.param(True, 120, id="as they are, more of them", marks=pytest.mark.study),
        pytest.param(False, 120, id="tests alone, whatever matters", marks=pytest.mark.study),
    ],
)
def test_in_at_most_5_of_100_equally_good_crowds_anybody_is_flagged_of_a_kind(
    material: bool, worlds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not material:
        for name, value in {
            "MIN_DIFFERENCE": -9,
            "MIN_COMMON_SHARE": 0,
            "MAX_RARE_RATIO": 1e9,
            "MIN_LENIENCY": 0,
        }.items():
            monkeypatch.setattr(flags, name, value)
    rng, found = np.random.default_rng(16), Counter[str]()
    for world in range(worlds):
        table, gold = crowd(rng, judges=[8, 30, 120][world % 3], votes=[3, 5, 7][world // 3 % 3], repeated=0.1)
        traps, known = pl.DataFrame(gold)[:40], pl.DataFrame(gold)[40:]
        quality = rt.judge_quality(
            table, gold=known if world % 2 else None, traps=traps, accept=(4, 5), repeats="first"
        )  # fmt: skip
        found.update({flag.kind for one in quality for flag in one.flags})
        pairs = rt.judge_quality(compared(rng, judges=[8, 30, 120][world % 3]))
        found.update({f"{flag.kind} of pairs" for one in pairs for flag in one.flags})
    assert max(found.values(), default=0) / worlds <= 0.05


def test_labels_that_are_repeated_ten_times_are_no_more_evidence() -> None:
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 3, 40)
    rows = [(f"d{item}", f"w{judge}", int(label))
            for judge in range(8)
            for item, label in enumerate(np.where(rng.random(40) < 0.7, truth, rng.integers(0, 3, 40)))]  # fmt: skip
    table = {
        name: [*column] * 10 for name, column in zip(("doc", "judge", "label"), zip(*rows, strict=True), strict=True)
    }
    often, once = (rt.judge_quality(table, repeats=repeats) for repeats in ("all", "last"))
    assert [one.flags for one in often] == [one.flags for one in once]
    assert often.labels == 10 * once.labels


def test_where_flags_count_the_last_labels_alone_a_note_says_so() -> None:
    rng = np.random.default_rng(4)
    rows = [(f"d{item}", f"w{judge}", item % 2 if rng.random() < (0.95 if judge else 0.1) else rng.integers(2))
            for item in range(60) for judge in range(4) for _ in range(2)]  # fmt: skip
    columns = zip(("doc", "judge", "label"), zip(*rows, strict=True), strict=True)
    quality = rt.judge_quality({name: list(column) for name, column in columns}, repeats="all")
    assert [one.judge for one in quality.flagged] == ["w0"]
    assert "flags-count-last" in [note.code for note in quality.notes]
    once = {"doc": [*"aab"], "judge": [*"xyx"], "label": [1, 1, 0]}
    assert "flags-count-last" not in [note.code for note in rt.judge_quality(once, repeats="all").notes]


def test_a_single_judge_of_pairs_can_have_a_side() -> None:
    table = {"left": [f"a{n}" for n in range(60)], "right": [f"b{n}" for n in range(60)], "judge": ["model"] * 60,
             "winner": ["left"] * 55 + ["right"] * 5}  # fmt: skip
    (flag,) = rt.judge_quality(table)["model"].flags
    assert flag.kind == "side bias"
    assert flag.reason.startswith("left wins")
    assert "92% of 60" in flag.reason


def test_how_often_somebody_is_asked_again_makes_nobody_inconsistent() -> None:
    rng = np.random.default_rng(6)
    rows = [(f"d{item}", f"w{judge}", int(rng.random() < 0.9))
            for judge in range(6) for item in range(60) for _ in range(6 if judge == 0 else 2)]  # fmt: skip
    columns = zip(("doc", "judge", "label"), zip(*rows, strict=True), strict=True)
    found = rt.judge_quality({name: [*column] for name, column in columns}, repeats="last")
    assert not [flag for one in found for flag in one.flags if flag.kind == "inconsistent"]
