"""What judges disagree about, the biggest first, and what was decided."""

from __future__ import annotations

import pytest

from ringtrue.errors import NotFoundError, UsageError
from ringtrue.service.store import Store
from ringtrue.service.store.adjudication import (
    count_disagreements,
    get_disagreement,
    load_disagreements,
    load_verdicts,
    record_verdict,
)
from service.small_projects import NOW, begin, finish, judge, pairs_project, project, question, rows, say


def answer_by(store: Store, where, handle: str, answers: dict[str, str]) -> int:
    """A judge whose answer depends on the first document alone, whichever side it stands on."""
    who = judge(store, handle)
    task = begin(store, where, who, seed=len(handle) + ord(handle[0]))
    while (shown := question(store, task, who)) is not None:
        names = sorted([shown.left.name, *([shown.right.name] if shown.right else [])])
        said = answers[names[0]]
        if shown.right is not None and shown.left.name != names[0]:
            said = {"left": "right", "right": "left"}.get(said, said)
        say(store, who, shown, said)
    return who


def test_the_biggest_disagreement_comes_first_and_votes_have_no_names(store: Store) -> None:
    where = project(store, items=4, judges=3)
    answer_by(store, where, "ann", {"d0": "0", "d1": "1", "d2": "1", "d3": "2"})
    answer_by(store, where, "bob", {"d0": "2", "d1": "1", "d2": "1", "d3": "2"})
    answer_by(store, where, "cid", {"d0": "2", "d1": "0", "d2": "1", "d3": "2"})
    with store.read() as connection:
        found = load_disagreements(connection, where)
        assert count_disagreements(connection, where) == 2
        assert [one.item for one in load_disagreements(connection, where, limit=1, offset=1)] == [found[1].item]
    assert [(one.left.name, one.votes) for one in found] == [
        ("d0", (("0", 1), ("2", 2))), ("d1", (("0", 1), ("1", 2))),
    ]  # fmt: skip
    assert [round(one.spread, 4) for one in found] == [0.8889, 0.2222]


def test_of_pairs_it_does_not_matter_which_side_a_document_stood_on(store: Store) -> None:
    where = pairs_project(store, items=2, judges=4)
    same = {"d0": "left", "d1": "right"}
    for handle in ("ann", "bob", "cid"):
        answer_by(store, where, handle, same)
    with store.read() as connection:
        assert load_disagreements(connection, where) == []
    answer_by(store, where, "dot", {"d0": "left", "d1": "both_good"})
    with store.read() as connection:
        (one,) = load_disagreements(connection, where)
    assert (one.left.name, one.right.name, one.votes) == ("d1", "e1", (("right", 3), ("both_good", 1)))


def test_a_verdict_closes_the_case_and_the_last_one_counts(store: Store) -> None:
    where = project(store, items=1, judges=2)
    answer_by(store, where, "ann", {"d0": "0"})
    bob = answer_by(store, where, "bob", {"d0": "2"})
    with store.read() as connection:
        (one,) = load_disagreements(connection, where)
    for answer in ("1", "2"):
        store.write(lambda c, answer=answer: record_verdict(c, where, one.item, bob, answer, None, NOW + 5))
    with store.read() as connection:
        assert load_disagreements(connection, where) == []
        assert [again.verdict for again in load_disagreements(connection, where, open_only=False)] == ["2"]
        assert get_disagreement(connection, where, one.item).verdict == "2"
        told = load_verdicts(connection, where)
    assert [(each.answer, each.handle, each.doc, each.other) for each in told] == [
        ("2", "bob", "d0", None), ("1", "bob", "d0", None),
    ]  # fmt: skip


def test_a_verdict_is_an_answer_of_the_scale_on_an_item_of_the_project(store: Store) -> None:
    where, ann = project(store, items=1, known=1), judge(store)
    ((main,), (trap,)) = rows(store, "SELECT id FROM item ORDER BY id")
    with pytest.raises(UsageError) as refused:
        store.write(lambda c: record_verdict(c, where, main, ann, "7", None, NOW))
    assert refused.value.code == "unknown-answer"
    with pytest.raises(UsageError) as refused:
        store.write(lambda c: record_verdict(c, where, trap, ann, "1", None, NOW))
    assert refused.value.code == "item-is-trap"
    with pytest.raises(NotFoundError) as refused:
        store.write(lambda c: record_verdict(c, where, 999, ann, "1", None, NOW))
    assert refused.value.code == "no-such-item"


def test_an_item_that_all_see_alike_can_be_looked_at_too(store: Store) -> None:
    where, ann = project(store, items=1), judge(store)
    ((at,),) = rows(store, "SELECT id FROM item")
    with store.read() as connection:
        assert get_disagreement(connection, where, at).votes == ()
    finish(store, begin(store, where, ann), ann, "2")
    with store.read() as connection:
        found = get_disagreement(connection, where, at)
    assert (found.votes, found.spread, found.verdict, found.right) == ((("2", 1),), 0.0, None, None)
