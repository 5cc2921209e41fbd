"""How good the judges are, as far as can be told while they work."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import text

from ringtrue.cli import main
from ringtrue.service.collect.export import export_project
from ringtrue.service.collect.gold_queue import draw_gold
from ringtrue.service.collect.quality import assess_quality
from ringtrue.service.store import PREFERENCE, Scale, Store
from ringtrue.service.store.answers import set_aside_task, undo_last_answer
from ringtrue.service.store.progress import load_failed_tasks, load_judge_progress
from ringtrue.service.store.records import TaskState
from ringtrue.service.store.tasks import load_open_questions, release_all_expired
from service.collect.worlds import account, given, graded, judge_all, pairs, right, rng, truth
from service.small_projects import GRADED, NOW, begin, finish, judge, project, rows, say

STORED = "SELECT a.handle, t.passed, t.traps FROM task t JOIN account a ON a.id = t.account"
TRAPS = given("t.csv", "query,doc,label\n" + "".join(f"q{q},x{d},2\n" for q in range(3) for d in range(1, 5)))


def test_nobody_has_answered_yet(store: Store) -> None:
    found = assess_quality(store, graded(store).project)
    assert (found.labels, found.agreement, found.judges) == (0, None, None)
    assert found.agreement_note.code == found.judges_note.code == "nothing-collected"


def test_one_judge_alone_has_a_sentence_instead_of_a_number(store: Store) -> None:
    project = graded(store).project
    judge_all(store, project, account(store, "ann"))
    found = assess_quality(store, project)
    assert (found.labels, found.agreement) == (48, None)
    assert found.agreement_note.code == "one-judge"
    assert found.judges["ann"].accuracy.value is None


def test_one_judge_alone_who_is_too_fast_is_flagged(store: Store) -> None:
    project = graded(store).project
    judge_all(store, project, account(store, "ann"), seconds=0.14)
    (flagged,) = assess_quality(store, project).judges.flagged
    assert [flag.kind for flag in flagged.flags] == ["too fast"]


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


def test_traps_alone_can_be_told_about_before_judges_meet(store: Store) -> None:
    project = graded(store, judges=1, known=TRAPS, traps=4, traps_needed=3, task_size=20).project
    judge_all(store, project, account(store, "ann"), {f"x{d}": "2" for d in range(1, 5)}, tasks=1)
    found = assess_quality(store, project)
    assert found.agreement is None
    assert found.judges["ann"].traps.passed == 4


def _answer(store: Store, task: TaskState, who: int, *, traps: Sequence[str], others: int) -> None:
    """Answer the first traps of a task so (undo: as if not), and some of the other questions with 1."""
    is_trap = dict(rows(store, "SELECT a.id, i.queue = 'trap' FROM assignment a JOIN item i ON i.id = a.item"))
    said, asked = list(traps), 0
    with store.read() as connection:
        questions = load_open_questions(connection, task.id, who)
    for shown in questions:
        if not is_trap[shown.assignment]:
            asked += 1
            if asked <= others:
                say(store, who, shown, "left" if shown.right else "1")
        elif said:
            answer = said.pop(0)
            if answer in ("unsure", "skip"):
                say(store, who, shown, kind=answer)
                continue
            trap = shown.left.name.startswith("t")  # of a pair, the one that wins
            best, worst = ("left", "right")[:: 1 if trap else -1] if shown.right else ("2", "0")
            say(store, who, shown, worst if answer == "wrong" else best)
            if answer == "undo":
                store.write(lambda c: undo_last_answer(c, who, task.id, now=NOW + 2))


@pytest.mark.parametrize("scale", [GRADED, PREFERENCE])
def test_traps_are_counted_alike_wherever_they_are_told(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], scale: Scale
) -> None:
    where = project(store, items=15, known=5, scale=scale, task_size=20, traps=5, traps_needed=4, judges=9)
    people = {name: judge(store, name) for name in ("expired", "skips", "aside", "open", "good")}
    said = {
        "expired": (("right", "wrong", "unsure"), 4),  # the rest of the task ran out
        "skips": (("right", "skip", "skip", "unsure", "right"), 15),
        "aside": (("wrong", "wrong", "right", "wrong", "skip"), 15),
        "open": (("wrong", "undo"), 2),
        "good": (("right",) * 5, 15),
    }
    expected = {"expired": (1, 3), "skips": (2, 5), "aside": (1, 5), "open": (0, 1), "good": (5, 5)}
    tasks = {}
    for name, (traps, others) in said.items():
        tasks[name] = begin(store, where, people[name])
        _answer(store, tasks[name], people[name], traps=traps, others=others)
    for name in ("skips", "aside", "good"):
        finish(store, tasks[name], people[name])
    store.write(lambda c: c.execute(text("UPDATE task SET leased = 1 WHERE id = :id"), {"id": tasks["expired"].id}))
    store.write(lambda c: release_all_expired(c, NOW))
    for name in ("aside", "expired"):
        store.write(lambda c, name=name: set_aside_task(c, tasks[name].id, now=NOW + 9))

    with store.read() as connection:
        progress = {one.handle: (one.passed, one.traps) for one in load_judge_progress(connection, where)}
        failed = {one.handle: (one.passed, one.traps) for one in load_failed_tasks(connection, where)}
    quality = assess_quality(store, where, resamples=0).judges
    answers, known = (export_project(store, where, key, tmp_path).path for key in ("answers", "traps"))
    with suppress(SystemExit):
        main(["judges", str(answers), "--traps", str(known), "--accept", "4/5", "--json"])
    printed = json.loads(capsys.readouterr().out)["judges"]
    assert progress == expected
    assert {one.judge: (one.traps.passed, one.traps.n) for one in quality} == expected
    assert {one["judge"]: (one["traps"]["passed"], one["traps"]["n"]) for one in printed} == expected
    assert failed == {name: expected[name] for name in ("expired", "skips", "aside")}  # of tasks that are closed
    stored = {handle: (passed, traps) for handle, passed, traps in rows(store, STORED) if traps is not None}
    assert stored == {name: count for name, count in expected.items() if name != "open"}


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
