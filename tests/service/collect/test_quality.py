"""How good the judges are, as far as can be told while they work."""

from __future__ import annotations

from ringtrue.service.collect.gold_queue import draw_gold
from ringtrue.service.collect.quality import assess_quality
from ringtrue.service.store import Store
from service.collect.worlds import NOW, account, given, graded, judge_all, pairs, right, rng, truth

TRAPS = given("t.csv", "query,doc,label\n" + "".join(f"q{q},x{d},2\n" for q in range(3) for d in range(1, 5)))


def test_nobody_has_answered_yet(store: Store) -> None:
    found = assess_quality(store, graded(store).project)
    assert (found.labels, found.agreement, found.judges) == (0, None, None)
    assert found.agreement_note == found.judges_note == "nobody has answered yet"


def test_one_judge_alone_has_a_sentence_instead_of_a_number(store: Store) -> None:
    project = graded(store).project
    judge_all(store, project, account(store, "ann"))
    found = assess_quality(store, project)
    assert (found.labels, found.agreement, found.judges) == (48, None, None)
    assert found.agreement_note == "all answers are by one judge so far: agreement needs two"
    assert found.judges_note
    assert "--" not in found.judges_note


def test_two_judges_agree_so_far_and_a_bad_one_fails_the_traps(store: Store) -> None:
    project = graded(store, judges=3, known=TRAPS, traps=4, traps_needed=3, task_size=20).project
    good = {f"x{d}": "2" for d in range(1, 5)}
    judge_all(store, project, account(store, "ann"), good)
    judge_all(store, project, account(store, "bob"), good)
    judge_all(store, project, account(store, "eve"), lambda shown: "0")
    found = assess_quality(store, project, resamples=50, rng=rng())
    assert found.agreement is not None
    assert (found.agreement_note, found.judges_note) == (None, None)
    assert found.agreement.votes == found.labels == 3 * 48
    traps = {one.judge: one.traps for one in found.judges}
    assert traps["ann"].passed == traps["ann"].n == 12
    assert (traps["eve"].passed, traps["eve"].accepted) == (0, 0)
    assert found.judges.flagged[0].judge == "eve"
    assert "traps" in {flag.kind for flag in found.judges["eve"].flags}
    assert not any("--" in note for note in found.notes)


def test_traps_alone_can_be_told_about_before_judges_meet(store: Store) -> None:
    project = graded(store, judges=1, known=TRAPS, traps=4, traps_needed=3, task_size=20).project
    judge_all(store, project, account(store, "ann"), {f"x{d}": "2" for d in range(1, 5)}, tasks=1)
    found = assess_quality(store, project)
    assert found.agreement is None
    assert found.judges["ann"].traps.passed == 4


def test_gold_labels_are_known_answers(store: Store) -> None:
    project = graded(store, judges=2).project
    judge_all(store, project, account(store, "ann"))
    judge_all(store, project, account(store, "bob"), lambda shown: "1")
    draw_gold(store, project, measures=["P@5"], budget=20, now=NOW, rng=rng())
    judge_all(store, project, account(store, "expert"), right, queue="gold")
    found = assess_quality(store, project, resamples=0)
    assert {one.judge: one.against for one in found.judges} == {"ann": "gold", "bob": "gold"}
    assert found.judges["ann"].gold_accuracy.value == 1.0
    assert found.judges["bob"].gold_accuracy.value < 1.0


def test_pairs_have_traps_and_sides(store: Store) -> None:
    known = given("t.csv", "query,left,right,winner\n" + "".join(f"q{q},x2,x1,right\n" for q in range(6)))
    project = pairs(store, judges=2, known=known, traps=2, traps_needed=1, task_size=20).project

    def well(shown):
        names = [shown.left.name, shown.right.name]
        return ("left", "right")[names.index("x1")] if "x1" in names else right(shown)

    judge_all(store, project, account(store, "ann"), well)
    judge_all(store, project, account(store, "bob"), lambda shown: "left")
    found = assess_quality(store, project, resamples=50, rng=rng())
    assert found.agreement is not None
    assert found.agreement.transitivity is not None
    assert found.judges["ann"].traps.passed == found.judges["ann"].traps.n > 0
    assert found.judges["bob"].side_bias.left.value == 1.0
    assert truth("q1", "d1") in (0, 1, 2)
