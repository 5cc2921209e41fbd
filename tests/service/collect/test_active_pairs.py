"""Active preferences: the next pairs come as votes arrive, and only one chooses at a time."""

from __future__ import annotations

import threading

from ringtrue.service.collect.active_pairs import LOCK_SECONDS, refill_pairs
from ringtrue.service.store import Store
from ringtrue.service.store.items import acquire_lock, load_queue_capacity, release_lock
from ringtrue.service.store.label_queries import load_preferences
from ringtrue.service.store.projects import close_project, get_project_by_id
from ringtrue.service.store.records import Project
from service.collect.worlds import NOW, account, given, judge_all, pairs, rng
from service.small_projects import rows


def active(store: Store, **changes) -> Project:
    return pairs(store, active=True, **({"depth": 8, "task_size": 6} | changes)).project


def room(store: Store, project: Project, who: int | None = None) -> int:
    with store.read() as connection:
        found = load_queue_capacity(connection, project.id, who)
    return found.total if who is None else found.for_judge


def emptied(store: Store, project: Project) -> None:
    """Take back what is still to be asked, as if judges had answered it."""
    from sqlalchemy import text

    store.write(lambda c: c.execute(text("UPDATE item SET wanted = given")))


def test_nothing_is_chosen_while_enough_is_left(store: Store) -> None:
    project = active(store)
    before = room(store, project)
    assert before >= 12
    assert refill_pairs(store, project, now=NOW, rng=rng()) == 0
    assert room(store, project) == before


def test_more_pairs_are_chosen_when_little_is_left(store: Store) -> None:
    project = active(store)
    emptied(store, project)
    asked = refill_pairs(store, project, now=NOW, rng=rng())
    assert asked == room(store, project) >= 4 * 6
    assert refill_pairs(store, project, now=NOW, rng=rng()) == 0


def test_judges_go_on_as_long_as_they_like_and_votes_steer_what_comes_next(store: Store) -> None:
    project = active(store, task_size=12)
    people = [account(store, name) for name in ("ann", "bob", "cid")]
    for turn in range(6):
        who = people[turn % 3]
        refill_pairs(store, project, now=NOW, rng=rng(turn), account=who)
        assert judge_all(store, project, who, tasks=1) > 0
    with store.read() as connection:
        votes = load_preferences(connection, project)
    assert votes.height == rows(store, "SELECT SUM(given) FROM item")[0][0] >= 60
    assert rows(store, "SELECT COUNT(*) FROM item WHERE given > wanted") == [(0,)]
    again = votes.select("query", "left", "right", "judge")
    assert again.is_unique().all()


def test_a_judge_alone_is_never_asked_the_same_pair_twice_and_gets_others(store: Store) -> None:
    project = active(store, ask=[given("pool.csv", "query,doc\n" + "".join(f"q1,d{d}\n" for d in range(6)))])
    ann = account(store, "ann")
    answered = 0
    for turn in range(30):
        refill_pairs(store, project, now=NOW, rng=rng(turn), account=ann)
        more = judge_all(store, project, ann, tasks=1)
        answered += more
        if not more:
            break
    assert 10 <= answered <= 15  # of the 15 pairs that there are, each at most once
    assert room(store, project) < 20 * 6 + 40  # and what nobody can answer does not pile up


def test_only_one_chooses_at_a_time_across_threads_and_servers(store: Store) -> None:
    project = active(store)
    emptied(store, project)
    another = Store.open(store.engine.url.render_as_string(hide_password=False))
    asked: list[int | None] = []
    barrier = threading.Barrier(4)

    def work(seed: int) -> None:
        barrier.wait()
        asked.append(refill_pairs((store, another)[seed % 2], project, now=NOW, rng=rng(seed)))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    another.close()
    (chosen,) = (count for count in asked if count)
    assert room(store, project) == chosen


def test_a_turn_that_was_never_ended_ends_by_itself(store: Store) -> None:
    project = active(store)
    emptied(store, project)
    assert store.write(lambda c: acquire_lock(c, project.id, now=NOW, until=NOW + LOCK_SECONDS))
    assert not store.write(lambda c: acquire_lock(c, project.id, now=NOW + 1, until=NOW + 99))
    assert refill_pairs(store, project, now=NOW + 1, rng=rng()) is None
    store.write(lambda c: release_lock(c, project.id, until=NOW + 99))  # somebody else's
    assert refill_pairs(store, project, now=NOW + 1, rng=rng()) is None
    assert refill_pairs(store, project, now=NOW + LOCK_SECONDS + 2, rng=rng()) > 0
    assert rows(store, "SELECT COUNT(*) FROM setting") == [(0,)]


def test_a_project_that_is_closed_or_not_active_is_left_alone(store: Store) -> None:
    project = active(store)
    emptied(store, project)
    store.write(lambda c: close_project(c, project.id, NOW))
    with store.read() as connection:
        closed = get_project_by_id(connection, project.id)
    assert refill_pairs(store, closed, now=NOW, rng=rng()) == 0
    fixed = pairs(store, name="fixed").project
    assert refill_pairs(store, fixed, now=NOW, rng=rng()) == 0


def test_an_active_project_without_documents_yet_asks_nothing(store: Store) -> None:
    project = pairs(store, active=True, ask=[]).project
    assert refill_pairs(store, project, now=NOW, rng=rng()) == 0
