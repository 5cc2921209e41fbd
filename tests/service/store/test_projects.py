from __future__ import annotations

import numpy as np
import pytest

from ringtrue.errors import ConflictError, NotFoundError, UsageError
from ringtrue.service.store import PREFERENCE, Label, Scale, Settings, Store
from ringtrue.service.store.items import add_documents, add_items, add_queries, request_votes
from ringtrue.service.store.projects import (
    change_project,
    create_project,
    delete_project,
    get_project_by_id,
    get_project_by_name,
    load_projects,
)
from ringtrue.service.store.records import Project
from ringtrue.service.store.tasks import release_all_expired
from service.small_projects import GRADED, NOW, begin, finish, judge, pairs_project, project, rows, settings

RNG = np.random.default_rng


def _ask(store: Store, where: Project, *pairs: tuple[str, str]) -> None:
    asked = [{"query": "q0", "doc": one, "other": other} for one, other in pairs]
    store.write(lambda c: request_votes(c, where, asked, rng=RNG(1)))


def test_a_project_comes_back_as_it_was_made(store: Store) -> None:
    made = project(store)
    with store.read() as connection:
        assert get_project_by_name(connection, "small") == get_project_by_id(connection, made.id) == made
        assert load_projects(connection) == [made]
        for missing in (lambda: get_project_by_name(connection, "none"), lambda: get_project_by_id(connection, 99)):
            with pytest.raises(NotFoundError) as refused:
                missing()
            assert refused.value.code == "no-such-project"


def test_two_projects_cannot_have_one_name(store: Store) -> None:
    project(store)
    with pytest.raises(ConflictError) as refused:
        project(store)
    assert refused.value.code == "project-name-taken"


@pytest.mark.parametrize("name", ["", "Small", "a b", "-a", "a/b", "x" * 64])
def test_names_that_an_address_cannot_hold_are_refused(store: Store, name: str) -> None:
    with pytest.raises(UsageError) as refused:
        store.write(lambda c: create_project(c, name=name, title="A", scale=GRADED, settings=settings(), now=NOW))
    assert refused.value.code == "bad-project-name"


def test_documents_and_queries_are_brought_up_to_date_and_not_doubled(store: Store) -> None:
    where = project(store)
    for text in ("one", "two"):
        store.write(lambda c, text=text: add_documents(c, where.id, [{"name": "d0", "text": text}]))
        store.write(lambda c, text=text: add_queries(c, where.id, [{"name": "q0", "text": text}]))
    assert rows(store, "SELECT text FROM document WHERE name = 'd0'") == [("two",)]
    assert rows(store, "SELECT text FROM query WHERE name = 'q0'") == [("two",)]
    assert rows(store, "SELECT COUNT(*) FROM document") == [(4,)]


def test_a_document_named_twice_in_one_file_is_taken_once(store: Store) -> None:
    where = project(store)
    twice = [{"name": "x", "text": "one"}, {"name": "x", "text": "two"}]
    store.write(lambda c: add_documents(c, where.id, twice))
    assert rows(store, "SELECT text FROM document WHERE name = 'x'") == [("two",)]


def test_an_item_that_is_there_keeps_its_answers(store: Store) -> None:
    where, ann = project(store), judge(store)
    finish(store, begin(store, where, ann), ann)
    again = [{"query": "q0", "doc": name} for name in ("d0", "d1", "new", "new")]
    assert store.write(lambda c: add_items(c, where, again, queue="main", wanted=1, rng=RNG(2))) == 1
    assert rows(store, "SELECT COUNT(*), SUM(given) FROM item") == [(5, 4)]


def test_a_pair_is_the_same_either_way_round_and_so_is_its_known_winner(store: Store) -> None:
    where = pairs_project(store, items=1)
    turned = [{"query": "q0", "doc": "e0", "other": "d0"}]
    assert store.write(lambda c: add_items(c, where, turned, queue="main", wanted=1, rng=RNG(2))) == 0
    trap = [{"query": "q0", "doc": "z", "other": "a", "expected": "left"}]
    store.write(lambda c: add_items(c, where, trap, queue="trap", wanted=None, rng=RNG(2)))
    known = """SELECT d.name, o.name, expected FROM item i JOIN document d ON d.id = i.doc
               JOIN document o ON o.id = i.other WHERE queue = 'trap'"""
    assert rows(store, known) == [("a", "z", "right")]


def test_items_that_do_not_fit_the_scale_are_refused(store: Store) -> None:
    where = project(store)
    for row, code in (
        ({"query": "q", "doc": "a", "other": "b"}, "documents-per-item"),
        ({"query": "q", "doc": "a", "expected": "7"}, "unknown-answer"),
    ):
        with pytest.raises(UsageError) as refused:
            store.write(lambda c, row=row: add_items(c, where, [row], queue="trap", wanted=None, rng=RNG(1)))
        assert refused.value.code == code


def test_a_pair_of_one_document_is_refused(store: Store) -> None:
    where = pairs_project(store)
    with pytest.raises(UsageError) as refused:
        _ask(store, where, ("a", "a"))
    assert refused.value.code == "self-comparison"
    with pytest.raises(UsageError) as refused:
        store.write(lambda c: add_items(c, where, [{"query": "q", "doc": "a"}], queue="main", wanted=1, rng=RNG(1)))
    assert refused.value.code == "documents-per-item"


def test_a_pair_that_is_asked_again_wants_one_judge_more(store: Store) -> None:
    where = pairs_project(store, items=1)
    _ask(store, where, ("e0", "d0"), ("a", "b"))
    assert sorted(rows(store, "SELECT wanted FROM item")) == [(1,), (2,)]


def test_a_new_number_of_judges_takes_no_answer_away(store: Store) -> None:
    where = project(store, items=8, judges=2)
    for name in ("ann", "ben"):
        who = judge(store, name)
        finish(store, begin(store, where, who), who)
    for judges, wanted in ((3, [(3, 8)]), (1, [(1, 4), (2, 4)])):
        changed = settings(judges=judges)
        store.write(lambda c, changed=changed: change_project(c, where.id, settings=changed))
        assert rows(store, "SELECT wanted, COUNT(*) FROM item GROUP BY wanted ORDER BY wanted") == wanted


def test_with_fewer_judges_what_is_given_back_is_not_asked_again(store: Store) -> None:
    where = project(store, items=2, judges=2, lease_minutes=1)
    for name in ("ann", "ben"):
        begin(store, where, judge(store, name))
    store.write(lambda c: change_project(c, where.id, settings=settings(judges=1, lease_minutes=1)))
    assert rows(store, "SELECT DISTINCT wanted FROM item") == [(2,)]
    store.write(lambda c: release_all_expired(c, NOW + 1_000))
    assert rows(store, "SELECT DISTINCT wanted, given FROM item") == [(1, 0)]


def test_numbers_are_never_used_again(store: Store) -> None:
    where = project(store)
    store.write(lambda c: delete_project(c, where.id))
    assert project(store).id > where.id


def test_title_and_guidelines_change_alone(store: Store) -> None:
    where = project(store)
    store.write(lambda c: change_project(c, where.id, title="  ", guidelines="Read it all."))
    with store.read() as connection:
        changed = get_project_by_name(connection, "small")
    assert (changed.title, changed.guidelines, changed.settings) == ("small", "Read it all.", where.settings)
    with pytest.raises(UsageError) as refused:
        store.write(lambda c: change_project(c, where.id, settings=settings(active=True)))
    assert refused.value.code == "active-is-fixed"


def test_deleting_a_project_leaves_nothing_of_it(store: Store) -> None:
    where, ann = project(store), judge(store)
    finish(store, begin(store, where, ann), ann)
    store.write(lambda c: delete_project(c, where.id))
    for table in ("project", "query", "document", "item", "task", "assignment", "judgment"):
        assert rows(store, f"SELECT COUNT(*) FROM {table}") == [(0,)]
    assert rows(store, "SELECT COUNT(*) FROM account") == [(1,)]


def test_only_pairs_can_be_chosen_as_votes_arrive(store: Store) -> None:
    with pytest.raises(UsageError) as refused:
        project(store, active=True)
    assert refused.value.code == "active-needs-pairs"


@pytest.mark.parametrize(
    ("changes", "limits"),
    [
        ({"judges": 0}, "1 to"), ({"task_size": 0}, "1 to"), ({"traps": 20}, "0 to 19"),
        ({"traps_needed": 6}, "0 to 5"), ({"minutes": 0}, "1 to"),
        ({"completion_unsure": 1.5}, "0 to 1"), ({"failed_traps": "pay"}, "set_aside"),
        ({"judges": True}, "1 to"),
    ],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(changes: dict[str, object], limits: str) -> None:
    with pytest.raises(UsageError) as refused:
        Settings(**changes)  # type: ignore[arg-type]
    assert (refused.value.code, refused.value.parameter) == ("bad-setting", next(iter(changes)))
    assert limits in refused.value.text


def test_scales_and_settings_come_back_from_the_database_as_they_were() -> None:
    for scale in (GRADED, PREFERENCE):
        assert Scale.from_json(scale.to_json()) == scale
    assert Settings.from_json(Settings(minutes=None).to_json()) == Settings(minutes=None)
    assert Settings.from_json('{"judges": 2, "of_a_newer_version": 1}') == Settings(judges=2)


def test_words_are_marked_in_a_project_that_was_made_so_and_not_in_a_new_one() -> None:
    assert not Settings().highlight
    assert Settings.from_json('{"judges": 2, "highlight": true}').highlight


@pytest.mark.parametrize(
    ("labels", "code"),
    [
        ((("0", "No"),), "short-scale"), ((("0", "No"), ("0", "Yes")), "repeated-scale-value"),
        ((("0", "No"), ("-1", "Yes")), "bad-scale-label"), ((("0", "No"), ("1", " ")), "unnamed-answer"),
    ],
)  # fmt: skip
def test_scales_that_make_no_sense_are_refused(labels: tuple[tuple[str, str], ...], code: str) -> None:
    with pytest.raises(UsageError) as refused:
        Scale(kind="graded", labels=tuple(Label(value=value, name=name) for value, name in labels))
    assert refused.value.code == code
